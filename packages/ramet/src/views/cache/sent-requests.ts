/**
 * Every request of a session as it was sent, from its journal alone (LOG-1): when, with which prompt, where it marked
 * the cache, and what the provider said about it. Conversations only grow, so the requests of one share it and each
 * knows how much of it was sent.
 */
import type { JournalReader } from '../../journal/journal.ts';
import { typeOfAgent } from '../../journal/projections/agent-state.ts';
import { type InheritedMessage, inheritedMessages } from '../../journal/projections/inherited-messages.ts';
import type { Role } from '../../schema/content.ts';
import { JournalError } from '../../schema/errors.ts';
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
import { type SentBlock, type SentHead, type SentMessage, SentPrompt, SentPrompts } from './sent-prompt.ts';

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
  prompt: SentPrompt;
  /** How many messages of it the request carried. */
  messages: number;
  /** What it asked beside them. */
  aside: readonly SentBlock[];
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

export function readSentRequests(reader: JournalReader): SentSession {
  const fold = new SentRequests(reader);
  for (const recorded of reader.events()) fold.take(recorded);
  return fold;
}

interface Speaker {
  prompt: SentPrompt | null;
  replaced: PastRequest['replaced'];
  /** What a fork took over before its own head is known. */
  inherited: readonly SentMessage[];
  launch: EventOf<'launch.decided'> | null;
}

/** For code that reads the events anyway: takes them one by one. */
export class SentRequests implements SentSession {
  readonly agents: Map<AgentId, SentBy> = new Map();
  readonly requests: PastRequest[] = [];
  readonly #reader: JournalReader;
  readonly #prompts: SentPrompts;
  readonly #speakers = new Map<AgentId, Speaker>();
  readonly #underWay = new Map<string, PastRequest>();
  /** Siblings inherit one list: it is read once. */
  readonly #lists = new Map<Digest, readonly SentMessage[]>();
  readonly #bases = new Map<string, SentPrompt>();

  constructor(reader: JournalReader) {
    this.#reader = reader;
    this.#prompts = new SentPrompts(reader);
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
    const speaker: Speaker = { prompt: null, replaced, inherited: [], launch: null };
    this.#speakers.set(agent, speaker);
    return speaker;
  }

  #speak(speaker: Speaker, event: JournalEvent): void {
    switch (event.type) {
      case 'prefix.frozen': {
        const messages = speaker.prompt?.messages ?? speaker.inherited;
        speaker.prompt = new SentPrompt(this.#prompts, this.#prompts.head(event), messages);
        break;
      }
      case 'launch.decided':
        speaker.launch = event;
        break;
      case 'conversation.inherited':
        speaker.inherited = this.#inherited(event.messages);
        if (speaker.prompt !== null) speaker.prompt = this.#forked(speaker.prompt.head, event.messages);
        break;
      case 'message.appended':
        speaker.prompt?.append(this.#message(event));
        break;
      case 'conversation.replaced': {
        const { prompt, replaced } = speaker;
        const messages = event.messages.map((message) => this.#message(message));
        if (prompt !== null) speaker.prompt = new SentPrompt(this.#prompts, prompt.head, messages);
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
    const { replaced, launch } = speaker;
    if (speaker.prompt === null) return;
    const prompt = this.#sentInstead(speaker.prompt, event.instead ?? []);
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
      prompt,
      messages: event.messages,
      aside: this.#prompts.blocks(event.aside ?? []),
      marks: sentMarks(prompt, event.breakpoints),
      replaced,
      answer: null,
      failure: null,
    };
    this.#underWay.set(request.id, request);
    this.requests.push(request);
  }

  #sentInstead(prompt: SentPrompt, instead: EventOf<'request.started'>['instead'] & object): SentPrompt {
    if (instead.length === 0) return prompt;
    const others = new Map(instead.map(({ message, blocks }) => [message, this.#prompts.blocks(blocks)]));
    const messages = prompt.messages.map(({ role, blocks }, at) => ({
      role,
      blocks: others.get(at) ?? blocks,
    }));
    return new SentPrompt(this.#prompts, prompt.head, messages);
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
    this.#speaker(agent).prompt?.append(this.#message({ role: 'assistant', blocks: event.blocks }));
  }

  /** Siblings begin with one prompt: it is joined once. */
  #forked(head: SentHead, list: Digest): SentPrompt {
    const key = `${head.digest} ${list}`;
    const base = this.#bases.get(key) ?? new SentPrompt(this.#prompts, head, this.#inherited(list));
    this.#bases.set(key, base);
    return base.fork();
  }

  #inherited(list: Digest): readonly SentMessage[] {
    const known = this.#lists.get(list);
    if (known !== undefined) return known;
    const messages = this.#listed(list).map((message) => this.#message(message));
    this.#lists.set(list, messages);
    return messages;
  }

  /** Without them where the list is damaged: the requests of others are still explained. */
  #listed(list: Digest): InheritedMessage[] {
    try {
      return inheritedMessages(this.#reader, list);
    } catch (error) {
      if (error instanceof JournalError) return [];
      throw error;
    }
  }

  #message({ role, blocks }: { role: Role; blocks: readonly Digest[] }): SentMessage {
    return { role, blocks: this.#prompts.blocks(blocks) };
  }
}
