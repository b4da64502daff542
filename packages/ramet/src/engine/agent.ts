/**
 * One agent's state between turns: its conversation, where the last request left its mark, what it has spent,
 * and the scope that releases what it acquired (RES-5). Every change of the conversation is journaled here, in
 * the same step, so the two cannot part.
 */
import {
  type BlockPosition,
  Conversation,
  type FrozenMessage,
  type PromptHead,
} from '../conversation/conversation.ts';
import { type CacheSafeParams, forkMessage, takeCacheSafeParams } from '../conversation/fork.ts';
import { type FrozenBlock, freezeBlock } from '../conversation/frozen-block.ts';
import type { TouchedFile } from '../journal/projections/agent-state.ts';
import { foldOwnState, inheritedState, NEW_STATE, type OwnState } from '../journal/projections/own-state.ts';
import type { CacheTtl } from '../model/cache-map.ts';
import { waitUntil } from '../schema/clock.ts';
import type { EventOf, JournalEvent } from '../schema/events.ts';
import type { TodoItem } from '../schema/todo-item.ts';
import { BackgroundTasks } from '../tools/background-tasks.ts';
import type { FileAccess } from '../workspace/file-access.ts';
import type { CommandChange } from '../workspace/file-readers.ts';
import { AgentCheckout } from './agent-checkout.ts';
import { AgentFiles, type FilesSeen } from './agent-files.ts';
import type { CarriedSpending, Spending } from './budget.ts';
import { Children } from './children.ts';
import type { ContextState } from './context-state.ts';
import { Inbox, type InboxItem } from './inbox.ts';
import { AgentDirectory } from './isolation/agent-directory.ts';
import type { OpenCalls } from './open-calls.ts';
import type { HeldPlace } from './places.ts';
import type { InheritedPrefix } from './prefix-guard.ts';
import { headOf } from './prompt-head.ts';
import type { AgentSpec, SessionRuntime } from './runtime.ts';

type StatusChange = Pick<EventOf<'status.changed'>, 'status' | 'cause' | 'until' | 'leftMs'>;

export class Agent implements AsyncDisposable {
  readonly spec: AgentSpec;
  readonly runtime: SessionRuntime;
  readonly directory: AgentDirectory;
  // What most agents never need is made when it is first asked for: thousands may wait at once.
  #scope: AsyncDisposableStack | null = null;
  /** Which file versions it has seen; replaced when it is rebuilt. */
  files: AgentFiles;
  #checkout: AgentCheckout | null = null;
  #calls: Set<string> | null = null;
  #tasks: BackgroundTasks | null = null;
  #conversation: Conversation;
  /** The end mark of the last request that was answered: the next one repeats it (FORK-7). */
  previousEnd: BlockPosition | null = null;
  /** Of a fork: what it must still have in common with its parent when its first request goes (FORK-8). */
  inherited: InheritedPrefix | null = null;
  /** Whether a request of its own was answered in this process: the launch gate is for the first one. */
  launched = false;
  /** Its waits for children: those that outlived a mark of five minutes, and how long its marks live now. */
  readonly waiting: { ttl: CacheTtl; readonly longWaitsMs: number[] } = { ttl: '5m', longWaitsMs: [] };
  /** Responses so far, in all runs; numbers the requests. */
  requests = 0;
  /** Of the run that is under way, or of the last one: what its children spend is linked to it (RES-2). */
  spending: Spending | null = null;
  /** Of the next run, when it was opened before that begins (`run-bill.ts`). */
  nextBill: Spending | null = null;
  /** Why the last message stopped, when a killed process left it at that: the loop takes up from there. */
  openStop: string | null = null;
  /** Calls of the last message that are not answered; the loop takes up from there too. */
  openCalls: OpenCalls | null = null;
  /** What the work it goes on with has taken in an earlier process; null for work that begins here. */
  carried: CarriedSpending | null = null;
  /** Every prompt so far, also those that a compaction has replaced. The first opens the conversation. */
  prompts: FrozenMessage[] = [];
  readonly context: ContextState = { measured: null, learnedWindow: null, notBefore: 0 };
  /** How many questions about permission wait for an answer: as long as there are any it is `blocked`. */
  openQuestions = 0;
  /** Its list of its own work; `setTodos` changes it. */
  todos: readonly TodoItem[] = [];
  /** Changed by what it records alone. */
  own: OwnState = NEW_STATE;
  /** What others have to say to it and it has not been told. */
  readonly inbox: Inbox = new Inbox();
  /** How many items have come for it, in all processes; numbers them. */
  received = 0;
  readonly children: Children = new Children();
  /** Its place among those at work; null when nobody counts them. */
  place: HeldPlace | null = null;
  /** Told of every change of its status, once it is known to a family. */
  onStatus: ((change: StatusChange) => void) | null = null;
  #forkPoint: CacheSafeParams | null = null;
  #hasEnded = false;

  /** Continues with `conversation` and the file versions `seen` in it; `start` begins a new one. */
  constructor(
    runtime: SessionRuntime,
    spec: AgentSpec,
    conversation: Conversation,
    seen: FilesSeen = NOTHING_SEEN,
  ) {
    this.runtime = runtime;
    this.spec = spec;
    this.#conversation = conversation;
    this.directory = new AgentDirectory(this, spec);
    this.files = new AgentFiles(this, seen);
  }

  static start(runtime: SessionRuntime, spec: AgentSpec, head: PromptHead = headOf(spec)): Agent {
    const agent = new Agent(runtime, spec, new Conversation(head));
    agent.#recordStart();
    return agent;
  }

  /** A child that goes on from this agent's conversation, with its file versions (FORK-2, FORK-4). */
  fork(spec: AgentSpec, task: string): Agent {
    const params = this.forkPoint();
    const { prefix } = params;
    const child = new Agent(this.runtime, spec, prefix.fork(), this.files);
    child.previousEnd = params.previousEnd;
    child.inherited = { blocks: prefix.chain.length, digest: prefix.digest, parent: prefix };
    child.prompts = [...this.prompts];
    for (const call of this.#calls ?? []) child.calls.add(call);
    child.#recordStart();
    const [messages = ''] = child.store([params.record]);
    const from = this.spec.id;
    const own = inheritedState(this.own, params.calls);
    child.record({ type: 'conversation.inherited', from, messages, prompt: prefix.digest, ...own });
    const { blocks, shared } = forkMessage(params, task, child.directory.ownNotice);
    child.say('prompt', blocks, shared);
    return child;
  }

  /** The prefix of forks asked for by the last answer: the same value for all of them. */
  forkPoint(): CacheSafeParams {
    if (this.#forkPoint?.prefix.digest !== this.#conversation.digest) {
      this.#forkPoint = takeCacheSafeParams(this.#conversation, this.previousEnd);
    }
    return this.#forkPoint;
  }

  #recordStart(): void {
    const { spec } = this;
    this.record({
      type: 'agent.started',
      parent: spec.parent,
      agentType: spec.type,
      name: spec.name,
      model: spec.model,
      permissionMode: spec.permissionMode,
      maxTurns: spec.maxTurns,
      budget: spec.budget,
      ...(spec.origin && { origin: spec.origin }),
    });
    this.directory.recordStart();
    this.recordHead();
  }

  /** Its files as one of its calls sees them. */
  filesFor(call: string): FileAccess {
    return this.files.for(call);
  }

  /** Files it has read that commands of others have changed since; told once. */
  takeFileNews(): CommandChange[] {
    return this.files.takeNews();
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

  /** Ids of all tool calls in the conversation. */
  get calls(): Set<string> {
    this.#calls ??= new Set();
    return this.#calls;
  }

  get touched(): Map<string, TouchedFile> {
    return this.files.touched;
  }

  get tasks(): BackgroundTasks {
    this.#tasks ??= new BackgroundTasks((event) => this.record(event));
    return this.#tasks;
  }

  get conversation(): Conversation {
    return this.#conversation;
  }

  record(event: JournalEvent): void {
    this.#hasEnded ||= event.type === 'agent.ended';
    this.own = foldOwnState(this.own, event);
    this.runtime.journal.append(this.spec.id, event);
  }

  /** `until` is by the clock of the runtime. */
  setStatus(status: StatusChange['status'], cause: string | null, until: number | null = null): void {
    if (this.#hasEnded) return;
    const change = { status, cause, ...(until !== null && waitUntil(until, this.runtime.clock)) };
    this.record({ type: 'status.changed', ...change });
    this.onStatus?.(change);
  }

  warn(code: string, message: string): void {
    this.record({ type: 'warning.raised', code, message });
  }

  setTodos(todos: readonly TodoItem[]): void {
    this.todos = todos;
    this.record({ type: 'todos.changed', todos: [...todos] });
  }

  /** Adds a user message. `shared` counts the leading blocks that other runs in the same place share. */
  say(
    cause: EventOf<'message.appended'>['cause'],
    blocks: readonly FrozenBlock[],
    shared = 0,
    delivers: readonly string[] = [],
  ): void {
    this.followMessage(cause, { role: 'user', blocks, shared });
    this.record({
      type: 'message.appended',
      role: 'user',
      cause,
      blocks: this.store(blocks),
      shared,
      ...(delivers.length > 0 && { delivers: [...delivers] }),
    });
  }

  /** Takes what somebody has to say; it is recorded now and told at the next tool boundary. Returns its name. */
  receive(kind: InboxItem['kind'], from: string | null, text: string): string {
    const blocks = [freezeBlock({ type: 'text', text: text.toWellFormed() })];
    const item = `${this.spec.id}:${++this.received}`;
    this.record({ type: 'message.received', item, kind, from, blocks: this.store(blocks) });
    this.inbox.put({ item, kind, from, blocks });
    return item;
  }

  /** Adds the answer of a response; the response's own event journals it. */
  answer(blocks: readonly FrozenBlock[], calls: readonly string[]): void {
    for (const call of calls) this.calls.add(call);
    this.#conversation.append({ role: 'assistant', blocks, shared: 0 });
  }

  /** Goes on with another head or other messages: a new prefix, so nothing is marked and measured yet. */
  replaceConversation(
    cause: EventOf<'conversation.replaced'>['cause'],
    head: PromptHead,
    messages: readonly FrozenMessage[],
  ): void {
    const sameHead = head === this.#conversation.head;
    this.followReplacement(new Conversation(head, messages));
    if (!sameHead) this.recordHead();
    this.record({
      type: 'conversation.replaced',
      cause,
      messages: messages.map(({ role, blocks, shared }) => ({ role, blocks: this.store(blocks), shared })),
    });
  }

  /** What `say` does besides recording it: for an agent whose own process records what it says (EXEC-2). */
  followMessage(cause: EventOf<'message.appended'>['cause'], message: FrozenMessage): void {
    this.#conversation.append(message);
    if (cause === 'prompt') this.prompts.push(message);
    this.openStop = null;
  }

  /** The same of `replaceConversation`. */
  followReplacement(conversation: Conversation): void {
    this.#conversation = conversation;
    this.previousEnd = null;
    this.context.measured = null;
  }

  /** Puts blocks into the journal's store and returns their names. */
  store(blocks: readonly FrozenBlock[]): string[] {
    for (const block of blocks) this.runtime.journal.storeBlock(block.digest, block.bytes);
    return blocks.map((block) => block.digest);
  }

  recordHead(): void {
    const { model, thinking, tools, system } = this.#conversation.head;
    const stored = { tools: this.store(tools), system: this.store(system) };
    this.record({ type: 'prefix.frozen', model, thinking, ...stored });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.children.stopAll('parent_ended');
    await this.#scope?.disposeAsync();
  }
}

const NOTHING_SEEN: ReadonlyMap<string, string> = new Map();
