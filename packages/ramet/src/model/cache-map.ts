/**
 * What the provider's prompt cache is thought to hold (MODEL-4): per prefix digest, whether an entry is being
 * written or can be read, and until when. It is a prediction; every response's usage corrects it. Rules from
 * facts 1.1: an entry is readable once the writer's response has begun, lives from the start of the request
 * that wrote or read it, and is not written below the model's minimum length.
 */
import type { CacheState, Digest } from '../schema/events.ts';
import type { Usage } from '../schema/usage.ts';
import { minimumCacheable } from './catalog.ts';

/** Taken where neither the catalogue nor experience knows better. */
const ASSUMED_MINIMUM = 1_024;
const BYTES_PER_TOKEN = 4;
const LIFETIME = { '5m': 300_000, '1h': 3_600_000 };

interface CacheEntry {
  readable: boolean;
  until: number;
}

export interface PlannedRequest {
  model: string;
  /** Chain digests at the request's breakpoints, shortest prefix first. */
  prefixes: readonly Digest[];
  ttl: keyof typeof LIFETIME;
  bytes: number;
  startedAt: number;
}

export class CacheMap {
  readonly #entries = new Map<Digest, CacheEntry>();
  readonly #learnedMinimum = new Map<string, number>();

  predict(request: PlannedRequest): CacheState {
    const alive = request.prefixes
      .map((prefix) => this.#entries.get(prefix))
      .filter((entry) => entry !== undefined && entry.until > request.startedAt);
    if (alive.some((entry) => entry?.readable)) return 'warm';
    if (request.bytes / BYTES_PER_TOKEN < this.minimum(request.model)) return 'below minimum';
    return alive.length > 0 ? 'writing' : 'cold';
  }

  /** A request is on its way: what it marks is being written, what it reads is refreshed. */
  requestStarted(request: PlannedRequest): void {
    this.#prune(request.startedAt);
    const until = request.startedAt + LIFETIME[request.ttl];
    for (const prefix of request.prefixes) {
      const entry = this.#entries.get(prefix);
      if (entry === undefined || entry.until <= request.startedAt) {
        this.#entries.set(prefix, { readable: false, until });
      } else if (entry.readable) entry.until = until;
    }
  }

  responseBegan(request: PlannedRequest): void {
    for (const prefix of request.prefixes) {
      const entry = this.#entries.get(prefix);
      if (entry !== undefined) entry.readable = true;
    }
  }

  /** The attempt came to nothing: entries that only it was writing do not exist. */
  requestFailed(request: PlannedRequest): void {
    for (const prefix of request.prefixes) {
      if (this.#entries.get(prefix)?.readable === false) this.#entries.delete(prefix);
    }
  }

  /** Neither read nor written means the prompt was too short, whatever the catalogue says. */
  responseCompleted(request: PlannedRequest, usage: Usage): void {
    if (usage.cache_read_input_tokens + usage.cache_creation_input_tokens > 0) return;
    for (const prefix of request.prefixes) this.#entries.delete(prefix);
    if (minimumCacheable(request.model) !== undefined) return;
    const known = this.#learnedMinimum.get(request.model) ?? 0;
    this.#learnedMinimum.set(request.model, Math.max(known, usage.input_tokens + 1));
  }

  minimum(model: string): number {
    return minimumCacheable(model) ?? Math.max(this.#learnedMinimum.get(model) ?? 0, ASSUMED_MINIMUM);
  }

  #prune(now: number): void {
    if (this.#entries.size < 10_000) return;
    for (const [prefix, entry] of this.#entries) if (entry.until <= now) this.#entries.delete(prefix);
  }
}
