/** A new run: what is asked for and what the settings say becomes the run's own, and the task file its tasks. */
import { join, resolve } from 'node:path';
import { DEFAULT_CHECK_SECONDS, noIdentityFrom, resolveCommits } from '../../git/merges.ts';
import { runGit } from '../../git/run-git.ts';
import { foldOperator } from '../../operator/run/apply-operator-event.ts';
import type { OperatorState } from '../../operator/run/operator-state.ts';
import { parseFanInPolicy } from '../../operator/schedule/fan-in.ts';
import { readTaskList } from '../../operator/tasks/read-task-list.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { OperatorEvent, OperatorRun, RunTask } from '../../schema/operator-events.ts';
import type { OpenTarget } from '../merge/open-target.ts';
import type { LiveParts } from '../session/live-parts.ts';
import type { Session } from '../session/session-type.ts';
import { isolationFor } from './attempts/patterns/choose-isolation.ts';
import type { OperateOrder } from './operate-order.ts';
import { joinedRules } from './resumed-run.ts';
import { runTasks } from './run-tasks.ts';
import { reviewersFor } from './run-types.ts';

const DEFAULT_WIDTH = 4;
const DEFAULT_RETRIES = 2;
const DEFAULT_ATTEMPTS = 2;

interface RunPlace {
  session: Session;
  parts: LiveParts;
  target: OpenTarget;
  past: OperatorState;
}

export async function newRun(
  order: OperateOrder,
  { session, parts, target, past }: RunPlace,
): Promise<{ state: OperatorState; event: OperatorEvent }> {
  const { file = '', bullets, tag, optional = false } = order;
  if (past.run !== null && past.status !== 'ended')
    throw new UserMistake(
      'run_open',
      'this session has a run that is not over: resume it, or open another session',
    );
  const { cwd, repository } = parts.place;
  const list = await readTaskList(file, { cwd, root: repository?.root, bullets, tag });
  const [problem, ...others] = list.problems.filter(({ level }) => level === 'error');
  if (problem !== undefined)
    throw new UserMistake(
      'bad_tasks',
      `${problem.file}:${problem.line}:${problem.column}: ${problem.message}${others.length === 0 ? '' : ` (and ${others.length} more: ramet operate --lint ${file})`}`,
    );
  const directory = join(parts.runtime.outputDirectory, 'tasks');
  const { tasks, graph } = await runTasks(list, { optional }, { cwd, directory });
  if (tasks.length === 0) throw new UserMistake('no_open_tasks', `${file} has no open task`);
  const review = await reviewersFor(order.review ?? target.settings.operate?.review ?? [], tasks, parts);
  await requireIdentity(target);
  const width =
    order.parallel === 'auto'
      ? (await import('./planning/plan-tasks.ts')).autoWidth(
          { tasks, graph, model: session.model, project: parts.place.project },
          order.note,
        )
      : null;
  const asked = await settingsOf(order, { session, parts, target, past });
  requireReach(asked, tasks);
  const isolation = isolationFor(order, asked, { tasks, parts, model: session.model });
  const rules = joinedRules(undefined, parts.settings.givenRules);
  const extras = { ...(width !== null && { width }), ...(rules !== undefined && { rules }) };
  const run = { ...asked, ...isolation, review, ...extras };
  const event = { type: 'operator.started', run, tasks } as const;
  const state = foldOperator([{ event, time: parts.runtime.clock.now() }]);
  return { state, event };
}

async function settingsOf(
  order: OperateOrder,
  { session, parts, target: { repository, settings, target }, past }: RunPlace,
): Promise<OperatorRun> {
  const { policy = 'best-effort', parallel = DEFAULT_WIDTH } = order;
  if (parseFanInPolicy(policy) === null)
    throw new UserMistake(
      'bad_policy',
      `the policy "${policy}" is not known: use all, best-effort, quorum:2 or first`,
    );
  if (order.attempts !== undefined && policy !== 'first')
    throw new UserMistake(
      'bad_policy',
      `--attempts is for agents that compete for a task: give --policy first with it, or leave it out (the policy is ${policy})`,
    );
  const [base] = await resolveCommits([`refs/heads/${target}`], repository).catch(() =>
    refuseTarget(target, repository),
  );
  const command = order.check === false ? undefined : (order.check ?? settings.merge?.check);
  const seconds = order.checkSeconds ?? settings.merge?.checkSeconds ?? DEFAULT_CHECK_SECONDS;
  const roles = settings.operate?.models;
  const [resolver, reviewer] = [order.resolveModel ?? roles?.resolver, order.reviewModel ?? roles?.reviewer];
  const again = past.run === null ? '' : `-${past.startedAt}`;
  return {
    ...{ file: order.file ?? null, tag: order.tag ?? null, bullets: order.bullets ?? false },
    ...{ optional: order.optional ?? false, target, base: base?.commit ?? '', policy, parallel },
    integration: `refs/ramet/operator/${session.id}${again}`,
    ...{
      attempts: order.attempts ?? DEFAULT_ATTEMPTS,
      isolation: 'worktree' as const,
      strategy: order.strategy ?? 'merge',
    },
    check: command === undefined ? null : { command, timeoutMs: seconds * 1_000 },
    ...{ onConflict: order.onConflict ?? 'retry', retries: order.retries ?? DEFAULT_RETRIES },
    budget: order.maxBudgetUsd === undefined ? {} : { usd: order.maxBudgetUsd },
    models: {
      ...(resolver !== undefined && { resolver }),
      ...(reviewer !== undefined && { reviewer }),
    },
    ...(order.resolveBudgetUsd !== undefined && { resolveBudgetUsd: order.resolveBudgetUsd }),
    ...{
      model: order.model ?? roles?.worker ?? null,
      updateCheckout: order.updateCheckout ?? false,
      marks: order.marks ?? true,
    },
    ...(order.report !== undefined && { report: resolve(parts.place.cwd, order.report) }),
  };
}

/** Before any money is spent: a policy that so few tasks can never meet would land nothing. */
function requireReach({ policy }: OperatorRun, { length }: readonly RunTask[]): void {
  const wanted = parseFanInPolicy(policy);
  if (wanted?.kind !== 'quorum' || wanted.least <= length) return;
  const has = length === 1 ? 'there is 1 open task' : `there are ${length} open tasks`;
  throw new UserMistake('bad_policy', `the policy ${policy} can never be met: ${has}`);
}

async function refuseTarget(target: string, repository: OpenTarget['repository']): Promise<never> {
  const { cwd, env } = repository;
  const { stdout } = await runGit(['rev-list', '--max-count=1', '--all'], { cwd, env });
  throw new UserMistake(
    'no_target',
    stdout === ''
      ? 'this repository has no commit yet: make the first one with git commit, then try again'
      : `there is no branch "${target}" with a commit to merge into: name one with --into`,
  );
}

/** Before any money is spent: without it nothing can be committed. */
async function requireIdentity({ repository }: OpenTarget): Promise<void> {
  const args = ['-c', 'user.useConfigOnly=true', 'var', 'GIT_COMMITTER_IDENT'];
  const { code, stderr } = await runGit(args, { cwd: repository.cwd, env: repository.env });
  if (code !== 0) throw noIdentityFrom(stderr) ?? new UserMistake('no_identity', stderr.trim());
}
