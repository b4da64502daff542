/**
 * A cassette: requests with the answers a real provider gave (EMU-4). One JSON line each, behind a line that says what
 * the file is. Owns the form and what makes two requests the same.
 *
 * 1. Requests are the same when method, path and normalised body are: keys in order, `metadata` and the text between
 *    `<environment>` marks left out, because they name the user, the day and the machine.
 * 2. An answer is kept as the pieces of text it came in; their timing is not kept.
 * 3. A line that was changed by hand no longer fits its digest and is refused.
 */
import { hash } from 'node:crypto';
import * as z from '../../schema/zod.ts';
import { type Scrub, scrubValue } from './cassette-scrub.ts';

export interface CassetteHead {
  cassette: 1;
  upstream: string;
}

export interface RecordedAnswer {
  status: number;
  headers: Record<string, string>;
  chunks: string[];
  /** The connection broke here instead of ending. */
  broken?: boolean | undefined;
}

export interface CassetteEntry extends RecordedAnswer {
  method: string;
  path: string;
  digest: string;
  /** Normalised and scrubbed: what a request is compared with. */
  request: unknown;
}

export const cassetteHeadSchema: z.ZodMiniType<CassetteHead> = z.object({
  cassette: z.literal(1),
  upstream: z.string(),
});

export const cassetteEntrySchema: z.ZodMiniType<CassetteEntry> = z.strictObject({
  method: z.string(),
  path: z.string(),
  digest: z.string(),
  request: z.unknown(),
  status: z.int().check(z.minimum(100), z.maximum(599)),
  headers: z.record(z.string(), z.string()),
  chunks: z.array(z.string()),
  broken: z.optional(z.boolean()),
});

/** A request as it is compared: a body that is no JSON stands for itself. */
export function normaliseBody(body: string, scrub: Scrub): unknown {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return scrub(body);
  }
  return scrubValue(ordered(value, true), scrub);
}

export function requestDigest(method: string, path: string, request: unknown): string {
  return hash('sha256', `${method} ${path}\n${JSON.stringify(request)}`, 'hex');
}

const ENVIRONMENT = /<environment>.*?<\/environment>/gs;

function ordered(value: unknown, top = false): unknown {
  if (typeof value === 'string') return value.replace(ENVIRONMENT, '<environment/>');
  if (Array.isArray(value)) return value.map((item) => ordered(item));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([key]) => !top || key !== 'metadata')
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, ordered(item)]));
}
