/** One line of the ledger: what some requests took, cost and saved. A sum that holds an unknown part is unknown. */
import type { CacheState, EventOf } from '../../schema/events.ts';
import { addCost, addUsage, isPromptUncertain, NO_USAGE, type Usage } from '../../schema/usage.ts';

export interface LedgerLine {
  /** Requests sent, every attempt of them. */
  requests: number;
  responses: number;
  /** Attempts that failed and were to be tried again. */
  retries: number;
  usage: Usage;
  /** Null when any part of it is unknown. */
  costUsd: number | null;
  /** The sum of what is known of it. */
  atLeastUsd: number;
  /** Time spent on completed responses, summed. */
  durationMs: number;
  /** Responses to prompts that were too short for the model's cache: no misses. */
  belowMinimum: number;
  /** What agents read in their first request that others had written: the gain over sharing nothing. */
  reused: { tokens: number; savedUsd: number | null };
  unanswered: UnansweredLine;
}

/** Requests that no response tells the cost of: under way, lost with a process, or broken before an answer. */
export interface UnansweredLine {
  requests: number;
  /** What they cost at most, as far as that is known. */
  atMostUsd: number;
  /** Those of which nothing is known. */
  unbounded: number;
}

/** Null when one of them has no bound. */
export function mostUnanswered({ atMostUsd, unbounded }: UnansweredLine): number | null {
  return unbounded > 0 ? null : Math.max(0, atMostUsd);
}

export type BilledEvent = EventOf<'request.started' | 'request.failed' | 'response.completed'>;

export function emptyLine(): LedgerLine {
  return {
    requests: 0,
    responses: 0,
    retries: 0,
    usage: NO_USAGE,
    costUsd: 0,
    atLeastUsd: 0,
    durationMs: 0,
    belowMinimum: 0,
    reused: { tokens: 0, savedUsd: 0 },
    unanswered: { requests: 0, atMostUsd: 0, unbounded: 0 },
  };
}

/** What is known of a request that is asked. */
export interface AskedFacts {
  predicted: CacheState | null;
  /** Null when it has no bound. */
  atMostUsd: number | null;
  /** Whether the journal holds the request. */
  isRecorded: boolean;
}

export function enterEvent(line: LedgerLine, event: BilledEvent, asked: AskedFacts | null): void {
  switch (event.type) {
    case 'request.started':
      line.requests += 1;
      countUnanswered(line, asked, 1);
      break;
    case 'request.failed':
      if (event.mayCost !== true) countUnanswered(line, asked, -1);
      if (event.retryInMs !== null) line.retries += 1;
      line.usage = addUsage(line.usage, event.usage ?? NO_USAGE);
      enterCost(line, event);
      break;
    case 'response.completed':
      countUnanswered(line, asked, -1);
      line.responses += 1;
      line.usage = addUsage(line.usage, event.usage);
      enterCost(line, event);
      line.durationMs += event.durationMs;
      if (asked?.predicted === 'below minimum' && !usedCache(event.usage)) line.belowMinimum += 1;
      if (event.reused !== undefined) line.reused = addReuse(line.reused, event.reused);
      break;
  }
}

function enterCost(
  line: LedgerLine,
  { costUsd, atLeastUsd }: EventOf<'request.failed' | 'response.completed'>,
): void {
  line.costUsd = addCost(line.costUsd, costUsd);
  line.atLeastUsd = plus(line.atLeastUsd, costUsd ?? atLeastUsd ?? 0);
}

export function sumOfLines(lines: Iterable<LedgerLine>): LedgerLine {
  const sum = emptyLine();
  for (const line of lines) {
    sum.requests += line.requests;
    sum.responses += line.responses;
    sum.retries += line.retries;
    sum.usage = addUsage(sum.usage, line.usage);
    sum.costUsd = addCost(sum.costUsd, line.costUsd);
    sum.atLeastUsd = plus(sum.atLeastUsd, line.atLeastUsd);
    sum.durationMs += line.durationMs;
    sum.belowMinimum += line.belowMinimum;
    sum.reused = addReuse(sum.reused, line.reused);
    sum.unanswered = {
      requests: sum.unanswered.requests + line.unanswered.requests,
      atMostUsd: plus(sum.unanswered.atMostUsd, line.unanswered.atMostUsd),
      unbounded: sum.unanswered.unbounded + line.unanswered.unbounded,
    };
  }
  return sum;
}

function countUnanswered({ unanswered }: LedgerLine, asked: AskedFacts | null, by: 1 | -1): void {
  if (asked === null || !asked.isRecorded) return;
  const { atMostUsd } = asked;
  unanswered.requests += by;
  if (atMostUsd === null) unanswered.unbounded += by;
  else unanswered.atMostUsd = plus(unanswered.atMostUsd, by * atMostUsd);
}

function plus(a: number, b: number): number {
  return addCost(a, b) ?? a;
}

/** Nothing of it could have been a hit: every prompt was too short for the model's cache. */
export function isBelowMinimum({ responses, belowMinimum }: LedgerLine): boolean {
  return belowMinimum > 0 && belowMinimum === responses;
}

/** Or may have. */
function usedCache(usage: Usage): boolean {
  return isPromptUncertain(usage) || usage.cache_read_input_tokens + usage.cache_creation_input_tokens > 0;
}

function addReuse(a: LedgerLine['reused'], b: LedgerLine['reused']): LedgerLine['reused'] {
  return { tokens: a.tokens + b.tokens, savedUsd: addCost(a.savedUsd, b.savedUsd) };
}
