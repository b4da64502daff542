/**
 * The prompt cache's accounting. Owns which prefixes are stored, until when, and what a request reads and writes.
 * No I/O and no clock: times come in. What a prefix is made of belongs to `prompt.ts`, where marks may stand to
 * `cache-marks.ts`.
 *
 * Invariants
 * 1. Entries exist only where some request had a mark, never at positions in between.
 * 2. An entry can be read only once the response of the request that writes it has begun (`begin`). A request that
 *    ends before that leaves nothing behind.
 * 3. A mark finds the nearest entry among 20 positions, itself the first; each mark has its own window.
 * 4. An entry lives for its TTL from the *start* of the request that wrote or last read it.
 * 5. read + written + input = all tokens of the prompt; input is what stands after the last mark.
 */
import { minimumCacheable } from '../../model/catalog.ts';
import type { CacheLifetime, CacheMark } from './cache-marks.ts';
import type { Prompt } from './prompt.ts';

export interface InputUsage {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  cache_creation: { ephemeral_5m_input_tokens: number; ephemeral_1h_input_tokens: number };
}

/** A request the cache has looked at but whose response has not begun. */
export interface CacheAdmission {
  usage: InputUsage;
  writes: readonly { digest: string; ttl: CacheLifetime }[];
  startedAt: number;
}

interface CacheEntry {
  ttl: CacheLifetime;
  expiresAt: number;
}

const LOOK_BACK = 20;
/** Of models whose minimum is not known. */
const ASSUMED_MINIMUM = 1024;
const LIFETIME_MS: Readonly<Record<CacheLifetime, number>> = { '5m': 300_000, '1h': 3_600_000 };
const SWEEP_ABOVE = 4096;

export class PromptCache {
  readonly #entries = new Map<string, CacheEntry>();

  /** What the request reads and will write. Entries it reads live on from `now`, the start of the request. */
  admit(prompt: Prompt, now: number): CacheAdmission {
    const minimum = minimumCacheable(prompt.model) ?? ASSUMED_MINIMUM;
    const marks = prompt.marks.filter(({ position }) => tokensAt(prompt, position) >= minimum);
    const hits = marks.map(({ position }) => this.#nearestEntry(prompt, position, now));
    const usage = splitUsage(prompt, marks, Math.max(-1, ...hits));
    const writes = marks
      .filter(({ position }, index) => hits[index] !== position)
      .map(({ position, ttl }) => ({ digest: digestAt(prompt, position), ttl }));
    return { usage, writes, startedAt: now };
  }

  /** The response has begun: what the request wrote can be read from here on. */
  begin({ writes, startedAt }: CacheAdmission): void {
    if (this.#entries.size > SWEEP_ABOVE) this.#sweep(startedAt);
    for (const { digest, ttl } of writes) {
      const present = this.#entries.get(digest);
      const longer = ttl === '1h' || (present?.ttl === '1h' && present.expiresAt > startedAt);
      const kept = longer ? '1h' : '5m'; // two writers at once: the longer life counts
      const expiresAt = Math.max(startedAt + LIFETIME_MS[ttl], present?.expiresAt ?? 0);
      this.#entries.set(digest, { ttl: kept, expiresAt });
    }
  }

  /** Position of the entry a mark finds, refreshed; -1 if no entry matches. */
  #nearestEntry(prompt: Prompt, from: number, now: number): number {
    for (let position = from; position >= 0 && position > from - LOOK_BACK; position -= 1) {
      const entry = this.#entries.get(digestAt(prompt, position));
      if (entry === undefined || entry.expiresAt <= now) continue;
      entry.expiresAt = Math.max(entry.expiresAt, now + LIFETIME_MS[entry.ttl]);
      return position;
    }
    return -1;
  }

  #sweep(now: number): void {
    for (const [digest, entry] of this.#entries) {
      if (entry.expiresAt <= now) this.#entries.delete(digest);
    }
  }
}

/** Read up to the highest hit, then 1 h writes up to the last 1 h mark, then 5 min writes up to the last mark. */
function splitUsage(prompt: Prompt, marks: readonly CacheMark[], hit: number): InputUsage {
  const read = tokensAt(prompt, hit);
  const longEnd = Math.max(read, tokensAt(prompt, lastPosition(marks.filter(({ ttl }) => ttl === '1h'))));
  const shortEnd = Math.max(longEnd, tokensAt(prompt, lastPosition(marks)));
  return {
    input_tokens: prompt.tokens - shortEnd,
    cache_creation_input_tokens: shortEnd - read,
    cache_read_input_tokens: read,
    cache_creation: {
      ephemeral_5m_input_tokens: shortEnd - longEnd,
      ephemeral_1h_input_tokens: longEnd - read,
    },
  };
}

function lastPosition(marks: readonly CacheMark[]): number {
  return marks.at(-1)?.position ?? -1;
}

function tokensAt(prompt: Prompt, position: number): number {
  return prompt.positions[position]?.tokens ?? 0;
}

function digestAt(prompt: Prompt, position: number): string {
  return prompt.positions[position]?.digest ?? '';
}
