/**
 * Takes finished work, a batch at a time, through merge and check onto the private ref, and lands what the policy allows
 * (OP-4, WORK-5). What arrives while a batch is checked is the next batch.
 */
import type { AttemptChange, OperatorEvent, OperatorRun } from '../../schema/operator-events.ts';
import { addCost, addUsage } from '../../schema/usage.ts';
import { checkOf, isApproved, judge, leftOf, rejectedBefore } from './decisions.ts';
import { type OperatorState, taskOf, tasksOf } from './operator-state.ts';
import type { AttemptEnd, BatchReport, MergeOffer, MergeOutcome, OperatorPorts } from './ports.ts';
import type { TaskActors } from './task-actors.ts';
import type { FailureNews } from './task-failure.ts';

/** After this many conflicts of one task a person decides. */
const MOST_ROUNDS = 3;

export interface IntegratorParts {
  readonly ports: OperatorPorts;
  readonly run: OperatorRun;
  readonly actors: TaskActors;
  state(): OperatorState;
  record(event: OperatorEvent): void;
  onMerged(id: string): void;
  onRejected(id: string, news: FailureNews): void;
}

export class Integrator {
  readonly #parts: IntegratorParts;
  /** Work that waits, in the order in which it was finished. */
  #waiting: { id: string; number: number }[] = [];
  /** Work that nothing is known of, because the check fails without it too: another task may repair that. */
  #parked: { id: string; number: number; message: string }[] = [];
  #isAtWork = false;

  constructor(parts: IntegratorParts) {
    this.#parts = parts;
  }

  get isBusy(): boolean {
    return this.#isAtWork || this.#waiting.length > 0;
  }

  /** What an earlier process has merged is offered again: what is on the ref already is found there. */
  offer(id: string, number: number): void {
    this.#waiting.push({ id, number });
  }

  /** Nothing is under way that could repair the check: parked work is refused. False if none was parked. */
  giveUp(): boolean {
    const parked = this.#parked;
    this.#parked = [];
    const cause = 'base_check';
    for (const { id, number, message } of parked)
      this.#parts.onRejected(id, {
        ...{ event: 'rejected', cause, message, final: true },
        attempt: { number, state: 'failed', cause, message },
      });
    return parked.length > 0;
  }

  /** Whether a check can show that a task that changed nothing is done. */
  mayBeUnchanged(id: string): boolean {
    const { run, state } = this.#parts;
    const task = taskOf(state(), id);
    return task !== undefined && checkOf(run, task.task) !== null;
  }

  /** Merges what waits, unless it is at it already; false if there was nothing to do. */
  async pump(): Promise<boolean> {
    if (this.#isAtWork || this.#waiting.length === 0) return false;
    this.#isAtWork = true;
    try {
      while (this.#waiting.length > 0) await this.#merge(this.#nextBatch());
      await this.#landIfDue();
      return true;
    } finally {
      this.#isAtWork = false;
    }
  }

  /** Those that the same check decides about, and of each task one attempt. Proposals are applied in turn. */
  #nextBatch(): MergeOffer[] {
    const { run, state } = this.#parts;
    const batch: MergeOffer[] = [];
    const later: { id: string; number: number }[] = [];
    let command: string | null | undefined;
    for (const entry of this.#waiting) {
      const task = taskOf(state(), entry.id);
      const attempt = task?.attempts.find(({ number }) => number === entry.number);
      if (task === undefined || attempt === undefined || task.status !== 'verifying') continue;
      // Whatever was offered: nothing is merged that its reviewers have not approved.
      if (!isApproved(run, task.task, attempt)) continue;
      const own = checkOf(run, task.task)?.command ?? null;
      command ??= own;
      const isTaken = batch.some((one) => one.task.id === entry.id);
      const isInTurn = [attempt, batch[0]?.attempt].some((one) => one?.isolation === 'propose');
      const isFree = batch.length === 0 || !isInTurn;
      const rejected = rejectedBefore(task, entry.number);
      if (own === command && !isTaken && isFree) batch.push({ task: task.task, attempt, rejected });
      else later.push(entry);
    }
    this.#waiting = later;
    return batch;
  }

  async #merge(offers: readonly MergeOffer[]): Promise<void> {
    const { ports, run, actors, record, state } = this.#parts;
    const [first] = offers;
    if (first === undefined) return;
    await ports.recorded();
    const leftUsd = leftOf(state());
    const report = await ports.integrate({
      ...(leftUsd !== undefined && { leftUsd }),
      ...{ run, offers, check: checkOf(run, first.task) },
      onWaiting: (message) => {
        for (const { task } of offers) actors.note(task.id, { message });
      },
      onChecked: async () => {
        for (const { task } of offers) actors.change(task.id, { type: 'checked' });
        await ports.recorded();
      },
    });
    const merged = offers.filter(({ task }) => report.outcomes.get(task.id)?.kind === 'merged');
    if (merged.length > 0)
      record({ type: 'operator.integrated', commit: report.head, tasks: merged.map(({ task }) => task.id) });
    for (const offer of offers) this.#decide(offer, report);
    if (merged.length === 0) return;
    this.#waiting.push(...this.#parked);
    this.#parked = [];
  }

  #decide({ task, attempt }: MergeOffer, { outcomes, check, spent }: BatchReport): void {
    const { actors, onMerged, onRejected, state } = this.#parts;
    const outcome = outcomes.get(task.id) ?? { kind: 'refused', message: 'nothing is known of its merge' };
    const facts = withCost(attempt, spent?.get(task.id));
    if (outcome.kind === 'merged') {
      actors.change(
        task.id,
        { type: 'merged', cause: outcome.isNothing ? 'nothing' : null },
        {
          attempt: { ...facts, state: 'passed' },
          result: outcome.isNothing ? null : outcome.result,
          check,
        },
      );
      onMerged(task.id);
      return;
    }
    if (outcome.kind === 'base_check') {
      this.#park(task.id, facts, outcome.message);
      return;
    }
    const rounds = (taskOf(state(), task.id)?.conflict?.rounds ?? 0) + 1;
    const failed = 'check' in outcome ? (outcome.check ?? null) : null;
    onRejected(task.id, {
      ...{ event: 'rejected', cause: outcome.kind, message: outcome.message },
      final: this.#isFinal(outcome, rounds),
      attempt: { ...facts, state: 'failed', cause: outcome.kind, message: outcome.message, check: failed },
      ...(failed !== null && { check: failed }),
      ...(outcome.kind === 'conflict' && { conflict: { files: outcome.files, rounds } }),
    });
  }

  #park(id: string, attempt: AttemptChange, message: string): void {
    const { actors } = this.#parts;
    if (actors.statusOf(id) === 'merging') actors.change(id, { type: 'resume', attempts: 0 });
    actors.note(id, { attempt, message: `${message}; it waits for a task that repairs it` });
    this.#parked.push({ id, number: attempt.number, message });
  }

  #isFinal(outcome: MergeOutcome, rounds: number): boolean {
    if (outcome.kind !== 'conflict') return false;
    return this.#parts.run.onConflict === 'person' || rounds >= MOST_ROUNDS;
  }

  /** At the end: what is still to land, and the marks. */
  async landAll(): Promise<void> {
    await this.#landIfDue();
    const { run, ports, record, state } = this.#parts;
    const { landing, integrated } = state();
    const hasLanded = landing !== null && (landing.state === 'moved' || landing.state === 'kept');
    if (!run.marks || !(hasLanded || integrated === null)) return;
    for (const { task, status, marked } of tasksOf(state())) {
      if (status !== 'done' || marked?.written === true || task.file === null) continue;
      record({ type: 'task.marked', task: task.id, ...(await ports.mark(run, task)) });
    }
  }

  async #landIfDue(): Promise<void> {
    const { run, ports, record, state } = this.#parts;
    const { integrated, landing, landed } = state();
    const isThere =
      landing?.commit === integrated && landing?.state !== 'intended' && landing?.state !== 'failed';
    if (integrated === null || integrated === run.base || isThere || judge(state()).land.length === 0) return;
    record({
      ...{ type: 'operator.landed', state: 'intended', commit: integrated },
      ...{ before: null, after: null, message: null },
    });
    await ports.recorded();
    const { commit, ...report } = await ports.land(run, integrated, landed ?? run.base);
    record({ type: 'operator.landed', commit, ...report });
    // The target had moved: what starts from now on begins with that too.
    if (commit !== integrated && report.state !== 'failed')
      record({ type: 'operator.integrated', commit, tasks: [] });
  }
}

/** What resolving its conflicts has cost is a part of what the attempt has cost. */
function withCost(
  { number, costUsd, usage }: MergeOffer['attempt'],
  spent: Pick<AttemptEnd, 'costUsd' | 'usage'> | undefined,
): AttemptChange {
  if (spent === undefined) return { number };
  return { number, costUsd: addCost(costUsd, spent.costUsd), usage: addUsage(usage, spent.usage) };
}
