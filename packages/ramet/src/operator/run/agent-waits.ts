/** An agent that waits for its provider: the task it works for says so, until it works again. */
import { untilText } from '../../schema/until-text.ts';
import { type OperatorState, type TaskState, tasksOf } from './operator-state.ts';
import type { TaskActors } from './task-actors.ts';

export interface AgentWait {
  /** `limit` or `provider`. */
  readonly cause: string;
  /** When it will continue, in milliseconds since the epoch; null if unknown. */
  readonly until: number | null;
}

/** An agent, and the one that does the task or the review: itself, or the one that started it. */
export interface WaitingAgent {
  readonly id: string;
  readonly top: string;
  /** The name of that one. */
  readonly name: string | null;
  /** Of one that resolves a conflict, in a session of its own: the task whose work it is. */
  readonly task?: string;
}

export class AgentWaits {
  /** By task, then by agent. */
  readonly #waits: Map<string, Map<string, AgentWait>> = new Map();

  /** Null: it works. Nothing is recorded about an agent that works for no task, or twice about one wait. */
  note(
    agent: WaitingAgent,
    wait: AgentWait | null,
    { state, actors, now }: { state: OperatorState; actors: TaskActors; now: number },
  ): void {
    const task = tasksOf(state).find((one) => isFor(one, agent));
    if (task === undefined) return;
    const waits = this.#waits.get(task.task.id) ?? new Map<string, AgentWait>();
    this.#waits.set(task.task.id, waits);
    if (wait === null) waits.delete(agent.id);
    else waits.set(agent.id, wait);
    tell(task, [...waits.values()].at(-1) ?? null, { actors, now });
  }
}

function isFor({ task, status, attempts }: TaskState, { top, name, task: resolved }: WaitingAgent): boolean {
  if (resolved !== undefined) return resolved === task.id && (status === 'verifying' || status === 'merging');
  if (status === 'running') return attempts.some((one) => one.agent === top && one.endedAt === null);
  if (status !== 'verifying' || name === null) return false;
  return attempts.some((one) => one.state === 'ended' && name.startsWith(`${one.name}-review-`));
}

function tell(
  { task, message, until: known }: TaskState,
  wait: AgentWait | null,
  { actors, now }: { actors: TaskActors; now: number },
): void {
  if (wait === null) {
    if (message?.startsWith(WAITS)) actors.note(task.id, { message: null, until: null });
    return;
  }
  const { cause, until } = wait;
  const isKnown = message?.startsWith(`${WAITS}${cause}`) && Math.abs((known ?? 0) - (until ?? 0)) < NEAR_MS;
  if (isKnown) return;
  const time = until === null ? '' : ` until ${untilText(until, now)}`;
  actors.note(task.id, { message: `${WAITS}${cause}${time}`, until });
}

const WAITS = 'waiting: ';
/** A time that is told again may be a little different. */
const NEAR_MS = 60_000;
