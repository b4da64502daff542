/**
 * A new session that begins with the conversation of another one, which stays as it is: the same prefix, byte for byte,
 * so the provider's cache serves both. What its main agent knows of that conversation comes along: prompts, todos, where it
 * has words from. Everything else is its own: its bill, its files, its answers about permission, its children, its place.
 * Files that the other one has read are to be read again.
 */
import { existsSync } from 'node:fs';
import { freezeBlock } from '../conversation/frozen-block.ts';
import { directoryChanged } from '../engine/opening.ts';
import type { Journal, JournalReader } from '../journal/journal.ts';
import type { AgentState } from '../journal/projections/agent-state.ts';
import { inheritedMessages } from '../journal/projections/inherited-messages.ts';
import { recordedAgent } from '../journal/projections/recorded-agents.ts';
import { takenOver } from '../journal/projections/replaced-state.ts';
import type { SessionEntry } from '../journal/session-list.ts';
import { createSession, openReader } from '../journal/sessions.ts';
import type { Role } from '../schema/content.ts';
import { UserMistake } from '../schema/errors.ts';
import type { Digest, EventOf } from '../schema/events.ts';
import { type AgentId, agentId, type SessionId } from '../schema/ids.ts';
import { itemsOf } from '../system/persistent.ts';
import { teamFile } from '../team/wake-line.ts';
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
    const { state, prefix } = past;
    const messages = past.messages.map(({ role, blocks, shared }) => ({ role, blocks: [...blocks], shared }));
    const takes = takenOver(state, from);
    const said = [...messages, ...takes.prompts].flatMap(({ blocks }) => blocks);
    for (const digest of new Set<Digest>([...prefix.tools, ...prefix.system, ...said]))
      journal.storeBlock(digest, reader.block(digest));
    journal.append(null, { ...past.session, version: VERSION, given: recordedRights(reader) });
    journal.append(main, { ...past.agent, permissionMode: past.permissionMode });
    journal.append(main, { type: 'prefix.frozen', ...prefix });
    const tokens = measuredTokens(past);
    const measured = tokens === undefined ? {} : { tokens };
    journal.append(main, { type: 'conversation.replaced', cause: 'session', messages, ...measured, takes });
    if (state.todos.length > 0) journal.append(main, { type: 'todos.changed', todos: [...state.todos] });
    if (state.learnedWindow !== null)
      journal.append(main, { type: 'window.learned', ...state.learnedWindow });
    const news = [placeNews(state, cwd), await teamNews(place.project, from)].filter((text) => text !== null);
    tell(journal, main, news);
    for (const { event } of reader.events({ type: 'guards.noted' })) journal.append(null, event);
    journal.append(main, { type: 'agent.ended', status: 'done', cause: null, message: null });
    await journal.close();
    return journal.session;
  } finally {
    reader.close();
  }
}

/** Undefined where nobody has measured all of it. */
function measuredTokens({ state, messages }: Past): number | undefined {
  const { measured, inherited } = state;
  return inherited === null && measured?.messages === messages.length ? measured.tokens : undefined;
}

/** Its conversation says that it is in a worktree, which belongs to the other one. */
function placeNews(state: AgentState, cwd: string): string | null {
  const worktree = state.directory?.worktree ?? null;
  return worktree === null
    ? null
    : directoryChanged(
        `this is a new session with the conversation so far. You are in ${cwd}, and no longer in the worktree ${worktree.path}.`,
      );
}

/** Its conversation says that it leads a team, which the other one leads. */
async function teamNews(project: string, from: SessionId): Promise<string | null> {
  if (!existsSync(teamFile(project))) return null;
  const { TeamStore } = await import('../team/store/team-store.ts');
  using store = new TeamStore(project);
  return store.find(from) === undefined
    ? null
    : 'This is a new session with the conversation so far. The team that you have read of belongs to the earlier session: you lead none, its members do not hear you, and its tasks are not yours.';
}

function tell(journal: Journal, main: AgentId, texts: readonly string[]): void {
  for (const [index, text] of texts.entries()) {
    const block = freezeBlock({ type: 'text', text });
    journal.storeBlock(block.digest, block.bytes);
    journal.append(main, {
      ...{ type: 'message.received', item: `${main}:${index + 1}`, kind: 'notification', from: null },
      blocks: [block.digest],
    });
  }
}

interface Past {
  readonly state: AgentState;
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
  return { state, session, agent, prefix, permissionMode, messages };
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
