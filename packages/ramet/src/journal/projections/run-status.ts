/** What an agent waits for, and what the main agent of an operator's run is: it has no conversation, so it is what its run is. */
import type { EventOf, JournalEvent } from '../../schema/events.ts';
import type { TaskStatus } from '../../schema/operator-events.ts';
import type { AgentStatus } from '../../schema/status.ts';

interface MainStatus {
  status: AgentStatus;
  cause: string | null;
  message: string | null;
}

/** The parts of an agent's overview that count here. */
interface MainAgent extends MainStatus, AgentWaiting {
  parent: string | null;
  turns: number;
  lastEventAt: number;
}

interface AgentWaiting {
  until: number | null;
  waitMs: number | null;
}

export const NO_WAIT: { readonly until: null; readonly waitMs: null } = { until: null, waitMs: null };

/** How long an agent will wait, as it was recorded. */
export function waitOf({ until, leftMs }: EventOf<'status.changed'>, time: number): AgentWaiting {
  if (until === undefined) return NO_WAIT;
  return leftMs === undefined ? { until, waitMs: until - time } : { until: time + leftMs, waitMs: leftMs };
}

/** A main agent that has said nothing itself is what the run of its session is. */
export function noteRun(
  agents: Iterable<MainAgent>,
  left: Set<string>,
  { event, time }: { event: JournalEvent; time: number },
): void {
  const status = mainStatusAfter(left, event);
  if (status === null) return;
  for (const agent of agents)
    if (agent.parent === null && agent.turns === 0)
      Object.assign(agent, status, NO_WAIT, { lastEventAt: time });
}

/** Folds one event; `left` holds the tasks that are not done. Null for an event that says nothing about the run as a whole. */
function mainStatusAfter(left: Set<string>, event: JournalEvent): MainStatus | null {
  switch (event.type) {
    case 'operator.started':
      left.clear();
      for (const { id } of event.tasks) left.add(id);
      return RUNNING;
    case 'operator.tasks_added':
      for (const { id } of event.tasks) left.add(id);
      return null;
    case 'task.changed':
      if (isSettled(event.status)) left.delete(event.task);
      else left.add(event.task);
      return null;
    case 'operator.resumed':
      return RUNNING;
    case 'operator.changed':
      return event.status === 'ended' ? endOf(left.size, event.cause, event.message) : null;
    default:
      return null;
  }
}

const RUNNING: MainStatus = { status: 'running', cause: null, message: null };

function isSettled(status: TaskStatus): boolean {
  return status === 'done' || status === 'skipped';
}

function endOf(left: number, cause: string | null, message: string | null): MainStatus {
  if (left === 0) return { status: 'done', cause: null, message: null };
  if (cause === null) return { status: 'failed', cause: 'tasks_left', message };
  return { status: 'interrupted', cause: cause === 'interrupted' ? 'stopped' : cause, message };
}
