/**
 * How an event changes an agent's state: the one fold of it, live, on resume, for a fork and in another process. It is
 * pure, and costs what the event holds: everything else of the state is shared.
 */
import type { EventOf, JournalEvent, RecordedEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import { addCost, addUsage, isUncertain, NO_USAGE, totalTokens, type Usage } from '../../schema/usage.ts';
import { appended, hasKey, mapOf, type PersistentMap, valueAt, withKey } from '../../system/persistent.ts';
import {
  type AgentState,
  foldDenied,
  foldProgress,
  foldRefusals,
  foldSources,
  NOTHING_SPENT,
  newAgentState,
  type SeenFile,
  type StateMessage,
  type TouchedFile,
} from './agent-state.ts';
import { replacedState } from './replaced-state.ts';

/** The state after all events of one agent. Of a fork it lacks what its parent had: see `recorded-agents.ts`. */
export function foldAgent(events: Iterable<RecordedEvent>, agent: AgentId): AgentState {
  return Iterator.from(events).reduce<AgentState>(applyEvent, newAgentState(agent));
}

/** The same value for an event that is another agent's or changes nothing. */
export function applyEvent(before: AgentState, recorded: Omit<RecordedEvent, 'seq'>): AgentState {
  const { agent, event, time } = recorded;
  if (agent !== before.agent) return before;
  const state = foldDenied(foldSources(before, event), event);
  switch (event.type) {
    case 'agent.started':
      return { ...state, permissionMode: event.permissionMode };
    case 'permission.changed':
      return { ...state, permissionMode: event.mode };
    case 'agent.ended':
      // What the provider has paused is continued when the agent is.
      return { ...state, openStop: event.status === 'interrupted' ? pauseOf(state) : null, ended: true };
    case 'agent.resumed':
    case 'status.changed':
      return state.ended ? { ...state, ended: false } : state;
    case 'files.settled':
      return state.adopting ? { ...state, adopting: false } : state;
    case 'todos.changed':
      return { ...state, todos: event.todos };
    case 'progress.reported':
      return { ...state, progress: foldProgress(state.progress, event) };
    case 'directory.changed':
      return { ...state, directory: event };
    case 'background_task.started':
      return withTask(state, event.task, null);
    case 'background_task.ended':
      return withTask(state, event.task, event);
    case 'request.started':
    case 'request.failed':
    case 'response.completed':
      return applyExchange(state, event, time);
    case 'tool.started':
    case 'tool.withdrawn':
    case 'tool.completed':
    case 'permission.asked':
    case 'permission.answered':
    case 'file.read':
    case 'file.changed':
      return applyCall(state, event);
    case 'hooks.ran':
      return hooked(state, event);
    default:
      return applyConversation(state, event);
  }
}

function hooked(state: AgentState, { call, verdict }: EventOf<'hooks.ran'>): AgentState {
  if (call === undefined || verdict === undefined) return state;
  return { ...state, hooked: withKey(state.hooked, call, verdict) };
}

function withTask(state: AgentState, task: string, end: EventOf<'background_task.ended'> | null): AgentState {
  return { ...state, backgroundTasks: new Map([...state.backgroundTasks, [task, end]]) };
}

function applyConversation(state: AgentState, event: JournalEvent): AgentState {
  switch (event.type) {
    case 'prefix.frozen': {
      const { type: _, ...prefix } = event;
      return { ...state, prefix };
    }
    case 'message.appended':
      return settled(said(state, event), event.delivers ?? []);
    case 'message.received':
      return received(state, event);
    case 'message.taken': {
      const { call, item } = event;
      // It was taken back: no call has to be answered first.
      if (call === null) return settled(state, [item]);
      return { ...state, taken: withKey(state.taken, call, [...(valueAt(state.taken, call) ?? []), item]) };
    }
    case 'record.shortened':
      return { ...state, recordIsShort: true };
    case 'window.learned':
      return { ...state, learnedWindow: { model: event.model, tokens: event.tokens } };
    case 'compaction.postponed':
      return { ...state, compactFromTokens: event.untilTokens };
    case 'conversation.inherited':
      return { ...state, inherited: event.messages, refusals: foldRefusals(state.refusals, event) };
    case 'conversation.replaced':
      return replacedState(state, event);
    default:
      return state;
  }
}

function pauseOf({ openStop }: AgentState): string | null {
  return openStop === 'pause_turn' ? openStop : null;
}

function said(state: AgentState, event: EventOf<'message.appended'>): AgentState {
  const { role, blocks, shared, cause, typed } = event;
  const message: StateMessage = { role, blocks, shared, cause, ...(typed && { typed }) };
  const messages = appended(state.messages, message);
  const next = { ...state, messages, openStop: null, ended: false, recordIsShort: false };
  // An answer of its own: no result waits for a message any more.
  if (event.adopted !== undefined) return { ...next, adopting: true, results: mapOf() };
  if (cause !== 'prompt') return next;
  return {
    ...next,
    prompts: appended(state.prompts, message),
    spent: NOTHING_SPENT,
    progress: foldProgress(state.progress, event),
  };
}

/** An item that is recorded again, as a resumed session may, is the same item. */
function received(state: AgentState, event: EventOf<'message.received'>): AgentState {
  const { type: _, ...item } = event;
  const isKnown = hasKey(state.delivered, item.item) || state.inbox.some((held) => held.item === item.item);
  if (isKnown) return state;
  const deliveredTasks =
    item.tasks === undefined ? state.deliveredTasks : [...state.deliveredTasks, ...item.tasks];
  const mail = Math.max(state.mail, item.mail ?? 0);
  return { ...state, received: state.received + 1, mail, inbox: [...state.inbox, item], deliveredTasks };
}

function settled(state: AgentState, items: readonly string[]): AgentState {
  if (items.length === 0) return state;
  const delivered = items.reduce<PersistentMap<true>>(
    (all, item) => withKey(all, item, true),
    state.delivered,
  );
  return { ...state, delivered, inbox: state.inbox.filter(({ item }) => !items.includes(item)) };
}

type ExchangeEvent = EventOf<'request.started' | 'request.failed' | 'response.completed'>;

function applyExchange(state: AgentState, event: ExchangeEvent, time: number): AgentState {
  if (event.type === 'request.started') {
    const ended = state.ended && event.source !== undefined;
    return { ...state, requests: requestsWith(state, event), lastRequest: event, requestedAt: time, ended };
  }
  if (event.type === 'request.failed') {
    return { ...state, spent: withSpent(state.spent, 0, event.usage ?? NO_USAGE, event.costUsd) };
  }
  return answered(state, event);
}

/** The highest number that a request has, or how many there are where they have none. */
function requestsWith(
  { requests, lastRequest }: AgentState,
  { request }: EventOf<'request.started'>,
): number {
  const number = Number(request.slice(request.lastIndexOf('/') + 1));
  if (Number.isSafeInteger(number)) return Math.max(requests, number);
  return request === lastRequest?.request ? requests : requests + 1;
}

/** A response that is aside of the conversation leaves it, and what the provider holds of it, as they were. */
function answered(state: AgentState, event: EventOf<'response.completed'>): AgentState {
  const aside = event.source !== undefined;
  const spent = withSpent(state.spent, aside ? 0 : 1, event.usage, event.costUsd);
  if (aside) return { ...state, spent };
  const { kept, blocks, stopReason, usage } = event;
  const message: StateMessage = { role: 'assistant', blocks, shared: 0, cause: 'response' };
  const messages = kept ? appended(state.messages, message) : state.messages;
  const tokens = totalTokens(usage);
  const isMeasured = tokens > 0 && !isUncertain(usage);
  return {
    ...state,
    spent,
    messages,
    answeredBreakpoints: state.lastRequest?.breakpoints ?? [],
    answeredAt: state.requestedAt,
    openStop: kept ? stopReason : state.openStop,
    results: kept ? mapOf() : state.results,
    hooked: kept ? mapOf() : state.hooked,
    measured: isMeasured ? { tokens, messages: messages.length } : state.measured,
  };
}

function withSpent(
  spent: AgentState['spent'],
  turns: number,
  usage: Usage,
  costUsd: number | null,
): AgentState['spent'] {
  return {
    turns: spent.turns + turns,
    usage: addUsage(spent.usage, usage),
    costUsd: addCost(spent.costUsd, costUsd),
  };
}

type CallEvent = EventOf<
  | ('tool.started' | 'tool.withdrawn' | 'tool.completed')
  | ('permission.asked' | 'permission.answered')
  | ('file.read' | 'file.changed')
>;

function applyCall(state: AgentState, event: CallEvent): AgentState {
  switch (event.type) {
    case 'tool.started':
      return { ...state, calls: withKey(state.calls, event.call, true) };
    case 'tool.withdrawn':
    // While a question is open nothing is done; the answer is on disk before the call acts.
    case 'permission.asked':
      return { ...state, calls: withKey(state.calls, event.call, false) };
    case 'permission.answered':
      return { ...state, calls: withKey(state.calls, event.call, event.answer !== 'denied') };
    case 'tool.completed':
      return completed(state, event);
    case 'file.read':
      return touched(state, { call: event.call, path: event.path, version: event.version }, 'read');
    case 'file.changed':
      return touched(state, { call: event.call, path: event.path, version: event.after }, 'changed');
  }
}

function completed(state: AgentState, event: EventOf<'tool.completed'>): AgentState {
  const { call, result } = event;
  const { calls, taken, unanswered } = state;
  const delivered = valueAt(taken, call);
  const next: AgentState = {
    ...state,
    calls: hasKey(calls, call) ? calls : withKey(calls, call, true),
    results: withKey(state.results, call, result),
    refusals: foldRefusals(state.refusals, event),
    taken: delivered === undefined ? taken : withKey(taken, call, null),
    unanswered: unanswered.length === 0 ? unanswered : unanswered.filter((file) => file.call !== call),
    seen: withSeen(state, call),
  };
  return settled(next, delivered ?? []);
}

/** What a call has read and written is seen once it is answered. */
function withSeen({ seen, unanswered }: AgentState, call: string): AgentState['seen'] {
  return unanswered.reduce(
    (all, file) => (file.call === call ? withKey(all, file.path, file.version) : all),
    seen,
  );
}

/** A file that was changed stays so, however often it is read again. */
function touched(state: AgentState, file: SeenFile, how: TouchedFile): AgentState {
  const before = valueAt(state.touched, file.path);
  return {
    ...state,
    touched: withKey(state.touched, file.path, before === 'changed' ? before : how),
    unanswered: [...state.unanswered, file],
  };
}
