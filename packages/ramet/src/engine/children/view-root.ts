/** Takes the view of the root that its children read (RES-4). Nothing is waited for, so it is of one moment. */
import { isUncertain, totalTokens } from '../../schema/usage.ts';
import { type BudgetLeft, frozenView, type RootView } from '../../tools/root-view.ts';
import type { HostedAgent } from '../agent/agent.ts';
import { modeInForce } from '../agent/agent-spec.ts';
import type { SpendingRecord } from '../budget/budget.ts';

export function viewRoot(root: HostedAgent): RootView {
  const { spec, runtime, directory, conversation, state, here } = root;
  const texts = (list: 'deny' | 'ask' | 'allow'): string[] =>
    runtime.permissions.rules[list].map(({ text }) => runtime.redact(text));
  return frozenView({
    agent: spec.id,
    cwd: directory.cwd,
    model: conversation.head.model,
    permissionMode: modeInForce(root),
    rules: { deny: texts('deny'), ask: texts('ask'), allow: texts('allow') },
    budgetLeft: budgetLeft((here.spending ?? spec.spending)?.records() ?? [], runtime.clock.now()),
    todos: state.todos.map((todo) => ({ ...todo, content: runtime.redact(todo.content) })),
  });
}

const KINDS = ['usd', 'tokens', 'seconds'] as const;

/** The least of what each limit of the chain leaves. */
export function budgetLeft(records: readonly SpendingRecord[], now: number): BudgetLeft {
  const left: { -readonly [Kind in keyof BudgetLeft]: BudgetLeft[Kind] } = {};
  for (const { limits, startedAt, totalUsage, totalCostUsd } of records) {
    const tokens = isUncertain(totalUsage) ? null : totalTokens(totalUsage);
    const spent = { usd: totalCostUsd, tokens, seconds: (now - startedAt) / 1_000 };
    for (const kind of KINDS) {
      const limit = limits[kind];
      if (limit !== undefined) left[kind] = lesser(left[kind], restOf(limit, spent[kind]));
    }
  }
  return left;
}

function restOf(limit: number, spent: number | null): number | null {
  return spent === null ? null : Math.max(0, limit - spent);
}

/** What is unknown stays unknown. */
function lesser(one: number | null | undefined, other: number | null): number | null {
  if (one === undefined) return other;
  return one === null || other === null ? null : Math.min(one, other);
}
