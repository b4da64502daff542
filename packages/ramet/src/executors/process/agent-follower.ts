/**
 * Keeps the host's agent equal to what its process records (EXEC-2): forks of it, messages to it and its own next
 * process start from there. It owns the blocks that the process has named; the journal gets them from here too.
 */
import { freezeHead, type PromptHead } from '../../conversation/conversation.ts';
import { type FrozenBlock, freezeJson, thawBytes } from '../../conversation/frozen-block.ts';
import type { Agent } from '../../engine/shapes.ts';
import type { ModelResponse } from '../../model/provider.ts';
import type { Digest, EventOf, JournalEvent } from '../../schema/events.ts';

/** What only the host records and the agent's state follows from. */
const HOST_RECORDS: ReadonlySet<JournalEvent['type']> = new Set([
  'request.started',
  'request.failed',
  'message.received',
  'message.taken',
  'permission.changed',
]);

/** With the blocks that the event names. */
type HostRecorded = (event: JournalEvent, blocks: readonly FrozenBlock[]) => void;

export class AgentFollower implements Disposable {
  readonly #agent: Agent;
  readonly #blocks = new Map<Digest, FrozenBlock>();

  /** While an event of the process is recorded. */
  #follows = false;

  /** `onRecorded` gets what the process has to follow: the host has recorded it. */
  constructor(agent: Agent, onRecorded: HostRecorded) {
    this.#agent = agent;
    agent.onRecord = (event) => {
      if (this.#follows || !HOST_RECORDS.has(event.type)) return;
      const blocks = event.type === 'message.received' ? this.#mailOf(event) : [];
      this.know(blocks);
      onRecorded(event, blocks);
    };
    const { head, messages } = agent.conversation;
    const said = messages.flatMap(({ blocks }) => blocks);
    for (const block of [...head.tools, ...head.system, ...said]) this.#blocks.set(block.digest, block);
    this.know([...agent.content.results.values()]);
    for (const { blocks } of [...agent.content.mail, ...agent.prompts]) this.know(blocks);
  }

  #mailOf({ item }: EventOf<'message.received'>): readonly FrozenBlock[] {
    return this.#agent.content.mail.find((held) => held.item === item)?.blocks ?? [];
  }

  know(blocks: readonly FrozenBlock[]): void {
    for (const block of blocks) this.#blocks.set(block.digest, block);
  }

  knowResponse({ blocks }: ModelResponse): void {
    this.know(blocks.map(({ value, json }) => freezeJson(value.type, json, true)));
  }

  /** Takes a block that is new; throws when it is not what it is called. */
  store(digest: Digest, bytes: Uint8Array): void {
    const block = thawBytes(bytes);
    if (block.digest !== digest) throw new Error(`it sent a block that is not ${digest}`);
    this.#blocks.set(digest, block);
    this.#agent.runtime.journal.storeBlock(block.digest, block.bytes);
  }

  /**
   * Records an event of the process here: the agent's state follows from it. Throws when it names what was never sent.
   */
  record(event: JournalEvent): void {
    const agent = this.#agent;
    if (event.type === 'message.appended') agent.content.know(this.named(event.blocks));
    if (event.type === 'tool.completed') agent.content.know(this.named([event.result]));
    if (event.type === 'response.completed') agent.store(this.named(event.blocks));
    if (event.type === 'prefix.frozen') agent.content.knowHead(this.#headOf(event));
    if (event.type === 'conversation.replaced') {
      for (const { blocks } of event.messages) agent.content.know(this.named(blocks));
    }
    this.#follows = true;
    agent.record(event);
    this.#follows = false;
    this.#settle(event);
  }

  #headOf({ model, thinking, tools, system }: EventOf<'prefix.frozen'>): PromptHead {
    return freezeHead({ model, thinking, tools: this.named(tools), system: this.named(system) });
  }

  /** What the host's agent has besides its state: its worktree, whose files it has read. */
  #settle(event: JournalEvent): void {
    const { files, directory } = this.#agent;
    if (event.type === 'file.read') files.follow(event.path, event.version);
    if (event.type === 'file.changed' && event.after !== null) files.follow(event.path, event.after);
    if (event.type !== 'message.appended') return;
    if (event.cause === 'tool_results') directory.checkpointLater();
  }

  /** The blocks that it means; throws when one of them was never seen. */
  named(digests: readonly Digest[]): FrozenBlock[] {
    return digests.map((digest) => {
      const block = this.#blocks.get(digest);
      if (block === undefined) throw new Error(`it names a block that it never sent: ${digest}`);
      return block;
    });
  }

  [Symbol.dispose](): void {
    this.#agent.onRecord = null;
  }
}
