/**
 * What a child may take by itself (RES-10): what the call says and what its type says, whichever is less. It hangs below
 * the budget of its parent, whose limits hold in any case.
 */
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import { costOf, type PriceTable } from '../../model/prices.ts';
import { readBudget, strictest } from '../../schema/budget-limits.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { BudgetLimits } from '../../schema/status.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import type { SpawnRequest } from '../../tools/agent-desk.ts';

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
