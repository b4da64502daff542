/**
 * What tries of a team's run have cost (OP-8). A member also spends in turns in which it claims nothing. The next try that ends pays for
 * that, by any member, so the sum of all tries is what the members have spent.
 */
import type { AgentOverview } from '../../../journal/projections/status.ts';
import { type OperatorState, tasksOf } from '../../../operator/run/operator-state.ts';
import { NO_USAGE, type Usage } from '../../../schema/usage.ts';

interface Bill {
  readonly costUsd: number | null;
  readonly usage: Usage;
}

/** The members of the team, as the journal has them now. */
export interface TeamSpending {
  readonly members: readonly Pick<AgentOverview, 'id' | 'costUsd' | 'usage'>[];
  /** The agents that work on other tries. */
  readonly busy: ReadonlySet<string>;
}

const COUNTS = [
  ...(['input_tokens', 'output_tokens', 'cache_read_input_tokens'] as const),
  ...(['cache_creation_input_tokens', 'cache_creation_1h_input_tokens'] as const),
];

export class MemberBills {
  /** By the name of the try, with the agent that did it; null if none did. */
  readonly #paid: Map<string, Bill & { readonly agent: string | null }>;

  /** With what earlier processes have recorded. */
  constructor(state: OperatorState) {
    const attempts = tasksOf(state).flatMap((task) => task.attempts);
    this.#paid = new Map(
      attempts.flatMap(({ name, agent, costUsd, usage, isolation, endedAt }) =>
        endedAt === null || (isolation !== 'team' && agent !== null)
          ? []
          : [[name, { agent, costUsd, usage }]],
      ),
    );
  }

  /** What nobody has paid yet, but for what those have spent who work on other tries. */
  of(name: string, agent: string | null, { members, busy }: TeamSpending): Bill {
    const others = [...this.#paid].flatMap(([other, bill]) => (other === name ? [] : [bill]));
    const open = members
      .filter(({ id }) => id !== agent && busy.has(id))
      .map((member) =>
        less(
          member,
          others.filter((bill) => bill.agent === member.id),
        ),
      );
    const bill = less(sumOf(members), [...others, ...open]);
    this.#paid.set(name, { agent, ...bill });
    return bill;
  }
}

function sumOf(bills: readonly Bill[]): Bill {
  const usage = { ...NO_USAGE };
  let costUsd: number | null = 0;
  for (const bill of bills) {
    costUsd = costUsd === null || bill.costUsd === null ? null : costUsd + bill.costUsd;
    for (const key of COUNTS) usage[key] += bill.usage[key];
  }
  return { costUsd, usage };
}

function less(total: Bill, paid: readonly Bill[]): Bill {
  const sum = sumOf(paid);
  const usage = { ...total.usage };
  for (const key of COUNTS) usage[key] = Math.max(0, usage[key] - sum.usage[key]);
  const isKnown = total.costUsd !== null && sum.costUsd !== null;
  return { costUsd: isKnown ? Math.max(0, (total.costUsd ?? 0) - (sum.costUsd ?? 0)) : null, usage };
}
