/**
 * The gate before a merge (OP-5): agents of other types judge the commit of an attempt, and all of them must approve it. While
 * they do, its task is `verifying`.
 *
 * 1. A verdict is on record with its commit, and counts for that commit alone. It is asked for once, also after a crash. A
 *    reviewer that ends without one is asked again, a few times; then a person decides, and the work stays as it is.
 * 2. A refusal is a failure of the attempt: the reasons of all reviewers go to the next one.
 */
import type { AttemptChange, AttemptReview, OperatorRun } from '../../schema/operator-events.ts';
import { addCost, addUsage } from '../../schema/usage.ts';
import { isSilent } from './approvals.ts';
import { isApproved, openReviews, verdictsOf } from './decisions.ts';
import { eitherOf, operateCommand } from './operate-command.ts';
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
  /** It waits for a person. */
  onBlocked(id: string): void;
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
    const { task, attempt } = found;
    for (const type of openReviews(this.#parts.run, task.task, attempt))
      if (!isSilent(attempt, type) && !this.#isAsked(id, number, type))
        this.#waiting.push({ id, number, type, isResumed, live: null, stopped: null });
    this.#settle(id, number);
  }

  /** A person may ask for it again just before the run does. */
  #isAsked(id: string, number: number, type: string): boolean {
    const isSame = (one: Entry): boolean => one.id === id && one.number === number && one.type === type;
    return this.#waiting.some(isSame) || [...this.#begun].some(isSame);
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
    const name = reviewName(attempt, type);
    entry.live = ports.review({ run, task: task.task, attempt, type, name, isResumed });
    if (entry.stopped !== null) entry.live.stop(entry.stopped);
    const end = await entry.live.ended;
    this.#begun.delete(entry);
    this.#take(entry, end);
  }

  #take(entry: Entry, end: ReviewEnd): void {
    const { actors, onOutage } = this.#parts;
    const { id, number, type } = entry;
    const found = this.#find(id, number);
    if (found === null) return;
    if (end.kind === 'interrupted') {
      if (end.cause === 'limit' || end.cause === 'provider') onOutage(end.cause, end.message);
      // Nobody resumes one that is not needed any more.
      if (this.#isWanted(entry)) return;
      actors.note(id, { attempt: withReview(found.attempt, type, end) });
      if (found.task.status === 'verifying') this.#settle(id, number);
      return;
    }
    const isWanted = this.#isWanted(entry);
    actors.note(id, { attempt: withReview(found.attempt, type, end) });
    if (!isWanted) return;
    const now = this.#find(id, number)?.attempt;
    if (end.kind === 'failed' && now !== undefined && !isSilent(now, type))
      this.#waiting.push({ ...entry, isResumed: false, live: null, stopped: null });
    this.#tell(id);
    this.#settle(id, number);
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
    if (isApproved(run, task.task, attempt)) onApproved(id, number);
    else if (against.length > 0) onRejected(id, refusal(number, against.map(refusalText).join('\n')));
    else this.#blockIfSilent(task, attempt);
  }

  /** One that was interrupted has not spoken, and is asked when the run is resumed. */
  #blockIfSilent({ task: { id, ...task } }: TaskState, attempt: TaskAttempt): void {
    const { run, actors, onBlocked } = this.#parts;
    const types = openReviews(run, { id, ...task }, attempt).filter((type) => isSilent(attempt, type));
    if (types.length === 0) return;
    const last = attempt.silent.findLast(({ type }) => types.includes(type));
    const message = `its reviewer ${types.join(' and ')} gave no verdict: ${last?.message ?? ''}`;
    const commands = (['retry', 'approve', 'skip'] as const).map((kind) => operateCommand(run, kind, id));
    const person = `retry asks again, and approve merges it as it is: ${eitherOf(commands)}`;
    if (actors.change(id, { type: 'unreviewed' }, { message, person }) !== null) onBlocked(id);
  }

  /** Who is at work on it. */
  #tell(id: string): void {
    const types = [...this.#begun].filter((entry) => entry.id === id).map(({ type }) => type);
    const names = [...new Set(types)].join(' and ');
    this.#parts.actors.note(id, { message: names === '' ? null : `in review by ${names}` });
  }

  #isWanted({ id, number, type }: Entry): boolean {
    const found = this.#find(id, number);
    if (found?.task.status !== 'verifying' || found.attempt.state !== 'ended') return false;
    return openReviews(this.#parts.run, found.task.task, found.attempt).includes(type);
  }

  #find(id: string, number: number): Reviewed | null {
    const task = taskOf(this.#parts.state(), id);
    const attempt = task?.attempts.find((one) => one.number === number);
    return task === undefined || attempt === undefined ? null : { task, attempt };
  }
}

/** Its cost is a part of what the attempt has cost. */
function withReview(attempt: TaskAttempt, type: string, end: ReviewEnd): AttemptChange {
  const { number, commit, reviews, silent } = attempt;
  const { agent, costUsd } = end;
  const spent = {
    ...{ number, costUsd: addCost(attempt.costUsd, costUsd), usage: addUsage(attempt.usage, end.usage) },
  };
  if (end.kind === 'interrupted' || commit === null) return spent;
  if (end.kind === 'failed')
    return { ...spent, silent: [...silent, { type, commit, agent, message: end.message }] };
  const { approved, reasons } = end;
  return { ...spent, reviews: [...reviews, { type, commit, agent, approved, reasons, costUsd }] };
}

function refusal(number: number, message: string): FailureNews {
  return {
    ...{ event: 'rejected', cause: 'review', message },
    attempt: { number, state: 'failed', cause: 'review', message },
  };
}

function refusalText({ type, reasons }: AttemptReview): string {
  return `${type} does not approve it: ${reasons}`;
}

/** Found again by it after a crash. An attempt has one commit, so it is bound to that. One that is asked again is another. */
function reviewName({ name, silent }: TaskAttempt, type: string): string {
  const count = silent.filter((one) => one.type === type).length;
  return `${name}-review-${type.replace(/[^\w.-]+/g, '-').slice(0, 40)}${count === 0 ? '' : `-${count + 1}`}`;
}
