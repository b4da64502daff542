/** Usage as it comes over the wire: in `message_start`, then cumulative and perhaps partial in `message_delta`. */
import { isUncertain, NO_USAGE, type TokenCount, type Usage } from '../schema/usage.ts';

export interface WireUsage {
  input_tokens?: number | null;
  output_tokens?: number | null;
  cache_creation_input_tokens?: number | null;
  cache_read_input_tokens?: number | null;
  cache_creation?: { ephemeral_1h_input_tokens?: number | null } | null;
}

/** A later report replaces the fields it has; it never adds to them. */
export function mergeUsage(before: WireUsage | null, later: WireUsage | null | undefined): WireUsage | null {
  if (typeof later !== 'object' || later === null) return before;
  const present = Object.entries(later).filter(([, value]) => value !== null && value !== undefined);
  return { ...before, ...Object.fromEntries(present) };
}

/** Far beyond every context window: a larger number is a mistake of who counted. */
const MOST_TOKENS = 100_000_000;

export function isPossibleCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST_TOKENS;
}

/**
 * Null when the counts that every response must have are missing: then the cost is unknown too. A number that no count
 * can be is unknown, and the others stay.
 */
export function readUsage(wire: WireUsage | null): Usage | null {
  if (typeof wire?.input_tokens !== 'number' || typeof wire.output_tokens !== 'number') return null;
  const long = wire.cache_creation?.ephemeral_1h_input_tokens;
  const usage = usageOf({
    input_tokens: wire.input_tokens,
    output_tokens: wire.output_tokens,
    cache_creation_input_tokens: wire.cache_creation_input_tokens ?? 0,
    cache_read_input_tokens: wire.cache_read_input_tokens ?? 0,
    cache_creation_1h_input_tokens: long ?? 0,
  });
  const { cache_creation_input_tokens: written, cache_creation_1h_input_tokens: longLived } = usage;
  if (longLived <= written || isUncertain(usage, 'cache_creation_input_tokens')) return usage;
  // A share that is more than the whole: the whole is believed.
  const share: TokenCount = 'cache_creation_1h_input_tokens';
  return { ...usage, unknown: [...(usage.unknown ?? []), share], [share]: 0 };
}

/** The counts that are possible; the others are named as unknown. */
export function usageOf(counts: Readonly<Record<TokenCount, unknown>>): Usage {
  const unknown: TokenCount[] = [];
  const known = { ...NO_USAGE };
  for (const [name, value] of Object.entries(counts)) {
    const count = name as TokenCount; // the keys of the record
    if (isPossibleCount(value)) known[count] = value;
    else unknown.push(count);
  }
  return unknown.length === 0 ? known : { ...known, unknown };
}
