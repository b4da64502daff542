/** The body of a page as text: unpacked, bounded, decoded, and readable when it was HTML. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import { RametError } from '../../schema/errors.ts';
import { describeSize } from '../../system/text/visible-text.ts';
import type { OpenPage } from './open-page.ts';
import { renderAside } from './render-aside.ts';
import { HTML_TYPE, type RenderedPage } from './render-page.ts';

/** Of the unpacked body: a small one may unpack to anything. */
const MOST_BYTES = 5_000_000;

export interface PageWish {
  prompt: string | undefined;
  /** Longer texts are cut to it. */
  shownLength: number;
  signal: AbortSignal;
}

const TEXT_TYPE =
  /^(?:text\/.*|application\/(?:.*\+)?(?:json|xml|yaml|x-yaml|toml|javascript|ecmascript|x-ndjson|graphql|x-sh|sql))$/;

export async function readPage(
  { url, answer }: OpenPage,
  { prompt, shownLength, signal }: PageWish,
): Promise<RenderedPage> {
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
  const wanted = { kind, parameters: parameters.join(';'), url: url.href, prompt, shownLength };
  const page = await renderAside({ bytes, ...wanted }, signal);
  return { ...page, cut: cut || page.cut };
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
