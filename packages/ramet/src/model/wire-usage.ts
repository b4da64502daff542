/** Usage as it comes over the wire: in `message_start`, then cumulative and perhaps partial in `message_delta`. */
import type { Usage } from '../schema/usage.ts';

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

/** Null when the counts that every response must have are missing: then the cost is unknown too. */
export function readUsage(wire: WireUsage | null): Usage | null {
  if (typeof wire?.input_tokens !== 'number' || typeof wire.output_tokens !== 'number') return null;
  return {
    input_tokens: wire.input_tokens,
    output_tokens: wire.output_tokens,
    cache_creation_input_tokens: wire.cache_creation_input_tokens ?? 0,
    cache_read_input_tokens: wire.cache_read_input_tokens ?? 0,
    cache_creation_1h_input_tokens: wire.cache_creation?.ephemeral_1h_input_tokens ?? 0,
  };
}
