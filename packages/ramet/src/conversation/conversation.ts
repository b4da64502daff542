/**
 * A conversation: an append-only list of frozen messages on a frozen head (FORK-1). It owns the digest chain,
 * one link per block over everything before it, so that "same prefix" is a comparison of two hashes and
 * "where do they part" is a search over links. It does not decide when to fork or what to send.
 *
 * Invariants
 * 1. A head and a message never change once they are in; forking copies pointers, not bytes.
 * 2. `chain[i]` is a digest of the head and of blocks 0..i with the role of the message each stands in.
 */
import { digestOf } from '../journal/digest.ts';
import type { Role, ThinkingConfig } from '../schema/content.ts';
import type { Digest } from '../schema/events.ts';
import type { FrozenBlock } from './frozen-block.ts';

/** What stands before the first message: with the messages, the cache-safe parameters of a request. */
export interface PromptHead {
  readonly model: string;
  readonly thinking: ThinkingConfig | null;
  readonly tools: readonly FrozenBlock[];
  readonly system: readonly FrozenBlock[];
  readonly digest: Digest;
}

export interface FrozenMessage {
  readonly role: Role;
  readonly blocks: readonly FrozenBlock[];
  /** How many leading blocks other runs in the same place share. */
  readonly shared: number;
}

/** A message in a conversation: its JSON as one piece, of which its blocks' bytes are parts. */
export interface SealedMessage extends FrozenMessage {
  readonly bytes: Buffer;
}

/** Names a block: the n-th of the m-th message. */
export interface BlockPosition {
  readonly message: number;
  readonly block: number;
}

export function freezeHead(head: Omit<PromptHead, 'digest'>): PromptHead {
  const links = [
    head.model,
    JSON.stringify(head.thinking),
    ...head.tools.map((block) => block.digest),
    'system',
    ...head.system.map((block) => block.digest),
  ];
  return Object.freeze({ ...head, digest: digestOf(links.join('\n')) });
}

export class Conversation {
  readonly head: PromptHead;
  readonly #messages: SealedMessage[];
  readonly #chain: Digest[];

  constructor(head: PromptHead, messages: readonly FrozenMessage[] = []) {
    this.head = head;
    this.#messages = [];
    this.#chain = [];
    for (const message of messages) this.append(message);
  }

  get messages(): readonly SealedMessage[] {
    return this.#messages;
  }

  /** One digest per block of the messages. */
  get chain(): readonly Digest[] {
    return this.#chain;
  }

  /** Digest of the whole prompt. */
  get digest(): Digest {
    return this.#chain.at(-1) ?? this.head.digest;
  }

  append(message: FrozenMessage): void {
    for (const block of message.blocks) {
      this.#chain.push(digestOf(`${this.digest}\n${message.role}\n${block.digest}`));
    }
    this.#messages.push(sealMessage(message));
  }

  /** The digest of everything up to and including a block. */
  digestAt(position: BlockPosition): Digest {
    let index = position.block;
    for (let i = 0; i < position.message; i++) index += this.#messages[i]?.blocks.length ?? 0;
    return this.#chain[index] ?? this.head.digest;
  }

  /** The last message, when a user's message is waiting for an answer. */
  get awaitsAnswer(): boolean {
    return this.#messages.at(-1)?.role === 'user';
  }
}

/** Known by identity: a copy with other blocks is another message, whatever fields it brings along. */
const sealed = new WeakSet<FrozenMessage>();

function isSealed(message: FrozenMessage): message is SealedMessage {
  return sealed.has(message);
}

/** Joins a message once. Its blocks become views of the whole, so that nothing is kept twice. */
function sealMessage(message: FrozenMessage): SealedMessage {
  if (isSealed(message)) return message;
  const start = `{"role":"${message.role}","content":[`;
  const length = message.blocks.reduce((sum, block) => sum + block.bytes.length + 1, start.length + 1);
  const bytes = Buffer.allocUnsafe(message.blocks.length === 0 ? length + 1 : length);
  let end = bytes.write(start);
  const blocks = message.blocks.map((block, index) => {
    if (index > 0) end += bytes.write(',', end);
    const begin = end;
    end += block.bytes.copy(bytes, begin);
    return Object.freeze({ ...block, bytes: bytes.subarray(begin, end) });
  });
  bytes.write(']}', end);
  const whole = Object.freeze({ ...message, blocks, bytes });
  sealed.add(whole);
  return whole;
}
