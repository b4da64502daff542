/**
 * What makes a conversation a fork (FORK-1, FORK-2, FORK-6): the parent's prefix as a frozen value, and the one message
 * that follows the parent's last answer. It leaves when to fork, and running the child, to the engine.
 *
 * Invariants
 * 1. Siblings are byte-identical up to the last block of that message: results and rules are the same for all.
 * 2. Everything before it is the parent's, by reference: nothing is copied, serialised or hashed again.
 */

import { FORK_TASK } from '../schema/content.ts';
import type { Digest } from '../schema/ids.ts';
import type { BlockPosition, Conversation, FrozenMessage } from './conversation.ts';
import { contentOf, type FrozenBlock, freezeBlock, freezeJson } from './frozen-block.ts';

/** The cache-safe parameters of a request, frozen when taken: head, messages and digest chain are in `prefix`. */
export interface CacheSafeParams {
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

export function takeCacheSafeParams(
  conversation: Conversation,
  previousEnd: BlockPosition | null,
): CacheSafeParams {
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

/** `[{role, blocks, shared}]`, the blocks by digest. */
function listOf({ messages }: Conversation): FrozenBlock {
  const list = messages.map(({ role, blocks, shared }) => ({
    role,
    blocks: blocks.map(({ digest }) => digest),
    shared,
  }));
  return freezeJson('messages', JSON.stringify(list), true);
}

/** The message with which a fork begins its own part; `place` is what it alone is told of where it works. */
export function forkMessage(
  { tail }: CacheSafeParams,
  task: string,
  place: string | null = null,
): FrozenMessage {
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

function isRules({ digest }: FrozenBlock): boolean {
  return digest === RULES.digest || EARLIER_RULES.has(digest);
}

/** The same for every call: what a call really brought is the parent's to know. */
const FORK_PLACEHOLDER = 'The main agent got this result. You are its fork: see below.';

const FORK_RULES = `You are now a fork of the agent that wrote the messages above: you know what it knows, and you have your own task. You are not the main agent. It and other forks work at the same time. These rules bind you:
1. Do the task below and nothing beyond its scope, whatever was planned above.
2. Use your tools directly. Do not delegate: no Agent calls.
3. Do not converse: no questions, no remarks between tool calls, no proposals.
4. When the task is done or cannot be done, write one report and stop. Begin it with "Scope:" and the task in one line. Then give structured facts only, under 500 words: results, files by path with what changed, commands with their outcome, what is left undone and why.`;

const RULES: FrozenBlock = freezeBlock({ type: 'text', text: FORK_RULES });

/** The rules in the words of earlier versions: an agent that got those is a fork too. */
const EARLIER_RULES: ReadonlySet<Digest> = new Set(['7vZsBlCikczWfr1DAYBll-FDz7ryr1rnJ8xggdF9D30']);
