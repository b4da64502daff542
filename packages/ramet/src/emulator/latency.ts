/** How long a model takes (EMU-3). All zero by default, so that overhead can be measured without it. */
import * as z from '../schema/zod.ts';
import type { InputUsage } from './messages/cache.ts';

export interface Latency {
  /** Milliseconds before the first token whatever the prompt. */
  baseMs: number;
  /** Milliseconds per 1,000 prompt tokens that no cache holds. */
  uncachedMsPer1k: number;
  /** Milliseconds per 1,000 prompt tokens that come from the cache. */
  cachedMsPer1k: number;
  /** Pace after the first token; 0 sends everything at once. */
  tokensPerSecond: number;
}

export const NO_LATENCY: Latency = Object.freeze({
  baseMs: 0,
  uncachedMsPer1k: 0,
  cachedMsPer1k: 0,
  tokensPerSecond: 0,
});

export type LatencyOptions = { [Field in keyof Latency]?: number | undefined };

const quantity = z.optional(z.number().check(z.nonnegative()));

export const latencySchema: z.ZodMiniType<LatencyOptions> = z.strictObject({
  baseMs: quantity,
  uncachedMsPer1k: quantity,
  cachedMsPer1k: quantity,
  tokensPerSecond: quantity,
});

/** `options` over `base`, field by field. */
export function withLatency(base: Latency, options: LatencyOptions = {}): Latency {
  return {
    baseMs: options.baseMs ?? base.baseMs,
    uncachedMsPer1k: options.uncachedMsPer1k ?? base.uncachedMsPer1k,
    cachedMsPer1k: options.cachedMsPer1k ?? base.cachedMsPer1k,
    tokensPerSecond: options.tokensPerSecond ?? base.tokensPerSecond,
  };
}

export function firstTokenMs(latency: Latency, usage: InputUsage): number {
  const uncached = usage.input_tokens + usage.cache_creation_input_tokens;
  return (
    latency.baseMs +
    (latency.uncachedMsPer1k * uncached) / 1000 +
    (latency.cachedMsPer1k * usage.cache_read_input_tokens) / 1000
  );
}

export function generationMs(latency: Latency, tokens: number): number {
  return latency.tokensPerSecond === 0 ? 0 : (tokens * 1000) / latency.tokensPerSecond;
}
