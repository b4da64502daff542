/** A new run: what is asked for and what the settings say becomes the run's own, and the task file its tasks. */
import { join } from 'node:path';
import { findDefinition, offeredDefinitions, unknownType } from '../../agents/prompts/built-in.ts';
import { DEFAULT_CHECK_SECONDS, noIdentityFrom, resolveCommits } from '../../git/merges.ts';
import { runGit } from '../../git/run-git.ts';
import { forecast } from '../../operator/plan/predict.ts';
import { foldOperator } from '../../operator/run/apply-operator-event.ts';
import type { OperatorState } from '../../operator/run/operator-state.ts';
import { parseFanInPolicy } from '../../operator/schedule/fan-in.ts';
import type { TaskGraph } from '../../operator/schedule/task-graph.ts';
import { readTaskList } from '../../operator/tasks/read-task-list.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { OperatorEvent, OperatorRun, RunTask } from '../../schema/operator-events.ts';
import type { OpenTarget } from '../merge/open-target.ts';
import type { LiveParts } from '../session/live-parts.ts';
import type { Session } from '../session/session-type.ts';
import type { OperateOrder } from './operate-order.ts';
import { runTasks } from './run-tasks.ts';

const DEFAULT_WIDTH = 4;
const MOST_AUTO = 8;
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
): Promise<{ state: OperatorState; event: OperatorEvent; width: number }> {
  const { file = '', bullets, tag, optional = false } = order;
  if (past.run !== null && past.status !== 'ended')
    throw new UserMistake(
      'run_open',
      'this session has a run that is not over: resume it, or open another session',
    );
  const { cwd, repository } = parts.place;
  const list = await readTaskList(file, { cwd, root: repository?.root, bullets, tag });
  const problem = list.problems.find(({ level }) => level === 'error');
  if (problem !== undefined)
    throw new UserMistake(
      'bad_tasks',
      `${problem.file}:${problem.line}:${problem.column}: ${problem.message}`,
    );
  const directory = join(parts.runtime.outputDirectory, 'tasks');
  const { tasks, graph } = await runTasks(list, { optional }, { cwd, directory });
  if (tasks.length === 0) throw new UserMistake('no_open_tasks', `${file} has no open task`);
  const review = await requireTypes(order, tasks, parts);
  await requireIdentity(target);
  const run = { ...(await settingsOf(order, { session, parts, target, past })), review };
  const event = { type: 'operator.started', run, tasks } as const;
  const state = foldOperator([{ event, time: parts.runtime.clock.now() }]);
  return { state, event, width: widthOf(order, graph, session.model) };
}

function widthOf({ parallel = DEFAULT_WIDTH }: OperateOrder, graph: TaskGraph, model: string): number {
  return parallel === 'auto' ? Math.min(MOST_AUTO, forecast(graph, model).recommended) : parallel;
}

async function settingsOf(
  order: OperateOrder,
  { session, target: { repository, settings, target }, past }: RunPlace,
): Promise<OperatorRun> {
  const { policy = 'best-effort', parallel = DEFAULT_WIDTH } = order;
  if (parseFanInPolicy(policy) === null)
    throw new UserMistake(
      'bad_policy',
      `the policy "${policy}" is not known: use all, best-effort, quorum:2 or first`,
    );
  const [base] = await resolveCommits([`refs/heads/${target}`], repository).catch(() => {
    throw new UserMistake(
      'no_target',
      `there is no branch "${target}" with a commit to merge into: name one with --into`,
    );
  });
  const command = order.check === false ? undefined : (order.check ?? settings.merge?.check);
  const seconds = order.checkSeconds ?? settings.merge?.checkSeconds ?? DEFAULT_CHECK_SECONDS;
  const again = past.run === null ? '' : `-${past.startedAt}`;
  return {
    ...{ file: order.file ?? null, tag: order.tag ?? null, bullets: order.bullets ?? false },
    ...{ optional: order.optional ?? false, target, base: base?.commit ?? '', policy, parallel },
    integration: `refs/ramet/operator/${session.id}${again}`,
    ...{
      attempts: order.attempts ?? DEFAULT_ATTEMPTS,
      isolation: 'worktree',
      strategy: order.strategy ?? 'merge',
    },
    check: command === undefined ? null : { command, timeoutMs: seconds * 1_000 },
    ...{ onConflict: order.onConflict ?? 'retry', retries: order.retries ?? DEFAULT_RETRIES },
    budget: order.maxBudgetUsd === undefined ? {} : { usd: order.maxBudgetUsd },
    ...{
      model: order.model ?? null,
      updateCheckout: order.updateCheckout ?? false,
      marks: order.marks ?? true,
    },
  };
}

/** Before any money is spent: every type exists, and reviewers cannot change what they judge. */
async function requireTypes(
  { review = [] }: OperateOrder,
  tasks: readonly RunTask[],
  { types, family }: LiveParts,
): Promise<readonly string[]> {
  const nameOf = async (type: string, mustRead: boolean, where: string): Promise<string> => {
    await family.parts.refreshDefinitions?.(type);
    const offered = offeredDefinitions(types.definitions);
    const found = findDefinition(offered, type);
    if (found === undefined) throw new UserMistake('unknown_type', `${where}${unknownType(type, offered)}`);
    if (mustRead && found.readOnly !== true)
      throw new UserMistake(
        'bad_reviewer',
        `${where}agents of the type ${found.name} may write, so they cannot review: name one that only reads, such as code-review`,
      );
    return found.name;
  };
  const names: string[] = [];
  for (const type of review) names.push(await nameOf(type, true, '--review: '));
  for (const { file, line, settings } of tasks) {
    const where = file === null ? '' : `${file}:${line}: `;
    if (settings.type !== undefined) await nameOf(settings.type, false, where);
    for (const type of settings.review ?? []) await nameOf(type, true, where);
  }
  return [...new Set(names)];
}

/** Before any money is spent: without it nothing can be committed. */
async function requireIdentity({ repository }: OpenTarget): Promise<void> {
  const args = ['-c', 'user.useConfigOnly=true', 'var', 'GIT_COMMITTER_IDENT'];
  const { code, stderr } = await runGit(args, { cwd: repository.cwd, env: repository.env });
  if (code !== 0) throw noIdentityFrom(stderr) ?? new UserMistake('no_identity', stderr.trim());
}
