/** The four things that a fork may have otherwise than its parent (FORK-3): one more, and it reads another cache. */

import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import { costOf, type PriceTable } from '../../model/prices.ts';
import { readBudget, strictest } from '../../schema/budget-limits.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { BudgetLimits } from '../../schema/status.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import type { SpawnRequest } from '../../tools/agent-desk.ts';
import type { CanUseTool } from '../agent/runtime.ts';

export interface ForkOverrides {
  /** Ends the fork when it aborts; the parent's own abort does so in any case. */
  abortController?: AbortController | undefined;
  /** Keeps it out of what can be continued, never out of the journal. */
  skipTranscript?: boolean | undefined;
  /** Its requests write nothing to the cache that only they would read. */
  skipCacheWrite?: boolean | undefined;
  /** Narrows what it may do; it cannot widen it. */
  canUseTool?: CanUseTool | undefined;
}

const ALLOWED: ReadonlySet<string> = new Set([
  'abortController',
  'skipTranscript',
  'skipCacheWrite',
  'canUseTool',
] satisfies (keyof ForkOverrides)[]);

/** Callers without types are told at run time. */
export function refuseOtherOverrides(overrides: ForkOverrides): void {
  const other = Object.keys(overrides).filter((key) => !ALLOWED.has(key));
  if (other.length === 0) return;
  throw new UserMistake(
    'fork_override',
    `a fork cannot change ${other.join(', ')}: it would no longer read its parent's cache; it may set ${[...ALLOWED].join(', ')}, or use an agent type instead`,
  );
}

/** Model and thinking are parts of the prefix that a fork shares. */
export function refuseForkChoices({ model, effort }: Pick<SpawnRequest, 'model' | 'effort'>): void {
  if (model !== undefined) {
    throw new UserMistake(
      'fork_model',
      "a fork runs on its parent's model, whose cache it shares: leave model out, or name a subagent_type",
    );
  }
  if (effort !== undefined) {
    throw new UserMistake(
      'fork_effort',
      'a fork thinks as its parent does, whose cache it shares: leave effort out, or name a subagent_type',
    );
  }
}

/**
 * What a child may take by itself (RES-10): what the call says and what its type says, whichever is less. It hangs below
 * the budget of its parent, whose limits hold in any case.
 */
export interface ChildLimits {
  budget: BudgetLimits;
  maxTurns: number;
}

interface LimitedOrder extends Pick<SpawnRequest, 'budget' | 'maxTurns'> {
  call: string | null;
}

export function childLimits(
  { budget: own = {}, maxTurns, call }: LimitedOrder,
  definition: AgentDefinition | null,
  { turns, model, prices }: { turns: number; model: string; prices: PriceTable },
): ChildLimits {
  const asked = readBudget(own);
  if (typeof asked === 'string') throw new UserMistake('bad_budget', `the budget cannot be used: ${asked}`);
  const budget = strictest(asked, definition?.budget ?? {});
  refuseUnpriced(budget, model, prices);
  const usual = definition?.maxTurns ?? turns;
  if (maxTurns === undefined) return { budget, maxTurns: usual };
  if (!Number.isSafeInteger(maxTurns) || maxTurns < 1)
    throw new UserMistake('bad_turns', `max_turns must be a whole number above 0, not ${maxTurns}`);
  // A model cannot widen what a person has set; a program is a person's.
  return { budget, maxTurns: call === null ? maxTurns : Math.min(maxTurns, Math.max(usual, turns)) };
}

/** A limit in dollars on a model without a price would end its agent with its first answer. */
function refuseUnpriced({ usd }: BudgetLimits, model: string, prices: PriceTable): void {
  if (usd === undefined || costOf(model, NO_USAGE, prices).usd !== null) return;
  throw new UserMistake(
    'unknown_price',
    `a budget in dollars needs a price, and none is known for ${model}: give the budget in tokens`,
  );
}
