/**
 * The `anthropic-ratelimit-*` headers: limits per minute and what is left of them. They inform, they do not refuse: a
 * 429 is a fault of the scenario. Tokens read from the cache do not count.
 */
import type { MessageUsage } from './answer.ts';

export interface RateLimits {
  requests: number;
  inputTokens: number;
  outputTokens: number;
}

const MINUTE = 60_000;

export class RateLimitHeaders {
  readonly #limits: RateLimits;
  #used: RateLimits = { requests: 0, inputTokens: 0, outputTokens: 0 };
  #resetAt = 0;

  constructor(limits: RateLimits) {
    this.#limits = limits;
  }

  /** Counts a response and says what its headers are. */
  count(usage: MessageUsage, now: number): Record<string, string> {
    if (now >= this.#resetAt) {
      this.#used = { requests: 0, inputTokens: 0, outputTokens: 0 };
      this.#resetAt = now + MINUTE;
    }
    this.#used.requests += 1;
    this.#used.inputTokens += usage.input_tokens + usage.cache_creation_input_tokens;
    this.#used.outputTokens += usage.output_tokens;
    return {
      ...this.#headers('requests', 'requests', 1),
      ...this.#headers('inputTokens', 'input-tokens', 1000),
      ...this.#headers('outputTokens', 'output-tokens', 1000),
    };
  }

  #headers(field: keyof RateLimits, name: string, roundTo: number): Record<string, string> {
    const left = Math.max(0, this.#limits[field] - this.#used[field]);
    return {
      [`anthropic-ratelimit-${name}-limit`]: String(this.#limits[field]),
      [`anthropic-ratelimit-${name}-remaining`]: String(Math.round(left / roundTo) * roundTo),
      [`anthropic-ratelimit-${name}-reset`]: new Date(this.#resetAt).toISOString(),
    };
  }
}
