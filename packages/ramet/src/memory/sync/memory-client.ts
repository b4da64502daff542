/**
 * Requests to a memory server. Retries what may succeed later: every write has a condition, so sending it twice does no
 * harm. What a server sends is checked before it is used: shapes, keys, sizes and checksums.
 */
import { type Clock, systemClock } from '../../schema/clock.ts';
import { Cancelled, describeError, RametError, UserMistake } from '../../schema/errors.ts';
import { digestOf } from '../../system/digest.ts';
import { headOf, stripAnsi, visibleLine } from '../../system/text/visible-text.ts';
import { keyPath, keyProblem } from '../wire/memory-key.ts';
import {
  CHECKSUM_BEGINNING,
  ENTRY_SHAPE,
  LISTING_SHAPE,
  type MemoryEntry,
  type MemoryListing,
  REFUSAL_SHAPE,
} from '../wire/memory-shapes.ts';

export interface MemoryClientOptions {
  url: string;
  token: string;
  signal: AbortSignal;
  clock?: Clock;
  /** The one of Node when absent. */
  fetch?: typeof fetch;
}

export type SentWrite =
  | { outcome: 'done'; entry: MemoryEntry }
  | { outcome: 'changed'; current: MemoryEntry | null }
  | { outcome: 'refused'; reason: string };

const TRIES = 5;
const ANSWER_MS = 30_000;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 30_000;
const LARGEST_LISTING = 64 * 1024 * 1024;
const LARGEST_VALUE = 16 * 1024 * 1024;

interface Received {
  status: number;
  headers: Headers;
  bytes: Uint8Array;
}

export class MemoryClient {
  readonly #base: string;
  readonly #options: MemoryClientOptions;
  readonly #clock: Clock;
  /** For tests and figures: values that travelled. */
  readonly values = { read: 0, written: 0 };

  constructor(options: MemoryClientOptions) {
    this.#base = baseOf(options.url);
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Null if it is the one that is known. `seen` is what was seen of the history. */
  async list(
    known: string | null,
    seen: string | null = null,
  ): Promise<{ tag: string; listing: MemoryListing } | null> {
    const headers: Record<string, string> = known === null ? {} : { 'If-None-Match': known };
    const {
      status,
      headers: received,
      bytes,
    } = await this.#ask(
      'GET',
      `/v1/keys${seen === null ? '' : `?seen=${seen}`}`,
      { headers },
      LARGEST_LISTING,
    );
    if (status === 304 && known !== null) return null;
    if (status !== 200) throw this.#odd(`answered ${status} to the listing`);
    const listing = LISTING_SHAPE.safeParse(jsonOf(bytes));
    if (!listing.success) throw this.#odd('sent a listing of another form');
    const bad = listing.data.keys.find(({ key }) => keyProblem(key) !== null);
    if (bad !== undefined) throw this.#odd(`sent the key ${JSON.stringify(bad.key.slice(0, 80))}`);
    const { team } = listing.data;
    return { tag: received.get('etag') ?? '', listing: { ...listing.data, team: shownLine(team) } };
  }

  /** Null if the key has another version by now. */
  async read({ key, etag, checksum }: MemoryEntry): Promise<Uint8Array | null> {
    const { status, headers, bytes } = await this.#ask('GET', `/v1/keys/${keyPath(key)}`, {}, LARGEST_VALUE);
    if (status === 404 || status === 410 || (status === 200 && headers.get('etag') !== etag)) return null;
    if (status !== 200) throw this.#odd(`answered ${status} to ${key}`);
    if (digestOf(bytes) !== checksum) throw this.#odd(`sent something else than it lists for ${key}`);
    this.values.read += 1;
    return bytes;
  }

  /** Whether a deleted key has ever had that checksum, as far as the server remembers. */
  async hadBefore(key: string, checksum: string): Promise<boolean> {
    const { status, bytes } = await this.#ask('GET', `/v1/keys/${keyPath(key)}`, {}, LARGEST_VALUE);
    const refusal = REFUSAL_SHAPE.safeParse(jsonOf(bytes));
    const earlier = status === 410 && refusal.success ? refusal.data.error.earlier : [];
    return earlier?.includes(checksum.slice(0, CHECKSUM_BEGINNING)) === true;
  }

  /** `expected` is the ETag that is replaced; null for a new key. A null `value` deletes. */
  async write(key: string, expected: string | null, value: Uint8Array | null): Promise<SentWrite> {
    const condition: Record<string, string> =
      expected === null ? { 'If-None-Match': '*' } : { 'If-Match': expected };
    const { status, bytes } = await this.#ask(
      value === null ? 'DELETE' : 'PUT',
      `/v1/keys/${keyPath(key)}`,
      { headers: condition, ...(value !== null && { body: new Uint8Array(value) }) },
      LARGEST_LISTING,
    );
    const body = jsonOf(bytes);
    if (status === 200 || status === 201) {
      const entry = ENTRY_SHAPE.safeParse(body);
      if (!entry.success) throw this.#odd('answered a write in another form');
      this.#requireKey(key, entry.data);
      if (value !== null) this.values.written += 1;
      return { outcome: 'done', entry: entry.data };
    }
    const refusal = REFUSAL_SHAPE.safeParse(body);
    if (!refusal.success) throw this.#odd(`answered ${status} to a write of ${key}`);
    const { message, current = null } = refusal.data.error;
    if (status !== 412) return { outcome: 'refused', reason: shownLine(message) };
    if (current !== null) this.#requireKey(key, current);
    return { outcome: 'changed', current };
  }

  /** A key is the path of a file here. */
  #requireKey(asked: string, { key }: MemoryEntry): void {
    if (key !== asked) throw this.#odd(`answered for another key than ${asked}`);
  }

  async #ask(method: string, path: string, init: RequestInit, limit: number): Promise<Received> {
    for (let attempt = 1; ; attempt++) {
      const received = await this.#once(method, path, init, limit);
      const isLast = attempt === TRIES;
      if (received instanceof Error) {
        if (isLast) throw this.#away(describeError(received));
      } else if (received.status === 401) {
        throw new UserMistake(
          'memory_token',
          `${this.#base} does not accept the token: it is wrong or revoked; ask for a new one`,
        );
      } else if (received.status !== 429 && received.status < 500) return received;
      else if (received.status === 507) return received;
      else if (isLast) throw this.#away(`it answers ${received.status}`);
      await this.#pause(attempt, received instanceof Error ? null : received.headers.get('retry-after'));
    }
  }

  async #pause(attempt: number, retryAfter: string | null): Promise<void> {
    const { signal } = this.#options;
    const asked = Number(retryAfter ?? 0) * 1000;
    const wait = asked > 0 ? asked : FIRST_PAUSE_MS * 2 ** (attempt - 1);
    await this.#clock.sleep(Math.min(wait, LONGEST_PAUSE_MS), signal);
    if (signal.aborted) throw new Cancelled();
  }

  async #once(method: string, path: string, init: RequestInit, limit: number): Promise<Received | Error> {
    const { signal, token, fetch: send = fetch } = this.#options;
    if (signal.aborted) throw new Cancelled();
    try {
      const response = await send(this.#base + path, {
        ...init,
        method,
        // A redirect would carry the token to where it leads.
        redirect: 'error',
        headers: { ...init.headers, Authorization: `Bearer ${token}` },
        signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
      });
      return { status: response.status, headers: response.headers, bytes: await bodyOf(response, limit) };
    } catch (error) {
      if (signal.aborted) throw new Cancelled();
      if (error instanceof RametError) throw error;
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      return cause instanceof Error ? cause : new Error(String(cause));
    }
  }

  #odd(what: string): RametError {
    return new RametError(
      'memory_server_odd',
      'terminal',
      `the memory server ${this.#base} ${shownLine(what)}: check its address`,
    );
  }

  #away(reason: string): RametError {
    const message = `cannot reach the memory server ${this.#base}: ${shownLine(reason)}; nothing here is lost, sync again later`;
    return new RametError('memory_server_away', 'retryable', message);
  }
}

const LONGEST_LINE = 300;

/** What a server says, as people are shown it: one line that nothing in it can forge or hide. */
function shownLine(text: string): string {
  const line = visibleLine(stripAnsi(headOf(text, 2 * LONGEST_LINE)));
  return line.length > LONGEST_LINE ? `${headOf(line, LONGEST_LINE - 1)}…` : line;
}

async function bodyOf(response: Response, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > limit)
      throw new RametError(
        'memory_server_odd',
        'terminal',
        `the memory server sent more than ${limit} bytes`,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Without TLS the token could be read on its way, unless it stays on this machine. */
function baseOf(url: string): string {
  const parsed = URL.parse(url);
  const isLocal = parsed !== null && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(parsed.hostname);
  if (parsed === null || !(parsed.protocol === 'https:' || (parsed.protocol === 'http:' && isLocal)))
    throw new UserMistake(
      'memory_server',
      `${JSON.stringify(url)} is no address of a memory server: give one that begins with https:// (http:// only on this machine)`,
    );
  if (parsed.username !== '' || parsed.password !== '' || parsed.search !== '' || parsed.hash !== '')
    throw new UserMistake(
      'memory_server',
      'the address of a memory server has no user, password, ? or #: the token goes into RAMET_MEMORY_TOKEN',
    );
  return parsed.href.replace(/\/+$/, '');
}
