/**
 * What each agent is (AGENT-5) and does. The journal alone cannot tell a silent agent from one whose process is
 * gone, so `agentStatuses` is told whether the writer lives. An earlier writer whose session was resumed is gone too.
 */

import type { EventOf, JournalEvent, RecordedEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import { isUnderWay } from '../../schema/status.ts';
import { addCost, addUsage, NO_USAGE } from '../../schema/usage.ts';
import { type AgentOverview, BEGINNING, type OverviewAtStart, placeOf } from './agent-overview.ts';
import { foldProgress, typeOfAgent } from './agent-state.ts';
import { NO_WAIT, noteRun, waitOf } from './run-status.ts';

export type { AgentActivity, AgentOverview } from './agent-overview.ts';

export interface StatusBoard {
  /** The last event folded: where to read on. */
  seq: number;
  /** By birth. `status` is as journaled: see `agentStatuses`. */
  agents: Map<AgentId, AgentOverview>;
  /** Names of the tools that run, by agent and call. */
  tools: Map<AgentId, Map<string, string>>;
  /** Tasks of the operator's run that are not done. */
  tasksLeft: Set<string>;
}

export function emptyBoard(): StatusBoard {
  return { seq: 0, agents: new Map(), tools: new Map(), tasksLeft: new Set() };
}

export function statusBoardOf(events: Iterable<RecordedEvent>): StatusBoard {
  const board = emptyBoard();
  for (const recorded of events) extendBoard(board, recorded);
  return board;
}

/**
 * The agents by birth. What was under way when the writer died is `interrupted`. Where `now` is given, no wait lasts
 * longer from then than it did when it was recorded: the clock may have been set back since.
 */
export function agentStatuses(
  board: StatusBoard,
  { writerAlive, now = Number.POSITIVE_INFINITY }: { writerAlive: boolean; now?: number },
): AgentOverview[] {
  return Array.from(board.agents.values(), (agent) => {
    if (!writerAlive && isUnderWay(agent.status)) return { ...agent, ...INTERRUPTED };
    const { until, waitMs } = agent;
    return until === null || waitMs === null
      ? { ...agent }
      : { ...agent, until: Math.min(until, now + waitMs) };
  });
}

const INTERRUPTED = {
  status: 'interrupted',
  cause: 'process_ended',
  ...NO_WAIT,
  activity: null,
  stalledMs: null,
} as const;

/** Folds one more event into the board, in place. */
export function extendBoard(board: StatusBoard, recorded: RecordedEvent): void {
  const { seq, time, agent: id, event } = recorded;
  board.seq = seq;
  if (event.type === 'session.resumed') interruptAll(board);
  if (id === null) noteRun(board.agents.values(), board.tasksLeft, { event, time });
  if (id === null) return;
  const agent = board.agents.get(id) ?? admit(board, id, recorded);
  if (agent === undefined) return;
  if (event.type === 'agent.stalled') {
    agent.stalledMs = event.silentMs;
    return;
  }
  agent.lastEventAt = time;
  agent.stalledMs = null;
  note(board, agent, event);
}

type AgentStart = Omit<EventOf<'agent.started'>, 'type'>;

/** What is known of an agent before any of its events is folded. */
type AdmittedAgent = OverviewAtStart & Partial<AgentOverview>;

/** Adds an agent whose start was recorded before the events that are folded. It begins with no figures. */
export function admitAgent(board: StatusBoard, agent: AdmittedAgent): AgentOverview {
  const admitted = { ...BEGINNING, lastEventAt: agent.startedAt, ...agent };
  board.agents.set(agent.id, admitted);
  board.tools.delete(agent.id);
  return admitted;
}

function admit(board: StatusBoard, id: AgentId, { time, event }: RecordedEvent): AgentOverview | undefined {
  return event.type === 'agent.started' ? admitAgent(board, agentOfStart(id, event, time)) : undefined;
}

/** An agent as its start says, as that is recorded or told. */
export function agentOfStart(id: AgentId, start: AgentStart, startedAt: number): AdmittedAgent {
  const { parent, name, model, origin } = start;
  return {
    id,
    parent,
    type: typeOfAgent(start),
    name,
    description: origin?.description ?? null,
    background: origin?.background ?? false,
    source: origin?.source ?? null,
    model,
    startedAt,
    worktree: origin?.worktree === undefined ? null : placeOf(origin.worktree),
  };
}

function note(board: StatusBoard, agent: AgentOverview, event: JournalEvent): void {
  const since = agent.lastEventAt;
  agent.progress = foldProgress(agent.progress, event);
  switch (event.type) {
    case 'agent.started':
      setRunning(agent);
      agent.model = event.model;
      break;
    case 'prefix.frozen':
      Object.assign(agent, { model: event.model, thinking: event.thinking });
      break;
    case 'status.changed':
      Object.assign(agent, {
        status: event.status,
        cause: event.cause,
        ...waitOf(event, since),
        message: null,
      });
      break;
    case 'agent.detached':
      agent.background = true;
      break;
    case 'agent.resumed':
      run(agent);
      agent.resumed += 1;
      agent.activity = null;
      board.tools.delete(agent.id);
      break;
    case 'message.appended':
      if (agent.cause === 'provider' || !isUnderWay(agent.status)) run(agent);
      break;
    case 'request.started':
      // Keeping a prefix warm is nothing that its agent does, nor is compacting a finished conversation.
      if (event.source === 'refresh') break;
      if (event.source !== undefined && !isUnderWay(agent.status)) break;
      // One that looks whether its provider is back waits for it until an answer begins.
      if (agent.cause !== 'provider' || !isUnderWay(agent.status)) run(agent);
      agent.activity = { kind: 'requesting', model: event.model, attempt: event.attempt, since };
      break;
    case 'request.failed':
      agent.usage = addUsage(agent.usage, event.usage ?? NO_USAGE);
      agent.costUsd = addCost(agent.costUsd, event.costUsd);
      agent.activity =
        event.retryInMs === null
          ? null
          : { kind: 'retrying', code: event.code, until: since + event.retryInMs };
      break;
    case 'response.completed':
      noteResponse(agent, event);
      break;
    case 'tool.started':
    case 'tool.completed':
      // What a person does beside the conversation is no work of an agent that has ended.
      if (isCallOfUser(event.call) && !isUnderWay(agent.status)) break;
      setRunning(agent);
      noteTool(board, agent, event);
      break;
    case 'tool.withdrawn':
      // Something ends its run: that it is not made now is no sign of work.
      noteTool(board, agent, event);
      break;
    case 'todos.changed':
      agent.todos = event.todos;
      break;
    case 'phase.changed':
      agent.phase = event.to;
      break;
    case 'worktree.created':
      agent.worktree = placeOf(event);
      break;
    case 'worktree.released':
      if (!event.kept) agent.worktree = null;
      agent.checkoutChanges = [...agent.checkoutChanges, ...(event.checkoutChanges ?? [])];
      break;
    case 'directory.changed':
      agent.worktree = event.worktree === null ? null : placeOf(event.worktree);
      break;
    case 'agent.ended':
      Object.assign(agent, { status: event.status, cause: event.cause, ...NO_WAIT, message: event.message });
      agent.activity = null;
      board.tools.delete(agent.id);
      break;
  }
}

function noteResponse(agent: AgentOverview, event: EventOf<'response.completed'>): void {
  if (event.source === undefined) agent.turns += 1;
  agent.usage = addUsage(agent.usage, event.usage);
  agent.costUsd = addCost(agent.costUsd, event.costUsd);
  if (event.source !== 'refresh') agent.activity = null;
}

function noteTool(
  board: StatusBoard,
  agent: AgentOverview,
  event: EventOf<'tool.started' | 'tool.completed' | 'tool.withdrawn'>,
): void {
  const running = board.tools.get(agent.id) ?? new Map<string, string>();
  if (event.type === 'tool.started') running.set(event.call, event.name);
  else running.delete(event.call);
  board.tools.set(agent.id, running);
  const since = agent.activity?.kind === 'tools' ? agent.activity.since : agent.lastEventAt;
  agent.activity = running.size === 0 ? null : { kind: 'tools', names: [...running.values()], since };
}

/** A command typed at the prompt, or a file to attach: see `engine/calls/user-call.ts`. */
function isCallOfUser(call: string): boolean {
  return call.startsWith('user-');
}

/** An agent that had ended runs again when its session is resumed. */
function setRunning(agent: AgentOverview): void {
  if (!isUnderWay(agent.status)) run(agent);
}

function run(agent: AgentOverview): void {
  Object.assign(agent, { status: 'running', cause: null, ...NO_WAIT, message: null });
}

/** What the last process was doing died with it; a resumed agent shows it by what it does. */
function interruptAll(board: StatusBoard): void {
  board.tools.clear();
  for (const agent of board.agents.values()) {
    if (isUnderWay(agent.status)) Object.assign(agent, INTERRUPTED);
    else agent.activity = null;
  }
}
