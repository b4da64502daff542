/**
 * Moves the target as far as the policy allows (OP-4, WORK-5). If the target has moved meanwhile and the result does not fit to
 * it, the private ref is put on top of it with the tasks that fit; the others are done again there, within the rounds
 * that conflicts have. Each step is on record before the next, so a process that is killed in between is continued.
 */
import type { LeftOut, OperatorEvent, OperatorRun } from '../../schema/operator-events.ts';
import { resolvedConflict, withCost } from './attempts.ts';
import { judge, leftOf } from './decisions.ts';
import { landingWork, leavingNews } from './left-out.ts';
import { type OperatorState, taskOf, tasksOf } from './operator-state.ts';
import type { OperatorPorts, RebasedResult } from './ports.ts';
import type { TaskActors } from './task-actors.ts';
import { type FailureNews, waysBack } from './task-failure.ts';

export interface LandingParts {
  readonly ports: OperatorPorts;
  readonly run: OperatorRun;
  readonly actors: TaskActors;
  state(): OperatorState;
  record(event: OperatorEvent): void;
  onRejected(id: string, news: FailureNews): void;
  /** Its work is good, and waits for a task that is done again. */
  onWaiting(id: string, number: number): void;
  onLeftOut(): void;
}

/** A target that moves against the run more often than this in one landing is left alone until the next. */
const MOST_REBASES = 5;

export class Landings {
  readonly #parts: LandingParts;

  constructor(parts: LandingParts) {
    this.#parts = parts;
  }

  /** An earlier process has left tasks out, and died before each of them knew. */
  resume(): void {
    const left = tasksOf(this.#parts.state()).flatMap(({ leftOut }) => leftOut ?? []);
    if (left.length > 0) this.#leaveOut(left);
  }

  /** True if tasks were left out. */
  async landIfDue(): Promise<boolean> {
    let hasLeft = false;
    let why: string | null = null;
    for (let round = 0; round < MOST_REBASES && this.#isDue(); round += 1) {
      const rebased = await this.#land(why);
      if (rebased === undefined) break;
      hasLeft ||= rebased.left.length > 0;
      why = this.#parts.state().landing?.message ?? null;
    }
    return hasLeft;
  }

  #isDue(): boolean {
    const { run, state } = this.#parts;
    const { integrated, landing } = state();
    const isThere =
      landing?.commit === integrated && landing?.state !== 'intended' && landing?.state !== 'failed';
    return integrated !== null && integrated !== run.base && !isThere && judge(state()).land.length > 0;
  }

  /** `why` it was put on another base just now. */
  async #land(why: string | null): Promise<RebasedResult | undefined> {
    const { run, ports, record, state } = this.#parts;
    const { integrated: wanted, ground } = state();
    if (wanted === null) return undefined;
    const intend = (message: string | null): void =>
      record({
        ...{ type: 'operator.landed', state: 'intended', commit: wanted },
        ...{ before: null, after: null, message },
      });
    intend(null);
    await ports.recorded();
    const leftUsd = leftOf(state());
    const { commit, rebased, ...report } = await ports.land(run, {
      ...{ commit: wanted, known: ground ?? run.base, work: landingWork(state()) },
      ...(leftUsd !== undefined && { leftUsd }),
      onMissed: (next, most) =>
        intend(`${run.target} has moved: merged and checked again (try ${next} of ${most})`),
    });
    const words = [rebased === undefined ? why : null, report.message].filter((text) => text !== null);
    const message = words.length === 0 ? null : words.join('; ');
    record({ type: 'operator.landed', commit, ...report, message });
    if (rebased !== undefined) await this.#rebase(rebased);
    // The target had moved: what starts from now on begins with that too.
    else if (commit !== wanted && report.state !== 'failed')
      record({ type: 'operator.integrated', commit, tasks: [] });
    return rebased;
  }

  async #rebase({ commit, onto, results, left, spent }: RebasedResult): Promise<void> {
    const { run, ports, record, actors, state } = this.#parts;
    for (const [id, cost] of spent) {
      const attempt = taskOf(state(), id)?.attempts.findLast((one) => one.state === 'passed');
      const conflict = resolvedConflict(id, state(), cost);
      if (attempt !== undefined)
        actors.note(id, { attempt: withCost(attempt, cost), ...(conflict !== null && { conflict }) });
    }
    record({ type: 'operator.integrated', commit, tasks: [], rebased: { onto, results, left } });
    this.#leaveOut(left);
    await ports.recorded();
    await ports.reset(run, commit);
  }

  #leaveOut(left: readonly LeftOut[]): void {
    const { run, actors, state, onRejected, onWaiting, onLeftOut } = this.#parts;
    for (const one of left) {
      const attempt = taskOf(state(), one.task)?.attempts.findLast(({ state }) => state === 'passed');
      if (one.cause === 'dependency' && attempt !== undefined) {
        const facts = { message: one.message, attempt: { number: attempt.number, state: 'ended' } as const };
        actors.change(one.task, { type: 'offered_again' }, facts);
        onWaiting(one.task, attempt.number);
      } else onRejected(one.task, leavingNews(one, state(), run));
    }
    if (left.length > 0) onLeftOut();
  }

  /** At the end: someone may have set the target back, and what it does not have any more is not done. */
  async #noteLost(): Promise<void> {
    const { run, ports, actors, state } = this.#parts;
    const { landing } = state();
    if (landing?.state !== 'moved' && landing?.state !== 'kept') return;
    const kept = landing.state === 'kept' ? landing.commit : null;
    const lost = await ports.lost?.(run, { work: landingWork(state()), kept });
    for (const [id, work] of lost ?? [])
      actors.change(
        id,
        { type: 'removed' },
        {
          message: `landed as ${work.result.slice(0, 10)}, and was removed from ${run.target} by someone`,
          person: waysBack(id, work.steps, run),
        },
      );
  }

  /** At the end, if something has landed or nothing had to. */
  async markAll(): Promise<void> {
    await this.#noteLost();
    const { run, ports, record, state } = this.#parts;
    const { landing, integrated } = state();
    const hasLanded = landing !== null && (landing.state === 'moved' || landing.state === 'kept');
    if (!run.marks || !(hasLanded || integrated === null)) return;
    const open = tasksOf(state()).filter(
      ({ task, status, marked }) => status === 'done' && marked?.written !== true && task.file !== null,
    );
    if (open.length === 0) return;
    const results = await ports.mark(
      run,
      open.map(({ task }) => task),
    );
    for (const { task } of open) {
      const result = results.get(task.id) ?? { written: false, why: 'nothing is known of its mark' };
      record({ type: 'task.marked', task: task.id, ...result });
    }
  }
}
