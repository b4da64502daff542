/**
 * A conversation as requests sent it, for comparing: blocks by digest and length, prefixes by number. A session of
 * thousands of requests is explained without reading its blocks; bytes are read only where two prompts part.
 *
 * Invariant: within one `SentPrompts`, two prefixes have one link if and only if they are the same blocks, with the same
 * roles, on the same head, as the digest chain of `conversation.ts` has it.
 */
import type { BlockPosition } from '../../conversation/conversation.ts';
import type { ComparedBlock, ComparedPrompt } from '../../conversation/divergence.ts';
import type { JournalReader } from '../../journal/journal.ts';
import type { Role, ThinkingConfig } from '../../schema/content.ts';
import type { Digest } from '../../schema/events.ts';

export interface SentBlock extends ComparedBlock {
  readonly number: number;
  readonly size: number;
}

export interface SentHead {
  readonly model: string;
  readonly thinking: ThinkingConfig | null;
  readonly tools: readonly SentBlock[];
  readonly system: readonly SentBlock[];
  /** One link per system block. */
  readonly links: readonly number[];
  /** Bytes of tools and system up to each of them; one number where there is no system. */
  readonly sizes: readonly number[];
  /** The last link. */
  readonly digest: number;
}

export interface SentMessage {
  readonly role: Role;
  readonly blocks: readonly SentBlock[];
}

/** What the prompts of one session have in common. */
export class SentPrompts {
  readonly #reader: JournalReader;
  #sizes: ReadonlyMap<Digest, number> | null = null;
  readonly #blocks = new Map<Digest, SentBlock>();
  readonly #heads = new Map<string, SentHead>();
  readonly #links = new Map<string, number>();

  constructor(reader: JournalReader) {
    this.#reader = reader;
  }

  blocks(digests: readonly Digest[]): SentBlock[] {
    return digests.map((digest) => this.#blocks.get(digest) ?? this.#block(digest));
  }

  head(head: {
    model: string;
    thinking: ThinkingConfig | null;
    tools: readonly Digest[];
    system: readonly Digest[];
  }): SentHead {
    const { model, thinking } = head;
    const key = JSON.stringify([model, thinking, head.tools, head.system]);
    const known = this.#heads.get(key);
    if (known !== undefined) return known;
    const [tools, system] = [this.blocks(head.tools), this.blocks(head.system)];
    let digest = this.#linkOf(JSON.stringify([model, thinking, head.tools]));
    let size = tools.reduce((sum, block) => sum + block.size, 0);
    const links = system.map((block) => (digest = this.link(digest, 'system', block)));
    const sizes = system.length === 0 ? [size] : system.map((block) => (size += block.size));
    const made = { model, thinking, tools, system, links, sizes, digest };
    this.#heads.set(key, made);
    return made;
  }

  /** The prefix that one more block makes of another. */
  link(before: number, role: Role | 'system', block: SentBlock): number {
    return this.#linkOf(`${before} ${role} ${block.number}`);
  }

  #linkOf(key: string): number {
    const known = this.#links.get(key);
    if (known !== undefined) return known;
    this.#links.set(key, this.#links.size);
    return this.#links.size - 1;
  }

  #block(digest: Digest): SentBlock {
    const reader = this.#reader;
    this.#sizes ??= reader.blockSizes();
    const block = {
      digest,
      number: this.#blocks.size,
      // One that was stored since, or is lost.
      size: this.#sizes.get(digest) ?? reader.block(digest).length,
      get bytes() {
        return Buffer.from(reader.block(digest));
      },
    };
    this.#blocks.set(digest, block);
    return block;
  }
}

/** It only grows, so the requests of one conversation share it and each knows how much of it was sent. */
export class SentPrompt {
  readonly head: SentHead;
  readonly #prompts: SentPrompts;
  #messages: SentMessage[] = [];
  #links: number[] = [];
  /** Bytes of all blocks up to and including each block, tools and system included. */
  #sizes: number[] = [];
  /** How many blocks stand before each message. */
  #starts: number[] = [];

  constructor(prompts: SentPrompts, head: SentHead, messages: readonly SentMessage[] = []) {
    this.#prompts = prompts;
    this.head = head;
    for (const message of messages) this.append(message);
  }

  get messages(): readonly SentMessage[] {
    return this.#messages;
  }

  /** One link per block of the messages. */
  get links(): readonly number[] {
    return this.#links;
  }

  append(message: SentMessage): void {
    let size = this.#sizes.at(-1) ?? this.head.sizes.at(-1) ?? 0;
    let link = this.#links.at(-1) ?? this.head.digest;
    this.#starts.push(this.#links.length);
    for (const block of message.blocks) {
      size += block.size;
      link = this.#prompts.link(link, message.role, block);
      this.#sizes.push(size);
      this.#links.push(link);
    }
    this.#messages.push(message);
  }

  fork(): SentPrompt {
    const copy = new SentPrompt(this.#prompts, this.head);
    copy.#messages = [...this.#messages];
    copy.#links = [...this.#links];
    copy.#sizes = [...this.#sizes];
    copy.#starts = [...this.#starts];
    return copy;
  }

  /** Its first messages, and what was asked beside them. */
  upTo(messages: number, aside: readonly SentBlock[]): ComparedPrompt {
    const sent = this.#messages.slice(0, messages);
    let digest = this.#links[this.#before(messages) - 1] ?? this.head.digest;
    for (const block of aside) digest = this.#prompts.link(digest, 'user', block);
    if (aside.length > 0) sent.push({ role: 'user', blocks: aside });
    return { head: this.head, messages: sent, digest };
  }

  /** The place of a block among all that carry a link: those of the system, then those of the messages. */
  indexOf({ message, block }: BlockPosition): number {
    return message < 0 ? block : this.head.system.length + this.#before(message) + block;
  }

  linkAt(index: number): number {
    const { links, digest } = this.head;
    return (index < links.length ? links[index] : this.#links[index - links.length]) ?? digest;
  }

  /** Bytes of all blocks up to and including the one at `index`. */
  bytesAt(index: number): number {
    const system = this.head.system.length;
    return (index < system ? this.head.sizes[index] : this.#sizes[index - system]) ?? 0;
  }

  #before(message: number): number {
    return this.#starts[message] ?? this.#links.length;
  }
}
