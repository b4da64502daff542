/**
 * The background tasks of one agent: commands that still run after their call was answered. It owns what is known of
 * them and where TaskOutput continues to read; starting them is Bash's, their files are `output-file.ts`'s.
 *
 * Invariants
 * 1. A task that was started stays known, however it ended, also to the agent resumed in a later process.
 * 2. A start is recorded before the call that made it is answered, an end when it is seen.
 */
import type { EventOf } from '../../schema/events.ts';
import type { ProcessGroup } from '../../system/processes/process-group.ts';

type TaskEvent = EventOf<'background_task.started' | 'background_task.ended'>;
export type TaskEnd = Pick<EventOf<'background_task.ended'>, 'code' | 'signal' | 'stoppedBy'>;
export type TaskStopper = NonNullable<TaskEnd['stoppedBy']>;

export interface BackgroundTask {
  readonly id: string;
  /** Null while it runs; `interrupted` when the process that watched it died first. */
  readonly end: TaskEnd | 'interrupted' | null;
  /** The process group's id; null for a task of an earlier process. */
  readonly pid: number | null;
  /** Settles when `end` is known. */
  readonly ended: Promise<void>;
  /** Ends the whole group and resolves when nobody of it is left. */
  stop(by: TaskStopper): Promise<void>;
  /** Up to where its output file was shown. */
  position: number;
}

export class BackgroundTasks {
  readonly #record: (event: TaskEvent) => void;
  readonly #tasks = new Map<string, BackgroundTask>();

  constructor(record: (event: TaskEvent) => void) {
    this.#record = record;
  }

  get ids(): string[] {
    return [...this.#tasks.keys()];
  }

  find(id: string): BackgroundTask | undefined {
    return this.#tasks.get(id);
  }

  /** Takes over tasks of an earlier process: how they ended, or null when nobody saw it. */
  recall(earlier: Iterable<readonly [id: string, end: TaskEnd | null]>): void {
    for (const [id, end] of earlier) {
      this.#tasks.set(id, {
        id,
        end: end ?? 'interrupted',
        pid: null,
        ended: Promise.resolve(),
        stop: async () => {},
        position: 0,
      });
    }
  }

  add(id: string, call: string, group: ProcessGroup): BackgroundTask {
    this.#record({ type: 'background_task.started', task: id, call, pid: group.id });
    let end: TaskEnd | null = null;
    let stoppedBy: TaskStopper | null = null;
    const ended = group.ended.then(({ code, signal }) => {
      end = { code, signal, stoppedBy };
      this.#record({ type: 'background_task.ended', task: id, ...end });
    });
    const task: BackgroundTask = {
      id,
      get end() {
        return end;
      },
      pid: group.id,
      ended,
      async stop(by) {
        stoppedBy ??= by;
        await group.terminate();
        await ended;
      },
      position: 0,
    };
    this.#tasks.set(id, task);
    return task;
  }
}

/** `bash-1 runs (pid 17).`, `bash-1 ended with exit code 0.` */
export function describeTask({ id, end, pid }: Pick<BackgroundTask, 'id' | 'end' | 'pid'>): string {
  if (end === null) return `${id} runs (pid ${pid}).`;
  if (end === 'interrupted') {
    return `${id} was interrupted: the session was restarted since, so its end is unknown and it may still run.`;
  }
  if (end.stoppedBy === 'TaskStop') return `${id} was stopped.`;
  if (end.stoppedBy !== null) return `${id} was stopped (${end.stoppedBy}).`;
  return end.signal === null ? `${id} ended with exit code ${end.code}.` : `${id} ended by ${end.signal}.`;
}

/** For an id that no task has. */
export function unknownTask(id: string, { ids }: BackgroundTasks): string {
  const known = ids.length === 0 ? 'there are none' : `they are ${ids.join(', ')}`;
  return `There is no background task "${id}" of yours; ${known}.`;
}
