/**
 * Keeps the host's agent equal to what its process records (EXEC-2): forks of it, messages to it and its own next
 * process start from there. It owns the blocks that the process has named; recording them is `host-desk.ts`'s.
 */
import { Conversation, freezeHead, type PromptHead } from '../../conversation/conversation.ts';
import { contentOf, type FrozenBlock, freezeJson, thawBytes } from '../../conversation/frozen-block.ts';
import type { Agent } from '../../engine/agent.ts';
import type { ModelResponse } from '../../model/provider.ts';
import type { Digest, EventOf, JournalEvent } from '../../schema/events.ts';

export class AgentFollower {
  readonly #agent: Agent;
  readonly #blocks = new Map<Digest, FrozenBlock>();
  /** Of the conversation that is about to replace the present one. */
  #head: PromptHead | null = null;

  constructor(agent: Agent) {
    this.#agent = agent;
    const { head, messages } = agent.conversation;
    const said = messages.flatMap(({ blocks }) => blocks);
    for (const block of [...head.tools, ...head.system, ...said]) this.#blocks.set(block.digest, block);
    this.know([...(agent.openCalls?.results.values() ?? [])]);
    for (const { blocks } of [...agent.inbox.items, ...agent.prompts]) this.know(blocks);
  }

  know(blocks: readonly FrozenBlock[]): void {
    for (const block of blocks) this.#blocks.set(block.digest, block);
  }

  knowResponse({ blocks }: ModelResponse): void {
    this.know(blocks.map(({ value, json }) => freezeJson(value.type, json, true)));
  }

  /** Takes a block that is new; throws when it is not what it is called. */
  store(digest: Digest, bytes: Uint8Array): FrozenBlock {
    const block = thawBytes(bytes);
    if (block.digest !== digest) throw new Error(`it sent a block that is not ${digest}`);
    this.#blocks.set(digest, block);
    return block;
  }

  /** Does what a recorded event says. */
  follow(event: JournalEvent): void {
    if (event.type === 'message.appended') this.#followMessage(event);
    if (event.type === 'response.completed') this.#followResponse(event);
    if (event.type === 'prefix.frozen') this.#head = this.#headOf(event);
    if (event.type === 'conversation.replaced') this.#followReplacement(event);
    if (event.type === 'todos.changed') this.#agent.todos = event.todos;
    if (event.type === 'file.read') this.#agent.files.follow(event.path, event.version, 'read');
    if (event.type === 'file.changed' && event.after !== null) {
      this.#agent.files.follow(event.path, event.after, 'changed');
    }
  }

  #headOf({ model, thinking, tools, system }: EventOf<'prefix.frozen'>): PromptHead {
    return freezeHead({ model, thinking, tools: this.named(tools), system: this.named(system) });
  }

  #followMessage({ role, cause, blocks, shared, delivers = [] }: EventOf<'message.appended'>): void {
    this.#agent.openCalls = null;
    if (cause === 'tool_results') this.#agent.directory.checkpointLater();
    this.#agent.followMessage(cause, { role, blocks: this.named(blocks), shared });
    if (delivers.length > 0) this.#agent.inbox.take(({ item }) => delivers.includes(item));
  }

  #followResponse({ kept, blocks }: EventOf<'response.completed'>): void {
    if (!kept) return;
    const answer = this.named(blocks);
    const calls = answer
      .filter(({ type }) => type === 'tool_use')
      .map((block) => String(contentOf(block).id));
    this.#agent.answer(answer, calls);
  }

  #followReplacement({ messages }: EventOf<'conversation.replaced'>): void {
    const head = this.#head ?? this.#agent.conversation.head;
    this.#head = null;
    const named = messages.map(({ role, blocks, shared }) => ({ role, blocks: this.named(blocks), shared }));
    this.#agent.followReplacement(new Conversation(head, named));
  }

  /** The blocks that it means; throws when one of them was never seen. */
  named(digests: readonly Digest[]): FrozenBlock[] {
    return digests.map((digest) => {
      const block = this.#blocks.get(digest);
      if (block === undefined) throw new Error(`it names a block that it never sent: ${digest}`);
      return block;
    });
  }
}
