/**
 * The journal of a session as the history of the operator's runs in it. Pure, and in one pass: what is asked of the journal
 * is in `HISTORY_EVENTS`. The clock stands still between the last event of a process and the resume by another.
 */
import type { JournalEvent, RecordedEvent } from '../../schema/events.ts';
import type { RunTask, TaskChanged, TaskStatus } from '../../schema/operator-events.ts';
import { OPERATOR_EVENTS } from '../run/apply-operator-event.ts';
import { isTaskEnded } from '../run/operator-state.ts';
import { AgentBooks, type AgentSums } from './agent-books.ts';
import type { RunHistory, TaskHistory } from './run-history.ts';

export const HISTORY_EVENTS: readonly JournalEvent['type'][] = [
  ...OPERATOR_EVENTS,
  'agent.started',
  'launch.decided',
  'request.started',
  'request.failed',
  'response.completed',
  'worktree.created',
];

export function foldHistory(events: Iterable<RecordedEvent>): RunHistory[] {
  const runs: RunHistory[] = [];
  const books = new AgentBooks();
  let run: RunRecord | undefined;
  let stopped = 0;
  let last = 0;
  for (const recorded of events) {
    const { event } = recorded;
    if (event.type === 'operator.resumed' && last > 0) stopped += Math.max(0, recorded.time - last);
    last = recorded.time;
    const time = recorded.time - stopped;
    if (event.type === 'operator.started') {
      if (run !== undefined) runs.push(run.history());
      run = new RunRecord(event, time, books);
    }
    run?.take(event, time);
    books.take({ ...recorded, time });
  }
  return run === undefined ? runs : [...runs, run.history()];
}

interface TaskRecord {
  readonly task: RunTask;
  status: TaskStatus;
  since: number;
  startedAt: number | null;
  readonly spent: Map<TaskStatus, number>;
  readonly attempts: Set<number>;
  readonly agents: Set<string>;
  readonly changed: Set<string>;
  conflicted: boolean;
}

class RunRecord {
  readonly #started: Extract<JournalEvent, { type: 'operator.started' }>;
  readonly #startedAt: number;
  readonly #books: AgentBooks;
  readonly #billed: number | null;
  readonly #tasks: Map<string, TaskRecord> = new Map();
  #endedAt: number | null = null;
  #at: number;
  #disturbed = false;
  #running = 0;
  #most = 1;

  constructor(started: Extract<JournalEvent, { type: 'operator.started' }>, time: number, books: AgentBooks) {
    this.#started = started;
    this.#startedAt = time;
    this.#at = time;
    this.#books = books;
    this.#billed = books.total.costUsd;
    this.#add(started.tasks, time);
  }

  #add(tasks: readonly RunTask[], time: number): void {
    for (const task of tasks)
      this.#tasks.set(task.id, {
        ...{ task, status: 'queued', since: time, startedAt: null, spent: new Map() },
        ...{ attempts: new Set(), agents: new Set(), changed: new Set(), conflicted: false },
      });
  }

  take(event: JournalEvent, time: number): void {
    this.#at = time;
    if (event.type === 'task.changed') this.#change(event, time);
    else if (event.type === 'operator.tasks_added') {
      this.#add(event.tasks, time);
      this.#disturbed = true;
    } else if (event.type === 'operator.resumed') {
      this.#disturbed = true;
      this.#endedAt = null;
    } else if (event.type === 'operator.changed') {
      if (event.status === 'ended') this.#endedAt = time;
      else if (event.status !== 'running') this.#disturbed = true;
    }
  }

  #change(event: TaskChanged, time: number): void {
    const task = this.#tasks.get(event.task);
    if (task === undefined) return;
    if (event.status !== task.status) {
      settle(task, time);
      this.#running += (event.status === 'running' ? 1 : 0) - (task.status === 'running' ? 1 : 0);
      this.#most = Math.max(this.#most, this.#running);
      task.status = event.status;
      if (event.status === 'running') task.startedAt ??= time;
      if (event.status === 'blocked') this.#disturbed = true;
    }
    const { attempt, conflict } = event;
    if (attempt !== undefined) {
      task.attempts.add(attempt.number);
      if (attempt.agent) task.agents.add(attempt.agent);
      for (const path of attempt.files ?? []) task.changed.add(path);
    }
    if ((conflict?.files.length ?? 0) > 0 || event.cause === 'conflict') task.conflicted = true;
  }

  history(): RunHistory {
    const end = this.#endedAt ?? this.#at;
    const owners = new Map(
      [...this.#tasks.values()].flatMap((task) => [...task.agents].map((id) => [id, task])),
    );
    const sums = this.#books.byOwner(owners);
    const tasks = Array.from(this.#tasks.values(), (task) => taskHistory(task, sums.get(task), end));
    const costUsd = minus(this.#books.total.costUsd, this.#billed);
    const ofTasks = tasks.reduce<number | null>((sum, one) => plus(sum, one.costUsd), 0);
    const times = tasks.flatMap(({ startedAt, endedAt }) =>
      startedAt === null ? [] : [{ startedAt, endedAt }],
    );
    const { parallel, width, attempts, policy } = this.#started.run;
    return {
      startedAt: this.#startedAt,
      ended: this.#endedAt !== null,
      undisturbed:
        this.#endedAt !== null && !this.#disturbed && tasks.every(({ outcome }) => outcome === 'done'),
      width: width ?? (parallel === 'auto' ? this.#most : parallel),
      competing: policy === 'first' ? attempts : 1,
      wallMs: end - this.#startedAt,
      headMs: Math.min(end, ...times.map(({ startedAt }) => startedAt)) - this.#startedAt,
      tailMs: end - Math.max(this.#startedAt, ...times.map(({ endedAt }) => endedAt ?? 0)),
      costUsd,
      otherUsd: minus(costUsd, ofTasks),
      tasks,
      launches: [...sums.values()].flatMap(({ launches }) => launches),
      nodes: Array.from(this.#tasks.values(), ({ task: { id, waits, barrier, files, held } }) => ({
        ...{ id, waits, barrier, files, held },
      })),
    };
  }
}

function settle(task: TaskRecord, time: number): void {
  task.spent.set(task.status, (task.spent.get(task.status) ?? 0) + Math.max(0, time - task.since));
  task.since = time;
}

function taskHistory(record: TaskRecord, sums: AgentSums | undefined, end: number): TaskHistory {
  const { task, status, spent } = record;
  const isOpen = !isTaskEnded(record);
  if (isOpen) settle(record, end);
  const spentIn = (one: TaskStatus): number => spent.get(one) ?? 0;
  const { usage, costUsd, requests, reused, worktreeMs, model, firstRequestAt } = sums ?? AgentBooks.nothing;
  const setupMs =
    firstRequestAt === null || record.startedAt === null ? 0 : Math.max(0, firstRequestAt - record.startedAt);
  return {
    ...{
      id: task.id,
      title: task.title,
      type: task.settings.type ?? null,
      effort: task.settings.effort ?? null,
    },
    ...{
      model,
      outcome: isOpen ? 'open' : status === 'done' ? 'done' : 'failed',
      startedAt: record.startedAt,
    },
    ...{ endedAt: isOpen ? null : record.since, workMs: spentIn('running'), verifyMs: spentIn('verifying') },
    ...{
      mergeMs: spentIn('merging'),
      pauseMs: spentIn('waiting'),
      worktreeMs,
      attempts: record.attempts.size,
    },
    ...{ requests, usage, costUsd, reused, declared: task.files, changed: [...record.changed] },
    ...{ setupMs, conflicted: record.conflicted },
  };
}

function plus(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}

function minus(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : Math.max(0, one - other);
}
