/**
 * When a run is over, tasks whose work is on the target give their worktrees back (WORK-3), as `ramet worktree gc` takes them. What
 * would lose anything stays, and the record says why. What there is no time for is left to `ramet worktree gc`.
 */
import { settleWorktree, undoHalfMade } from '../../git/managed-worktrees.ts';
import { runGit } from '../../git/run-git.ts';
import type { WorktreePlace } from '../../git/shapes.ts';
import { applyOperatorEvent } from '../../operator/run/apply-operator-event.ts';
import {
  type OperatorState,
  type TaskAttempt,
  type TaskState,
  tasksOf,
} from '../../operator/run/operator-state.ts';
import { describeError } from '../../schema/errors.ts';
import type { TaskChanged } from '../../schema/operator-events.ts';
import { fewAtOnce } from '../../system/few-at-once.ts';

export interface ReturnPlace {
  worktrees: WorktreePlace;
  /** Waits for the judgement that began when its agent gave it back: a git at work in it would be a reason to keep it. */
  settled(worktree: string): Promise<void>;
  record(event: TaskChanged): void;
  /** Nothing more is given back once it aborts. */
  signal: AbortSignal;
  note(line: string): void;
}

interface LandedAttempt {
  task: TaskState;
  attempt: TaskAttempt;
  agent: string;
}

/** A run ends within this time after its last task, however many worktrees there are. */
const MOST_MS = 10_000;

export function returnSignal(stop: AbortSignal | undefined): AbortSignal {
  const time = AbortSignal.timeout(MOST_MS);
  return stop === undefined ? time : AbortSignal.any([stop, time]);
}

const STAYS = 'its worktree stays';

/** The run with the reasons why worktrees stay. Never rejects: a run does not fail at this. */
export async function returnWorktrees(end: OperatorState, place: ReturnPlace): Promise<OperatorState> {
  const { signal, note } = place;
  if (signal.aborted) return end;
  try {
    // Of this run, if it was killed: nobody else may come for days.
    await undoHalfMade(place.worktrees);
    const landed = await landedAttempts(end, place.worktrees);
    let left = 0;
    const reasons = await fewAtOnce(landed, async (one) => {
      if (!signal.aborted) return giveBack(one, place);
      left += 1;
      return null;
    });
    if (left > 0) note(`worktrees of ${left} done tasks are left: ramet worktree gc removes them`);
    return landed.reduce((state, one, index) => withReason(state, one, reasons[index] ?? null, place), end);
  } catch (error) {
    note(`worktrees of done tasks stay: ${describeError(error)}; ramet worktree gc removes them`);
    return end;
  }
}

/** Of tasks that are done and whose result the target has at this moment: the attempts that passed in a worktree. */
async function landedAttempts(end: OperatorState, place: WorktreePlace): Promise<LandedAttempt[]> {
  const done = tasksOf(end).filter(({ status, result }) => status === 'done' && result !== null);
  const passed = done.flatMap((task) =>
    task.attempts.flatMap((attempt) => {
      const { state, isolation, agent } = attempt;
      const isOwn = isolation === null || isolation === 'worktree';
      return state === 'passed' && isOwn && agent !== null ? [{ task, attempt, agent }] : [];
    }),
  );
  if (passed.length === 0 || end.run === null) return [];
  const results = [...new Set(passed.flatMap(({ task: { result } }) => result ?? []))];
  const missing = await notOn(`refs/heads/${end.run.target}`, results, place);
  return passed.filter(({ task: { result } }) => result !== null && !missing.has(result));
}

/** All commits that these lead to and the branch does not have: one walk for all of them. */
async function notOn(
  branch: string,
  commits: readonly string[],
  { repository, env }: WorktreePlace,
): Promise<ReadonlySet<string>> {
  const input = [...commits, `^${branch}`].join('\n');
  const { code, stdout } = await runGit(['rev-list', '--stdin'], {
    ...{ cwd: repository.root, env, input: `${input}\n` },
  });
  return new Set(code === 0 ? stdout.split('\n') : commits);
}

/** Why it stays, in one line; null when it is gone, or was before. */
async function giveBack(
  { attempt, agent }: LandedAttempt,
  { worktrees: place, settled: isOver }: ReturnPlace,
): Promise<string | null> {
  const found = place.registry.list().findLast(({ owner }) => owner?.agent === agent);
  if (found !== undefined) await isOver(found.id);
  const worktree = found === undefined ? null : place.registry.find(found.id);
  if (worktree?.state === 'leased') return `process ${worktree.lease?.pid} has it`;
  if (worktree?.state !== 'released') return null;
  const landed = attempt.commit ?? undefined;
  const settled = await settleWorktree(place, worktree, { pools: false, landed });
  return settled.kept ? settled.reasons.map(({ text }) => text).join('; ') : null;
}

/** Recorded only where it says something new. */
function withReason(
  state: OperatorState,
  { task: { task, status, cause }, attempt: { number, notes } }: LandedAttempt,
  reason: string | null,
  { record, worktrees }: ReturnPlace,
): OperatorState {
  const others = notes.filter((note) => !note.startsWith(STAYS));
  const next = reason === null ? others : [...others, `${STAYS}: ${reason}`];
  if (next.join('\n') === notes.join('\n')) return state;
  const event: TaskChanged = {
    ...{ type: 'task.changed', task: task.id, status, cause, attempt: { number, notes: next } },
  };
  record(event);
  return applyOperatorEvent(state, { event, time: worktrees.now() });
}
