/**
 * The starts of agents that a repair could not save. An agent without one would be nowhere: no view would list it, its
 * number would be given again, and nobody would learn that its work was left. So one that says so takes its place.
 */
import type { EventOf, RecordedEvent } from '../schema/events.ts';
import { type AgentId, agentId, type SessionId } from '../schema/ids.ts';
import type { DamagedEvent } from './journal.ts';

const UNKNOWN = 'unknown';

interface FirstTrace {
  readonly id: AgentId;
  /** Of the first event of it that can be read: its start came before. */
  readonly seq: number;
}

/** `events` with a start for each agent of the session that has lost its own, under the number of a lost event. */
export function withLostStarts(
  events: readonly RecordedEvent[],
  lost: readonly DamagedEvent[],
  session: SessionId,
): RecordedEvent[] {
  const free = new Map(lost.filter(canBeStart).map((event) => [event.seq, event]));
  const starts = tracesWithoutStart(events, session).flatMap((trace) => {
    const seq = seqOfStart(trace, [...free.values()]);
    if (seq === undefined) return [];
    free.delete(seq);
    return [startOf(trace.id, seq, events, session)];
  });
  const found = new Set(events.map(({ agent }) => agent));
  for (const { seq, agent, type } of free.values()) {
    // Nothing else of it can be read.
    if (type !== 'agent.started' || !isChild(agent, session) || found.has(agent)) continue;
    found.add(agent);
    starts.push(startOf(agent, seq, events, session));
  }
  return [...events, ...starts].sort((a, b) => a.seq - b.seq);
}

function canBeStart({ type }: DamagedEvent): boolean {
  return type === undefined || type === 'agent.started';
}

function isChild(agent: AgentId | null | undefined, session: SessionId): agent is AgentId {
  const [head, number, ...rest] = agent?.split('.') ?? [];
  return head === session && rest.length === 0 && /^[1-9]\d{0,8}$/.test(number ?? '') && number !== '1';
}

/** By their first events. */
function tracesWithoutStart(events: readonly RecordedEvent[], session: SessionId): FirstTrace[] {
  const first = new Map<AgentId, FirstTrace>();
  const started = new Set<AgentId>();
  for (const { agent: id, seq, event } of events) {
    if (!isChild(id, session)) continue;
    if (event.type === 'agent.started') started.add(id);
    if (!first.has(id)) first.set(id, { id, seq });
  }
  return [...first.values()].filter(({ id }) => !started.has(id));
}

/** Its own where the damaged row still names it; else one that may be anybody's. */
function seqOfStart({ id, seq }: FirstTrace, free: readonly DamagedEvent[]): number | undefined {
  const before = free.filter((event) => event.seq < seq);
  const own = before.find(({ agent }) => agent === id);
  return (own ?? before.findLast(({ agent }) => agent === undefined) ?? before.at(-1))?.seq;
}

function startOf(
  id: AgentId,
  seq: number,
  events: readonly RecordedEvent[],
  session: SessionId,
): RecordedEvent {
  const event: EventOf<'agent.started'> = {
    type: 'agent.started',
    // Who asked for it is lost too; the main agent is always told.
    parent: agentId(session, 1),
    agentType: UNKNOWN,
    name: null,
    model: modelOf(id, events),
    permissionMode: 'plan',
    maxTurns: 1,
    budget: {},
    origin: {
      kind: 'fresh',
      call: null,
      description: 'its start is lost',
      background: false,
      depth: 1,
      startLost: true,
    },
  };
  return { seq, time: events.findLast((other) => other.seq < seq)?.time ?? 0, agent: id, event };
}

function modelOf(id: AgentId, events: readonly RecordedEvent[]): string {
  for (const { agent, event } of events) {
    if (agent === id && (event.type === 'prefix.frozen' || event.type === 'request.started'))
      return event.model;
  }
  return UNKNOWN;
}
