/** What requests may have cost of which no response tells (MODEL-3): unknown, but not without bound. */
import { type ModelError, systemCode } from '../schema/errors.ts';
import { NO_USAGE } from '../schema/usage.ts';
import { costOf, type PriceTable } from './prices.ts';

export interface UnansweredRequest {
  model: string;
  bytes: number;
  maxTokens: number;
  /** The longest life of what it marks for the cache; null when it marks nothing. */
  ttl: '5m' | '1h' | null;
}

/** Fewer than any text has in the long run: the bound is to hold. */
const LEAST_BYTES_PER_TOKEN = 2;

/** All of the prompt at the dearest price that it can have, and all the output that it allows. Null without a price. */
export function mostCost(request: UnansweredRequest, prices: PriceTable): number | null {
  const { model, bytes, maxTokens, ttl } = request;
  const prompt = Math.ceil(bytes / LEAST_BYTES_PER_TOKEN);
  const written = {
    cache_creation_input_tokens: prompt,
    cache_creation_1h_input_tokens: ttl === '1h' ? prompt : 0,
  };
  const input = ttl === null ? { input_tokens: prompt } : written;
  return costOf(model, { ...NO_USAGE, ...input, output_tokens: maxTokens }, prices).usd;
}

/** Nothing of a request has been sent when these happen. */
const NEVER_SENT: readonly unknown[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'EMFILE',
  'ENFILE',
];

/** Whether the provider may have counted an attempt that failed: it may have taken it, and did not say. */
export function mayHaveCost(error: ModelError): boolean {
  if (error.status !== undefined || error.usage !== undefined) return false;
  return !NEVER_SENT.includes(systemCode(error.cause));
}
