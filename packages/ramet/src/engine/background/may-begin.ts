/**
 * Whether background work may begin now: only beside room that nobody else needs, on a prefix that is in the cache, and
 * within a share of what the session itself has cost.
 */
import { planRequest, repeatedMarks } from '../../conversation/request.ts';
import { tokensAt } from '../../model/cache/cache-map.ts';
import { NO_USAGE, type Usage } from '../../schema/usage.ts';
import { type Agent, hosted } from '../agent/agent.ts';
import { hasOpenCalls } from '../calls/finish-calls.ts';
import type { AgentFamily } from '../children/family.ts';
import { contextTokens, contextWindow } from '../compaction/context-state.ts';

/** From this length on a prefix that must be written again costs more than the work is worth. */
const LONG_PREFIX = 10_000;
/** A fork needs room for its question and its answer. */
const ROOM_TOKENS = 8_000;
const WARM_SHARE = 0.9;

/** About what one fork writes, at the price of input. */
const ANSWER_WEIGHT = 1_500;
/** The rules of a fork and its task. */
const TASK_TOKENS = 500;

export interface BackgroundAccount {
  /** Of background work of the session so far. */
  readonly usage: Usage;
  /** Of work that has budgets of its own. */
  readonly apart?: Usage;
  /** Of all that earlier processes have done, where `spending` lacks that. */
  readonly earlier?: Usage | undefined;
  /** Null: it has a budget of its own. */
  readonly share: number | null;
  readonly isForWorking?: boolean;
}

/** Null if it may; otherwise why not, in a few words. */
export function whyNotNow(family: AgentFamily, agent: Agent, account: BackgroundAccount): string | null {
  const { runtime } = hosted(agent);
  const { model } = agent.conversation.head;
  if (account.isForWorking !== true && isAtWork(agent)) return 'the agent is at work';
  const { spending } = family.parts;
  if ((agent.here.spending ?? spending).state(runtime.clock.now()).level !== 'within')
    return 'the budget is nearly spent';
  if (!family.capacity.isFree) return 'all permits are in use';
  if (!runtime.rate.isFree(model)) return 'requests have to wait';
  const tokens = contextTokens(agent);
  if (tokens + ROOM_TOKENS > contextWindow(agent)) return 'the context window is nearly full';
  if (tokens >= LONG_PREFIX && !isWarm(agent)) return 'the conversation is not in the cache';
  if (account.share === null) return null;
  const own = weightOf(account.usage);
  const all = weightOf(spending.totalUsage) + weightOf(account.earlier ?? NO_USAGE);
  const rest = all - own - weightOf(account.apart ?? NO_USAGE);
  const read = Math.min(tokens, readableTokens(agent));
  // The answer that was just written is in no cache: the fork writes it there.
  const written = tokens - read + TASK_TOKENS;
  const { cache_read_input_tokens: perRead, cache_creation_input_tokens: perWritten } = WEIGHTS;
  const next = read * perRead + written * perWritten + ANSWER_WEIGHT;
  return own + next > rest * account.share ? 'it has had its share of the cost' : null;
}

function isAtWork(agent: Agent): boolean {
  return agent.conversation.awaitsAnswer || hasOpenCalls(agent);
}

function isWarm(agent: Agent): boolean {
  const { conversation, previousEnd } = agent;
  if (previousEnd === null) return false;
  return readableTokens(agent) >= tokensAt(conversation, conversation.indexOf(previousEnd)) * WARM_SHARE;
}

/** What the cache has of its last request. */
function readableTokens(agent: Agent): number {
  const { conversation, previousEnd, runtime } = hosted(agent);
  if (previousEnd === null) return 0;
  const marks = repeatedMarks(conversation, previousEnd, '5m');
  const planned = planRequest(conversation, marks, runtime.clock.now());
  return runtime.cacheMap.readableTokens(planned, conversation.indexOf(previousEnd));
}

/** Prices of tokens in relation to input. They differ little between models, and hold for one without a price too. */
const WEIGHTS = {
  input_tokens: 1,
  cache_creation_input_tokens: 1.25,
  cache_read_input_tokens: 0.1,
  output_tokens: 5,
} as const satisfies Partial<Record<keyof typeof NO_USAGE, number>>;

function weightOf(usage: Usage): number {
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } = usage;
  return (
    input_tokens * WEIGHTS.input_tokens +
    cache_creation_input_tokens * WEIGHTS.cache_creation_input_tokens +
    cache_read_input_tokens * WEIGHTS.cache_read_input_tokens +
    output_tokens * WEIGHTS.output_tokens
  );
}
