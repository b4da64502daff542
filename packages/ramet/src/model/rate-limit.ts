/** Which failures of a provider are about its limits, also those that come inside a stream and have no status. */
import { ModelError } from '../schema/errors.ts';
import type { RateOutcome } from './rate-bucket.ts';

/** A 429 that waiting helps; a spend limit is terminal. */
export function isRateLimit({ family, status, code }: ModelError): boolean {
  return family === 'retryable' && (status === 429 || code === 'rate_limit_error');
}

function isOverload({ family, status, code }: ModelError): boolean {
  return family === 'retryable' && (status === 529 || code === 'overloaded_error');
}

/** What a failed attempt tells the rate window. */
export function failureOutcome(error: unknown): RateOutcome {
  if (!(error instanceof ModelError)) return { kind: 'failed' };
  const overloaded = isOverload(error);
  if (!overloaded && !isRateLimit(error)) return { kind: 'failed' };
  const { retryAfterMs, rate } = error;
  return { kind: 'limited', overloaded, retryAfterMs, rate };
}
