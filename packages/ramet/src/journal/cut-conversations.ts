/**
 * Ends each conversation before the first thing that it lost: a conversation with a hole cannot be sent, and one that
 * skips what was said or done misleads. What came after stays on record, and on the bill, without being part of it.
 */
import type { Digest, JournalEvent, RecordedEvent } from '../schema/events.ts';
import type { AgentId } from '../schema/ids.ts';
import type { DamagedEvent } from './journal.ts';

/** What a conversation is rebuilt from. */
const CONVERSATION: ReadonlySet<JournalEvent['type']> = new Set<JournalEvent['type']>([
  'prefix.frozen',
  'message.appended',
  'message.received',
  'message.taken',
  'conversation.inherited',
  'conversation.replaced',
  'tool.started',
  'tool.withdrawn',
  'tool.completed',
  'file.read',
]);

/** Whose loss leaves a conversation whole. */
const BESIDES: ReadonlySet<string> = new Set<JournalEvent['type']>([
  'agent.stalled',
  'compaction.postponed',
  'cache.kept',
  'fork.compared',
  'guards.noted',
  'hooks.ran',
  'launch.decided',
  'permission.asked',
  'coordination.refused',
  'phase.changed',
  'plan.changed',
  'progress.reported',
  'request.failed',
  'request.started',
  'status.changed',
  'todos.changed',
  'verification.begins',
  'verification.compared',
  'verification.writes',
  'warning.raised',
  'window.learned',
]);

export interface CutConversations {
  events: RecordedEvent[];
  /** From which event on an agent remembers nothing; only of agents that had anything after it. */
  cut: Map<AgentId, number>;
  /** Blocks that events name and nobody has. */
  missing: number;
}

export function cutConversations(
  events: readonly RecordedEvent[],
  lost: readonly DamagedEvent[],
  blocks: ReadonlyMap<Digest, Uint8Array>,
): CutConversations {
  const missing = new Set<Digest>();
  const from = new Map<AgentId, number>();
  const begin = (agent: AgentId, seq: number): void => {
    from.set(agent, Math.min(seq, from.get(agent) ?? Number.POSITIVE_INFINITY));
  };
  for (const { seq, agent, event } of events) {
    const gone = digestsOf(event).filter((digest) => !blocks.has(digest));
    for (const digest of gone) missing.add(digest);
    if (gone.length > 0 && agent !== null) begin(agent, seq);
  }
  const agents = new Set(events.flatMap(({ agent }) => agent ?? []));
  for (const { seq, agent, type } of lost) {
    if (agent === null || (type !== undefined && BESIDES.has(type))) continue;
    // Where not even the agent can be read it may be anybody's.
    for (const one of agent === undefined || !agents.has(agent) ? agents : [agent]) begin(one, seq);
  }
  const cut = new Map<AgentId, number>();
  const kept = events.flatMap((recorded) => {
    const { seq, agent, event } = recorded;
    if (agent === null || seq < (from.get(agent) ?? Number.POSITIVE_INFINITY)) return [recorded];
    const isResponse = event.type === 'response.completed' && event.kept;
    if (!isResponse && !CONVERSATION.has(event.type)) return [recorded];
    cut.set(agent, from.get(agent) ?? seq);
    return isResponse ? [{ ...recorded, event: { ...event, kept: false } }] : [forgotten(recorded)];
  });
  return { events: kept, cut, missing: missing.size };
}

/** Numbers stay whole, and the log says what stood there. */
function forgotten({ seq, time, agent, event }: RecordedEvent): RecordedEvent {
  const message = `${event.type} came after something that was lost, and is no part of the conversation any more`;
  return { seq, time, agent, event: { type: 'warning.raised', code: 'event_forgotten', message } };
}

function digestsOf(event: JournalEvent): Digest[] {
  switch (event.type) {
    case 'prefix.frozen':
      return [...event.tools, ...event.system];
    case 'message.appended':
    case 'message.received':
      return event.blocks;
    case 'response.completed':
      return event.kept ? event.blocks : [];
    case 'conversation.replaced':
      return [...event.messages, ...(event.takes?.prompts ?? [])].flatMap(({ blocks }) => blocks);
    case 'conversation.inherited':
      return [event.messages];
    case 'tool.completed':
      return [event.result];
    default:
      return [];
  }
}
