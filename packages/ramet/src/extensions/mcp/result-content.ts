/** What a server answered, as blocks for a conversation: text and pictures as they are, everything else as a line about it. */
import type { ContentBlock, ReadResourceResult } from '@modelcontextprotocol/client';
import { imageProblem } from '../../model/image-type.ts';
import type { ImageBlock, TextBlock } from '../../schema/content.ts';
import { isObject } from './server-config.ts';

const MOST_PICTURES = 20;

export function blocksOfContent(content: readonly ContentBlock[]): (TextBlock | ImageBlock)[] {
  let pictures = 0;
  return joined(
    content.map((block) => {
      const made = blockOf(block);
      if (made.type === 'image') pictures += 1;
      return pictures > MOST_PICTURES && made.type === 'image'
        ? text('[a picture too many, left out]')
        : made;
    }),
  );
}

export function blocksOfResource({ contents }: ReadResourceResult): (TextBlock | ImageBlock)[] {
  return joined(contents.map(resourceBlock));
}

/** By its shape: a part of a result of the protocol that is not only a text. */
export function isContentBlock(value: unknown): value is ContentBlock {
  if (!isObject(value)) return false;
  const { type, data, mimeType, uri, name, resource } = value;
  if (type === 'image' || type === 'audio') return typeof data === 'string' && typeof mimeType === 'string';
  if (type === 'resource_link') return typeof uri === 'string' && typeof name === 'string';
  if (type !== 'resource' || !isObject(resource) || typeof resource.uri !== 'string') return false;
  return typeof resource.text === 'string' || typeof resource.blob === 'string';
}

function blockOf(block: ContentBlock): TextBlock | ImageBlock {
  switch (block.type) {
    case 'text':
      return text(block.text);
    case 'image':
      return picture(block.mimeType, block.data);
    case 'audio':
      return text(`[sound, ${block.mimeType}, ${size(block.data)}: it cannot be shown]`);
    case 'resource_link':
      return text(
        `[resource ${block.uri}: ${block.name}${block.description ? `, ${block.description}` : ''}]`,
      );
    case 'resource':
      return resourceBlock(block.resource);
    default:
      return text('[something that is neither text nor a picture]');
  }
}

function resourceBlock(resource: ReadResourceResult['contents'][number]): TextBlock | ImageBlock {
  if ('text' in resource) return text(resource.text);
  return picture(resource.mimeType ?? 'bytes', resource.blob, resource.uri);
}

/** By its bytes, whatever the server calls it: a provider refuses a broken picture, and each later request with it. */
function picture(type: string, data: string, what = 'picture'): TextBlock | ImageBlock {
  const isBase64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(data);
  const bytes = Buffer.from(isBase64 ? data : '', 'base64');
  const image = imageProblem(bytes);
  if ('problem' in image) {
    const why = type.startsWith('image/') ? `it cannot be shown (${image.problem})` : 'it cannot be shown';
    return text(`[${what}, ${type}, ${size(data)}: ${why}]`);
  }
  return {
    type: 'image',
    source: { type: 'base64', media_type: image.type, data: Buffer.from(image.bytes).toString('base64') },
  };
}

/** Neighbouring texts are one. */
function joined(blocks: readonly (TextBlock | ImageBlock)[]): (TextBlock | ImageBlock)[] {
  const result: (TextBlock | ImageBlock)[] = [];
  for (const block of blocks) {
    const last = result.at(-1);
    if (block.type === 'text' && last?.type === 'text')
      result[result.length - 1] = text(`${last.text}\n${block.text}`);
    else result.push(block);
  }
  return result;
}

function text(value: string): TextBlock {
  return { type: 'text', text: value };
}

function size(base64: string): string {
  return `${Math.ceil((base64.length * 3) / 4 / 1024)} KB`;
}
