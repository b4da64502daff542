/**
 * One agent's state between turns: its conversation, where the last request left its mark, what it has spent,
 * and the scope that releases what it acquired (RES-5). Every change of the conversation is journaled here, in
 * the same step, so the two cannot part.
 */

import type { BlockPosition } from '../conversation/conversation.ts';
import {
  Conversation,
  type FrozenMessage,
  freezeHead,
  type PromptHead,
} from '../conversation/conversation.ts';
import { type CacheSafeParams, forkMessage, takeCacheSafeParams } from '../conversation/fork.ts';
import { type FrozenBlock, freezeBlock, freezeTool } from '../conversation/frozen-block.ts';
import { type TouchedFile, touchFile } from '../journal/projections/transcript.ts';
import type { CacheTtl } from '../model/cache-map.ts';
import { describeError } from '../schema/errors.ts';
import type { EventOf, JournalEvent } from '../schema/events.ts';
import type { TodoItem } from '../schema/todo-item.ts';
import { BackgroundTasks } from '../tools/background-tasks.ts';
import { toolSchema } from '../tools/tool.ts';
import { type AgentFileAccess, createFileAccess } from '../workspace/create-file-access.ts';
import type { FileAccess, FileChange } from '../workspace/file-access.ts';
import { createOriginalFiles } from '../workspace/original-files.ts';
import type { Spending } from './budget.ts';
import { Children } from './children.ts';
import type { ContextState } from './context-state.ts';
import { Inbox, type InboxItem } from './inbox.ts';
import type { HeldPlace } from './places.ts';
import type { InheritedPrefix } from './prefix-guard.ts';
import type { AgentSpec, SessionRuntime } from './runtime.ts';

export class Agent implements AsyncDisposable {
  readonly spec: AgentSpec;
  readonly runtime: SessionRuntime;
  readonly scope: AsyncDisposableStack = new AsyncDisposableStack();
  readonly #files: AgentFileAccess;
  #conversation: Conversation;
  /** The end mark of the last request that was answered: the next one repeats it (FORK-7). */
  previousEnd: BlockPosition | null = null;
  /** Of a fork: what it must still have in common with its parent when its first request goes (FORK-8). */
  inherited: InheritedPrefix | null = null;
  /** Whether a request of its own was answered in this process: the launch gate is for the first one. */
  launched = false;
  /** Its waits for children: those that outlived a mark of five minutes, and how long its marks live now. */
  readonly waiting: { ttl: CacheTtl; readonly longWaitsMs: number[] } = { ttl: '5m', longWaitsMs: [] };
  /** Ids of all tool calls in the conversation. */
  readonly calls: Set<string> = new Set();
  /** Responses so far, in all runs; numbers the requests. */
  requests = 0;
  /** Of the run that is under way, or of the last one: what its children spend is linked to it (RES-2). */
  spending: Spending | null = null;
  /** Why the last message stopped, when a killed process left it at that: the loop takes up from there. */
  openStop: string | null = null;
  /** Every prompt so far, also those that a compaction has replaced. The first opens the conversation. */
  prompts: FrozenMessage[] = [];
  /** Files that calls have read or changed, by real path, the latest last. */
  readonly touched: Map<string, TouchedFile> = new Map();
  readonly context: ContextState = { measured: null, learnedWindow: null, notBefore: 0 };
  readonly tasks: BackgroundTasks = new BackgroundTasks((event) => this.record(event));
  /** How many questions about permission wait for an answer: as long as there are any it is `blocked`. */
  openQuestions = 0;
  /** Its list of its own work; `setTodos` changes it. */
  todos: readonly TodoItem[] = [];
  /** What others have to say to it and it has not been told. */
  readonly inbox: Inbox = new Inbox();
  /** How many items have come for it, in all processes; numbers them. */
  received = 0;
  readonly children: Children = new Children();
  /** Its place among those at work; null when nobody counts them. */
  place: HeldPlace | null = null;
  /** Told of every change of its status, once it is known to a family. */
  onStatus: ((status: EventOf<'status.changed'>['status'], cause: string | null) => void) | null = null;
  #forkPoint: CacheSafeParams | null = null;

  /** Continues with `conversation` and the file versions `seen` in it; `start` begins a new one. */
  constructor(
    runtime: SessionRuntime,
    spec: AgentSpec,
    conversation: Conversation,
    seen: ReadonlyMap<string, string> | AgentFileAccess = NOTHING_SEEN,
  ) {
    this.runtime = runtime;
    this.spec = spec;
    this.#conversation = conversation;
    const own = {
      agent: spec.id,
      cwd: spec.cwd,
      onChange: (change: FileChange): void => this.#recordChange('', change),
      keepOriginal: (file: { version: string; bytes: Uint8Array }): void => this.#keepOriginal(file),
    };
    this.#files =
      'clone' in seen ? seen.clone(own) : createFileAccess({ ...own, ledger: runtime.files, seen });
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
    const child = new Agent(this.runtime, spec, prefix.fork(), this.#files);
    child.previousEnd = params.previousEnd;
    child.inherited = { blocks: prefix.chain.length, digest: prefix.digest, parent: prefix };
    child.prompts = [...this.prompts];
    for (const call of this.calls) child.calls.add(call);
    child.#recordStart();
    const [messages = ''] = child.store([params.record]);
    child.record({
      type: 'conversation.inherited',
      from: this.spec.id,
      messages,
      prompt: prefix.digest,
    });
    const { blocks, shared } = forkMessage(params, task);
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
    this.recordHead();
  }

  /** The agent's files as one of its calls sees them: what it reads and changes is journaled as that call's. */
  filesFor(call: string): FileAccess {
    return this.#files.watchedBy({
      onChange: (change) => this.#recordChange(call, change),
      onRead: (path, version) => {
        touchFile(this.touched, path, 'read');
        this.record({ type: 'file.read', call, path, version });
      },
    });
  }

  get conversation(): Conversation {
    return this.#conversation;
  }

  record(event: JournalEvent): void {
    this.runtime.journal.append(this.spec.id, event);
  }

  setStatus(status: EventOf<'status.changed'>['status'], cause: string | null): void {
    this.record({ type: 'status.changed', status, cause });
    this.onStatus?.(status, cause);
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
    const message = { role: 'user', blocks, shared } as const;
    this.#conversation.append(message);
    if (cause === 'prompt') this.prompts.push(message);
    this.openStop = null;
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
    this.#conversation = new Conversation(head, messages);
    this.previousEnd = null;
    this.context.measured = null;
    if (!sameHead) this.recordHead();
    this.record({
      type: 'conversation.replaced',
      cause,
      messages: messages.map(({ role, blocks, shared }) => ({ role, blocks: this.store(blocks), shared })),
    });
  }

  /** Puts blocks into the journal's store and returns their names. */
  store(blocks: readonly FrozenBlock[]): string[] {
    for (const block of blocks) this.runtime.journal.storeBlock(block.digest, block.bytes);
    return blocks.map((block) => block.digest);
  }

  recordHead(): void {
    const { model, thinking, tools, system } = this.#conversation.head;
    this.record({
      type: 'prefix.frozen',
      model,
      thinking,
      tools: this.store(tools),
      system: this.store(system),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.children.stopAll('parent_ended');
    await this.scope.disposeAsync();
  }

  #recordChange(call: string, { path, before, after }: FileChange): void {
    touchFile(this.touched, path, 'changed');
    this.record({
      type: 'file.changed',
      call,
      path,
      before: before?.version ?? null,
      after: after.version,
      ...(before === null ? {} : { mode: before.mode }),
    });
  }

  /** The change goes on without an original: it is what was asked for, undoing it is not. */
  #keepOriginal({ version, bytes }: { version: string; bytes: Uint8Array }): void {
    try {
      createOriginalFiles(this.runtime.outputDirectory).keep(version, bytes);
    } catch (error) {
      this.warn('original_not_kept', `undo will not have the file as it was: ${describeError(error)}`);
    }
  }
}

const NOTHING_SEEN: ReadonlyMap<string, string> = new Map();

export function headOf(spec: Pick<AgentSpec, 'model' | 'thinking' | 'tools' | 'system'>): PromptHead {
  return freezeHead({
    model: spec.model,
    thinking: spec.thinking,
    tools: spec.tools.map((tool) => freezeTool(toolSchema(tool))),
    system: spec.system.map((text) => freezeBlock({ type: 'text', text })),
  });
}
