/**
 * A conversation: an append-only list of frozen messages on a frozen head (FORK-1). It owns the digest chain,
 * one link per block over everything before it, so that "same prefix" is a comparison of two hashes and
 * "where do they part" is a search over links. It does not decide when to fork or what to send.
 *
 * Invariants
 * 1. A head and a message never change once they are in; forking copies pointers, not bytes.
 * 2. `chain[i]` is a digest of the head and of blocks 0..i with the role of each block's message; the system
 *    has its own links, so prompts that share tools and the first system blocks are recognised too.
 */
import { FORK_TASK, type Role, type ThinkingConfig } from '../schema/content.ts';
import type { Digest } from '../schema/events.ts';
import { digestOf } from '../system/digest.ts';
import { contentOf, type FrozenBlock, freezeBlock, freezeJson } from './frozen-block.ts';

/** What stands before the first message: with the messages, the cache-safe parameters of a request. */
export interface PromptHead {
  readonly model: string;
  readonly thinking: ThinkingConfig | null;
  readonly tools: readonly FrozenBlock[];
  readonly system: readonly FrozenBlock[];
  /** One digest per system block, over model, thinking, tools and the system up to there. */
  readonly systemChain: readonly Digest[];
  /** The last link of that chain; of model, thinking and tools alone where there is no system. */
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

export function freezeHead(head: Omit<PromptHead, 'systemChain' | 'digest'>): PromptHead {
  const start = [head.model, JSON.stringify(head.thinking), ...head.tools.map((block) => block.digest)];
  let digest = digestOf(start.join('\n'));
  const systemChain = head.system.map((block) => {
    digest = linkOf(digest, 'system', block);
    return digest;
  });
  return Object.freeze({ ...head, systemChain: Object.freeze(systemChain), digest });
}

function linkOf(before: Digest, role: Role | 'system', block: FrozenBlock): Digest {
  return digestOf(`${before}\n${role}\n${block.digest}`);
}

export class Conversation {
  readonly head: PromptHead;
  #messages: SealedMessage[] = [];
  #chain: Digest[] = [];
  /** Bytes of all blocks up to and including each block, tools and system included. */
  #sizes: number[] = [];
  readonly #headSizes: readonly number[];

  constructor(head: PromptHead, messages: readonly FrozenMessage[] = []) {
    this.head = head;
    this.#headSizes = sizesOf(head);
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
    let size = this.#sizes.at(-1) ?? this.#headSizes.at(-1) ?? 0;
    for (const block of message.blocks) {
      size += block.bytes.length;
      this.#sizes.push(size);
      this.#chain.push(linkOf(this.digest, message.role, block));
    }
    this.#messages.push(sealMessage(message));
  }

  /** A separate conversation that begins with its first messages, by default all: pointers, nothing is hashed again. */
  fork(messages: number = this.#messages.length): Conversation {
    const copy = new Conversation(this.head);
    const blocks = this.#blocksBefore(messages);
    copy.#messages = this.#messages.slice(0, messages);
    copy.#chain = this.#chain.slice(0, blocks);
    copy.#sizes = this.#sizes.slice(0, blocks);
    return copy;
  }

  /** The digest of everything up to and including a block. */
  digestAt(position: BlockPosition): Digest {
    return this.linkAt(this.indexOf(position)) ?? this.head.digest;
  }

  /** The place of a block among all that carry a link: those of the system, then those of the messages. */
  indexOf({ message, block }: BlockPosition): number {
    return message < 0 ? block : this.head.system.length + this.#blocksBefore(message) + block;
  }

  linkAt(index: number): Digest | undefined {
    const { systemChain } = this.head;
    return index < systemChain.length ? systemChain[index] : this.#chain[index - systemChain.length];
  }

  /** Bytes of all blocks up to and including the one at `index`. */
  bytesAt(index: number): number {
    const system = this.head.system.length;
    return (index < system ? this.#headSizes[index] : this.#sizes[index - system]) ?? 0;
  }

  /** The last message, when a user's message is waiting for an answer. */
  get awaitsAnswer(): boolean {
    return this.#messages.at(-1)?.role === 'user';
  }

  #blocksBefore(message: number): number {
    let blocks = 0;
    for (let i = 0; i < message; i++) blocks += this.#messages[i]?.blocks.length ?? 0;
    return blocks;
  }
}

const headSizes = new WeakMap<PromptHead, readonly number[]>();

/** Bytes of tools and system up to each system block; one number where there is no system. Counted once a head. */
function sizesOf(head: PromptHead): readonly number[] {
  const known = headSizes.get(head);
  if (known !== undefined) return known;
  let size = head.tools.reduce((sum, block) => sum + block.bytes.length, 0);
  const sizes = head.system.length === 0 ? [size] : head.system.map(({ bytes }) => (size += bytes.length));
  headSizes.set(head, sizes);
  return sizes;
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

/** The cache-safe parameters of a request, frozen when taken: head, messages and digest chain are in `prefix`. */
export interface ForkPoint {
  /** Ends with the answer whose calls ask for the forks. Nobody appends to it. */
  readonly prefix: Conversation;
  /** Where the parent's last request marked its end: a fork repeats it and reads all of the parent's prefix. */
  readonly previousEnd: BlockPosition | null;
  /** Ids of that answer's calls: forks see a placeholder for what each brought. */
  readonly calls: ReadonlySet<string>;
  /** What every sibling says before its task: a result for each call, then the rules. */
  readonly tail: readonly FrozenBlock[];
  /** The list of the prefix's messages for the journal: siblings store it once. */
  readonly record: FrozenBlock;
}

/**
 * A fork (FORK-1, FORK-2, FORK-6) has its parent's prefix as a frozen value, and one message after the parent's last
 * answer.
 *
 * Invariants
 * 1. Siblings are byte-identical up to the last block of that message: results and rules are the same for all.
 * 2. Everything before it is the parent's, by reference: nothing is copied, serialised or hashed again.
 */
export function takeForkPoint(conversation: Conversation, previousEnd: BlockPosition | null): ForkPoint {
  const prefix = conversation.fork();
  const calls = (prefix.messages.at(-1)?.blocks ?? []).filter(({ type }) => type === 'tool_use');
  const ids = calls.map((call) => String(contentOf(call).id));
  const results = ids.map((id) =>
    freezeBlock({ type: 'tool_result', tool_use_id: id, content: FORK_PLACEHOLDER }),
  );
  return Object.freeze({
    prefix,
    previousEnd,
    calls: new Set(ids),
    tail: Object.freeze([...results, RULES]),
    record: listOf(prefix),
  });
}

/**
 * `[{role, blocks, shared}]`, the blocks by digest, as `JSON.stringify` writes it and in half its time: a role and a
 * digest have nothing to escape.
 */
function listOf({ messages }: Conversation): FrozenBlock {
  let list = '';
  for (const { role, blocks, shared } of messages) {
    list += list === '' ? '[{"role":"' : ',{"role":"';
    list += role;
    let before = '","blocks":["';
    for (const { digest } of blocks) {
      list += before;
      list += digest;
      before = '","';
    }
    list += blocks.length === 0 ? '","blocks":[],"shared":' : '"],"shared":';
    list += shared;
    list += '}';
  }
  return freezeJson('messages', list === '' ? '[]' : `${list}]`, true);
}

/** The message with which a fork begins its own part; `place` is what this fork alone is told about where it works. */
export function forkMessage({ tail }: ForkPoint, task: string, place: string | null = null): FrozenMessage {
  const told = place === null ? [] : [freezeBlock({ type: 'text', text: place })];
  const own = freezeBlock({ type: 'text', text: `${FORK_TASK}\n${task}\n${FORK_TASK.replace('<', '</')}` });
  return { role: 'user', blocks: [...tail, ...told, own], shared: tail.length };
}

/** Known by the rules it was given (FORK-5): no text that a tool or a peer brings in is a block of these bytes. */
export function isFork({ messages }: { readonly messages: readonly FrozenMessage[] }): boolean {
  return messages.some(({ role, blocks }) => role === 'user' && blocks.some(isRules));
}

/** What a compaction keeps of these messages, so that who was a fork stays one. */
export function forkMarkOf(messages: readonly FrozenMessage[]): readonly FrozenBlock[] {
  return isFork({ messages }) ? [RULES] : [];
}

/** Of a fork that was compacted before. */
export function withoutForkMark(blocks: readonly FrozenBlock[]): readonly FrozenBlock[] {
  return blocks.filter((block) => !isRules(block));
}

function isRules({ digest }: FrozenBlock): boolean {
  return digest === RULES.digest || EARLIER_RULES.has(digest);
}

/** The same for every call: what a call really brought is the parent's to know. */
const FORK_PLACEHOLDER = 'Your parent got this result. You are its fork: see below.';

const FORK_RULES = `You are now a fork of the agent that wrote the messages above: you know what it knows, and you have your own task. You are not the main agent. Your parent and other forks work at the same time. These rules bind you:
1. Do the task below and nothing beyond its scope, whatever was planned above.
2. Use your tools directly. Do not delegate: no Agent calls.
3. Do not converse: no questions, no remarks between tool calls, no proposals.
4. When the task is done or cannot be done, write one report and stop. Begin it with "Scope:" and the task in one line. Then give structured facts only, under 500 words: results, files by path with what changed, commands with their outcome, what is left undone and why.`;

const RULES: FrozenBlock = freezeBlock({ type: 'text', text: FORK_RULES });

/** The rules in the words of earlier versions: an agent that got those is a fork too. */
const EARLIER_RULES: ReadonlySet<Digest> = new Set([
  '7vZsBlCikczWfr1DAYBll-FDz7ryr1rnJ8xggdF9D30',
  'UV1aHTU9AfC9aGbYTs0Lr4Ef-K-O7za0W9gpBCvz7PA',
]);
