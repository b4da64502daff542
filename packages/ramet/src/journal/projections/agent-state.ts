/**
 * An agent's state as a value: plain, immutable data that travels by structured clone. Every change of it is an event
 * (`apply-event.ts`). Content is named by digest; the bytes are beside it, in the journal or with their user.
 *
 * A tool call of the last response that is true in `calls` but has no result may have taken effect; one that is in neither
 * never began, nor did one that is false: it was withdrawn, or the question about it is not answered (events.ts, invariant 1).
 */
import type { Role } from '../../schema/content.ts';
import type { Breakpoint, Digest, EventOf, HookVerdict, JournalEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { PermissionMode, TodoItem } from '../../schema/status.ts';
import { NO_USAGE, type Usage } from '../../schema/usage.ts';
import { listOf, mapOf, type PersistentList, type PersistentMap } from '../../system/persistent.ts';

export interface StateMessage {
  readonly role: Role;
  readonly blocks: readonly Digest[];
  /** How many leading blocks other runs share. */
  readonly shared: number;
  readonly cause: EventOf<'message.appended'>['cause'] | 'response' | 'replaced';
  /** Its last block is what a person typed, word by word. */
  readonly typed?: true;
}

export type StatePrefix = Omit<EventOf<'prefix.frozen'>, 'type'>;

/** A message for the agent that is not delivered yet. */
export type PendingItem = Omit<EventOf<'message.received'>, 'type'>;

/** A null version is a file that was removed. */
export type SeenFile = { readonly call: string; readonly path: string; readonly version: string | null };

export type TouchedFile = 'read' | 'changed';

export interface AgentState {
  readonly agent: AgentId;
  /** Null until the agent's prefix is frozen. */
  readonly prefix: StatePrefix | null;
  readonly permissionMode: PermissionMode | null;
  /**
   * Of a fork: the block that lists its parent's messages. They stand before `messages`, and the positions that
   * requests name count them. Null once the conversation was replaced, since what replaced it holds everything.
   */
  readonly inherited: Digest | null;
  /** The agent's own messages. */
  readonly messages: PersistentList<StateMessage>;
  /** How often the conversation was replaced: `messages` only grows until then. */
  readonly replacements: number;
  /** Every prompt of the session, also those that a compaction has replaced. A fork has its parent's too. */
  readonly prompts: PersistentList<StateMessage>;
  /** How many items have come for it; numbers them. */
  readonly received: number;
  /** The last message of its team that it has received; 0 before the first. */
  readonly mail: number;
  /** In the order in which they came. */
  readonly inbox: readonly PendingItem[];
  /** Items that a message or a tool's result has delivered: none is delivered twice. */
  readonly delivered: PersistentMap<true>;
  /** Items by the call under way whose result will deliver them; a call that never ends delivers nothing. */
  readonly taken: PersistentMap<readonly string[]>;
  /** How many exchanges were begun; attempts of one count once. */
  readonly requests: number;
  readonly lastRequest: EventOf<'request.started'> | null;
  readonly requestedAt: number | null;
  /** When the last attempt that was answered began: from then on the provider's cache counts. */
  readonly answeredAt: number | null;
  /** The marks of the last request that was answered: the provider may hold what they name. A fork has its parent's. */
  readonly answeredBreakpoints: readonly Breakpoint[];
  /** What the work on the last prompt has taken so far. */
  readonly spent: { readonly turns: number; readonly usage: Usage; readonly costUsd: number | null };
  /** Why the last message stopped, when it is a response and nothing has followed it, not even the agent's end. */
  readonly openStop: string | null;
  /** Its last run is over, and nothing says that another has begun. */
  readonly ended: boolean;
  /** Ids of all tool calls that were begun or answered; false for one that did nothing yet. A fork has its parent's too. */
  readonly calls: PersistentMap<boolean>;
  /** The tool_result block of each call of the last response that ended. */
  readonly results: PersistentMap<Digest>;
  /** What hooks decided about calls of the last response. */
  readonly hooked: PersistentMap<HookVerdict>;
  /** The record had lost its end when the last message was read: calls that are not in `calls` may have begun too. */
  readonly recordIsShort: boolean;
  /** The version of every file as the agent last saw it, by real path. A fork has its parent's too. */
  readonly seen: PersistentMap<string>;
  /** Files that calls have read or changed, by real path, the latest last. */
  readonly touched: PersistentMap<TouchedFile>;
  /** What calls under way have read and written: seen once they are answered, since only then it is told. */
  readonly unanswered: readonly SeenFile[];
  /** What the last response says the prompt and it are long, and up to which of `messages`; null when none says. */
  readonly measured: { readonly tokens: number; readonly messages: number } | null;
  /** What a refusal said the context window of a model is. A fork has its parent's. */
  readonly learnedWindow: { readonly model: string; readonly tokens: number } | null;
  /**
   * After a compaction that failed: how long the conversation must be before another is tried. A fork has its parent's.
   */
  readonly compactFromTokens: number;
  readonly todos: readonly TodoItem[];
  /** Its last answer was adopted, and the files of it may not all be in place. */
  readonly adopting: boolean;
  /** What has told it something, the newest last, also before a compaction: tools by name, and `messages`. A fork has its parent's. */
  readonly sources: readonly string[];
  /** How often what was refused to it. */
  readonly refusals: Refusals;
  /** Rules for what is refused to it until its work on the prompt is over. */
  readonly denied: readonly string[];
  /** Its latest progress line for the current task; null before the first. */
  readonly progress: string | null;
  /** Where it went last; null for an agent that works where it began. */
  readonly directory: EventOf<'directory.changed'> | null;
  /** How each background task ended; null when that is not recorded. */
  readonly backgroundTasks: ReadonlyMap<string, EventOf<'background_task.ended'> | null>;
  /** The background tasks whose interruption it has learned of: none is reported twice. */
  readonly deliveredTasks: readonly string[];
}

export const NOTHING_SPENT: AgentState['spent'] = { turns: 0, usage: NO_USAGE, costUsd: 0 };

export function newAgentState(agent: AgentId): AgentState {
  return {
    agent,
    prefix: null,
    permissionMode: null,
    inherited: null,
    messages: NO_MESSAGES,
    replacements: 0,
    prompts: NO_MESSAGES,
    received: 0,
    mail: 0,
    inbox: [],
    delivered: NO_KEYS,
    taken: NO_KEYS,
    requests: 0,
    lastRequest: null,
    requestedAt: null,
    answeredAt: null,
    answeredBreakpoints: [],
    spent: NOTHING_SPENT,
    openStop: null,
    ended: false,
    calls: NO_KEYS,
    results: NO_KEYS,
    hooked: NO_KEYS,
    recordIsShort: false,
    seen: NO_KEYS,
    touched: NO_KEYS,
    unanswered: [],
    measured: null,
    learnedWindow: null,
    compactFromTokens: 0,
    todos: [],
    adopting: false,
    sources: [],
    refusals: [],
    denied: [],
    progress: null,
    directory: null,
    backgroundTasks: new Map(),
    deliveredTasks: [],
  };
}

const NO_MESSAGES: PersistentList<StateMessage> = listOf();
const NO_KEYS: PersistentMap<never> = mapOf();

/** What a fork does not take over from its parent: all else is copied (FORK-4). */
const OWN_OF_FORK = [
  'agent',
  'prefix',
  'permissionMode',
  'inherited',
  'messages',
  'replacements',
  'received',
  'mail',
  'inbox',
  'delivered',
  'taken',
  'requests',
  'lastRequest',
  'requestedAt',
  'spent',
  'openStop',
  'ended',
  'results',
  'recordIsShort',
  'touched',
  'unanswered',
  'measured',
  'todos',
  'adopting',
  'refusals',
  'denied',
  'progress',
  'directory',
  'backgroundTasks',
  'deliveredTasks',
] as const satisfies readonly (keyof AgentState)[];

/** The state of a fork that has only just started, with what its parent has when the conversation is inherited. */
export function forkState(started: AgentState, parent: AgentState): AgentState {
  const own = OWN_OF_FORK.map((field) => [field, started[field]] as const);
  return { ...parent, ...Object.fromEntries(own) };
}

/** An agent's latest progress line for the current task (RES-4); null before the first. */
export function foldProgress(progress: string | null, event: JournalEvent): string | null {
  if (event.type === 'progress.reported') return event.line;
  return event.type === 'message.appended' && event.cause === 'prompt' ? null : progress;
}

/** What is refused to an agent for a while: an interruption does not end its work. */
export function foldDenied(state: AgentState, event: JournalEvent): AgentState {
  if (event.type === 'tools.denied')
    return { ...state, denied: [...new Set([...state.denied, ...event.rules])] };
  const isOver =
    (event.type === 'agent.ended' && event.status !== 'interrupted') ||
    (event.type === 'message.appended' && event.cause === 'prompt') ||
    (event.type === 'conversation.replaced' && event.cause === 'rewind');
  return isOver && state.denied.length > 0 ? { ...state, denied: [] } : state;
}

/** What has told an agent something, with what this event brings (BG-3). */
export function foldSources(state: AgentState, event: JournalEvent): AgentState {
  const { sources, messages } = state;
  const name = sourceIn(event, messages.length === 0);
  if (name === null || sources.at(-1) === name) return state;
  return { ...state, sources: [...sources.filter((known) => known !== name), name] };
}

/** Null for what the user has typed, and for the text that a conversation begins with. */
function sourceIn(event: JournalEvent, isFirst: boolean): string | null {
  if (event.type === 'tool.completed') return event.name;
  if (event.type === 'response.completed')
    return (event.usage.web_search_requests ?? 0) > 0 ? 'web_search' : null;
  if (event.type !== 'message.appended' || event.role !== 'user') return null;
  const { cause, blocks, delivers = [] } = event;
  const isTyped = cause === 'prompt' && (isFirst || blocks.length === 1);
  return isTyped || (cause === 'tool_results' && delivers.length === 0) ? null : 'messages';
}

interface RefusalCount {
  /** Tool and reason, without what names one call alone. */
  readonly kind: string;
  readonly count: number;
  /** The call whose result said so; null while none did. */
  readonly toldBy: string | null;
}

/** The kind that was refused last is the last one. */
export type Refusals = readonly RefusalCount[];

const EQUAL_UNTIL_TOLD = 3;

/** Those that come up again and again matter: the oldest are forgotten. */
const MOST_KINDS = 50;

/**
 * Counts how often each kind of call was refused to an agent (FORK-4). The third refusal of a kind tells the agent,
 * once, to do what needs no such call. Returns the same value for an event that refuses nothing.
 */
export function foldRefusals(refusals: Refusals, event: JournalEvent): Refusals {
  if (event.type === 'conversation.inherited') return event.refusals ?? refusals;
  if (event.type !== 'tool.completed' || event.refused === undefined) return refusals;
  return countRefusal(refusals, event.refused, event.call);
}

export function countRefusal(refusals: Refusals, kind: string, call: string): Refusals {
  const { count, toldBy } = refusals.find((known) => known.kind === kind) ?? { count: 0, toldBy: null };
  const tells = toldBy === null && count + 1 >= EQUAL_UNTIL_TOLD;
  const counted = { kind, count: count + 1, toldBy: tells ? call : toldBy };
  return [...refusals.filter((known) => known.kind !== kind), counted].slice(-MOST_KINDS);
}

/** Whether the result of this call is the one that tells the agent. */
export function tellsBy(refusals: Refusals, call: string): boolean {
  return refusals.some(({ toldBy }) => toldBy === call);
}

/** What a fork starts with: it does not see the results of `open`, the calls of the message that asked for it. */
export function refusalsOfFork(
  refusals: Refusals,
  open: ReadonlySet<string>,
): Pick<EventOf<'conversation.inherited'>, 'refusals'> {
  if (refusals.length === 0) return {};
  return {
    refusals: refusals.map((known) => (open.has(known.toldBy ?? '') ? { ...known, toldBy: null } : known)),
  };
}

/** What kind of agent it is: a fork is a fork, whatever type its parent has. */
export function typeOfAgent({
  agentType,
  origin,
}: Pick<EventOf<'agent.started'>, 'agentType' | 'origin'>): string {
  return origin?.kind === 'fork' ? 'fork' : agentType;
}
