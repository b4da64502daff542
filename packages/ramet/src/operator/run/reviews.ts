/**
 * The gate before a merge (OP-5): agents of other types judge the commit of an attempt, and all of them must approve it. While
 * they do, its task is `verifying`.
 *
 * 1. A verdict is on record with its commit, and counts for that commit alone. It is asked for once, also after a crash.
 * 2. A refusal is a failure of the attempt: the reasons of all reviewers go to the next one.
 */
import type { AttemptChange, AttemptReview, OperatorRun } from '../../schema/operator-events.ts';
import { addCost, addUsage } from '../../schema/usage.ts';
import { openReviews, verdictsOf } from './decisions.ts';
import { type OperatorState, type TaskAttempt, type TaskState, taskOf } from './operator-state.ts';
import type { LiveReview, OperatorPorts, ReviewEnd } from './ports.ts';
import type { TaskActors } from './task-actors.ts';
import type { FailureNews } from './task-failure.ts';

export interface ReviewsParts {
  readonly ports: OperatorPorts;
  readonly run: OperatorRun;
  readonly actors: TaskActors;
  state(): OperatorState;
  /** Everybody has approved the attempt, or nobody has to. */
  onApproved(id: string, number: number): void;
  onRejected(id: string, news: FailureNews): void;
  /** The provider limits or is away. */
  onOutage(cause: string, message: string | null): void;
  onChange(): void;
  onFailure(error: unknown): void;
}

interface Entry {
  readonly id: string;
  readonly number: number;
  readonly type: string;
  readonly isResumed: boolean;
  /** Null until it is there. */
  live: LiveReview | null;
  stopped: string | null;
}

interface Reviewed {
  readonly task: TaskState;
  readonly attempt: TaskAttempt;
}

export class Reviews {
  readonly #parts: ReviewsParts;
  #waiting: Entry[] = [];
  readonly #begun: Set<Entry> = new Set();

  constructor(parts: ReviewsParts) {
    this.#parts = parts;
  }

  /** Reviewers at work. */
  get working(): number {
    return this.#begun.size;
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** `isResumed`: an earlier process may have begun reviews of it. */
  offer(id: string, number: number, isResumed: boolean): void {
    const found = this.#find(id, number);
    if (found === null) return;
    for (const type of openReviews(this.#parts.run, found.task.task, found.attempt))
      this.#waiting.push({ id, number, type, isResumed, live: null, stopped: null });
    this.#settle(id, number);
  }

  /** At most `room` of those that wait. */
  begin(room: number): void {
    this.#waiting = this.#waiting.filter((entry) => this.#isWanted(entry));
    for (const entry of this.#waiting.splice(0, Math.max(0, room))) {
      this.#begun.add(entry);
      this.#tell(entry.id);
      void this.#carryOut(entry)
        .catch((error: unknown) => this.#parts.onFailure(error))
        .finally(() => {
          this.#begun.delete(entry);
          this.#parts.onChange();
        });
    }
  }

  /** Of one task, or all that have begun: those that wait do so until the run is resumed. */
  stop(reason: string, id?: string): void {
    if (id !== undefined) this.#waiting = this.#waiting.filter((entry) => entry.id !== id);
    for (const entry of this.#begun) {
      if (id !== undefined && entry.id !== id) continue;
      entry.stopped = reason;
      entry.live?.stop(reason);
    }
  }

  async #carryOut(entry: Entry): Promise<void> {
    const { ports, run } = this.#parts;
    const { id, number, type, isResumed } = entry;
    await ports.recorded();
    const found = this.#find(id, number);
    if (found === null) return;
    const { task, attempt } = found;
    const name = reviewName(attempt.name, type);
    entry.live = ports.review({ run, task: task.task, attempt, type, name, isResumed });
    if (entry.stopped !== null) entry.live.stop(entry.stopped);
    const end = await entry.live.ended;
    this.#begun.delete(entry);
    this.#take(entry, end);
  }

  #take(entry: Entry, end: ReviewEnd): void {
    const { actors, onOutage, onRejected } = this.#parts;
    const { id, number, type } = entry;
    const found = this.#find(id, number);
    if (found === null) return;
    if (end.kind === 'interrupted') {
      if (end.cause === 'limit' || end.cause === 'provider') onOutage(end.cause, end.message);
      return;
    }
    const isWanted = this.#isWanted(entry);
    const attempt = withReview(found.attempt, type, end);
    if (end.kind === 'verdict' || !isWanted) actors.note(id, { attempt });
    if (!isWanted) return;
    if (end.kind === 'verdict') {
      this.#tell(id);
      this.#settle(id, number);
      return;
    }
    this.stop('its task is refused', id);
    const message = `its reviewer ${type} gave no verdict: ${end.message}`;
    onRejected(id, refusal(attempt, message, true));
  }

  /** When all have spoken. */
  #settle(id: string, number: number): void {
    const { run, onApproved, onRejected } = this.#parts;
    const isOpen = (entry: Entry): boolean => entry.id === id && entry.number === number;
    if (this.#waiting.some(isOpen) || [...this.#begun].some(isOpen)) return;
    const found = this.#find(id, number);
    if (found === null) return;
    const { task, attempt } = found;
    const against = verdictsOf(attempt).filter(({ approved }) => !approved);
    if (against.length > 0) onRejected(id, refusal({ number }, against.map(refusalText).join('\n'), false));
    // One that was interrupted has not spoken.
    else if (openReviews(run, task.task, attempt).length === 0) onApproved(id, number);
  }

  /** Who is at work on it. */
  #tell(id: string): void {
    const types = [...this.#begun].filter((entry) => entry.id === id).map(({ type }) => type);
    const names = [...new Set(types)].join(' and ');
    this.#parts.actors.note(id, { message: names === '' ? null : `in review by ${names}` });
  }

  #isWanted({ id, number }: Entry): boolean {
    const found = this.#find(id, number);
    return found?.task.status === 'verifying' && found.attempt.state === 'ended';
  }

  #find(id: string, number: number): Reviewed | null {
    const task = taskOf(this.#parts.state(), id);
    const attempt = task?.attempts.find((one) => one.number === number);
    return task === undefined || attempt === undefined ? null : { task, attempt };
  }
}

/** Its cost is a part of what the attempt has cost. */
function withReview(attempt: TaskAttempt, type: string, end: ReviewEnd): AttemptChange {
  const { number, commit, reviews } = attempt;
  const { agent, costUsd } = end;
  const spent = {
    ...{ number, costUsd: addCost(attempt.costUsd, costUsd), usage: addUsage(attempt.usage, end.usage) },
  };
  if (end.kind !== 'verdict' || commit === null) return spent;
  const { approved, reasons } = end;
  return { ...spent, reviews: [...reviews, { type, commit, agent, approved, reasons, costUsd }] };
}

function refusal(attempt: AttemptChange, message: string, final: boolean): FailureNews {
  return {
    ...{ event: 'rejected', cause: 'review', message, final },
    attempt: { ...attempt, state: 'failed', cause: 'review', message },
  };
}

function refusalText({ type, reasons }: AttemptReview): string {
  return `${type} does not approve it: ${reasons}`;
}

/** Found again by it after a crash. An attempt has one commit, so it is bound to that. */
function reviewName(attempt: string, type: string): string {
  return `${attempt}-review-${type.replace(/[^\w.-]+/g, '-').slice(0, 40)}`;
}
