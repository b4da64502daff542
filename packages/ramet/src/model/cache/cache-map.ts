/**
 * What the provider's prompt cache is thought to hold (MODEL-4): per prefix digest, whether an entry is being
 * written or can be read, and until when. It is a prediction; every response's usage corrects it. The rules:
 * an entry is readable once the writer's response has begun, lives from the start of the request
 * that wrote or last read it, is not written below the model's minimum length, and is found from a mark at most
 * 19 blocks after it.
 *
 * Invariants
 * 1. An entry that several requests write disappears only when all of them have failed.
 * 2. A watcher is told once, by the call that made the entry readable or removed it, before that call returns.
 *    No watcher is told when an entry expires: each has its own limit.
 * 3. It stays bounded: of entries that can be read the least recently used are forgotten.
 */
import type { CacheState, Digest } from '../../schema/events.ts';
import type { Usage } from '../../schema/usage.ts';
import { minimumCacheable } from '../catalog.ts';

/** Taken where neither the catalogue nor experience knows better. */
const ASSUMED = 1_024;

class CacheMinimums {
  readonly #learned = new Map<string, Experience>();

  of(model: string): number {
    const published = minimumCacheable(model);
    if (published !== undefined) return published;
    const learned = this.#learned.get(model);
    if (learned === undefined) return ASSUMED;
    return Math.max(Math.min(ASSUMED, learned.shortestCached), learned.longestRefused + 1);
  }

  /** What a response says: tokens read from or written to the cache, and tokens that were neither. */
  learn(model: string, { cached, uncached }: { cached: number; uncached: number }): void {
    if (minimumCacheable(model) !== undefined) return;
    const before = this.#learned.get(model) ?? {
      longestRefused: 0,
      shortestCached: Number.POSITIVE_INFINITY,
    };
    this.#learned.set(
      model,
      cached > 0
        ? { ...before, shortestCached: Math.min(before.shortestCached, cached) }
        : { ...before, longestRefused: Math.max(before.longestRefused, uncached) },
    );
  }
}

const BYTES_PER_TOKEN = 4;
const LOOK_BACK = 20;
/** More than agents at work can have use for; a session of ten thousand agents remembers no more. */
const MOST_ENTRIES = 5_000;
/** Entries looked at for each request, when there are too many: more than a request adds. */
const MOST_LOOKS = 8;
const CACHE_LIFETIME_MS = { '5m': 300_000, '1h': 3_600_000 } as const;
export type CacheTtl = keyof typeof CACHE_LIFETIME_MS;

/** The links of a prompt: what stands before and at each block, as a digest and as a length. */
export interface PrefixChain {
  linkAt(index: number): Digest | undefined;
  bytesAt(index: number): number;
}

export interface PlannedRequest {
  readonly model: string;
  readonly chain: PrefixChain;
  /** Where it marks the cache, by index in the chain, shortest prefix first. */
  readonly marks: readonly { readonly index: number; readonly ttl: CacheTtl }[];
  readonly startedAt: number;
}

export type PrefixState = 'cold' | 'writing' | 'readable';
export type WatchedOutcome = 'readable' | 'gone';

interface CacheEntry {
  readable: boolean;
  until: number;
  ttl: CacheTtl;
  writers: number;
}

export class CacheMap {
  readonly #entries = new Map<Digest, CacheEntry>();
  readonly #minimums = new CacheMinimums();
  readonly #watchers = new Map<Digest, Set<(outcome: WatchedOutcome) => void>>();
  /** What requests under way were expected to read. */
  readonly #expected = new WeakMap<PlannedRequest, Digest[]>();

  predict(request: PlannedRequest): CacheState {
    const { model, chain, marks, startedAt } = request;
    if (marks.some(({ index }) => this.#nearest(chain, index, startedAt) >= 0)) return 'warm';
    if (tokensAt(chain, marks.at(-1)?.index ?? -1) < this.minimum(model)) return 'below minimum';
    const writing = marks.some(({ index }) => this.stateOf(chain.linkAt(index), startedAt) === 'writing');
    return writing ? 'writing' : 'cold';
  }

  stateOf(prefix: Digest | undefined, now: number): PrefixState {
    const entry = prefix === undefined ? undefined : this.#entries.get(prefix);
    if (entry === undefined || entry.until <= now) return 'cold';
    return entry.readable ? 'readable' : 'writing';
  }

  /** Until when the entry can be read; null when it cannot. */
  readableUntil(prefix: Digest | undefined, now: number): number | null {
    const readable = prefix !== undefined && this.stateOf(prefix, now) === 'readable';
    return readable ? (this.#entries.get(prefix)?.until ?? null) : null;
  }

  /** Estimate of what a request can read now, looking at its marks up to `last`. */
  readableTokens({ chain, marks, startedAt }: PlannedRequest, last: number): number {
    const found = marks
      .filter(({ index }) => index <= last)
      .map(({ index }) => this.#nearest(chain, index, startedAt));
    return tokensAt(chain, Math.max(-1, ...found));
  }

  /** A request is on its way: what it marks is being written, what it reads lives on from here. */
  requestStarted(request: PlannedRequest): void {
    const { chain, marks, startedAt } = request;
    if (this.#entries.size > MOST_ENTRIES) this.#prune();
    const expected: Digest[] = [];
    for (const { index, ttl } of marks) {
      const digest = chain.linkAt(this.#nearest(chain, index, startedAt));
      const entry = digest === undefined ? undefined : this.#entries.get(digest);
      if (digest !== undefined && entry !== undefined) {
        entry.until = Math.max(entry.until, startedAt + CACHE_LIFETIME_MS[entry.ttl]);
        this.#entries.delete(digest);
        this.#entries.set(digest, entry);
        expected.push(digest);
      }
      if (digest === undefined || digest !== chain.linkAt(index)) this.#write(request, index, ttl);
    }
    if (expected.length > 0) this.#expected.set(request, expected);
  }

  responseBegan(request: PlannedRequest): void {
    for (const prefix of prefixesOf(request)) {
      const entry = this.#entries.get(prefix);
      if (entry === undefined || entry.readable) continue;
      entry.readable = true;
      this.#tell(prefix, 'readable');
    }
  }

  /** The attempt came to nothing: entries that only it was writing do not exist. */
  requestFailed(request: PlannedRequest): void {
    const expected = this.#expected.get(request) ?? [];
    for (const prefix of prefixesOf(request)) {
      const entry = this.#entries.get(prefix);
      if (entry === undefined || entry.readable || expected.includes(prefix)) continue;
      entry.writers -= 1;
      if (entry.writers <= 0) this.#remove(prefix);
    }
  }

  /** Neither read nor written means the prompt was too short, whatever the catalogue says. */
  responseCompleted(request: PlannedRequest, usage: Usage): void {
    const { model, chain, marks } = request;
    const read = usage.cache_read_input_tokens;
    const cached = read + usage.cache_creation_input_tokens;
    this.#minimums.learn(model, { cached, uncached: usage.input_tokens });
    if (cached === 0) for (const prefix of prefixesOf(request)) this.#remove(prefix);
    else if (read === 0) this.#correctMiss(request);
    // What was taken for too short and was still written.
    if (cached === 0 || cached < tokensAt(chain, marks.at(-1)?.index ?? -1)) return;
    for (const { index, ttl } of marks) {
      if (!this.#entries.has(chain.linkAt(index) ?? '')) this.#write(request, index, ttl);
    }
    this.responseBegan(request);
  }

  minimum(model: string): number {
    return this.#minimums.of(model);
  }

  /** Tells `listener` once when `prefix` becomes readable or its last writer fails; returns how to stop that. */
  watch(prefix: Digest, listener: (outcome: WatchedOutcome) => void): () => void {
    const listeners = this.#watchers.get(prefix) ?? new Set();
    this.#watchers.set(prefix, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#watchers.get(prefix) === listeners) this.#watchers.delete(prefix);
    };
  }

  /** Position of the entry that a mark finds; -1 if no entry matches. */
  #nearest(chain: PrefixChain, from: number, now: number): number {
    for (let index = from; index >= 0 && index > from - LOOK_BACK; index--) {
      if (this.stateOf(chain.linkAt(index), now) === 'readable') return index;
    }
    return -1;
  }

  #write({ model, chain, startedAt }: PlannedRequest, index: number, ttl: CacheTtl): void {
    const prefix = chain.linkAt(index);
    if (prefix === undefined || tokensAt(chain, index) < this.minimum(model)) return;
    const entry = this.#entries.get(prefix);
    const until = startedAt + CACHE_LIFETIME_MS[ttl];
    if (entry === undefined || entry.until <= startedAt) {
      this.#entries.set(prefix, { readable: false, until, ttl, writers: 1 });
    } else {
      entry.writers += 1;
      entry.until = Math.max(entry.until, until);
    }
  }

  /** It was thought to be there and was not: what the request marked is new, what it looked back to is gone. */
  #correctMiss(request: PlannedRequest): void {
    const own = prefixesOf(request);
    for (const prefix of this.#expected.get(request) ?? []) {
      const entry = this.#entries.get(prefix);
      const mark = request.marks[own.indexOf(prefix)];
      if (entry === undefined || mark === undefined) this.#remove(prefix);
      else Object.assign(entry, { ttl: mark.ttl, until: request.startedAt + CACHE_LIFETIME_MS[mark.ttl] });
    }
  }

  #remove(prefix: Digest): void {
    if (this.#entries.delete(prefix)) this.#tell(prefix, 'gone');
  }

  #tell(prefix: Digest, outcome: WatchedOutcome): void {
    const listeners = this.#watchers.get(prefix);
    this.#watchers.delete(prefix);
    for (const listener of listeners ?? []) listener(outcome);
  }

  /**
   * Those that were used longest ago go first: mostly the ends of agents that have ended, which nobody reads again. One
   * that is being written goes to the back, so that thousands of them are not looked at again and again.
   */
  #prune(): void {
    let looks = 0;
    for (const [prefix, entry] of this.#entries) {
      if (this.#entries.size <= MOST_ENTRIES || ++looks > MOST_LOOKS) return;
      this.#entries.delete(prefix);
      if (!entry.readable) this.#entries.set(prefix, entry);
    }
  }
}

function prefixesOf({ chain, marks }: PlannedRequest): Digest[] {
  return marks.map(({ index }) => chain.linkAt(index) ?? '');
}

/** Estimate of a prefix's length. */
export function tokensAt(chain: PrefixChain, index: number): number {
  return index < 0 ? 0 : Math.floor(chain.bytesAt(index) / BYTES_PER_TOKEN);
}

/** From how many tokens on a model caches a prefix (LAUNCH-1): what is published, else 1,024 and what usage teaches. */
interface Experience {
  /** The longest prompt that was not cached although it was marked. */
  longestRefused: number;
  shortestCached: number;
}
