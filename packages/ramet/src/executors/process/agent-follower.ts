/**
 * Keeps the host's agent equal to what its process records (EXEC-2). It owns the blocks that the process has named; the
 * journal gets them from here too.
 */
import { freezeHead, type PromptHead } from '../../conversation/conversation.ts';
import { type FrozenBlock, freezeJson, thawBytes } from '../../conversation/frozen-block.ts';
import type { HostDuties, HostRecorded } from '../../engine/host-duties.ts';
import type { AgentSnapshot } from '../../engine/shapes.ts';
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

export class AgentFollower implements Disposable {
  readonly #duties: HostDuties;
  readonly #blocks = new Map<Digest, FrozenBlock>();
  readonly #stopWatching: () => void;

  /** `onRecorded` gets what the process has to follow: the host has recorded it. */
  constructor(duties: HostDuties, value: AgentSnapshot, onRecorded: HostRecorded) {
    this.#duties = duties;
    this.#stopWatching = duties.watch((event, blocks) => {
      if (!HOST_RECORDS.has(event.type)) return;
      this.know(blocks);
      onRecorded(event, blocks);
    });
    const { conversation, prompts = [], mail = [], results = [] } = value;
    const { head, messages } = conversation;
    const said = [...messages, ...prompts].flatMap(({ blocks }) => blocks);
    this.know([...head.tools, ...head.system, ...said, ...mail, ...results]);
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
    this.#duties.runtime.journal.storeBlock(block.digest, block.bytes);
  }

  /** Records an event of the process with the host. Throws when it names what was never sent. */
  record(event: JournalEvent): void {
    const head = event.type === 'prefix.frozen' ? this.#headOf(event) : null;
    this.#duties.follow(event, this.#named(namedBy(event)), head);
  }

  #headOf({ model, thinking, tools, system }: EventOf<'prefix.frozen'>): PromptHead {
    return freezeHead({ model, thinking, tools: this.#named(tools), system: this.#named(system) });
  }

  /** The blocks that it means; throws when one of them was never seen. */
  #named(digests: readonly Digest[]): FrozenBlock[] {
    return digests.map((digest) => {
      const block = this.#blocks.get(digest);
      if (block === undefined) throw new Error(`it names a block that it never sent: ${digest}`);
      return block;
    });
  }

  [Symbol.dispose](): void {
    this.#stopWatching();
  }
}

/** The blocks of which the host's agent keeps the bytes. */
function namedBy(event: JournalEvent): readonly Digest[] {
  if (event.type === 'message.appended' || event.type === 'response.completed') return event.blocks;
  if (event.type === 'tool.completed') return [event.result];
  if (event.type === 'conversation.replaced') return event.messages.flatMap(({ blocks }) => blocks);
  return [];
}
