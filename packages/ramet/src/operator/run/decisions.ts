/** What follows from the state of a run. Values in, values out. */
import type { AttemptReview, OperatorRun, RunTask, TaskStatus } from '../../schema/operator-events.ts';
import { addCost } from '../../schema/usage.ts';
import {
  type FanInPolicy,
  type FanInVerdict,
  judgeFanIn,
  parseFanInPolicy,
  type TaskOutcome,
} from '../schedule/fan-in.ts';
import { ReadyQueue } from '../schedule/ready-queue.ts';
import { isolationOf, sharesCheckout } from './isolation.ts';
import {
  costOfTask,
  idleCostOf,
  isDoneWith,
  isTaskEnded,
  type OperatorState,
  type TaskAttempt,
  type TaskState,
  tasksOf,
} from './operator-state.ts';

const OPEN: ReadonlySet<TaskStatus> = new Set(['queued', 'ready']);
const UNDER_WAY: ReadonlySet<TaskStatus> = new Set([
  'running',
  'waiting',
  'verifying',
  'merging',
  'interrupted',
]);

/** The ready queue as the state has it: also after a crash, and when tasks were added. */
export function queueOf(state: OperatorState): ReadyQueue {
  const tasks = tasksOf(state);
  const left = tasks.filter(({ status }) => status !== 'done' && status !== 'skipped');
  const { run } = state;
  const nodes = left.map((one) => {
    const { id, waits, barrier, files } = one.task;
    // Where nothing is enforced, what a task changes is its own only if it runs alone.
    const isAlone = run !== null && isolationOf(run, one) === 'none';
    return { id, waits, barrier, files: isAlone ? [] : files, held: !OPEN.has(one.status) };
  });
  const shared = left.filter((task) => run !== null && sharesCheckout(isolationOf(run, task)));
  const queue = new ReadyQueue({ nodes }, { sharedCheckout: new Set(shared.map(({ task: { id } }) => id)) });
  for (const one of left) if (UNDER_WAY.has(one.status) || isAsking(one)) queue.adopt(one.task.id);
  return queue;
}

/** Whether one of its agents waits for a person's answer. */
export function isAsking({ status, cause }: Pick<TaskState, 'status' | 'cause'>): boolean {
  return status === 'blocked' && cause === 'permission';
}

function policyOf({ policy }: OperatorRun): FanInPolicy {
  return parseFanInPolicy(policy) ?? { kind: 'best-effort' };
}

/** How many agents work on one task at once. */
export function attemptsOf(run: OperatorRun): number {
  return policyOf(run).kind === 'first' ? run.attempts : 1;
}

/** The check that a task has to pass: its own, or that of the run. */
export function checkOf(run: OperatorRun, { settings }: RunTask): OperatorRun['check'] {
  const { check } = settings;
  return check === undefined ? run.check : { command: check, timeoutMs: run.check?.timeoutMs ?? 600_000 };
}

/** The last work of a task before this attempt, if it was not taken. */
export function rejectedBefore(
  { attempts }: Pick<TaskState, 'attempts'>,
  number: number,
): TaskAttempt | null {
  const last = attempts.findLast((one) => one.number < number && one.commit !== null);
  return last?.state === 'failed' ? last : null;
}

type ReviewedAttempt = Pick<TaskAttempt, 'commit' | 'reviews'>;

/** Whether a person has approved it in place of the reviewers. */
function isByPerson(attempt: ReviewedAttempt): boolean {
  return verdictsOf(attempt).some(({ by, approved }) => approved && by !== undefined);
}

/** Verdicts about what it is now: one about another commit does not count. */
export function verdictsOf({ commit, reviews }: ReviewedAttempt): readonly AttemptReview[] {
  return reviews.filter((review) => review.commit === commit);
}

/** The types that have not said anything about it yet. Nothing changed is nothing to review. */
export function openReviews(run: OperatorRun, { settings }: RunTask, attempt: ReviewedAttempt): string[] {
  if (attempt.commit === null || isByPerson(attempt)) return [];
  const verdicts = verdictsOf(attempt);
  const types = settings.review ?? run.review ?? [];
  return types.filter((type) => !verdicts.some((verdict) => verdict.type === type));
}

/** Whether all who must have approved exactly this commit. */
export function isApproved(run: OperatorRun, task: RunTask, attempt: ReviewedAttempt): boolean {
  if (openReviews(run, task, attempt).length > 0) return false;
  return isByPerson(attempt) || verdictsOf(attempt).every(({ approved }) => approved);
}

/** What keeps a task waiting for a person. */
const FOR_PERSON: ReadonlySet<string> = new Set(['permission', 'gate', 'review']);

function outcomeOf({ status, cause }: TaskState): TaskOutcome {
  if (status === 'done') return 'passed';
  if (status === 'blocked') return FOR_PERSON.has(cause ?? '') ? 'pending' : 'failed';
  return isTaskEnded({ status }) && status !== 'interrupted' ? 'failed' : 'pending';
}

/** What may land now. Skipped tasks do not count; competing attempts have been decided by then. */
export function judge(state: OperatorState): FanInVerdict {
  const counted = tasksOf(state).filter(({ status }) => status !== 'skipped');
  const policy: FanInPolicy = state.run === null ? { kind: 'best-effort' } : policyOf(state.run);
  const outcomes = new Map(counted.map((task) => [task.task.id, outcomeOf(task)]));
  return judgeFanIn(policy.kind === 'first' ? { kind: 'best-effort' } : policy, outcomes);
}

export interface RunSpending {
  /** What ended attempts have cost; null if that is unknown. */
  readonly usd: number | null;
  /** What one more is expected to cost; 0 while nothing is known. */
  readonly expectedUsd: number;
}

function spendingOf(state: OperatorState): RunSpending {
  let [usd, count]: [number | null, number] = [0, 0];
  for (const task of tasksOf(state)) {
    const cost = addCost(costOfTask(task), idleCostOf(task));
    usd = usd === null || cost === null ? null : usd + cost;
    count += task.attempts.filter(({ endedAt }) => endedAt !== null).length;
  }
  return { usd, expectedUsd: usd === null || count === 0 ? 0 : usd / count };
}

/** What is left of the budget; undefined without one. What is unknown may have been all of it. */
export function leftOf(state: OperatorState): number | undefined {
  const limit = state.run?.budget.usd;
  return limit === undefined ? undefined : Math.max(0, limit - (spendingOf(state).usd ?? limit));
}

/** Why nothing may be spent any more; null while there is money. */
export function spentAll(state: OperatorState): string | null {
  const limit = state.run?.budget.usd;
  if (limit === undefined) return null;
  const { usd } = spendingOf(state);
  if (usd === null) return `what was spent is unknown, and the budget is $${limit}`;
  return usd >= limit ? `${amount(usd)} of $${limit} is spent` : null;
}

/** Why nothing more may start; null while there is money for `live` agents and one more. */
export function overBudget(state: OperatorState, live: number): string | null {
  const limit = state.run?.budget.usd;
  if (limit === undefined) return null;
  const { usd, expectedUsd } = spendingOf(state);
  if (usd === null || usd >= limit) return spentAll(state);
  const next = usd + expectedUsd * (live + 1);
  return next <= limit ? null : `another task would take it to about ${amount(next)} of $${limit}`;
}

/** Never so few digits that money that was spent looks like none, or like the limit. */
function amount(usd: number): string {
  return `$${usd >= 1 || usd === 0 ? usd.toFixed(2) : Number(usd.toFixed(6))}`;
}

/**
 * A budget with which a run that had too little can be resumed: what was spent, and what the tasks that are left may cost,
 * with some room. Null where none was too small, or where what was spent is unknown: no amount would do then.
 */
export function higherBudget(state: OperatorState): number | null {
  const limit = state.run?.budget.usd;
  const { usd, expectedUsd } = spendingOf(state);
  if (state.cause !== 'budget' || limit === undefined || usd === null) return null;
  const left = tasksOf(state).filter((task) => !isDoneWith(task)).length;
  const wanted = Math.max(2 * limit, 1.5 * (usd + expectedUsd * left));
  const unit = 10 ** (Math.floor(Math.log10(wanted)) - 1);
  return Number((Math.ceil(wanted / unit) * unit).toPrecision(2));
}

/** Tasks that nothing starts any more, each with those that it waits for: a phase by its first task that is not done. */
export function strandedTasks(state: OperatorState): Map<string, string[]> {
  const left = tasksOf(state).filter(({ status }) => status !== 'done' && status !== 'skipped');
  const ids = new Set(left.map(({ task: { id } }) => id));
  const first = left.reduce<RunTask | null>((low, { task }) => (isEarlier(task, low) ? task : low), null);
  return new Map(
    left
      .filter(({ status }) => status === 'queued')
      .map(({ task: { id, waits, barrier } }) => {
        const own = waits.filter((other) => ids.has(other));
        const isLater = first !== null && barrier !== null && barrier > (first.barrier ?? 0);
        return [id, own.length === 0 && isLater ? [first.id] : own];
      }),
  );
}

function isEarlier({ barrier }: RunTask, than: RunTask | null): boolean {
  return barrier !== null && (than === null || barrier < (than.barrier ?? 0));
}

/** Whether a task may not be without another: it waits for it, or its phase does. */
export function needs({ waits, barrier }: RunTask, other: RunTask): boolean {
  if (waits.includes(other.id)) return true;
  return barrier !== null && other.barrier !== null && other.barrier < barrier;
}
