/**
 * A new session that begins with the conversation of another one, which stays as it is: the same prefix, byte for byte,
 * so the provider's cache serves both. Everything else is its own: its bill, its files, its answers about permission, its
 * children. Files that the other one has read are to be read again.
 */
import type { JournalReader } from '../journal/journal.ts';
import type { AgentState } from '../journal/projections/agent-state.ts';
import { inheritedMessages } from '../journal/projections/inherited-messages.ts';
import { recordedAgent } from '../journal/projections/recorded-agents.ts';
import type { SessionEntry } from '../journal/session-list.ts';
import { createSession, openReader } from '../journal/sessions.ts';
import type { Role } from '../schema/content.ts';
import { UserMistake } from '../schema/errors.ts';
import type { Digest, EventOf } from '../schema/events.ts';
import { agentId, type SessionId } from '../schema/ids.ts';
import { itemsOf } from '../system/persistent.ts';
import { recordedRights } from './session/setup/session-record.ts';
import { VERSION } from './version.ts';

interface ForkPlace {
  readonly project: string;
  /** The id that it is to have. */
  readonly sessionId?: string | undefined;
}

/** Returns the new session, closed: it is resumed next. */
export async function forkSession(entry: SessionEntry, place: ForkPlace): Promise<SessionId> {
  const { session: from, cwd, title } = entry;
  const reader = openReader({ project: place.project, session: from });
  try {
    const past = pastOf(reader, from);
    const journal = await createSession({ ...place, cwd, title });
    const main = agentId(journal.session, 1);
    const messages = past.messages.map(({ role, blocks, shared }) => ({ role, blocks: [...blocks], shared }));
    const { tools, system } = past.prefix;
    for (const digest of new Set<Digest>([...tools, ...system, ...messages.flatMap(({ blocks }) => blocks)]))
      journal.storeBlock(digest, reader.block(digest));
    journal.append(null, { ...past.session, version: VERSION, given: recordedRights(reader) });
    journal.append(main, { ...past.agent, permissionMode: past.permissionMode });
    journal.append(main, { type: 'prefix.frozen', ...past.prefix });
    journal.append(main, { type: 'conversation.replaced', cause: 'session', messages });
    journal.append(main, { type: 'agent.ended', status: 'done', cause: null, message: null });
    await journal.close();
    return journal.session;
  } finally {
    reader.close();
  }
}

interface Past {
  readonly session: EventOf<'session.started'>;
  readonly agent: EventOf<'agent.started'>;
  readonly prefix: NonNullable<AgentState['prefix']>;
  readonly permissionMode: NonNullable<AgentState['permissionMode']>;
  readonly messages: readonly {
    readonly role: Role;
    readonly blocks: readonly Digest[];
    readonly shared: number;
  }[];
}

function pastOf(reader: JournalReader, from: SessionId): Past {
  const main = agentId(from, 1);
  const refused = (why: string): UserMistake => new UserMistake('no_fork', `session ${from} ${why}`);
  const state = recordedAgent((agent) => reader.events({ agent }), main);
  const { prefix, permissionMode } = state;
  const messages = [...inheritedMessages(reader, state.inherited), ...itemsOf(state.messages)];
  if (prefix === null || permissionMode === null || messages.length === 0)
    throw refused('has no conversation to begin with: start a new one without --fork-session');
  if (messages.at(-1)?.role !== 'assistant' || hasOpenCalls(reader, messages.at(-1)?.blocks ?? []))
    throw refused(
      `is in the midst of a turn: let it end (ramet resume ${from}), then begin another one from it`,
    );
  const session = first(reader, 'session.started');
  const agent = first(reader, 'agent.started', main);
  if (session === null || agent === null) throw refused('has lost its beginning: ramet doctor says more');
  if (session.watches !== undefined) throw refused('watches a run: begin a new one with ramet operate ask');
  return { session, agent, prefix, permissionMode, messages };
}

function hasOpenCalls(reader: JournalReader, blocks: readonly Digest[]): boolean {
  return blocks.some((digest) => {
    const { type } = Object(JSON.parse(Buffer.from(reader.block(digest)).toString()));
    return type === 'tool_use';
  });
}

function first<Type extends 'session.started' | 'agent.started'>(
  reader: JournalReader,
  type: Type,
  agent?: string,
): EventOf<Type> | null {
  // The filter lets no other through.
  for (const { event } of reader.events({ type, ...(agent !== undefined && { agent }) }))
    return event as EventOf<Type>;
  return null;
}
