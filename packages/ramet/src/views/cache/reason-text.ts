/** The reasons of `cache-explainer.ts` in words, and what a request is held against. */
import type { Candidate } from './best-candidate.ts';
import type { CacheExplanation } from './cache-explainer.ts';

export function reasonText({ reason, request, candidate }: CacheExplanation): string {
  const { usage } = request.answer ?? { usage: null };
  switch (reason.kind) {
    case 'hit':
      return 'it read what it could';
    case 'cold':
      return usage !== null && usage.cache_read_input_tokens > 0
        ? 'first request of this prefix here: what it read, an earlier session had written'
        : 'first request of this prefix: there was nothing to read yet (cold)';
    case 'below_minimum':
      return `below minimum: a prompt of ${reason.promptTokens} tokens is too short for this model's cache (${reason.minimum}); no miss`;
    case 'expired':
      return `expired: the prefix was not used for ${span(reason.silentMs)}, and it lives for ${span(reason.lifetimeMs)}`;
    case 'parallel':
      return `parallel launch without a lead: ${reason.with} was writing the same prefix, and its answer had not begun`;
    case 'model':
      return `model switched from ${reason.from} to ${reason.to}: each model has a cache of its own`;
    case 'compaction':
      return 'compaction: a summary took the place of the older messages';
    case 'changed':
      return `changed block: ${differenceText(candidate) ?? 'nothing of it is the same'}`;
    case 'out_of_reach':
      return 'out of reach: no mark of this request is within 20 blocks of what was written';
    case 'dropped':
      return 'dropped: the prefix was the same and its time not over, yet the provider no longer had it';
    case 'not_counted':
      return 'not counted: the provider reported neither reads from a cache nor writes to one';
    case 'unanswered':
      return reason.failure === null ? 'it has no answer yet' : `it was not answered: ${reason.failure}`;
  }
}

/** `tools[3].description`; null when one is a prefix of the other. */
export function differenceText(candidate: Candidate | null): string | null {
  const divergence = candidate?.divergence ?? null;
  if (divergence === null) return null;
  return divergence.field === null ? divergence.where : `${divergence.where}.${divergence.field}`;
}

export function candidateText({ kind, request }: Candidate): string {
  switch (kind) {
    case 'own':
      return `${request.id}, the request before it`;
    case 'parent':
      return `${request.id}, its parent at the fork point`;
    case 'sibling':
      return `${request.id}, the first sibling of its type`;
  }
}

function span(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
