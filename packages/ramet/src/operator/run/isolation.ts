/** Which pattern of parallel work a run and its tasks use (OP-3, OP-9): predicted here by rule, enforced where agents work. */
import type { Isolation, OperatorRun, RunTask } from '../../schema/operator-events.ts';
import { firstOverlap } from '../schedule/file-overlap.ts';
import type { TaskState } from './operator-state.ts';

/** Where the next attempt of a task works. What did not go well in a shared checkout is tried again in a worktree. */
export function isolationOf(
  run: Pick<OperatorRun, 'isolation'>,
  { task, attempts }: Pick<TaskState, 'task' | 'attempts'>,
): Isolation {
  const asked = task.settings.isolation ?? run.isolation;
  if (asked === 'team') return wantsOwnAgent(task) ? 'worktree' : 'team';
  if (asked !== 'partition') return asked;
  const hasFailed = attempts.some(({ state }) => state === 'failed');
  return hasFailed || task.files.length === 0 ? 'worktree' : 'partition';
}

/** Members of a team are what they are: a task that asks for another type, model, effort or limit has an agent of its own. */
function wantsOwnAgent({ settings }: RunTask): boolean {
  const { type, model, effort, budget, maxTurns } = settings;
  return [type, model, effort, budget, maxTurns].some((one) => one !== undefined);
}

export function sharesCheckout(isolation: Isolation): boolean {
  return isolation === 'partition' || isolation === 'none';
}

export interface IsolationFacts {
  tasks: readonly RunTask[];
  policy: string;
  hasCheck: boolean;
  readsOnly(task: RunTask): boolean;
}

export interface ChosenIsolation {
  isolation: Isolation;
  /** Why, as the end of a sentence. */
  why: string;
}

/** `auto`: one checkout for all if that is predicted to work and a check can show it; a worktree for each otherwise. */
export function chooseIsolation({ tasks, policy, hasCheck, readsOnly }: IsolationFacts): ChosenIsolation {
  const writers = tasks.filter((task) => task.settings.isolation === undefined && !readsOnly(task));
  const open = writers.find(({ files, declares }) => files.length === 0 || declares !== true);
  if (writers.length === 0) return { isolation: 'worktree', why: 'no task writes' };
  if (policy === 'first') return inWorktrees('agents compete for each task');
  if (!hasCheck) return inWorktrees('no check can show that work in one checkout fits together');
  if (open !== undefined) return inWorktrees(`${open.id} does not declare its files`);
  const overlap = firstOverlap(writers);
  if (overlap !== null) return inWorktrees(`${overlap.ids.join(' and ')} both declare ${overlap.path}`);
  const all =
    writers.length === 1
      ? 'the only task that writes declares its files'
      : 'all tasks declare files, no two the same';
  return { isolation: 'partition', why: `${all}, and there is a check` };
}

function inWorktrees(why: string): ChosenIsolation {
  return { isolation: 'worktree', why };
}

/** `isolation: partition (auto: …)`, in one line. */
export function isolationText({
  isolation,
  isolationWhy,
}: Pick<OperatorRun, 'isolation' | 'isolationWhy'>): string {
  return `${isolation}, ${MEANING[isolation]}${isolationWhy === undefined ? '' : ` (auto: ${isolationWhy})`}`;
}

const MEANING: Readonly<Record<Isolation, string>> = {
  worktree: 'each task in a worktree of its own',
  partition: 'all tasks in one checkout, each writes only the files it declares',
  propose: 'agents only read, and their patches are applied in turn',
  clone: 'each task in a clone of its own',
  none: 'one task after the other in one checkout',
  team: 'members of a team claim the tasks, each in a worktree that it keeps',
};

const DONE_BY = 'done by ';

/** Which member of a team did a try, as a note of the try: the report counts by it. */
export function memberNote(member: string): string {
  return `${DONE_BY}${member}`;
}

/** Null for a try of an agent that is no member. */
export function memberIn({
  isolation,
  notes,
}: {
  readonly isolation: string | null;
  readonly notes: readonly string[];
}): string | null {
  const note = isolation === 'team' ? notes.find((one) => one.startsWith(DONE_BY)) : undefined;
  return note?.slice(DONE_BY.length) ?? null;
}
