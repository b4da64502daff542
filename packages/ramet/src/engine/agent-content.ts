/**
 * The bytes of what an agent's state names: its conversation and its prompts, kept beside the state and equal to it.
 * Whoever records an event makes known the blocks that it names; they are let go of once a message holds them.
 */
import { Conversation, type FrozenMessage, type PromptHead } from '../conversation/conversation.ts';
import type { FrozenBlock } from '../conversation/frozen-block.ts';
import { itemsFrom, itemsOf } from '../journal/persistent-list.ts';
import type { AgentState, StateMessage } from '../journal/projections/agent-state.ts';
import type { Digest } from '../schema/events.ts';

export class AgentContent {
  #conversation: Conversation;
  /** Every prompt of the state. */
  #prompts: readonly FrozenMessage[];
  #followed: Pick<AgentState, 'messages' | 'replacements'>;
  readonly #known = new Map<Digest, FrozenBlock>();
  /** Of the conversation that is about to replace the present one. */
  #nextHead: PromptHead | null = null;

  constructor(state: AgentState, conversation: Conversation, prompts: readonly FrozenMessage[] = []) {
    this.#followed = state;
    this.#conversation = conversation;
    this.#prompts = prompts;
  }

  get conversation(): Conversation {
    return this.#conversation;
  }

  get prompts(): readonly FrozenMessage[] {
    return this.#prompts;
  }

  know(blocks: readonly FrozenBlock[]): void {
    for (const block of blocks) this.#known.set(block.digest, block);
  }

  knowHead(head: PromptHead): void {
    this.#nextHead = head;
  }

  /** Takes over what the state says now; throws when it names a block that nobody has made known. */
  follow(state: AgentState): void {
    const { messages, replacements } = this.#followed;
    if (state.messages === messages) return;
    if (state.replacements === replacements) {
      for (const message of itemsFrom(state.messages, messages.length)) this.#append(message);
    } else {
      const frozen = itemsOf(state.messages).map((message) => this.#frozen(message));
      this.#conversation = new Conversation(this.#nextHead ?? this.#conversation.head, frozen);
    }
    this.#followed = state;
    this.#nextHead = null;
    this.#known.clear();
  }

  #append(message: StateMessage): void {
    this.#conversation.append(this.#frozen(message));
    const sealed = this.#conversation.messages.at(-1);
    if (message.cause === 'prompt' && sealed !== undefined) this.#prompts = [...this.#prompts, sealed];
  }

  #frozen({ role, blocks, shared }: StateMessage): FrozenMessage {
    return { role, blocks: blocks.map((digest) => this.#find(digest)), shared };
  }

  #find(digest: Digest): FrozenBlock {
    const block = this.#known.get(digest);
    if (block === undefined) throw new Error(`nobody has made known what block ${digest} holds`);
    return block;
  }
}
