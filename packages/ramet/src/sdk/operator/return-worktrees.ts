/**
 * Tasks whose work is on the target give their worktrees back (WORK-3), as `ramet worktree gc` takes them: while others work, and
 * the rest when the run is over. What would lose anything stays, and the record says why. What there is no time for is left to
 * `ramet worktree gc`.
 *
 * Invariants
 * 1. A worktree goes when the record has what is on the target.
 * 2. Its branch stays until the run is over: a target that is set back meanwhile takes nothing with it.
 */
import { deleteLeftBranches, isHeld, settleWorktree, undoHalfMade } from '../../git/managed-worktrees.ts';
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
import { giveWay } from '../../system/give-way.ts';

export interface ReturnPlace {
  worktrees: WorktreePlace;
  /** Waits for the judgement that began when its agent gave it back: a git at work in it would be a reason to keep it. */
  settled(worktree: string): Promise<void>;
  record(event: TaskChanged): void;
  /** Resolves when what was recorded is written. */
  recorded(): Promise<void>;
  /** Nothing more is given back once it aborts. */
  signal: AbortSignal | undefined;
  note(line: string): void;
}

interface LandedAttempt {
  task: TaskState;
  attempt: TaskAttempt;
  agent: string;
}

/** A run ends within this time after its last task, however many worktrees there are. */
const MOST_MS = 10_000;

const STAYS = 'its worktree stays';

export class WorktreeReturns implements AsyncDisposable {
  readonly #place: ReturnPlace;
  /** Agents whose worktrees were tried. One that stays is tried again when the run is over. */
  readonly #seen: Set<string> = new Set();
  #state: (() => OperatorState) | null = null;
  #work: Promise<void> | null = null;

  constructor(place: ReturnPlace) {
    this.#place = place;
  }

  /** Something has landed. One at a time, and what starts meanwhile comes first. */
  landed(state: () => OperatorState): void {
    this.#state = state;
    this.#work ??= this.#returnLanded().finally(() => {
      this.#work = null;
    });
  }

  /** Never rejects: what fails here is told at the end. */
  async #returnLanded(): Promise<void> {
    const { worktrees, recorded } = this.#place;
    try {
      for (let state = this.#take(); state !== null; state = this.#take()) {
        await recorded();
        for (const one of await landedAttempts(state(), worktrees)) {
          if (this.#seen.has(one.agent)) continue;
          await giveWay();
          if (this.#isOver) return;
          this.#seen.add(one.agent);
          await giveBack(one, this.#place);
        }
      }
    } catch {
      // As above.
    }
  }

  #take(): (() => OperatorState) | null {
    const state = this.#state;
    this.#state = null;
    return state;
  }

  #isStopped = false;

  get #isOver(): boolean {
    return this.#isStopped || this.#place.signal?.aborted === true;
  }

  /** What is under way is finished: nothing is left half-removed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await this.#work;
  }

  /** The run with the reasons why worktrees stay. Never rejects: a run does not fail at this. */
  async finish(end: OperatorState): Promise<OperatorState> {
    await this[Symbol.asyncDispose]();
    const { signal: stop, note, worktrees } = this.#place;
    if (stop?.aborted === true) return end;
    const time = AbortSignal.timeout(MOST_MS);
    const signal = stop === undefined ? time : AbortSignal.any([stop, time]);
    try {
      // Of this run, if it was killed: nobody else may come for days.
      await undoHalfMade(worktrees);
      const landed = await landedAttempts(end, worktrees);
      let left = 0;
      const reasons = await fewAtOnce(landed, async (one) => {
        if (!signal.aborted) return giveBack(one, this.#place);
        left += 1;
        return null;
      });
      if (left > 0) note(`worktrees of ${left} done tasks are left: ramet worktree gc removes them`);
      const agents = new Set(landed.map(({ agent }) => agent));
      await settleForsaken(worktrees, agents);
      await deleteLeftBranches(worktrees, ({ owner }) => owner !== null && agents.has(owner.agent));
      return landed.reduce(
        (state, one, index) => withReason(state, one, reasons[index] ?? null, this.#place),
        end,
      );
    } catch (error) {
      note(`worktrees of done tasks stay: ${describeError(error)}; ramet worktree gc removes them`);
      return end;
    }
  }
}

/** A process was killed when it had made a worktree and not yet recorded the agent. Its number went to another, with another worktree. */
async function settleForsaken(place: WorktreePlace, agents: ReadonlySet<string>): Promise<void> {
  const rows = place.registry.list().filter(({ owner }) => owner !== null && agents.has(owner.agent));
  for (const row of rows) {
    const isLast = rows.findLast(({ owner }) => owner?.agent === row.owner?.agent) === row;
    if (isLast || row.state !== 'leased' || isHeld(place.project, row)) continue;
    await settleWorktree(place, row, { pools: false });
  }
}

/** Of tasks that are done and whose result, if any, the target has at this moment: the attempts that passed in a worktree. */
async function landedAttempts(end: OperatorState, place: WorktreePlace): Promise<LandedAttempt[]> {
  const done = tasksOf(end).filter(({ status }) => status === 'done');
  const passed = done.flatMap((task) =>
    task.attempts.flatMap((attempt) => {
      const { state, isolation, agent } = attempt;
      const isOwn = isolation === null || isolation === 'worktree';
      return state === 'passed' && isOwn && agent !== null ? [{ task, attempt, agent }] : [];
    }),
  );
  if (passed.length === 0 || end.run === null) return [];
  const results = [...new Set(passed.flatMap(({ task: { result } }) => result ?? []))];
  const missing =
    results.length === 0 ? new Set<string>() : await notOn(`refs/heads/${end.run.target}`, results, place);
  return passed.filter(({ task: { result } }) => result === null || !missing.has(result));
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
  if (worktree === null || (worktree.state !== 'leased' && worktree.state !== 'released')) return null;
  // One that is killed after an agent's end has not given its worktree back, and nobody continues an agent that has ended.
  if (isHeld(place.project, worktree)) return `process ${worktree.lease?.pid} has it`;
  const landed = attempt.commit ?? undefined;
  const settled = await settleWorktree(place, worktree, {
    ...{ pools: false, landed, leavesBranch: true },
  });
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
