/**
 * An agent's conversation as the journal has it: what a resumed agent goes on from. Block bytes stay in the
 * journal; whoever needs them asks a reader by digest.
 *
 * A tool call of the last response that is in `started` but has no result may have taken effect; one that is in
 * neither never began (events.ts, invariant 1).
 */
import type { Role } from '../../schema/content.ts';
import type { Breakpoint, Digest, EventOf, JournalEvent, RecordedEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { PermissionMode } from '../../schema/status.ts';
import type { TodoItem } from '../../schema/todo-item.ts';
import { addCost, addUsage, isUncertain, NO_USAGE, totalTokens, type Usage } from '../../schema/usage.ts';
import { foldOwnState, NEW_STATE, type OwnState } from './own-state.ts';

export interface TranscriptMessage {
  role: Role;
  blocks: readonly Digest[];
  /** How many leading blocks other runs share. */
  shared: number;
  cause: EventOf<'message.appended'>['cause'] | 'response' | 'replaced';
}

export type TranscriptPrefix = Omit<EventOf<'prefix.frozen'>, 'type'>;

/** Something that has come for the agent and that it has not been told yet. */
export type PendingItem = Omit<EventOf<'message.received'>, 'type'>;

export interface Transcript {
  agent: AgentId;
  /** The last event folded, of any agent: where to read on. */
  seq: number;
  /** Null until the agent's prefix is frozen. */
  prefix: TranscriptPrefix | null;
  permissionMode: PermissionMode | null;
  /**
   * Of a fork: the block that lists its parent's messages. They stand before `messages`, and the positions that
   * requests name count them. Null once the conversation was replaced, since what replaced it holds everything.
   */
  inherited: Digest | null;
  /** Of a fork: whose conversation it took over, and after which event. */
  forkedFrom: { agent: AgentId; seq: number } | null;
  /** The agent's own messages. */
  messages: TranscriptMessage[];
  /** In the order in which they came. */
  pending: PendingItem[];
  /** Items that a message or a tool's result has told: none is told twice. */
  told: Set<string>;
  /** Items by the call under way whose result will tell them; a call that never ends tells nothing. */
  taken: Map<string, string[]>;
  /** How many exchanges were begun; attempts of one count once. */
  requests: number;
  lastRequest: EventOf<'request.started'> | null;
  /** When the last attempt that was answered began: from then on the provider's cache counts. */
  answeredAt: number | null;
  requestedAt: number | null;
  /** What the work on the last prompt has taken so far. */
  spent: { turns: number; usage: Usage; costUsd: number | null };
  /** The marks of the last request that was answered: the provider may hold what they name. */
  answeredBreakpoints: readonly Breakpoint[];
  /** Why the last message stopped, when it is a response and nothing has followed it, not even the agent's end. */
  openStop: string | null;
  /** Ids of tool calls. */
  started: Set<string>;
  /** The tool_result block of every call that ended. */
  results: Map<string, Digest>;
  /** The version of every file as the agent last saw it, by real path. */
  seen: Map<string, string>;
  /** Every prompt of the session, also those that a compaction has replaced. */
  prompts: TranscriptMessage[];
  /** Files that calls have read or changed, by real path, the latest last. */
  touched: Map<string, TouchedFile>;
  /** What the last response says the prompt and it are long, and up to which of `messages`; null when none says. */
  measured: { tokens: number; messages: number } | null;
  /** What calls under way have read and written: seen once they are answered, since only then it is told. */
  unanswered: Map<string, SeenFile[]>;
  todos: readonly TodoItem[];
  own: OwnState;
  /** Where it went last; null for an agent that works where it began. */
  directory: EventOf<'directory.changed'> | null;
  /** How each background task ended; null when that is not recorded. */
  backgroundTasks: Map<string, EventOf<'background_task.ended'> | null>;
}

/** A null version is a file that was removed. */
type SeenFile = { path: string; version: string | null };

export type TouchedFile = 'read' | 'changed';

/** A file that was changed stays so, however often it is read again. */
export function touchFile(touched: Map<string, TouchedFile>, path: string, how: TouchedFile): void {
  const changed = how === 'changed' || touched.get(path) === 'changed';
  touched.delete(path);
  touched.set(path, changed ? 'changed' : 'read');
}

const NOTHING_SPENT: Transcript['spent'] = { turns: 0, usage: NO_USAGE, costUsd: 0 };

export function emptyTranscript(agent: AgentId): Transcript {
  return {
    agent,
    seq: 0,
    prefix: null,
    permissionMode: null,
    inherited: null,
    forkedFrom: null,
    messages: [],
    pending: [],
    told: new Set(),
    taken: new Map(),
    requests: 0,
    lastRequest: null,
    answeredAt: null,
    requestedAt: null,
    spent: NOTHING_SPENT,
    answeredBreakpoints: [],
    openStop: null,
    started: new Set(),
    results: new Map(),
    seen: new Map(),
    prompts: [],
    touched: new Map(),
    measured: null,
    unanswered: new Map(),
    todos: [],
    own: NEW_STATE,
    directory: null,
    backgroundTasks: new Map(),
  };
}

export function transcriptOf(events: Iterable<RecordedEvent>, agent: AgentId): Transcript {
  const transcript = emptyTranscript(agent);
  for (const recorded of events) extendTranscript(transcript, recorded);
  return transcript;
}

/** Folds one more event into the transcript, in place. */
export function extendTranscript(transcript: Transcript, { seq, time, agent, event }: RecordedEvent): void {
  transcript.seq = seq;
  if (agent === transcript.agent) extend(transcript, event, time);
}

function extend(transcript: Transcript, event: JournalEvent, time: number): void {
  transcript.own = foldOwnState(transcript.own, event);
  switch (event.type) {
    case 'agent.started':
      transcript.permissionMode = event.permissionMode;
      break;
    case 'permission.changed':
      transcript.permissionMode = event.mode;
      break;
    case 'agent.ended':
      transcript.openStop = null;
      break;
    case 'prefix.frozen': {
      const { type: _, ...prefix } = event;
      transcript.prefix = prefix;
      break;
    }
    case 'message.appended': {
      const { role, blocks, shared, cause } = event;
      transcript.messages.push({ role, blocks, shared, cause });
      if (cause === 'prompt') {
        transcript.prompts.push({ role, blocks, shared, cause });
        transcript.spent = NOTHING_SPENT;
      }
      transcript.openStop = null;
      settleItems(transcript, event.delivers ?? []);
      break;
    }
    case 'message.received':
      takeItem(transcript, event);
      break;
    case 'message.taken':
      // Somebody took it back: no call has to be answered first.
      if (event.call === null) settleItems(transcript, [event.item]);
      else transcript.taken.set(event.call, [...(transcript.taken.get(event.call) ?? []), event.item]);
      break;
    case 'conversation.inherited':
      transcript.inherited = event.messages;
      transcript.forkedFrom = { agent: event.from, seq: transcript.seq };
      break;
    case 'conversation.replaced':
      transcript.inherited = null;
      transcript.messages = event.messages.map((message) => ({ ...message, cause: 'replaced' }));
      transcript.answeredBreakpoints = [];
      transcript.measured = null;
      break;
    case 'response.completed':
      takeResponse(transcript, event);
      break;
    case 'request.started':
      if (event.attempt === 1) transcript.requests += 1;
      transcript.lastRequest = event;
      transcript.requestedAt = time;
      break;
    case 'request.failed':
      spend(transcript, 0, event.usage ?? NO_USAGE, event.costUsd);
      break;
    case 'tool.started':
      transcript.started.add(event.call);
      break;
    case 'tool.completed':
      transcript.results.set(event.call, event.result);
      settleItems(transcript, transcript.taken.get(event.call) ?? []);
      transcript.taken.delete(event.call);
      settleSeen(transcript, event.call);
      break;
    case 'file.read':
      touchFile(transcript.touched, event.path, 'read');
      touch(transcript, event.call, event);
      break;
    case 'file.changed':
      touchFile(transcript.touched, event.path, 'changed');
      touch(transcript, event.call, { path: event.path, version: event.after });
      break;
    case 'todos.changed':
      transcript.todos = event.todos;
      break;
    case 'directory.changed':
      transcript.directory = event;
      break;
    case 'background_task.started':
      transcript.backgroundTasks.set(event.task, null);
      break;
    case 'background_task.ended':
      transcript.backgroundTasks.set(event.task, event);
      break;
  }
}

/** An item that is recorded again, as a resumed session may, is the same item. */
function takeItem({ pending, told }: Transcript, event: EventOf<'message.received'>): void {
  const { type: _, ...received } = event;
  if (told.has(received.item) || pending.some(({ item }) => item === received.item)) return;
  pending.push(received);
}

function settleItems(transcript: Transcript, items: readonly string[]): void {
  if (items.length === 0) return;
  for (const item of items) transcript.told.add(item);
  transcript.pending = transcript.pending.filter(({ item }) => !transcript.told.has(item));
}

/** A response that is aside of the conversation leaves it, and what the provider holds of it, as they were. */
function takeResponse(transcript: Transcript, event: EventOf<'response.completed'>): void {
  const aside = event.source !== undefined;
  spend(transcript, aside ? 0 : 1, event.usage, event.costUsd);
  if (aside) return;
  transcript.answeredBreakpoints = transcript.lastRequest?.breakpoints ?? [];
  transcript.answeredAt = transcript.requestedAt;
  if (event.kept) {
    transcript.messages.push({ role: 'assistant', blocks: event.blocks, shared: 0, cause: 'response' });
    transcript.openStop = event.stopReason;
  }
  const tokens = totalTokens(event.usage);
  if (tokens > 0 && !isUncertain(event.usage))
    transcript.measured = { tokens, messages: transcript.messages.length };
}

function spend(transcript: Transcript, turns: number, usage: Usage, costUsd: number | null): void {
  const { spent } = transcript;
  transcript.spent = {
    turns: spent.turns + turns,
    usage: addUsage(spent.usage, usage),
    costUsd: addCost(spent.costUsd, costUsd),
  };
}

function touch({ unanswered }: Transcript, call: string, { path, version }: SeenFile): void {
  const files = unanswered.get(call) ?? [];
  unanswered.set(call, [...files, { path, version }]);
}

function settleSeen({ seen, unanswered }: Transcript, call: string): void {
  for (const { path, version } of unanswered.get(call) ?? []) {
    if (version === null) seen.delete(path);
    else seen.set(path, version);
  }
  unanswered.delete(call);
}
