/** What a provider's headers say about its rate limits: read from an answer, and what follows for the next request. */
import type { IncomingHttpHeaders } from 'node:http';

const RATE_HEADER =
  /^(?:anthropic-ratelimit-(?<name>.+)|x-ratelimit-(?<kind>limit|remaining|reset)-(?<of>requests|tokens))$/;

/**
 * `anthropic-ratelimit-tokens-remaining: 5` becomes `tokens-remaining: 5`, and so does
 * `x-ratelimit-remaining-tokens`. The latter's resets are spans ("6m0s"): they become times, as the others are.
 */
export function rateHeaders(headers: IncomingHttpHeaders, now: number = Date.now()): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [header, value] of Object.entries(headers)) {
    // Most are about something else, in each answer.
    if (!header.includes('ratelimit-')) continue;
    const { name, kind, of } = RATE_HEADER.exec(header)?.groups ?? {};
    const known = name ?? (kind && `${of}-${kind}`);
    if (known === undefined || typeof value !== 'string') continue;
    const read = kind === 'reset' ? afterSpan(value, now) : value;
    if (read !== null) found[known] = read;
  }
  return found;
}

const SPAN =
  /^(?:(?<h>\d{1,4})h)?(?:(?<m>\d{1,6})m(?!s))?(?:(?<s>\d{1,8}(?:\.\d+)?)s)?(?:(?<ms>\d{1,9}(?:\.\d+)?)ms)?$/;

/** The time of "1h2m", "7.66s" or "120ms" from now on; null for anything else. */
function afterSpan(text: string, now: number): string | null {
  const span = text === '' ? undefined : SPAN.exec(text)?.groups;
  if (span === undefined) return null;
  const { h = 0, m = 0, s = 0, ms = 0 } = span;
  const length = ((Number(h) * 60 + Number(m)) * 60 + Number(s)) * 1000 + Number(ms);
  return new Date(now + Math.ceil(length)).toISOString();
}

/** Limits are per minute: a reset that is further away is no reason to wait for it, a refusal will tell. */
const NEAR_MS = 60_000;
const KINDS = ['requests', 'tokens', 'input-tokens', 'output-tokens'];

/** When the limit that is used up is renewed; null when none is, or when what the headers say makes no sense. */
export function exhaustedUntil(
  rate: Readonly<Record<string, string>>,
  now: number,
  withinMs: number = NEAR_MS,
): number | null {
  let until: number | null = null;
  for (const kind of KINDS) {
    if (rate[`${kind}-remaining`]?.trim() !== '0') continue;
    const reset = Date.parse(rate[`${kind}-reset`] ?? '');
    if (reset > now && reset <= now + withinMs && reset > (until ?? 0)) until = reset;
  }
  return until;
}

/**
 * The same of a refusal, which means what it says: also hours away, and also where one limit stands for all of a plan.
 */
export function refusedUntil(
  rate: Readonly<Record<string, string>>,
  now: number,
  withinMs: number,
): number | null {
  const renewed = exhaustedUntil(rate, now, withinMs);
  const text = rate['unified-reset']?.trim() ?? '';
  // In seconds since the epoch.
  const plan = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text);
  if (!(plan > now && plan <= now + withinMs)) return renewed;
  return Math.max(plan, renewed ?? 0);
}
