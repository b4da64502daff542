/**
 * Compaction (RES-7): replaces the older part of a conversation by a summary and what must not be lost. It owns the
 * order of the steps and what counts as success; what is kept is `conversation/compacted.ts`, when it is done is
 * decided by `make-room.ts` and other callers of `compact`.
 *
 * Invariants
 * 1. The conversation is replaced by one event, after everything else has succeeded: an abort, an error or a killed
 *    process leaves the old one, byte for byte, or the new one.
 * 2. What was replaced stays in the journal.
 * 3. A conversation is replaced only by a shorter one; without being asked for, only by one below the threshold.
 */
import { type CompactionPlan, planCompaction } from '../../conversation/compacted.ts';
import type { FrozenMessage } from '../../conversation/conversation.ts';
import { bytesOfTokens, estimateTokens, freezeBlock } from '../../conversation/frozen-block.ts';
import type { CompactionTrigger } from '../../schema/events.ts';
import type { Usage } from '../../schema/usage.ts';
import type { Agent } from '../agent/agent.ts';
import { isSearching } from '../agent/agent-content.ts';
import { hookText } from '../agent/notices.ts';
import { Spending } from '../budget/budget.ts';
import { keepWithSummary, tailRoom } from './compaction-keeps.ts';
import { askForSummary } from './compaction-summary.ts';
import { compactionThreshold, contextTokens, tokensToRetryAt } from './context-state.ts';

/** How many turns the question leaves out when the whole no longer fits: the fewest that help. */
const UNREAD_AFTER_OVERFLOW = [1, 4];

export interface CompactOptions {
  trigger: CompactionTrigger;
  signal: AbortSignal;
  /** What the summary is to pay attention to. */
  instructions?: string | undefined;
  turn?: number | undefined;
  /** Of the run within which this happens. */
  spending?: Spending | undefined;
}

/** Sizes are in tokens as far as they are known: measured before, estimated after. */
export type CompactionOutcome = { usage: Usage; costUsd: number | null } & (
  | { compacted: true; tokensBefore: number; tokensAfter: number; summary: string }
  | { compacted: false; reason: string }
);

/** Rejects only when it is aborted or the journal cannot be written. To be called between two turns. */
export async function compact(agent: Agent, options: CompactOptions): Promise<CompactionOutcome> {
  const bill = new Spending({}, 0);
  const tokensBefore = contextTokens(agent);
  const found = (await refusedByHook(agent, options)) ?? (await findCompacted(agent, options, bill));
  const spent = (): Pick<CompactionOutcome, 'usage' | 'costUsd'> => ({
    usage: bill.usage,
    costUsd: bill.costUsd,
  });
  if ('reason' in found) {
    giveUp(agent, options, found.reason);
    await agent.runtime.journal.commit('written');
    return { compacted: false, reason: found.reason, ...spent() };
  }
  const { messages, tokensAfter, summary } = found;
  const { trigger } = options;
  const why = { cause: 'compaction', tokens: tokensAfter, trigger, tokensBefore } as const;
  agent.replaceConversation(why, agent.conversation.head, messages);
  await agent.runtime.journal.commit('synced');
  await tellSummary(agent, options, summary);
  if (trigger !== 'request') await toldAgain(agent, options.signal);
  return { compacted: true, tokensBefore, tokensAfter, summary, ...spent() };
}

/** A conversation that does not fit is compacted or lost: hooks may keep any other. */
async function refusedByHook(
  agent: Agent,
  { trigger, instructions, signal }: CompactOptions,
): Promise<Failure | null> {
  const { hooks } = agent.runtime;
  if (hooks?.has(agent, 'PreCompact') !== true) return null;
  const fields = {
    trigger: cause(trigger),
    custom_instructions: instructions ?? '',
    context_tokens: contextTokens(agent),
    going: aboutToGo(agent),
  };
  const { block } = await hooks.run(agent, 'PreCompact', fields, signal);
  return block === undefined || trigger === 'overflow' ? null : { reason: `a hook refused it: ${block}` };
}

function cause(trigger: CompactionTrigger): 'manual' | 'auto' {
  return trigger === 'request' ? 'manual' : 'auto';
}

async function tellSummary(agent: Agent, { trigger, signal }: CompactOptions, text: string): Promise<void> {
  const { hooks } = agent.runtime;
  if (hooks?.has(agent, 'PostCompact') !== true) return;
  const fields = { trigger: cause(trigger), compact_summary: text };
  await hooks.run(agent, 'PostCompact', fields, signal);
}

/** Of the main agent: what hooks told it when the session began is told again. Between two prompts the session does that. */
async function toldAgain(agent: Agent, signal: AbortSignal): Promise<void> {
  const { hooks, redact } = agent.runtime;
  if (agent.spec.parent !== null || hooks?.has(agent, 'SessionStart') !== true) return;
  const fields = { source: 'compact', model: agent.conversation.head.model };
  const { contexts } = await hooks.run(agent, 'SessionStart', fields, signal);
  const texts = contexts.map((text) => redact(hookText('SessionStart', text)).toWellFormed());
  if (texts.length > 0)
    agent.say(
      'notice',
      texts.map((text) => freezeBlock({ type: 'text', text })),
    );
}

/** Which lines of the transcript a summary takes the place of; null for none. After it the transcript begins again. */
function aboutToGo(agent: Agent): Readonly<Record<string, number>> | null {
  const { messages } = agent.conversation;
  const plan = planCompaction(messages, { tailTokens: tailRoom(agent), unread: 0 });
  if (plan === null) return null;
  const going = messages.slice(1, plan.tail).flatMap(({ blocks }) => blocks);
  return { first_line: 2, last_line: plan.tail, messages: plan.tail - 1, tokens: estimateTokens(going) };
}

interface Failure {
  reason: string;
}

interface Compacted {
  messages: FrozenMessage[];
  tokensAfter: number;
  summary: string;
}

async function findCompacted(
  agent: Agent,
  options: CompactOptions,
  bill: Spending,
): Promise<Compacted | Failure> {
  if (isPaused(agent)) return { reason: 'the turn is paused' };
  const tailTokens = tailRoom(agent);
  const memory = await agent.here.memoryNow?.();
  let failure: Failure = { reason: 'there is nothing to summarise yet' };
  for (const unread of options.trigger === 'overflow' ? UNREAD_AFTER_OVERFLOW : [0]) {
    const plan = planCompaction(agent.conversation.messages, { tailTokens, unread });
    if (plan === null) return failure;
    const without = judge(agent, plan, options.trigger, { summary: '', memory });
    if ('reason' in without) return without;
    const answer = await askForSummary(agent, {
      messages: plan.summarised,
      instructions: options.instructions,
      turn: options.turn ?? 0,
      signal: options.signal,
      bills: options.spending === undefined ? [bill] : [bill, options.spending],
    });
    if ('summary' in answer) return judge(agent, plan, options.trigger, { ...answer, memory });
    failure = answer;
    if (!answer.tooLong) break;
  }
  return failure;
}

/** The new conversation, or why it is not worth having. An empty summary shows whether to ask for one at all. */
function judge(
  agent: Agent,
  plan: CompactionPlan,
  trigger: CompactionTrigger,
  { summary, memory }: { summary: string; memory: string | null | undefined },
): Compacted | Failure {
  const old = agent.conversation.messages;
  const replaced = estimateTokens(old.slice(1, plan.tail).flatMap(({ blocks }) => blocks));
  if (bytesOfTokens(replaced) <= Buffer.byteLength(summary)) {
    return { reason: 'the summary is longer than what it replaces' };
  }
  const messages = keepWithSummary(agent, plan, summary, memory);
  const oldSize = sizeOf(agent, old);
  const newSize = sizeOf(agent, messages);
  if (newSize >= oldSize) return { reason: 'the conversation would not become shorter' };
  // The estimate is wrong by much the same factor on both sides, so the measure tells the new size.
  const tokensAfter = Math.ceil((contextTokens(agent) * newSize) / oldSize);
  if (trigger !== 'request' && tokensAfter >= compactionThreshold(agent)) {
    const limit = compactionThreshold(agent);
    return {
      reason: `the conversation would still have about ${tokensAfter} tokens, with a limit of ${limit}`,
    };
  }
  return { messages, tokensAfter, summary };
}

function giveUp(agent: Agent, { trigger }: CompactOptions, reason: string): void {
  agent.warn('compaction_failed', `the conversation was not compacted: ${reason}`);
  if (trigger === 'request') return;
  agent.record({ type: 'compaction.postponed', untilTokens: tokensToRetryAt(agent) });
}

/** A turn that the provider has paused goes back as it is; a question after it would end it. */
function isPaused({ conversation, state }: Agent): boolean {
  return state.openStop === 'pause_turn' || isSearching(conversation.messages);
}

function sizeOf({ conversation }: Agent, messages: readonly FrozenMessage[]): number {
  const { tools, system } = conversation.head;
  return estimateTokens([...tools, ...system, ...messages.flatMap(({ blocks }) => blocks)]);
}
