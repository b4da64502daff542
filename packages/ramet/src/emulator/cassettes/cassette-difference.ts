/** Why no recorded request is the one that was asked: the nearest one, and where the two part. */
import type { CassetteEntry } from './cassette.ts';

export interface AskedRequest {
  method: string;
  path: string;
  request: unknown;
}

export function describeMiss(entries: readonly CassetteEntry[], asked: AskedRequest): string {
  const place = `${asked.method} ${asked.path}`;
  const rivals = entries.filter(({ method, path }) => method === asked.method && path === asked.path);
  const nearest = nearestTo(rivals, JSON.stringify(asked.request) ?? '');
  if (nearest === undefined) return `nothing is recorded for ${place}`;
  const line = entries.indexOf(nearest) + 2;
  return `the nearest to this ${place} is in line ${line} and differs at ${difference(nearest.request, asked.request)}`;
}

function nearestTo(entries: readonly CassetteEntry[], text: string): CassetteEntry | undefined {
  let best: { entry: CassetteEntry; length: number } | undefined;
  for (const entry of entries) {
    const length = commonLength(JSON.stringify(entry.request), text);
    if (best === undefined || length > best.length) best = { entry, length };
  }
  return best?.entry;
}

/** `messages.2.content: recorded "a", asked "b"`, of the first place where they part. */
function difference(recorded: unknown, asked: unknown, path: readonly string[] = []): string {
  if (isContainer(recorded) && isContainer(asked)) {
    const keys = new Set([...Object.keys(recorded), ...Object.keys(asked)]);
    for (const key of keys) {
      const [a, b] = [recorded[key], asked[key]];
      if (JSON.stringify(a) !== JSON.stringify(b)) return difference(a, b, [...path, key]);
    }
  }
  const [a, b] = [show(recorded), show(asked)];
  const from = Math.max(0, commonLength(a, b) - 20);
  return `${path.join('.') || 'the whole body'}: recorded ${excerpt(a, from)}, asked ${excerpt(b, from)}`;
}

/** Lists too: their indexes are keys. */
function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}

function excerpt(text: string, from: number): string {
  const end = from + 60;
  return `${from > 0 ? '...' : ''}${text.slice(from, end)}${text.length > end ? '...' : ''}`;
}

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}
