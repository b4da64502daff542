/**
 * The emulator as a proxy that remembers: every POST is forwarded to the real provider, its answer comes back as it
 * arrives, and once it is whole the two are appended to the cassette. What the client left unfinished is not recorded.
 */
import { isUtf8 } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';
import {
  closeEndpoint,
  type Endpoint,
  openEndpoint,
  type PostedAnswer,
  post,
} from '../../model/http-post.ts';
import { describeError, UserMistake } from '../../schema/errors.ts';
import { ApiError } from '../api-error.ts';
import { type Exchange, openResponse, untilAborted } from '../exchange.ts';
import { plainHeaders } from '../request-record.ts';
import { normaliseBody, type RecordedAnswer, requestDigest } from './cassette.ts';
import { type CassetteWriter, createCassette } from './cassette-file.ts';
import { keptHeaders, type Scrub, scrubber, spellsSecret } from './cassette-scrub.ts';

export interface RecordOptions {
  file: string;
  /** Without the path: `https://api.anthropic.com`. */
  upstream: string;
  /** Where proxies are named. */
  env?: NodeJS.ProcessEnv | undefined;
  /** Told when an answer could not be recorded. */
  onSkipped?: ((reason: string) => void) | undefined;
}

/** Those of one connection, and those that would bring back what cannot be kept as text. */
const NOT_FORWARDED =
  /^(?:host|connection|keep-alive|transfer-encoding|content-length|accept-encoding|expect|te)$/;

export class CassetteRecorder {
  readonly #options: RecordOptions;
  readonly #upstream: URL;
  readonly #writer: CassetteWriter;
  readonly #endpoints = new Map<string, Endpoint>();

  constructor(options: RecordOptions) {
    this.#options = options;
    this.#upstream = parseUpstream(options.upstream);
    this.#writer = createCassette(options.file, { cassette: 1, upstream: this.#upstream.origin });
  }

  async forward(exchange: Exchange): Promise<void> {
    const { record, headers, gone } = exchange;
    if (record.method !== 'POST') throw new ApiError(405, 'only POST is recorded');
    const forwarded = Object.fromEntries(
      Object.entries(headers).filter(([name]) => !NOT_FORWARDED.test(name)),
    );
    const pieces = [Buffer.from(record.body)];
    const endpoint = this.#endpoint(record.path + exchange.search);
    const posted = await post(endpoint, { headers: forwarded, pieces, signal: gone }).catch((error) => {
      throw new ApiError(502, describeError(error));
    });
    const received = await passOn(posted, exchange);
    if (received !== null) this.#keep(exchange, received);
  }

  close(): void {
    for (const endpoint of this.#endpoints.values()) closeEndpoint(endpoint);
    this.#writer.close();
  }

  #keep({ record: { method, path, body }, headers }: Exchange, { pieces, ...answer }: PassedAnswer): void {
    const scrub = scrubber(headers);
    const chunks = isUtf8(Buffer.concat(pieces)) ? scrubChunks(decode(pieces), scrub) : 'it is not UTF-8';
    if (typeof chunks === 'string') {
      this.#options.onSkipped?.(`the answer to ${method} ${path} was not recorded: ${chunks}`);
      return;
    }
    const request = normaliseBody(body, scrub);
    const digest = requestDigest(method, path, request);
    this.#writer.append({ method, path, digest, request, ...answer, chunks });
  }

  #endpoint(path: string): Endpoint {
    const present = this.#endpoints.get(path);
    if (present !== undefined) return present;
    const url = new URL(this.#upstream.pathname.replace(/\/+$/, '') + path, this.#upstream);
    const names = { key: 'the key', baseUrl: '--upstream' };
    const endpoint = openEndpoint(url, this.#options.env ?? {}, names);
    this.#endpoints.set(path, endpoint);
    return endpoint;
  }
}

type PassedAnswer = Omit<RecordedAnswer, 'chunks'> & { pieces: Buffer[] };

/** The answer as it was received, or null when the client left before its end. */
async function passOn({ answer, heard }: PostedAnswer, exchange: Exchange): Promise<PassedAnswer | null> {
  const { response, gone } = exchange;
  const headers = keptHeaders(plainHeaders(answer.headers));
  const { 'content-type': contentType = 'application/octet-stream', ...rest } = headers;
  const status = answer.statusCode ?? 502;
  openResponse(exchange, status, contentType, rest);
  const pieces: Buffer[] = [];
  try {
    for await (const piece of answer) {
      heard();
      pieces.push(piece);
      if (!response.write(piece)) await drained(exchange);
    }
  } catch {
    if (gone.aborted) return null;
    // What came is sent before the end, so that the client sees what was recorded.
    await new Promise((resolve) => response.write('', resolve));
    response.destroy();
    return { status, headers, pieces, broken: true };
  }
  if (gone.aborted) return null;
  response.end();
  return { status, headers, pieces };
}

/** The same text in pieces; a character that lies across two of them goes with the second. */
function decode(pieces: readonly Buffer[]): string[] {
  const decoder = new StringDecoder('utf8');
  return pieces.map((piece) => decoder.write(piece)).filter((text) => text !== '');
}

function drained({ response, gone }: Exchange): Promise<unknown> {
  return Promise.race([new Promise((resolve) => response.once('drain', resolve)), untilAborted(gone)]);
}

/** Or why it cannot be done. A secret that lies across pieces makes them one piece. */
function scrubChunks(chunks: readonly string[], scrub: Scrub): string[] | string {
  const whole = chunks.join('');
  const clean = scrub(whole);
  if (spellsSecret(clean, scrub))
    return 'it spells a secret across several events, which cannot be taken out';
  if (clean === whole) return [...chunks];
  const pieces = chunks.map(scrub);
  return pieces.join('') === clean ? pieces : [clean];
}

function parseUpstream(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new UserMistake('bad_upstream', `--upstream is not an http(s) address: ${text}`);
}
