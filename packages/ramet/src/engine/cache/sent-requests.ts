/**
 * Every request of a session as it was sent, from its journal alone (LOG-1): when, with which prompt, where it marked
 * the cache, and what the provider said of it. Conversations only grow, so the requests of one share it and each knows
 * how much of it was sent.
 */
import {
  Conversation,
  type FrozenMessage,
  freezeHead,
  type PromptHead,
} from '../../conversation/conversation.ts';
import { type FrozenBlock, thawBytes } from '../../conversation/frozen-block.ts';
import type { JournalReader } from '../../journal/journal.ts';
import { typeOfAgent } from '../../journal/projections/agent-tree.ts';
import { inheritedMessages } from '../../journal/projections/inherited-messages.ts';
import type { Role } from '../../schema/content.ts';
import type {
  CacheState,
  Digest,
  EventOf,
  JournalEvent,
  RecordedEvent,
  RequestSource,
} from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { Usage } from '../../schema/usage.ts';
import { type SentMark, sentMarks } from './sent-marks.ts';

export interface PastRequest {
  id: string;
  /** Its place among all requests of the session. */
  order: number;
  agent: AgentId;
  turn: number;
  model: string;
  source: RequestSource | null;
  /** When its last attempt began. */
  startedAt: number;
  attempts: number;
  predicted: CacheState;
  /** Of an agent's first request: when it might go, and why then. */
  launch: EventOf<'launch.decided'> | null;
  conversation: Conversation;
  /** How many messages of the conversation it carried. */
  messages: number;
  /** What it asked beside them. */
  aside: readonly FrozenBlock[];
  marks: readonly SentMark[];
  /** How often the conversation had been replaced, and why the last time. */
  replaced: { times: number; cause: EventOf<'conversation.replaced'>['cause'] | null };
  /** Null while it has no answer. */
  answer: { usage: Usage; beganAt: number } | null;
  /** Why it has none, when that is known. */
  failure: string | null;
}

export interface SentBy {
  id: AgentId;
  parent: AgentId | null;
  type: string;
}

export interface SentSession {
  agents: Map<AgentId, SentBy>;
  /** In the order in which they were first sent. */
  requests: PastRequest[];
}

/** The prompt of a request, by itself. */
export function promptOf({ conversation, messages, aside }: PastRequest): Conversation {
  const sent: FrozenMessage[] = conversation.messages.slice(0, messages);
  if (aside.length > 0) sent.push({ role: 'user', blocks: aside, shared: 0 });
  return new Conversation(conversation.head, sent);
}

/** `events` are those of the reader, for whoever has read them already. */
export function readSentRequests(
  reader: JournalReader,
  events: Iterable<RecordedEvent> = reader.events(),
): SentSession {
  const fold = new SentFold(reader);
  for (const page of pagesOf(events)) {
    reader.together(() => {
      for (const recorded of page) fold.take(recorded);
    });
  }
  return fold;
}

const PAGE = 500;

function* pagesOf(events: Iterable<RecordedEvent>): Iterable<RecordedEvent[]> {
  let page: RecordedEvent[] = [];
  for (const recorded of events) {
    page.push(recorded);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  yield page;
}

interface Speaker {
  conversation: Conversation | null;
  replaced: PastRequest['replaced'];
  /** What a fork took over before its own head is known. */
  inherited: readonly FrozenMessage[];
  launch: EventOf<'launch.decided'> | null;
}

class SentFold implements SentSession {
  readonly agents: Map<AgentId, SentBy> = new Map();
  readonly requests: PastRequest[] = [];
  readonly #reader: JournalReader;
  readonly #speakers = new Map<AgentId, Speaker>();
  readonly #underWay = new Map<string, PastRequest>();
  readonly #blocks = new Map<Digest, FrozenBlock>();
  /** Siblings inherit one list: it is read once. */
  readonly #lists = new Map<Digest, readonly FrozenMessage[]>();
  readonly #bases = new Map<string, Conversation>();

  constructor(reader: JournalReader) {
    this.#reader = reader;
  }

  take({ time, agent, event }: RecordedEvent): void {
    if (agent === null) return;
    switch (event.type) {
      case 'agent.started':
        if (!this.agents.has(agent))
          this.agents.set(agent, { id: agent, parent: event.parent, type: typeOfAgent(event) });
        break;
      case 'request.started':
        this.#start(agent, time, event);
        break;
      case 'request.failed':
        this.#fail(event);
        break;
      case 'response.completed':
        this.#answer(agent, time, event);
        break;
      default:
        this.#speak(this.#speaker(agent), event);
    }
  }

  #speaker(agent: AgentId): Speaker {
    const known = this.#speakers.get(agent);
    if (known !== undefined) return known;
    const replaced = { times: 0, cause: null };
    const speaker: Speaker = { conversation: null, replaced, inherited: [], launch: null };
    this.#speakers.set(agent, speaker);
    return speaker;
  }

  #speak(speaker: Speaker, event: JournalEvent): void {
    switch (event.type) {
      case 'prefix.frozen': {
        const { model, thinking, tools, system } = event;
        const head = freezeHead({ model, thinking, tools: this.#thaw(tools), system: this.#thaw(system) });
        speaker.conversation = new Conversation(head, speaker.conversation?.messages ?? speaker.inherited);
        break;
      }
      case 'launch.decided':
        speaker.launch = event;
        break;
      case 'conversation.inherited':
        speaker.inherited = this.#inherited(event.messages);
        if (speaker.conversation !== null)
          speaker.conversation = this.#forked(speaker.conversation.head, event.messages);
        break;
      case 'message.appended':
        speaker.conversation?.append(this.#message(event));
        break;
      case 'conversation.replaced': {
        const { conversation, replaced } = speaker;
        const messages = event.messages.map((message) => this.#message(message));
        if (conversation !== null) speaker.conversation = new Conversation(conversation.head, messages);
        speaker.replaced = { times: replaced.times + 1, cause: event.cause };
        break;
      }
    }
  }

  #start(agent: AgentId, time: number, event: EventOf<'request.started'>): void {
    const again = this.#underWay.get(event.request);
    if (again !== undefined) {
      Object.assign(again, {
        startedAt: time,
        attempts: event.attempt,
        predicted: event.cache,
        failure: null,
      });
      return;
    }
    const speaker = this.#speaker(agent);
    const { conversation, replaced, launch } = speaker;
    if (conversation === null) return;
    speaker.launch = null;
    const request: PastRequest = {
      id: event.request,
      order: this.requests.length,
      agent,
      turn: event.turn,
      model: event.model,
      source: event.source ?? null,
      startedAt: time,
      attempts: event.attempt,
      predicted: event.cache,
      launch,
      conversation,
      messages: event.messages,
      aside: this.#thaw(event.aside ?? []),
      marks: sentMarks(conversation, event.breakpoints),
      replaced,
      answer: null,
      failure: null,
    };
    this.#underWay.set(request.id, request);
    this.requests.push(request);
  }

  #fail(event: EventOf<'request.failed'>): void {
    const request = this.#underWay.get(event.request);
    if (request !== undefined) request.failure = event.code;
  }

  #answer(agent: AgentId, time: number, event: EventOf<'response.completed'>): void {
    const { usage, firstTokenMs, durationMs } = event;
    const request = this.#underWay.get(event.request);
    // Counted from its end: a request is recorded some time before it is sent.
    if (request !== undefined) request.answer = { usage, beganAt: time - durationMs + firstTokenMs };
    this.#underWay.delete(event.request);
    if (!event.kept || event.source !== undefined) return;
    const said = { role: 'assistant', blocks: event.blocks, shared: 0 } as const;
    this.#speaker(agent).conversation?.append(this.#message(said));
  }

  /** Siblings begin with one conversation: it is joined and hashed once. */
  #forked(head: PromptHead, list: Digest): Conversation {
    const key = `${head.digest} ${list}`;
    const base = this.#bases.get(key) ?? new Conversation(head, this.#inherited(list));
    this.#bases.set(key, base);
    return base.fork();
  }

  #inherited(list: Digest): readonly FrozenMessage[] {
    const known = this.#lists.get(list);
    if (known !== undefined) return known;
    const messages = inheritedMessages(this.#reader, list).map((message) => this.#message(message));
    this.#lists.set(list, messages);
    return messages;
  }

  #message(message: { role: Role; blocks: readonly Digest[]; shared: number }): FrozenMessage {
    return { role: message.role, blocks: this.#thaw(message.blocks), shared: message.shared };
  }

  #thaw(digests: readonly Digest[]): FrozenBlock[] {
    return digests.map((digest) => {
      const known = this.#blocks.get(digest);
      if (known !== undefined) return known;
      const block = thawBytes(this.#reader.block(digest), digest);
      this.#blocks.set(digest, block);
      return block;
    });
  }
}
