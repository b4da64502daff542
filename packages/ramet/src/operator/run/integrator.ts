/**
 * Takes finished work, a batch at a time, through merge and check onto the private ref, and lands what the policy allows
 * (OP-4, WORK-5). What arrives while a batch is checked is the next batch.
 */
import type { AttemptChange, OperatorEvent, OperatorRun } from '../../schema/operator-events.ts';
import { resolvedConflict, withCost } from './attempts.ts';
import { checkOf, isApproved, leftOf, rejectedBefore } from './decisions.ts';
import { Landings } from './landings.ts';
import { conflictNews, openNeeds } from './left-out.ts';
import { type OperatorState, taskOf } from './operator-state.ts';
import type { BatchReport, MergeOffer, OperatorPorts } from './ports.ts';
import type { TaskActors } from './task-actors.ts';
import type { FailureNews } from './task-failure.ts';

export interface IntegratorParts {
  readonly ports: OperatorPorts;
  readonly run: OperatorRun;
  readonly actors: TaskActors;
  state(): OperatorState;
  record(event: OperatorEvent): void;
  onMerged(id: string): void;
  onRejected(id: string, news: FailureNews): void;
  /** The tasks that may start are others now. */
  onLeftOut(): void;
  /** A batch is decided, and another one follows before anything lands. */
  onChange(): void;
}

interface Parked {
  readonly id: string;
  readonly number: number;
  readonly message: string;
  readonly cause: 'base_check' | 'dependency';
}

export class Integrator {
  readonly #parts: IntegratorParts;
  readonly #landings: Landings;
  /** Work that waits, in the order in which it was finished. */
  #waiting: { id: string; number: number }[] = [];
  /** Work that waits for another task: one that repairs the check, which fails without it too, or one that it needs. */
  #parked: Parked[] = [];
  #isAtWork = false;

  constructor(parts: IntegratorParts) {
    this.#parts = parts;
    this.#landings = new Landings({ ...parts, onWaiting: (id, number) => this.offer(id, number) });
  }

  get isBusy(): boolean {
    return this.#isAtWork || this.#waiting.length > 0;
  }

  /** What an earlier process has merged is offered again: what is on the ref already is found there. */
  offer(id: string, number: number): void {
    this.#waiting.push({ id, number });
  }

  /** What an earlier process has found out about landed work, and did not act on; then what people did meanwhile. */
  async resume(): Promise<void> {
    this.#landings.resume();
    if (this.#parts.state().resumed > 0) await this.#follow();
  }

  /** What others have put on the target comes onto the private ref, if nothing of this run waits there to land. */
  async #follow(): Promise<boolean> {
    const { ports, run, record, state } = this.#parts;
    const commit = await ports.ahead?.(run, state().integrated ?? run.base);
    if (commit === undefined || commit === null) return false;
    record({ type: 'operator.integrated', commit, tasks: [] });
    await ports.recorded();
    await ports.reset(run, commit);
    return true;
  }

  /** Nothing is under way that could help: parked work is refused, or blocked. False if none was parked. */
  giveUp(): boolean {
    const parked = this.#parked;
    this.#parked = [];
    for (const { id, number, message, cause } of parked)
      if (cause === 'dependency') this.#parts.actors.change(id, { type: 'strand' }, { message });
      else
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
      while (this.#waiting.length > 0) {
        await this.#merge(this.#nextBatch());
        // After the last one, what lands first is what later tasks begin with.
        if (this.#waiting.length > 0) this.#parts.onChange();
      }
      await this.#landings.landIfDue();
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
      const needs = openNeeds(state(), task.task);
      if (needs.length > 0) {
        this.#park(entry.id, { number: entry.number }, `it waits for ${needs.join(', ')}`, 'dependency');
        continue;
      }
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
    const { ports, record } = this.#parts;
    const [first] = offers;
    if (first === undefined) return;
    await ports.recorded();
    const report = await this.#integrate(offers, first);
    if (report.failure !== undefined) return this.#contain(offers, report, report.failure);
    const merged = offers.filter(({ task }) => report.outcomes.get(task.id)?.kind === 'merged');
    if (merged.length > 0)
      record({ type: 'operator.integrated', commit: report.head, tasks: merged.map(({ task }) => task.id) });
    for (const offer of offers) this.#decide(offer, report);
    // Someone may have repaired the check on the target.
    const isBlamed = this.#parked.some(({ cause }) => cause === 'base_check');
    if (merged.length === 0 && !(isBlamed && (await this.#follow()))) return;
    this.#waiting.push(...this.#parked);
    this.#parked = [];
  }

  #integrate(offers: readonly MergeOffer[], first: MergeOffer): Promise<BatchReport> {
    const { ports, run, actors, state } = this.#parts;
    const leftUsd = leftOf(state());
    const isRebased = state().rebased > 0;
    return ports.integrate({
      ...(leftUsd !== undefined && { leftUsd }),
      ...{ run, offers, check: checkOf(run, first.task), isRebased },
      onWaiting: (message) => {
        for (const { task } of offers) actors.note(task.id, { message });
      },
      onChecked: async () => {
        for (const { task } of offers) actors.change(task.id, { type: 'checked' });
        await ports.recorded();
      },
    });
  }

  /** Git fails on what one of them did: by halves it is found out on which, and the others are merged without it. */
  async #contain(offers: readonly MergeOffer[], report: BatchReport, message: string): Promise<void> {
    const { actors, state } = this.#parts;
    const [only] = offers;
    if (only !== undefined && offers.length === 1)
      return this.#decide(only, {
        ...report,
        outcomes: new Map([[only.task.id, { kind: 'git_failed', message }]]),
      });
    for (const { task, attempt } of offers) {
      if (actors.statusOf(task.id) === 'merging') actors.change(task.id, { type: 'resume', attempts: 0 });
      const spent = report.spent?.get(task.id);
      if (spent !== undefined) actors.note(task.id, { attempt: withCost(attempt, spent) });
    }
    const open = offers.filter(({ task }) => actors.statusOf(task.id) === 'verifying');
    const again = open.map((offer) => ({ ...offer, attempt: knownAttempt(offer, state()) }));
    const half = Math.ceil(again.length / 2);
    await this.#merge(again.slice(0, half));
    await this.#merge(again.slice(half));
  }

  #decide({ task, attempt }: MergeOffer, { outcomes, check, spent }: BatchReport): void {
    const { actors, run, onMerged, onRejected, state } = this.#parts;
    const outcome = outcomes.get(task.id) ?? { kind: 'refused', message: 'nothing is known of its merge' };
    const facts = withCost(attempt, spent?.get(task.id));
    if (outcome.kind === 'merged') {
      const conflict = resolvedConflict(task.id, state(), spent?.get(task.id));
      actors.change(
        task.id,
        { type: 'merged', cause: outcome.isNothing ? 'nothing' : null },
        {
          attempt: { ...facts, state: 'passed' },
          result: outcome.isNothing ? null : outcome.result,
          check,
          ...(conflict !== null && { conflict }),
        },
      );
      onMerged(task.id);
      return;
    }
    if (outcome.kind === 'base_check') {
      this.#park(task.id, facts, outcome.message, 'base_check');
      return;
    }
    const failed = 'check' in outcome ? (outcome.check ?? null) : null;
    onRejected(task.id, {
      ...{ event: 'rejected', cause: outcome.kind, message: outcome.message },
      attempt: { ...facts, state: 'failed', cause: outcome.kind, message: outcome.message, check: failed },
      ...(failed !== null && { check: failed }),
      ...(outcome.kind === 'conflict' && {
        ...conflictNews(taskOf(state(), task.id), outcome.files, run),
        steps: outcome.steps,
      }),
    });
  }

  #park(id: string, attempt: AttemptChange, message: string, cause: Parked['cause']): void {
    const { actors } = this.#parts;
    if (actors.statusOf(id) === 'merging') actors.change(id, { type: 'resume', attempts: 0 });
    const more = cause === 'base_check' ? '; it waits for a task that repairs it' : '';
    actors.note(id, { attempt, message: `${message}${more}` });
    this.#parked.push({ id, number: attempt.number, message, cause });
  }

  /** What is still to land. True if tasks were left out, and are to be done again. */
  landRest(): Promise<boolean> {
    return this.#landings.landIfDue();
  }

  markAll(): Promise<void> {
    return this.#landings.markAll();
  }
}

function knownAttempt({ task, attempt }: MergeOffer, state: OperatorState): MergeOffer['attempt'] {
  return taskOf(state, task.id)?.attempts.find(({ number }) => number === attempt.number) ?? attempt;
}
