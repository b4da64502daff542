/** A run that is resumed keeps what it began with. What may be changed is recorded; what may not is refused, not ignored. */
import { resolve } from 'node:path';
import { DEFAULT_CHECK_SECONDS } from '../../git/merges.ts';
import { type OperatorState, tasksOf } from '../../operator/run/operator-state.ts';
import type { RuleTexts } from '../../permission/policy.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { OperatorAction, OperatorRun, RunChange, RunRules } from '../../schema/operator-events.ts';
import type { OperateOrder } from './operate-order.ts';

/** What an order changes of a run; nothing that is as it was. */
export function changeOf(
  order: OperateOrder,
  run: OperatorRun,
  given: { rules: RuleTexts; cwd: string },
): RunChange {
  refuseFixed(order, run);
  const { maxBudgetUsd, onConflict, retries, model, resolveBudgetUsd, updateCheckout, marks } = order;
  const rules = joinedRules(run.rules, given.rules);
  const check = checkOf(order, run);
  return {
    ...(maxBudgetUsd !== undefined && { budget: { ...run.budget, usd: maxBudgetUsd } }),
    ...(typeof order.parallel === 'number' && { parallel: order.parallel, width: order.parallel }),
    ...(check !== undefined && { check }),
    ...(onConflict !== undefined && { onConflict }),
    ...(retries !== undefined && { retries }),
    ...(model !== undefined && { model }),
    ...modelsOf(order, run),
    ...(resolveBudgetUsd !== undefined && { resolveBudgetUsd }),
    ...(updateCheckout !== undefined && { updateCheckout }),
    ...(marks !== undefined && { marks }),
    ...(rules !== undefined && { rules }),
    ...(order.report !== undefined && { report: resolve(given.cwd, order.report) }),
  };
}

/** What was merged so far depends on it. */
function refuseFixed(order: OperateOrder, run: OperatorRun): void {
  const { into, policy, attempts, isolation, strategy, review, optional, bullets, tag, parallel } = order;
  const pairs: [name: string, asked: unknown, has: unknown][] = [
    ['into', into, run.target],
    ['policy', policy, run.policy],
    ['attempts', attempts, run.attempts],
    ['isolation', isolation, run.isolationWhy === undefined ? run.isolation : 'auto'],
    ['strategy', strategy, run.strategy],
    ['review', review?.join(), run.review?.join() ?? ''],
    ['optional', optional, run.optional],
    ['bullets', bullets, run.bullets],
    ['tag', tag, run.tag],
    ['parallel auto', parallel === 'auto' || undefined, run.parallel === 'auto'],
  ];
  const fixed = pairs.filter(([, asked, has]) => asked !== undefined && asked !== has).map(([name]) => name);
  if (fixed.length === 0) return;
  throw new UserMistake(
    'fixed_setting',
    `a run that is resumed keeps what it began with, so this cannot be changed: ${fixed.join(', ')}; leave it out, or start a new run`,
  );
}

/** Undefined for the one that it has. */
function checkOf({ check, checkSeconds }: OperateOrder, run: OperatorRun): OperatorRun['check'] | undefined {
  if (check === false) return null;
  const command = check ?? run.check?.command;
  if (command === undefined || (check === undefined && checkSeconds === undefined)) return undefined;
  const before = run.check?.timeoutMs ?? DEFAULT_CHECK_SECONDS * 1_000;
  return { command, timeoutMs: checkSeconds === undefined ? before : checkSeconds * 1_000 };
}

function modelsOf({ resolveModel, reviewModel }: OperateOrder, { models }: OperatorRun): RunChange {
  if (resolveModel === undefined && reviewModel === undefined) return {};
  return {
    models: {
      ...models,
      ...(resolveModel !== undefined && { resolver: resolveModel }),
      ...(reviewModel !== undefined && { reviewer: reviewModel }),
    },
  };
}

/** Those of the run hold, and what is given now comes to them; undefined where nothing does. */
export function joinedRules(had: RunRules | undefined, given: RuleTexts): RunRules | undefined {
  const joined = { allow: listed('allow'), ask: listed('ask'), deny: listed('deny') };
  const isMore = (['allow', 'ask', 'deny'] as const).some(
    (list) => joined[list].length > (had?.[list]?.length ?? 0),
  );
  return isMore ? joined : undefined;

  function listed(list: keyof RunRules): string[] {
    return [...new Set([...(had?.[list] ?? []), ...(given[list] ?? [])])];
  }
}

/** Answers that nobody has used: the task still has the question. An answer "once" is good for one call. */
export function earlyAnswers(state: OperatorState): Extract<OperatorAction, { kind: 'answer' }>[] {
  const open = new Set(tasksOf(state).flatMap(({ question }) => question?.id ?? []));
  return state.asked.flatMap(({ action, refused }) =>
    action.kind === 'answer' && refused === null && open.has(action.question) ? [action] : [],
  );
}

/** Runs of earlier versions have no width on record. */
export function widthOf({ parallel, width }: OperatorRun): number {
  return width ?? (parallel === 'auto' ? DEFAULT_WIDTH : parallel);
}

const DEFAULT_WIDTH = 4;
