/**
 * Fork or fresh: what a fork's input has cost, and what it would have been for an agent that begins with its prompt
 * alone. A fork reads its inheritance in every request, so a long one is dear even when all of it is cached.
 *
 * The fresh agent is imagined as sending the same requests with its own short beginning in place of what the fork
 * inherited. It would have had to find out what the fork knew: the comparison says nothing of that.
 */
import { costOf, type PriceTable } from '../../model/prices.ts';
import type { EventOf } from '../../schema/events.ts';
import { addCost, grouped, isPromptUncertain, type Usage } from '../../schema/usage.ts';

export interface ForkCostFacts {
  /** Estimate of what the fork took over, tools and system prompt included. */
  inheritedTokens: number;
  /** Estimate of what a fresh agent begins with, likewise. */
  freshTokens: number;
  /** Of the fork's responses, in order. */
  usages: readonly Usage[];
  model: string;
  prices: PriceTable;
  /** Whether a cache holds the beginning of such a fresh agent already, because others like it run. */
  freshIsWarm?: boolean | undefined;
}

/** Tokens are input-token equivalents; dollars are those of the input. */
export interface JudgedFork extends Omit<EventOf<'fork.compared'>, 'type'> {
  dearer: boolean;
  /** One line for the agent that chose the fork; null when the choice was no clear mistake. */
  advice: string | null;
}

const WEIGHT = { write5m: 1.25, write1h: 2, read: 0.1 } as const;
/** How much dearer is clearly dearer: the figures are estimates. */
const CLEARLY = 1.2;
const WORTH_SAYING = 2_000;

export function compareFork(facts: ForkCostFacts): JudgedFork {
  const forks = facts.usages.map((usage) => ({ ...usage, output_tokens: 0 }));
  const fresh = freshUsages(facts, forks);
  const sums = {
    forkTokens: equivalents(forks),
    freshTokens: equivalents(fresh),
    forkUsd: inputCost(facts, forks),
    freshUsd: inputCost(facts, fresh),
  };
  const dearer = !facts.usages.some(isPromptUncertain) && isDearer(sums);
  return { ...sums, dearer, advice: dearer ? adviceFor(facts, sums) : null };
}

type Sums = Pick<JudgedFork, 'forkTokens' | 'freshTokens' | 'forkUsd' | 'freshUsd'>;

function freshUsages(facts: ForkCostFacts, forks: readonly Usage[]): Usage[] {
  const [first] = forks;
  if (first === undefined || facts.inheritedTokens <= 0) return [...forks];
  // The first request holds all of the inheritance: an estimate above it is too high, and the other one with it.
  const scale = Math.min(1, promptOf(first) / facts.inheritedTokens);
  const inherited = Math.round(facts.inheritedTokens * scale);
  const beginning = Math.round(facts.freshTokens * scale);
  return forks.map((usage, index) => {
    // Shorter than what was inherited: a compaction has removed it, and both would continue alike.
    if (promptOf(usage) < inherited) return usage;
    return withBeginning(
      withoutInherited(usage, inherited),
      beginning,
      index > 0 || facts.freshIsWarm === true,
    );
  });
}

/** What was inherited comes first in a prompt: it is what was read, then what was written, then the rest. */
function withoutInherited(usage: Usage, inherited: number): Usage {
  const read = Math.min(usage.cache_read_input_tokens, inherited);
  const written = Math.min(usage.cache_creation_input_tokens, inherited - read);
  const creation = usage.cache_creation_input_tokens - written;
  return {
    ...usage,
    cache_read_input_tokens: usage.cache_read_input_tokens - read,
    cache_creation_input_tokens: creation,
    cache_creation_1h_input_tokens: Math.min(usage.cache_creation_1h_input_tokens, creation),
    input_tokens: usage.input_tokens - (inherited - read - written),
  };
}

function withBeginning(usage: Usage, tokens: number, isRead: boolean): Usage {
  if (isRead) return { ...usage, cache_read_input_tokens: usage.cache_read_input_tokens + tokens };
  return { ...usage, cache_creation_input_tokens: usage.cache_creation_input_tokens + tokens };
}

function promptOf(usage: Usage): number {
  return usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
}

function equivalents(usages: readonly Usage[]): number {
  const sum = usages.reduce((total, usage) => {
    const hour = usage.cache_creation_1h_input_tokens;
    const written = (usage.cache_creation_input_tokens - hour) * WEIGHT.write5m + hour * WEIGHT.write1h;
    return total + usage.input_tokens + written + usage.cache_read_input_tokens * WEIGHT.read;
  }, 0);
  return Math.round(sum);
}

/** Response by response: prices may depend on the length of a prompt. */
function inputCost({ model, prices }: ForkCostFacts, usages: readonly Usage[]): number | null {
  return usages.reduce<number | null>((sum, usage) => addCost(sum, costOf(model, usage, prices).usd), 0);
}

/** Dollars decide where they are known: reading is cheaper with some models than with others. */
export function isDearer({ forkTokens, freshTokens, forkUsd, freshUsd }: Sums): boolean {
  if (forkTokens - freshTokens < WORTH_SAYING) return false;
  if (forkUsd === null || freshUsd === null) return forkTokens > freshTokens * CLEARLY;
  return forkUsd > freshUsd * CLEARLY;
}

function adviceFor({ inheritedTokens, usages }: ForkCostFacts, sums: Sums): string {
  const dollars =
    sums.forkUsd === null || sums.freshUsd === null
      ? ''
      : ` ($${sums.freshUsd.toFixed(4)} instead of $${sums.forkUsd.toFixed(4)})`;
  const requests = usages.length === 1 ? 'its request' : `each of its ${usages.length} requests`;
  return `A fresh agent would have cost less: about ${figure(sums.freshTokens)} instead of ${figure(sums.forkTokens)} input tokens${dollars}, as ${requests} carried the ${figure(inheritedTokens)} tokens of this conversation. Name a type when a task does not need them.`;
}

function figure(tokens: number): string {
  return grouped(Math.round(tokens));
}
