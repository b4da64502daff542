/**
 * One agent: its state as a value, and what it works with (journal, models, files, children, and the scope that
 * releases what it acquired, RES-5). Recording an event is appending it to the journal and applying it to the state, in
 * one step, so the two cannot part.
 */
import {
  type BlockPosition,
  Conversation,
  type ForkPoint,
  type FrozenMessage,
  forkMessage,
  type PromptHead,
  takeForkPoint,
} from '../../conversation/conversation.ts';
import { type FrozenBlock, freezeBlock } from '../../conversation/frozen-block.ts';
import { endOf } from '../../conversation/request.ts';
import {
  type AgentState,
  forkState,
  newAgentState,
  refusalsOfFork,
} from '../../journal/projections/agent-state.ts';
import { applyEvent } from '../../journal/projections/apply-event.ts';
import { waitUntil } from '../../schema/clock.ts';
import type { EventOf, JournalEvent } from '../../schema/events.ts';
import type { LiveCause, TodoItem } from '../../schema/status.ts';
import { BackgroundTasks } from '../../tools/shell/background-tasks.ts';
import type { Tool } from '../../tools/tool.ts';
import { AgentCheckout, AgentDirectory } from '../isolation/agent-directory.ts';
import { AgentContent, type AgentValue, headOf, headWith, Inbox, type InboxItem } from './agent-content.ts';
import { liveEvent, type NamedContent } from './agent-event.ts';
import { AgentFiles } from './agent-files.ts';
import { AgentHere, Children } from './agent-here.ts';
import type { AgentGuest, AgentRuntime, AgentSpec, SessionRuntime } from './runtime.ts';

export class Agent implements AsyncDisposable {
  #spec: AgentSpec;
  readonly runtime: AgentRuntime;
  readonly directory: AgentDirectory;
  // What most agents never need is made when it is first asked for: thousands may wait at once.
  #scope: AsyncDisposableStack | null = null;
  readonly files: AgentFiles;
  #checkout: AgentCheckout | null = null;
  #tasks: BackgroundTasks | null = null;
  #state: AgentState;
  /** The bytes that the state names. */
  readonly content: AgentContent;
  /** What it has in this process only: bills, what its requests wait for. */
  readonly here: AgentHere;
  /** What others have to say to it and it has not been told. */
  readonly inbox: Inbox = new Inbox(() => this.content.mail);
  readonly children: Children = new Children();
  #forkPoint: ForkPoint | null = null;

  /** Continues from `value`; `start` begins a new one. */
  constructor(runtime: AgentRuntime, spec: AgentSpec, { state, ...bytes }: AgentValue) {
    this.runtime = runtime;
    this.#spec = Object.freeze(spec);
    this.here = new AgentHere(spec, runtime.clock);
    this.#state = state;
    this.content = new AgentContent(state, bytes);
    this.directory = new AgentDirectory(this);
    this.files = new AgentFiles(this);
  }

  /** `past` is the state of one that begins again. */
  static start(runtime: AgentRuntime, spec: AgentSpec, head?: PromptHead, past?: AgentState): Agent {
    const conversation = new Conversation(head ?? headOf(spec));
    const agent = new Agent(runtime, spec, { state: past ?? newAgentState(spec.id), conversation });
    agent.#recordStart();
    return agent;
  }

  /** A child that continues this agent's conversation, with its file versions (FORK-2, FORK-4). */
  fork(spec: AgentSpec, task: string): Agent {
    const params = this.forkPoint();
    const { prefix } = params;
    const value = { state: newAgentState(spec.id), conversation: prefix.fork(), prompts: this.prompts };
    const child = new Agent(this.runtime, spec, value);
    child.here.inherited = { blocks: prefix.chain.length, digest: prefix.digest, parent: prefix };
    child.#recordStart();
    child.#state = forkState(child.#state, this.#state);
    const [messages = ''] = child.store([params.record]);
    const about = { from: this.spec.id, ...refusalsOfFork(this.#state.refusals, params.calls) };
    child.record({ type: 'conversation.inherited', messages, prompt: prefix.digest, ...about });
    const { blocks, shared } = forkMessage(params, task, child.directory.ownNotice);
    child.say('prompt', blocks, shared);
    return child;
  }

  /** The prefix of forks asked for by the last answer: the same value for all of them. */
  forkPoint(): ForkPoint {
    if (this.#forkPoint?.prefix.digest !== this.conversation.digest) {
      this.#forkPoint = takeForkPoint(this.conversation, this.previousEnd);
    }
    return this.#forkPoint;
  }

  get spec(): AgentSpec {
    return this.#spec;
  }

  /** It has these tools too from now on. Tools come first in a prompt: the next request writes all of it again. */
  addTools(cause: 'team', tools: readonly Tool[]): void {
    this.#spec = Object.freeze({ ...this.#spec, tools: [...this.#spec.tools, ...tools] });
    this.replaceConversation({ cause }, headWith(this.conversation.head, tools), this.conversation.messages);
  }

  #recordStart(): void {
    this.record(startOf(this.spec));
    this.directory.recordStart();
    this.#recordHead(this.conversation.head);
  }

  /** The checkout it works in, and what it shares that with. */
  get checkout(): AgentCheckout {
    this.#checkout ??= new AgentCheckout(this);
    return this.#checkout;
  }

  /** Releases what the agent acquired, when it ends. */
  get scope(): AsyncDisposableStack {
    this.#scope ??= new AsyncDisposableStack();
    return this.#scope;
  }

  /** Made when it is first asked for, with the tasks of an earlier process. */
  get tasks(): BackgroundTasks {
    if (this.#tasks === null) {
      this.#tasks = new BackgroundTasks((event) => this.record(event));
      this.#tasks.recall(this.#state.backgroundTasks);
    }
    return this.#tasks;
  }

  /** What it is: everything that is recorded of it, and nothing else. */
  get state(): AgentState {
    return this.#state;
  }

  get conversation(): Conversation {
    return this.content.conversation;
  }

  /** Every prompt so far, also those that a compaction has replaced. The first opens the conversation. */
  get prompts(): readonly FrozenMessage[] {
    return this.content.prompts;
  }

  /** The end mark of the last request that was answered: the next one repeats it (FORK-7). */
  get previousEnd(): BlockPosition | null {
    return endOf(this.#state.answeredBreakpoints);
  }

  /** The last response's count of the prompt and itself, and how many messages of the conversation that was. */
  get measured(): AgentState['measured'] {
    const { measured, messages } = this.#state;
    if (measured === null) return null;
    const inherited = this.conversation.messages.length - messages.length;
    return { tokens: measured.tokens, messages: measured.messages + inherited };
  }

  /** Applies an event, appends it to the journal and tells it; `named` is the content that it names, for those who are told. */
  record(event: JournalEvent, named?: NamedContent): void {
    this.follow(event);
    this.runtime.journal.append(this.spec.id, event);
    this.here.onRecord?.(event);
    if (this.here.sink === null) return;
    const told = liveEvent(event, named);
    if (told !== null) this.here.sink(told);
  }

  /** Applies what the host of its process has recorded of it (EXEC-2). */
  follow(event: JournalEvent): void {
    this.#state = applyEvent(this.#state, { agent: this.spec.id, time: this.runtime.clock.now(), event });
    this.content.follow(this.#state);
    this.inbox.follow(event);
  }

  /** For an agent that works; of one that has ended nothing is recorded. `until` is by the clock of the runtime. */
  setStatus(
    status: EventOf<'status.changed'>['status'],
    cause: LiveCause | null,
    until: number | null = null,
  ): void {
    if (this.#state.ended) return;
    const wait = until !== null && waitUntil(until, this.runtime.clock);
    this.record({ type: 'status.changed', status, cause, ...wait });
  }

  warn(code: string, message: string): void {
    this.record({ type: 'warning.raised', code, message });
  }

  setTodos(todos: readonly TodoItem[]): void {
    this.record({ type: 'todos.changed', todos: [...todos] });
  }

  /** Adds a user message. `shared` counts the leading blocks that other runs in the same place share. */
  say(
    cause: EventOf<'message.appended'>['cause'],
    blocks: readonly FrozenBlock[],
    shared = 0,
    { delivers, typed }: { delivers?: string[]; typed?: boolean | undefined } = {},
  ): void {
    const lost = this.content.lostSearches();
    if (lost.length > 0) this.#append({ role: 'assistant', cause: 'search_lost', shared: 0 }, lost);
    const more = { ...(delivers?.length && { delivers }), ...(typed === true && { typed }) };
    this.#append({ role: 'user', cause, shared, ...more }, blocks);
  }

  #append(about: Omit<EventOf<'message.appended'>, 'type' | 'blocks'>, blocks: readonly FrozenBlock[]): void {
    this.record({ type: 'message.appended', ...about, blocks: this.store(blocks) });
  }

  /** Takes a message; it is recorded now and delivered at the next tool boundary. Returns its name. */
  receive(
    kind: InboxItem['kind'],
    from: string | null,
    text: string,
    about: { tasks?: string[]; mail?: number } = {},
  ): string {
    const blocks = [freezeBlock({ type: 'text', text: text.toWellFormed() })];
    const item = `${this.spec.id}:${this.#state.received + 1}`;
    this.record({ type: 'message.received', item, kind, from, blocks: this.store(blocks), ...about });
    return item;
  }

  /** Takes out of the inbox what `wanted` picks: `call` tells it, or nobody does. */
  takeFromInbox(wanted: (item: InboxItem) => boolean, call: string | null): readonly InboxItem[] {
    const taken = this.inbox.items.filter(wanted);
    for (const { item } of taken) this.record({ type: 'message.taken', item, call });
    return taken;
  }

  /** Continues with another head or other messages: a new prefix, so nothing is marked yet. */
  replaceConversation(
    why: Omit<EventOf<'conversation.replaced'>, 'type' | 'messages'>,
    head: PromptHead,
    messages: readonly FrozenMessage[],
  ): void {
    if (head !== this.conversation.head) this.#recordHead(head);
    this.record({
      type: 'conversation.replaced',
      messages: messages.map(({ role, blocks, shared }) => ({ role, blocks: this.store(blocks), shared })),
      ...why,
    });
  }

  /** Puts blocks into the journal's store and returns their names. An event that names them may follow. */
  store(blocks: readonly FrozenBlock[]): string[] {
    this.content.know(blocks);
    return this.#keep(blocks);
  }

  #keep(blocks: readonly FrozenBlock[]): string[] {
    for (const block of blocks) this.runtime.journal.storeBlock(block.digest, block.bytes);
    return blocks.map((block) => block.digest);
  }

  #recordHead(head: PromptHead): void {
    this.content.knowHead(head);
    const { model, thinking, tools, system } = head;
    const stored = { tools: this.#keep(tools), system: this.#keep(system) };
    this.record({ type: 'prefix.frozen', model, thinking, ...stored });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.children.stopAll('parent_ended');
    await this.#scope?.disposeAsync();
  }
}

/** The start of an agent as it is recorded. */
export function startOf(spec: AgentSpec): EventOf<'agent.started'> {
  return {
    type: 'agent.started',
    parent: spec.parent,
    agentType: spec.type,
    name: spec.name,
    model: spec.model,
    permissionMode: spec.permissionMode,
    maxTurns: spec.maxTurns,
    budget: spec.budget,
    ...(spec.origin && { origin: spec.origin }),
  };
}

/** An agent in the process that has keys, limits and rules. The loop itself asks `AgentHost` and never needs this. */
export type HostedAgent = Agent & { readonly runtime: SessionRuntime };

/** Throws in an agent's own process: what asks for this there is wrong. */
export function hosted(guest: AgentGuest): HostedAgent {
  if (isHosted(guest)) return guest;
  throw new Error(`${guest.spec.id} is not in the process of its host`);
}

function isHosted(guest: AgentGuest): guest is HostedAgent {
  return guest instanceof Agent && 'provider' in guest.runtime;
}
