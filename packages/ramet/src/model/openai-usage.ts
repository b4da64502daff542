/**
 * Usage of a chat completion. `prompt_tokens` holds cached and written tokens too, ours are apart. A server that
 * counts nothing, or counts no prompt at all, has not said: null, not zero.
 */
import type { Usage } from '../schema/usage.ts';

export interface ChatUsage {
  prompt_tokens?: unknown;
  completion_tokens?: unknown;
  prompt_tokens_details?: { cached_tokens?: unknown; cache_write_tokens?: unknown } | null;
  /** Where two kinds of servers put what others have in the details. */
  cached_tokens?: unknown;
  prompt_cache_hit_tokens?: unknown;
}

export function readChatUsage(wire: ChatUsage | null): Usage | null {
  if (wire === null) return null;
  const prompt = count(wire.prompt_tokens);
  const output = count(wire.completion_tokens);
  if (prompt === undefined || output === undefined || prompt === 0) return null;
  const details = wire.prompt_tokens_details;
  const cached =
    count(details?.cached_tokens) ?? count(wire.cached_tokens) ?? count(wire.prompt_cache_hit_tokens);
  // Parts that are more than the whole would make the rest negative.
  const read = Math.min(prompt, cached ?? 0);
  const written = Math.min(prompt - read, count(details?.cache_write_tokens) ?? 0);
  return {
    input_tokens: prompt - read - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    output_tokens: output,
    cache_creation_1h_input_tokens: 0,
  };
}

function count(value: unknown): number | undefined {
  return Number.isInteger(value) && Number(value) >= 0 ? Number(value) : undefined;
}
