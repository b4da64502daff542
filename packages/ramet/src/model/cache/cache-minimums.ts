/** From how many tokens on a model caches a prefix (LAUNCH-1): what is published, else 1,024 and what usage teaches. */
import { minimumCacheable } from '../catalog.ts';

/** Taken where neither the catalogue nor experience knows better. */
const ASSUMED = 1_024;

interface Experience {
  /** The longest prompt that was not cached although it was marked. */
  longestRefused: number;
  shortestCached: number;
}

export class CacheMinimums {
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
