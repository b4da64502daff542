import { statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { IMAGE_LIMIT, imageDamage, imageType, mended } from '../../model/image-type.ts';
import { RametError } from '../../schema/errors.ts';
import * as z from '../../schema/zod.ts';
import { decodeTextFile } from '../../system/text/text-file.ts';
import { describeSize } from '../../system/text/visible-text.ts';
import { defineTool, failure, type Tool, type ToolContext, type ToolOutcome } from '../tool.ts';
import { fileFailure } from './file-failure.ts';
import { createLineSplitter, createLineWindow, LINE_LIMIT, type LineWindow, linesOf } from './line-window.ts';
import { renderNotebook } from './notebook.ts';

/**
 * Private keys in a file, line by line: the redactor knows a key by its first line, and a part of a file may begin after
 * it. Lines stay lines, so their numbers are right.
 */
const FIRST = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/;

const LAST = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY/;

const PART = /^\s*(?:[A-Za-z0-9+/=]{1,200}|[A-Za-z-]{3,20}: .{1,100}|)\s*$/;

const input = z.strictObject({
  file_path: z.string().check(z.minLength(1)),
  offset: z.optional(z.int().check(z.minimum(1), z.describe('First line, from 1'))),
  limit: z.optional(z.int().check(z.minimum(1), z.describe('Number of lines'))),
});

/** Above this a file is streamed, so that memory stays flat. */
const STREAM_ABOVE = 10_000_000;

export const readTool: Tool = defineTool({
  name: 'Read',
  description:
    'Read a file: text with line numbers (2,000 lines unless limit is given), an image, or a notebook. ' +
    'Paths may be absolute or relative to your directory. Read a file before you Edit or Write it; ' +
    'read several files in one turn when you need them all.',
  effect: 'read',
  forMemory: true,
  schedule: 'parallel',
  pathFields: { file_path: 'path' },
  input,
  access: ({ file_path }) => ({ reads: [file_path] }),
  async run({ file_path, offset = 1, limit = LINE_LIMIT }, context) {
    const path = resolve(context.cwd, file_path);
    const window = createLineWindow(offset, limit);
    try {
      const large = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > STREAM_ABOVE;
      return await (large ? readLarge(path, window, context) : readWhole(path, window, context));
    } catch (error) {
      if (context.signal.aborted) return failure('Read was interrupted.');
      return fileFailure(error, path);
    }
  },
});

async function readWhole(path: string, window: LineWindow, { files }: ToolContext): Promise<ToolOutcome> {
  const { bytes } = await files.read(path);
  const image = imageType(bytes);
  if (image !== null) {
    if (bytes.length > IMAGE_LIMIT) return failure(imageTooLarge(path, bytes.length));
    const whole = mended(bytes, image);
    const damage = imageDamage(whole, image);
    if (damage !== null) return failure(`${path} cannot be shown: ${damage}.`);
    const data = Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength).toString('base64');
    return { content: [{ type: 'image', source: { type: 'base64', media_type: image, data } }] };
  }
  const file = decodeTextFile(bytes);
  if (file === null && bytes.includes(0)) return failure(binary(path, bytes.length));
  const text = file?.text ?? Buffer.from(bytes).toString().replaceAll('\r\n', '\n');
  const notebook = extname(path) === '.ipynb' ? renderNotebook(text) : null;
  for (const line of maskPrivateKeys(linesOf(notebook ?? text))) {
    if (window.add(line) === 'enough') break;
  }
  const shown = window.render({ numbered: notebook === null });
  if (notebook !== null)
    return { content: `${shown}\n(A notebook, shown by cells; Edit works on its JSON.)` };
  return {
    content:
      file === null ? `${shown}\n(Not valid UTF-8: what could not be decoded is shown as \ufffd.)` : shown,
  };
}

/** Throws at the first chunk of what is not text: hashing a gigabyte to refuse it would take seconds. */
async function readLarge(
  path: string,
  window: LineWindow,
  { files, signal }: ToolContext,
): Promise<ToolOutcome> {
  const size = statSync(path).size;
  const lines = createLineSplitter(window);
  let first = true;
  const take = (chunk: Uint8Array): 'more' | 'enough' => {
    if (first && imageType(chunk) !== null)
      throw new RametError('too_large', 'mistake', imageTooLarge(path, size));
    if (first && chunk.includes(0)) throw new RametError('not_text', 'mistake', binary(path, size));
    first = false;
    return lines.take(chunk);
  };
  await files.scan(path, take, signal);
  lines.end();
  return { content: window.render({ numbered: true }) };
}

function imageTooLarge(path: string, size: number): string {
  const limit = describeSize(IMAGE_LIMIT);
  return `${path} is an image of ${describeSize(size)}; at most ${limit} can be shown. Scale it down first.`;
}

function binary(path: string, size: number): string {
  return `${path} is a binary file of ${describeSize(size)}. Look at it with a Bash command that knows its format.`;
}

function* maskPrivateKeys(lines: readonly string[]): Generator<string> {
  let inside = false;
  for (const line of lines) {
    if (inside && (LAST.test(line) || !PART.test(line))) inside = false;
    yield inside && line.trim() !== '' ? '[redacted: private key]' : line;
    // A whole key on one line is the redactor's.
    if (FIRST.test(line) && !LAST.test(line)) inside = true;
  }
}
