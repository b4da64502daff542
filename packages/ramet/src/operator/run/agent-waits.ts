/** An agent that waits for its provider: its task says so, until it works again. */
import { untilText } from '../../schema/until-text.ts';
import { type OperatorState, tasksOf } from './operator-state.ts';
import type { TaskActors } from './task-actors.ts';

export interface AgentWait {
  /** `limit` or `provider`. */
  readonly cause: string;
  /** When it will continue, in milliseconds since the epoch; null if unknown. */
  readonly until: number | null;
}

/** Null: it works. Nothing is recorded about an agent that does no task, or twice about one wait. */
export function noteWait(
  agent: string,
  wait: AgentWait | null,
  { state, actors, now }: { state: OperatorState; actors: TaskActors; now: number },
): void {
  const task = tasksOf(state).find(({ status, attempts }) => {
    return status === 'running' && attempts.some((one) => one.agent === agent && one.endedAt === null);
  });
  if (task === undefined) return;
  const { message } = task;
  if (wait === null) {
    if (message?.startsWith(WAITS)) actors.note(task.task.id, { message: null, until: null });
    return;
  }
  const { cause, until } = wait;
  const isKnown =
    message?.startsWith(`${WAITS}${cause}`) && Math.abs((task.until ?? 0) - (until ?? 0)) < NEAR_MS;
  if (isKnown) return;
  const time = until === null ? '' : ` until ${untilText(until, now)}`;
  actors.note(task.task.id, { message: `${WAITS}${cause}${time}`, until });
}

const WAITS = 'waiting: ';
/** A time that is told again may be a little different. */
const NEAR_MS = 60_000;
