/**
 * The state of the session's main agent, the root, as every agent reads it (RES-4): a frozen copy, taken at one moment.
 * Nothing that is done to it reaches the root.
 */
import { quoteText } from '../conversation/quoted-text.ts';
import type { SessionMode, TodoItem } from '../schema/status.ts';
import { headOf } from '../system/text/visible-text.ts';

export interface RootView {
  readonly agent: string;
  readonly cwd: string;
  readonly model: string;
  readonly permissionMode: SessionMode;
  /** As people wrote them, without secrets. */
  readonly rules: Readonly<Record<'deny' | 'ask' | 'allow', readonly string[]>>;
  readonly budgetLeft: BudgetLeft;
  readonly todos: readonly Readonly<TodoItem>[];
}

/** A limit that nobody set is absent; null means that what was spent is not known. */
export interface BudgetLeft {
  readonly usd?: number | null;
  readonly tokens?: number | null;
  readonly seconds?: number | null;
}

/** A copy that cannot be changed, however deep. */
export function frozenView(view: RootView): RootView {
  return deepFreeze(structuredClone(view));
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}

const MOST_LISTED = 20;
const LONGEST_ENTRY = 200;

/** For an agent that looks at it. */
export function describeRoot({ agent, cwd, model, permissionMode, ...view }: RootView): string {
  const rules = (['deny', 'ask', 'allow'] as const).filter((list) => view.rules[list].length > 0);
  const todos = view.todos.map(({ status, content }) => `- [${status}] ${content}`);
  return [
    `Main agent ${agent}: works in ${cwd}, model ${model}, permission mode ${permissionMode}.`,
    `Budget left: ${budgetText(view.budgetLeft)}.`,
    ...rules.map((list) => `Rules, ${list}: ${listed(view.rules[list]).join(', ')}.`),
    ...(todos.length === 0 ? ['No todos.'] : ['Todos:', ...listed(todos)]),
  ].join('\n');
}

function budgetText({ usd, tokens, seconds }: BudgetLeft): string {
  const parts = [
    usd === undefined ? [] : [usd === null ? 'unknown dollars' : `$${usd.toFixed(4)}`],
    tokens === undefined ? [] : [`${tokens ?? 'unknown'} tokens`],
    seconds === undefined ? [] : [seconds === null ? 'unknown seconds' : `${Math.floor(seconds)} seconds`],
  ].flat();
  return parts.length === 0 ? 'no limit' : parts.join(', ');
}

function listed(entries: readonly string[]): string[] {
  const shown = entries
    .slice(0, MOST_LISTED)
    .map((entry) => quoteText(headOf(entry.replace(/\s+/g, ' '), LONGEST_ENTRY)));
  const rest = entries.length - shown.length;
  return rest > 0 ? [...shown, `and ${rest} more`] : shown;
}
