/** One line of the ledger: what some requests took, cost and saved. A sum that holds an unknown part is unknown. */
import type { CacheState, EventOf } from '../../schema/events.ts';
import { addCost, addUsage, NO_USAGE, type Usage } from '../../schema/usage.ts';

export interface LedgerLine {
  /** Requests sent, every attempt of them. */
  requests: number;
  responses: number;
  /** Attempts that failed and were to be tried again. */
  retries: number;
  usage: Usage;
  /** Null when any part of it is unknown. */
  costUsd: number | null;
  /** Time spent on completed responses, summed. */
  durationMs: number;
  /** Responses to prompts that were too short for the model's cache: no misses. */
  belowMinimum: number;
  /** What agents read in their first request that others had written: the gain over sharing nothing. */
  reused: { tokens: number; savedUsd: number | null };
}

export type BilledEvent = EventOf<'request.started' | 'request.failed' | 'response.completed'>;

export function emptyLine(): LedgerLine {
  return {
    requests: 0,
    responses: 0,
    retries: 0,
    usage: NO_USAGE,
    costUsd: 0,
    durationMs: 0,
    belowMinimum: 0,
    reused: { tokens: 0, savedUsd: 0 },
  };
}

/** `predicted` is what the cache map had said of the request. */
export function enterEvent(line: LedgerLine, event: BilledEvent, predicted: CacheState | null): void {
  switch (event.type) {
    case 'request.started':
      line.requests += 1;
      break;
    case 'request.failed':
      if (event.retryInMs !== null) line.retries += 1;
      line.usage = addUsage(line.usage, event.usage ?? NO_USAGE);
      line.costUsd = addCost(line.costUsd, event.costUsd);
      break;
    case 'response.completed':
      line.responses += 1;
      line.usage = addUsage(line.usage, event.usage);
      line.costUsd = addCost(line.costUsd, event.costUsd);
      line.durationMs += event.durationMs;
      if (predicted === 'below minimum' && !usedCache(event.usage)) line.belowMinimum += 1;
      if (event.reused !== undefined) line.reused = addReuse(line.reused, event.reused);
      break;
  }
}

export function sumOfLines(lines: Iterable<LedgerLine>): LedgerLine {
  const sum = emptyLine();
  for (const line of lines) {
    sum.requests += line.requests;
    sum.responses += line.responses;
    sum.retries += line.retries;
    sum.usage = addUsage(sum.usage, line.usage);
    sum.costUsd = addCost(sum.costUsd, line.costUsd);
    sum.durationMs += line.durationMs;
    sum.belowMinimum += line.belowMinimum;
    sum.reused = addReuse(sum.reused, line.reused);
  }
  return sum;
}

/** Nothing of it could have been a hit: every prompt was too short for the model's cache. */
export function isBelowMinimum({ responses, belowMinimum }: LedgerLine): boolean {
  return belowMinimum > 0 && belowMinimum === responses;
}

function usedCache(usage: Usage): boolean {
  return usage.cache_read_input_tokens + usage.cache_creation_input_tokens > 0;
}

function addReuse(a: LedgerLine['reused'], b: LedgerLine['reused']): LedgerLine['reused'] {
  return { tokens: a.tokens + b.tokens, savedUsd: addCost(a.savedUsd, b.savedUsd) };
}
