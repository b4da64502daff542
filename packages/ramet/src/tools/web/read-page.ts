/** The body of a page as text: unpacked, bounded, decoded, and readable when it was HTML. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import { RametError } from '../../schema/errors.ts';
import { describeSize } from '../cut-text.ts';
import { htmlToText } from './html-to-text.ts';
import type { OpenPage } from './open-page.ts';

/** Of the unpacked body: a small one may unpack to anything. */
const MOST_BYTES = 5_000_000;

export interface PageContent {
  type: string;
  title: string;
  text: string;
  /** Only the beginning was read. */
  cut: boolean;
}

const TEXT_TYPE =
  /^(?:text\/.*|application\/(?:.*\+)?(?:json|xml|yaml|x-yaml|toml|javascript|ecmascript|x-ndjson|graphql|x-sh|sql))$/;
const HTML_TYPE = /^(?:text\/html|application\/xhtml\+xml)$/;

export async function readPage({ url, answer }: OpenPage): Promise<PageContent> {
  const [type = '', ...parameters] = (answer.headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim());
  const kind = type.toLowerCase();
  if (kind !== '' && !TEXT_TYPE.test(kind) && !HTML_TYPE.test(kind)) {
    answer.destroy();
    throw notText(kind, answer);
  }
  const { bytes, cut } = await readBounded(unpacked(answer));
  if (kind === '' && bytes.subarray(0, 1_000).includes(0)) throw notText('content of no type', answer);
  const raw = decode(bytes, parameters.join(';'));
  const html = HTML_TYPE.test(kind) || (kind === '' && /^\s*<(?:!doctype html|html)/i.test(raw));
  if (!html) return { type: kind || 'no type', title: '', text: raw, cut };
  const page = htmlToText(raw, url.href);
  return { type: kind || 'text/html', ...page, cut: cut || page.cut };
}

function notText(type: string, { headers }: IncomingMessage): RametError {
  const length = Number(headers['content-length']);
  const size = headers['content-length'] !== undefined && length >= 0 ? describeSize(length) : 'size unknown';
  return new RametError(
    'not_text',
    'terminal',
    `it is ${type} (${size}); only text is shown, fetch it with Bash`,
  );
}

function unpacked(answer: IncomingMessage): Readable {
  const encoding = answer.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === '') return answer;
  const unpacker =
    encoding === 'br'
      ? createBrotliDecompress()
      : /^(?:x-)?(?:gzip|deflate)$/.test(encoding)
        ? createUnzip()
        : null;
  if (unpacker === null) {
    answer.destroy();
    throw new RametError('bad_encoding', 'terminal', `it is packed as ${encoding}, which was not asked for`);
  }
  answer.once('error', (error) => unpacker.destroy(error));
  unpacker.once('close', () => answer.destroy());
  return answer.pipe(unpacker);
}

async function readBounded(stream: Readable): Promise<{ bytes: Buffer; cut: boolean }> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    total += chunk.length;
    if (total > MOST_BYTES) return { bytes: Buffer.concat(chunks).subarray(0, MOST_BYTES), cut: true };
  }
  return { bytes: Buffer.concat(chunks), cut: false };
}

/** By the header's charset, or the one that HTML names in its beginning; UTF-8 when that is unknown. */
function decode(bytes: Buffer, parameters: string): string {
  const charset = /charset\s*=\s*["']?([\w-]+)/i;
  const label =
    charset.exec(parameters)?.[1] ?? charset.exec(bytes.subarray(0, 2_000).toString('latin1'))?.[1];
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
