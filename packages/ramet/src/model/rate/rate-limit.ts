/** Which failures of a provider are about its limits, also those that come inside a stream and have no status. */
import { ModelError } from '../../schema/errors.ts';
import type { RateOutcome } from './rate-bucket.ts';
import { LONG_PAUSE_MS } from './rate-pause.ts';

/** A 429 that waiting helps; a spend limit is terminal. */
export function isRateLimit({ family, status, code }: ModelError): boolean {
  return family === 'retryable' && (status === 429 || code === 'rate_limit_error');
}

function isOverload({ family, status, code }: ModelError): boolean {
  return family === 'retryable' && (status === 529 || code === 'overloaded_error');
}

/** Whether waiting is what the provider asks for: by a 429, or for so long that it is no hiccup. */
export function asksToWait(error: ModelError): boolean {
  return isRateLimit(error) || asksForLongPause(error);
}

/** A provider that is down says so for minutes (a 529 or 503): to try again before would be for nothing. */
function asksForLongPause(error: ModelError): boolean {
  const { family, status, retryAfterMs = 0 } = error;
  return retryAfterMs >= LONG_PAUSE_MS && (isOverload(error) || (family === 'retryable' && status === 503));
}

/** What a failed attempt tells the rate window. */
export function failureOutcome(error: unknown): RateOutcome {
  if (!(error instanceof ModelError)) return { kind: 'failed' };
  const overloaded = isOverload(error) || asksForLongPause(error);
  if (!overloaded && !isRateLimit(error)) return { kind: 'failed' };
  const { retryAfterMs, rate } = error;
  return { kind: 'limited', overloaded, retryAfterMs, rate };
}
