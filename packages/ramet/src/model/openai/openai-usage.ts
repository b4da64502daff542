/**
 * Usage of a chat completion. `prompt_tokens` holds cached and written tokens too, ours are apart. A server that
 * counts nothing, or counts no prompt at all, has not said: null, not zero. A number that no count can be is unknown.
 */
import type { Usage } from '../../schema/usage.ts';
import { isPossibleCount, usageOf } from '../wire-usage.ts';

export interface ChatUsage {
  prompt_tokens?: unknown;
  completion_tokens?: unknown;
  prompt_tokens_details?: { cached_tokens?: unknown; cache_write_tokens?: unknown } | null;
  /** Where two kinds of servers put what others have in the details. */
  cached_tokens?: unknown;
  prompt_cache_hit_tokens?: unknown;
}

export function readChatUsage(wire: ChatUsage | null): Usage | null {
  if (typeof wire?.prompt_tokens !== 'number' || typeof wire.completion_tokens !== 'number') return null;
  const { prompt_tokens: prompt, completion_tokens: output } = wire;
  if (prompt === 0) return null;
  const details = wire.prompt_tokens_details;
  const cached = details?.cached_tokens ?? wire.cached_tokens ?? wire.prompt_cache_hit_tokens ?? 0;
  const written = details?.cache_write_tokens ?? 0;
  return usageOf({
    ...promptCounts(prompt, cached, written),
    output_tokens: output,
    cache_creation_1h_input_tokens: 0,
  });
}

type PromptCount = 'input_tokens' | 'cache_creation_input_tokens' | 'cache_read_input_tokens';

/** What is uncached is the rest: it is known only where the whole and its parts are. */
function promptCounts(prompt: number, cached: unknown, written: unknown): Record<PromptCount, unknown> {
  const parts = { cache_creation_input_tokens: written, cache_read_input_tokens: cached };
  if (![prompt, cached, written].every(isPossibleCount)) return { ...parts, input_tokens: undefined };
  // Parts that are more than the whole would make the rest negative.
  const read = Math.min(prompt, Number(cached));
  const creation = Math.min(prompt - read, Number(written));
  return {
    input_tokens: prompt - read - creation,
    cache_creation_input_tokens: creation,
    cache_read_input_tokens: read,
  };
}
