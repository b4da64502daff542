/**
 * Takes secrets out of what a cassette keeps: headers by a list of those that are kept, bodies by what keys look like,
 * and the keys of the request itself wherever they stand. A secret that a model spells across several events of a
 * stream is not in any piece of text; `spellsSecret` finds it, and such an answer is not recorded.
 */
import { SECRET_PATTERNS } from '../../schema/secret-patterns.ts';

export type Scrub = (text: string) => string;

/** What a client may act on. Everything else says who asked, or nothing. */
const KEPT_HEADER =
  /^(?:content-type|retry-after(?:-ms)?|x-should-retry|anthropic-ratelimit-.+|x-ratelimit-.+)$/;
const KEY_HEADERS = ['x-api-key', 'authorization', 'proxy-authorization', 'cookie'];
/** Shorter ones are no keys, and occur in ordinary text. */
const SHORTEST_KEY = 8;

export function scrubber(requestHeaders: Readonly<Record<string, string>>): Scrub {
  const keys = KEY_HEADERS.map((name) => (requestHeaders[name] ?? '').replace(/^\w+ /, '')).filter(
    (key) => key.length >= SHORTEST_KEY,
  );
  const patterns = [
    ...keys.map((key) => RegExp.escape(key)),
    ...SECRET_PATTERNS.map(([, pattern]) => pattern),
  ];
  const everything = new RegExp(patterns.join('|'), 'g');
  return (text) => text.replace(everything, '[scrubbed]');
}

export function keptHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => KEPT_HEADER.test(name)));
}

/** Every string of a JSON value, scrubbed; keys stay. */
export function scrubValue(value: unknown, scrub: Scrub): unknown {
  if (typeof value === 'string') return scrub(value);
  if (Array.isArray(value)) return value.map((item) => scrubValue(item, scrub));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, scrubValue(item, scrub)]));
}

const DELTA = /"(?:text|thinking|partial_json|content|reasoning_content|arguments)":\s*("(?:[^"\\]|\\.)*")/g;

/** Whether the deltas of a stream, put together, hold a secret that none of them holds alone. */
export function spellsSecret(stream: string, scrub: Scrub): boolean {
  const spelled = [...stream.matchAll(DELTA)].map(([, json]) => parseString(json)).join('');
  return scrub(spelled) !== spelled;
}

function parseString(json = '""'): string {
  try {
    return String(JSON.parse(json));
  } catch {
    return '';
  }
}
