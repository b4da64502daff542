/**
 * The bytes of what an agent's state names: its conversation, its prompts, its messages and the results of calls that
 * are not answered yet, kept beside the state and equal to it. The recorder of an event passes the blocks that the
 * event names; they are released once a message contains them.
 */
import {
  Conversation,
  type FrozenMessage,
  freezeHead,
  type PromptHead,
} from '../../conversation/conversation.ts';
import { contentOf, type FrozenBlock, freezeBlock, freezeTool } from '../../conversation/frozen-block.ts';
import type { AgentWorkspace } from '../../git/worktrees/workspace/agent-workspace.ts';
import type { AgentState, StateMessage } from '../../journal/projections/agent-state.ts';
import type { Digest, EventOf, JournalEvent } from '../../schema/events.ts';
import { entriesOf, itemsFrom, itemsOf } from '../../system/persistent.ts';
import { type Tool, wireTool } from '../../tools/tool.ts';
import type { AgentSpec } from './runtime.ts';

/**
 * Whether the provider has paused this turn in the middle of its own searches: their results come at the beginning of the next answer,
 * and nothing may be said before.
 */
export function isSearching(messages: readonly FrozenMessage[]): boolean {
  return openSearches(messages).length > 0;
}

/** Ids of those without a result. Beside a call that is answered here, the provider answers them after its result. */
function openSearches(messages: readonly FrozenMessage[]): string[] {
  const begin = messages.findLastIndex(({ role }) => role !== 'assistant') + 1;
  const turn = messages.slice(begin).flatMap(({ blocks }) => blocks);
  if (turn.some(({ type }) => type === 'tool_use')) return [];
  const named = (wanted: string, field: 'id' | 'tool_use_id'): string[] =>
    turn.flatMap((block) => (block.type === wanted ? [String(contentOf(block)[field])] : []));
  const found = new Set(named('web_search_tool_result', 'tool_use_id'));
  return named('server_tool_use', 'id').filter((id) => !found.has(id));
}

export interface ContentBytes {
  readonly conversation: Conversation;
  readonly prompts?: readonly FrozenMessage[] | undefined;
  /** The blocks of the agent's waiting messages. */
  readonly mail?: readonly FrozenBlock[] | undefined;
  /** Of calls of the last response, where they are not answered yet. */
  readonly results?: readonly FrozenBlock[] | undefined;
}

/** An agent's state with the bytes that it names. */
export interface AgentValue extends ContentBytes {
  readonly state: AgentState;
}

/** An agent as a value: who it is, its state, and the bytes that the state names. */
export interface AgentSnapshot extends AgentValue {
  readonly spec: AgentSpec;
  /** What its host can do with the worktree that it is in; null for none. */
  readonly workspace: AgentWorkspace | null;
}

/** What a snapshot is taken of: an agent. */
interface SnapshotSource {
  readonly spec: AgentSpec;
  readonly state: AgentState;
  readonly content: AgentContent;
  readonly directory: { readonly workspace: AgentWorkspace | null };
}

/** The agent as it is on record now. No bytes are copied. */
export function snapshotOf({ spec, state, content, directory }: SnapshotSource): AgentSnapshot {
  return {
    spec,
    workspace: directory.workspace,
    state,
    conversation: content.conversation,
    prompts: content.prompts,
    mail: content.mail.flatMap(({ blocks }) => blocks),
    results: [...content.results.values()],
  };
}

export class AgentContent {
  #conversation: Conversation;
  /** Every prompt of the state. */
  #prompts: readonly FrozenMessage[];
  #mail: readonly InboxItem[] = [];
  #followed: Pick<AgentState, 'messages' | 'replacements' | 'inbox' | 'results'>;
  readonly #known = new Map<Digest, FrozenBlock>();
  /** Of the conversation that is about to replace the present one. */
  #nextHead: PromptHead | null = null;

  constructor(state: AgentState, { conversation, prompts = [], mail = [], results = [] }: ContentBytes) {
    this.#followed = state;
    this.#conversation = conversation;
    this.#prompts = prompts;
    this.know(mail);
    this.#followInbox(state);
    this.#known.clear();
    this.know(results);
  }

  get conversation(): Conversation {
    return this.#conversation;
  }

  get prompts(): readonly FrozenMessage[] {
    return this.#prompts;
  }

  /** The agent's messages that are not delivered, in order. */
  get mail(): readonly InboxItem[] {
    return this.#mail;
  }

  /** The results of calls of the last response, by call, until a message holds them. */
  get results(): Map<string, FrozenBlock> {
    const results = new Map<string, FrozenBlock>();
    for (const [call, digest] of entriesOf(this.#followed.results)) {
      const block = this.#known.get(digest);
      if (block !== undefined) results.set(call, block);
    }
    return results;
  }

  /**
   * A result for each search of the provider whose own will not come any more, since its turn was cut off: no provider takes
   * what follows a search without one.
   */
  lostSearches(): FrozenBlock[] {
    const content = { type: 'web_search_tool_result_error', error_code: 'unavailable' };
    return openSearches(this.#conversation.messages).map((id) =>
      freezeBlock({ type: 'web_search_tool_result', tool_use_id: id, content }),
    );
  }

  know(blocks: Iterable<FrozenBlock>): void {
    for (const block of blocks) this.#known.set(block.digest, block);
  }

  knowHead(head: PromptHead): void {
    this.#nextHead = head;
  }

  /** Takes over what the state says now; throws when it names a block that nobody has made known. */
  follow(state: AgentState): void {
    const { messages, replacements, inbox } = this.#followed;
    if (state.inbox !== inbox) this.#followInbox(state);
    this.#followed = state;
    if (state.messages === messages) return;
    if (state.replacements === replacements) {
      for (const message of itemsFrom(state.messages, messages.length)) this.#append(message);
    } else {
      const frozen = itemsOf(state.messages).map((message) => this.#frozen(message));
      this.#conversation = new Conversation(this.#nextHead ?? this.#conversation.head, frozen);
      // A rewind takes prompts back, and the conversation of another session brings its own.
      const held = this.#prompts;
      this.#prompts = itemsOf(state.prompts).map((prompt, at) =>
        holds(held[at], prompt) ? held[at] : this.#frozen(prompt),
      );
    }
    this.#nextHead = null;
    // Calls that were open before are open now.
    const open = [...this.results.values()];
    this.#known.clear();
    this.know(open);
  }

  #followInbox({ inbox }: AgentState): void {
    const held = new Map(this.#mail.map((item) => [item.item, item]));
    this.#mail = inbox.map((item) => held.get(item.item) ?? { ...item, blocks: this.#findAll(item.blocks) });
  }

  #append(message: StateMessage): void {
    this.#conversation.append(this.#frozen(message));
    const sealed = this.#conversation.messages.at(-1);
    if (message.cause === 'prompt' && sealed !== undefined) this.#prompts = [...this.#prompts, sealed];
  }

  #frozen({ role, blocks, shared }: StateMessage): FrozenMessage {
    return { role, blocks: this.#findAll(blocks), shared };
  }

  #findAll(digests: readonly Digest[]): FrozenBlock[] {
    return digests.map((digest) => this.#find(digest));
  }

  #find(digest: Digest): FrozenBlock {
    const block = this.#known.get(digest);
    if (block === undefined) throw new Error(`nobody has made known what block ${digest} holds`);
    return block;
  }
}

function holds(message: FrozenMessage | undefined, { blocks }: StateMessage): message is FrozenMessage {
  return (
    message?.blocks.length === blocks.length &&
    blocks.every((digest, at) => message.blocks[at]?.digest === digest)
  );
}

/** What stands before an agent's first message, frozen from its specification. */
export function headOf(spec: Pick<AgentSpec, 'model' | 'thinking' | 'tools' | 'system'>): PromptHead {
  return freezeHead({
    model: spec.model,
    thinking: spec.thinking,
    tools: spec.tools.map((tool) => freezeTool(wireTool(tool))),
    system: spec.system.map((text) => freezeBlock({ type: 'text', text })),
  });
}

/** The same with more tools, which come after the others. */
export function headWith(head: PromptHead, tools: readonly Tool[]): PromptHead {
  const added = tools.map((tool) => freezeTool(wireTool(tool)));
  return freezeHead({ ...head, tools: [...head.tools, ...added] });
}

/**
 * An agent's messages that are not delivered yet (AGENT-5, AGENT-7): notifications of background agents, messages of
 * others, the request to end. They are delivered at the next tool boundary, in order, once. The agent's state says
 * which exist (`inbox`); the inbox knows who waits for them, and which items the calls under way will deliver.
 */
export interface InboxItem {
  readonly item: string;
  readonly kind: EventOf<'message.received'>['kind'];
  readonly from: string | null;
  readonly blocks: readonly FrozenBlock[];
}

export class Inbox {
  /** Everything that is not told, with its bytes. */
  readonly #pending: () => readonly InboxItem[];
  /** Of this process: a call that is cut off delivers nothing, so a resumed agent finds its items again. */
  readonly #taken = new Set<string>();
  readonly #waiting = new Set<() => void>();

  constructor(pending: () => readonly InboxItem[]) {
    this.#pending = pending;
  }

  /** In the order in which they came; the caller records their delivery. */
  get items(): readonly InboxItem[] {
    const pending = this.#pending();
    return this.#taken.size === 0 ? pending : pending.filter(({ item }) => !this.#taken.has(item));
  }

  get size(): number {
    return this.items.length;
  }

  has(item: string): boolean {
    return this.items.some((held) => held.item === item);
  }

  /** Whether others have said something to the agent. */
  get hasMessages(): boolean {
    return this.items.some(({ kind }) => kind === 'message');
  }

  /** Follows an event that the agent's state has followed. */
  follow(event: JournalEvent): void {
    if (event.type === 'message.taken' && event.call !== null) this.#taken.add(event.item);
    if (event.type === 'message.received') for (const wake of this.#waiting) wake();
  }

  /** Wakes who waits without anything to deliver: they look at what else has changed. */
  stir(): void {
    for (const wake of this.#waiting) wake();
  }

  /** The calls that had taken items are gone. */
  releaseTaken(): void {
    this.#taken.clear();
  }

  /** Resolves when there is something, `signal` aborts, or someone stirs. */
  async arrival(signal: AbortSignal): Promise<void> {
    if (this.size > 0 || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    this.#waiting.add(wake);
    signal.addEventListener('abort', wake, { once: true });
    try {
      await promise;
    } finally {
      this.#waiting.delete(wake);
      signal.removeEventListener('abort', wake);
    }
  }
}
