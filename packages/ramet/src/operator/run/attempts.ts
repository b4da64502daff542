/** The agents at work: one for each attempt that runs, started when the attempt is on record. */
import type { AttemptChange, OperatorRun, TaskConflict } from '../../schema/operator-events.ts';
import { addCost, addUsage } from '../../schema/usage.ts';
import { attemptsOf, isAsking } from './decisions.ts';
import { answerCommand } from './operate-command.ts';
import { type OperatorState, type TaskAttempt, taskName, taskOf, tasksOf } from './operator-state.ts';
import type {
  AttemptEnd,
  AttemptOrder,
  AttemptWatch,
  LiveAttempt,
  OperatorPorts,
  ResolverSpending,
} from './ports.ts';
import type { TaskActors } from './task-actors.ts';

export interface AttemptsParts {
  readonly ports: OperatorPorts;
  readonly run: OperatorRun;
  readonly actors: TaskActors;
  state(): OperatorState;
  onEnd(id: string, end: AttemptEnd, attempt: AttemptChange): void;
  /** Something changed that may let others start. */
  onChange(): void;
  onFailure(error: unknown): void;
}

const STARTING_MS = 300;

interface Entry {
  readonly id: string;
  /** Null while it is being started. */
  live: LiveAttempt | null;
  /** Why it is to stop, if that was said before it was there. */
  stopped: string | null;
  readonly since: number;
  /** Its agent is there, and where it works. */
  hasBegun: boolean;
  /** Its agent has ended: its work is being committed. */
  rests: boolean;
}

export class Attempts {
  readonly #parts: AttemptsParts;
  readonly #entries: Set<Entry> = new Set();

  constructor(parts: AttemptsParts) {
    this.#parts = parts;
  }

  get count(): number {
    return this.#entries.size;
  }

  /** Tells how many start next, of those that wait, when all that could start have begun. */
  announce(waiting: number): void {
    const { ports, run, state } = this.#parts;
    const { status, integrated } = state();
    const haveBegun = [...this.#entries].every(({ hasBegun }) => hasBegun);
    const count = Math.min(waiting * attemptsOf(run), ports.width(run));
    if (status === 'running' && haveBegun && count > 0) ports.expect?.(run, count, integrated ?? run.base);
  }

  /** Whether one is just starting; one that takes long, such as for a set-up command, is not. */
  get isStarting(): boolean {
    const now = this.#parts.ports.clock.now();
    return [...this.#entries].some(({ hasBegun, since }) => !hasBegun && now - since < STARTING_MS);
  }

  /** Those that do not wait for a person. */
  get working(): number {
    return this.#working().length;
  }

  /** How many of them count against the width. All do where the end of one may decide whether another starts. */
  get places(): number {
    const working = this.#working();
    const { run, ports } = this.#parts;
    const { budget, policy, review = [] } = run;
    if (!working.some(({ rests }) => rests) || ports.width(run) < 2) return working.length;
    const isFree = budget.usd === undefined && policy !== 'all' && review.length === 0;
    const mayRest = isFree && tasksOf(this.#parts.state()).every(({ failures }) => failures === 0);
    return working.filter(({ rests }) => !rests || !mayRest).length;
  }

  #working(): Entry[] {
    return [...this.#entries].filter(({ id }) => {
      const task = taskOf(this.#parts.state(), id);
      return task === undefined || !isAsking(task);
    });
  }

  /** Of one task, or all. */
  stop(reason: string, id?: string): void {
    for (const entry of this.#entries) {
      if (id !== undefined && entry.id !== id) continue;
      entry.stopped = reason;
      entry.live?.stop(reason);
    }
  }

  begin(id: string, number: number, isResumed: boolean): void {
    const since = this.#parts.ports.clock.now();
    const entry: Entry = { id, since, live: null, stopped: null, hasBegun: false, rests: false };
    this.#entries.add(entry);
    void this.#carryOut(entry, number, isResumed)
      .catch((error: unknown) => this.#parts.onFailure(error))
      .finally(() => {
        this.#entries.delete(entry);
        this.#parts.onChange();
      });
  }

  async #carryOut(entry: Entry, number: number, isResumed: boolean): Promise<void> {
    const { ports, onChange, onEnd } = this.#parts;
    const { id } = entry;
    await ports.recorded();
    const order = this.#orderFor(id, number, isResumed);
    if (order === null) return;
    entry.live = ports.begin(order, this.#watch(entry, number));
    if (entry.stopped !== null) entry.live.stop(entry.stopped);
    onChange();
    const end = await entry.live.ended;
    this.#entries.delete(entry);
    onEnd(id, end, factsOf(number, end));
  }

  #orderFor(id: string, number: number, isResumed: boolean): AttemptOrder | null {
    const task = taskOf(this.#parts.state(), id);
    const attempt = task?.attempts.find((one) => one.number === number);
    if (task === undefined || attempt === undefined) return null;
    const before = task.attempts.findLast((one) => one.number < number && one.state === 'failed') ?? null;
    return { run: this.#parts.run, task: task.task, attempt, before, isResumed };
  }

  #watch(entry: Entry, number: number): AttemptWatch {
    const { actors, run, onChange } = this.#parts;
    const { id } = entry;
    return {
      rests: () => {
        entry.rests = true;
        onChange();
      },
      started: (facts) => {
        actors.note(id, { attempt: { number, ...facts } });
        entry.hasBegun = true;
        onChange();
      },
      asked: (question) => {
        actors.change(id, { type: 'ask' }, { question, person: answerCommand(run, question.id) });
        onChange();
      },
      answered: () => {
        actors.change(id, { type: 'answered' });
        onChange();
      },
    };
  }
}

function factsOf(
  number: number,
  { costUsd, usage, idle, branch, path, notes = [] }: AttemptEnd,
): AttemptChange {
  return {
    ...{ number, costUsd, usage },
    ...(idle !== undefined && { idle }),
    ...(branch !== undefined && { branch }),
    ...(path !== undefined && { path }),
    ...(notes.length > 0 && { notes }),
  };
}

/** Found again by it after a crash; also a part of the names of its branch and worktree. */
export function attemptName(id: string, number: number): string {
  return `${taskName(id)}-${number}`;
}

/** A conflict that agents have resolved, with those of earlier rounds; null if there was none. */
export function resolvedConflict(
  id: string,
  state: OperatorState,
  spent: ResolverSpending | undefined,
): TaskConflict | null {
  if (spent?.resolved === undefined) return null;
  const before = taskOf(state, id)?.conflict;
  const { files, by } = spent.resolved;
  return {
    ...before,
    files,
    rounds: (before?.rounds ?? 0) + 1,
    resolvedBy: [...(before?.resolvedBy ?? []), ...by],
  };
}

/** What resolving its conflicts has cost is a part of what the attempt has cost. */
export function withCost(
  { number, costUsd, usage }: TaskAttempt,
  spent: Pick<AttemptEnd, 'costUsd' | 'usage'> | undefined,
): AttemptChange {
  if (spent === undefined) return { number };
  return { number, costUsd: addCost(costUsd, spent.costUsd), usage: addUsage(usage, spent.usage) };
}
