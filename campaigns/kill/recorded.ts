/** A session of a round as its journal has it, read once and closed. */
import { contentOf, thawBytes } from '../../packages/ramet/src/conversation/frozen-block.ts';
import { openReader } from '../../packages/ramet/src/journal/sessions.ts';
import { UserMistake } from '../../packages/ramet/src/schema/errors.ts';
import type { EventOf, JournalEvent, RecordedEvent } from '../../packages/ramet/src/schema/events.ts';

export interface RecordedRound {
  session: string;
  events: readonly RecordedEvent[];
  /** By id, in the order in which they were started. */
  agents: ReadonlyMap<string, RecordedAgent>;
}

export interface RecordedAgent {
  id: string;
  parent: string | null;
  /** The part of the plan it was asked for; `root` for the main agent. */
  task: string;
  events: readonly JournalEvent[];
  /** Blocks of every message that was ever added to its conversation, its own answers apart. */
  told: readonly Record<string, unknown>[];
  /** The text of its last answer. */
  lastText: string;
  ended: EventOf<'agent.ended'> | null;
}

export function readRound(project: string, session: string): RecordedRound {
  const reader = openReader({ project, session });
  try {
    const events = [...reader.events()];
    const block = (digest: string): Record<string, unknown> => contentOf(thawBytes(reader.block(digest)));
    const byAgent = Map.groupBy(events, ({ agent }) => agent ?? '');
    const agents = new Map<string, RecordedAgent>();
    for (const [id, recorded] of byAgent) {
      const own = recorded.map(({ event }) => event);
      const started = own.find((event) => event.type === 'agent.started');
      if (id !== '' && started !== undefined) agents.set(id, agentOf(id, started, own, block));
    }
    return { session, events, agents };
  } finally {
    reader.close();
  }
}

/** A session that has its prompt; null for a file whose maker was killed before. */
export function begunRound(project: string, session: string): RecordedRound | null {
  try {
    const round = readRound(project, session);
    const main = round.agents.values().next().value;
    return main === undefined || main.told.length === 0 ? null : round;
  } catch (error) {
    if (error instanceof UserMistake) return null;
    throw error;
  }
}

function agentOf(
  id: string,
  { parent, name }: EventOf<'agent.started'>,
  events: readonly JournalEvent[],
  block: (digest: string) => Record<string, unknown>,
): RecordedAgent {
  const told = events.flatMap((event) => (event.type === 'message.appended' ? event.blocks.map(block) : []));
  const answers = events.flatMap((event) =>
    event.type === 'response.completed' && event.kept && event.source === undefined ? [event] : [],
  );
  const texts = (answers.at(-1)?.blocks ?? []).map(block).filter(({ type }) => type === 'text');
  return {
    id,
    parent,
    task: parent === null ? 'root' : (name ?? '').replace(/^agent-/, ''),
    events,
    told,
    lastText: texts.map(({ text }) => String(text)).join(''),
    ended: openEnd(events),
  };
}

/** Its end, unless something has followed it. */
function openEnd(events: readonly JournalEvent[]): EventOf<'agent.ended'> | null {
  let ended: EventOf<'agent.ended'> | null = null;
  for (const event of events) {
    if (event.type === 'agent.ended') ended = event;
    else if (event.type === 'message.appended' || event.type === 'agent.resumed') ended = null;
  }
  return ended;
}
