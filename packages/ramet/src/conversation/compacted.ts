/**
 * What a compaction keeps (RES-7): the head as it is, a first message made of what must not be lost and the summary
 * of the rest, and the latest turns. It leaves asking for the summary, and when to do all this, to the engine.
 *
 * Invariants
 * 1. The blocks that other runs share come first and unchanged, so the breakpoint after them still hits.
 * 2. The kept turns begin at a turn and end where the conversation ended: every call keeps its result.
 * 3. What no summary covers is kept, its tool results cut if need be.
 * 4. A fork keeps the rules by which it is known.
 * 5. Thinking that is bound to its prefix is left out, except in the turn whose calls wait for their results: there
 *    a provider refuses a message without it, and drops by itself what no longer holds.
 */
import { type FrozenMessage, forkMarkOf, withoutForkMark } from './conversation.ts';
import { cutMiddle, cutResults, fairShare } from './cut-results.ts';
import { estimateTokens, freezeBlock } from './frozen-block.ts';

const MOST_FILES = 20;
/** Bytes of a prompt, below which what is left of it says too little. */
const LEAST_OF_PROMPT = 200;
/** The words that say how much is left out. */
const CUT_BYTES = 40;

export interface CompactionPlan {
  /** The first message that is kept. */
  readonly tail: number;
  /** How many messages the summary is made of. */
  readonly summarised: number;
}

/**
 * Null when there is nothing between the first message and what is kept. `unread` counts the turns at the end that
 * the summary is made without, for a conversation that no longer fits a request.
 */
export function planCompaction(
  messages: readonly FrozenMessage[],
  options: { tailTokens: number; unread: number },
): CompactionPlan | null {
  const starts = turnStarts(messages);
  const last = starts.at(-1);
  if (last === undefined) return null;
  const summarised = options.unread === 0 ? messages.length : questionPlace(messages, starts, options.unread);
  if (summarised === undefined) return null;
  let tail = Math.min(last, summarised);
  for (const start of starts.toReversed()) {
    if (start >= tail) continue;
    if (estimateTokens(messages.slice(start).flatMap(({ blocks }) => blocks)) > options.tailTokens) break;
    tail = start;
  }
  return tail <= 1 ? null : { tail, summarised };
}

/** Where a question can be asked after leaving out that many turns: before an answer. */
function questionPlace(
  messages: readonly FrozenMessage[],
  starts: readonly number[],
  unread: number,
): number | undefined {
  return starts.filter((start) => messages[start]?.role === 'assistant').at(-unread);
}

export interface CompactionKeeps {
  /** The message that opens the conversation: shared instructions, environment, and the first prompt, or what was kept, last. */
  readonly opening: FrozenMessage;
  readonly record: KeptRecord;
  /** Beyond this the tool results of what is kept are cut. */
  readonly mostTailTokens: number;
  readonly stripThinking: boolean;
}

export function compactedMessages(
  messages: readonly FrozenMessage[],
  { tail }: CompactionPlan,
  keeps: CompactionKeeps,
): FrozenMessage[] {
  const { opening } = keeps;
  const record = freezeBlock({ type: 'text', text: recordText(keeps.record) });
  const first: FrozenMessage = {
    role: 'user',
    shared: opening.shared,
    blocks: [...withoutForkMark(opening.blocks.slice(0, -1)), ...forkMarkOf(messages.slice(0, tail)), record],
  };
  const kept = keeps.stripThinking ? withoutBoundThinking(messages.slice(tail)) : messages.slice(tail);
  return [first, ...cutResults(kept, keeps.mostTailTokens)];
}

function withoutBoundThinking(messages: readonly FrozenMessage[]): FrozenMessage[] {
  const open = openTurn(messages);
  return messages
    .map((message, index) =>
      index >= open
        ? message
        : { ...message, blocks: message.blocks.filter(({ type }) => !type.endsWith('thinking')) },
    )
    .filter(({ blocks }) => blocks.length > 0);
}

/** Where the turn begins whose calls the last message answers; past the end when none is open. */
function openTurn(messages: readonly FrozenMessage[]): number {
  const start = messages.findLastIndex(
    ({ role }, index) => role === 'assistant' && messages[index - 1]?.role !== 'assistant',
  );
  const results = messages.findIndex(({ role }, index) => index > start && role === 'user');
  return start >= 0 && results > start && answersCalls(messages, results) ? start : messages.length;
}

/** The prompts that are not among the kept messages: those are kept as they are. */
export function promptsBefore(
  prompts: readonly FrozenMessage[],
  tail: readonly FrozenMessage[],
): readonly FrozenMessage[] {
  let left = prompts.length;
  for (const { role, blocks } of tail.toReversed()) {
    const prompt = prompts[left - 1]?.blocks.at(-1);
    if (role === 'user' && prompt !== undefined && blocks.at(-1)?.digest === prompt.digest) left -= 1;
  }
  return prompts.slice(0, left);
}

/**
 * Where a conversation may be cut. Neighbouring messages of one role are one turn to the provider; a turn of tool
 * results belongs to the calls before it, and no cut comes between the two.
 *
 * Indices of messages with which a valid rest begins, the first message apart.
 */
function turnStarts(messages: readonly FrozenMessage[]): number[] {
  const starts: number[] = [];
  messages.forEach(({ role }, index) => {
    if (index === 0 || messages[index - 1]?.role === role) return;
    if (role === 'assistant' || !answersCalls(messages, index)) starts.push(index);
  });
  return starts;
}

/** Whether the user's turn that begins at `index` holds results of calls. */
function answersCalls(messages: readonly FrozenMessage[], index: number): boolean {
  for (let at = index; messages[at]?.role === 'user'; at++) {
    if (messages[at]?.blocks.some(({ type }) => type === 'tool_result')) return true;
  }
  return false;
}

/** The text that stands for what a compaction replaced: the user's own words, open todos, the summary, files by name. */
export interface KeptRecord {
  /** The user's prompts, oldest first, word for word. */
  readonly prompts: readonly string[];
  /** Bytes that the prompts may take. */
  readonly promptRoom: number;
  /** The command that prints the conversation from its beginning. */
  readonly whole: string;
  readonly todos: readonly string[];
  /** The team that the agent leads, as it is now. */
  readonly team?: string | undefined;
  readonly summary: string;
  readonly changedFiles: readonly string[];
  readonly readFiles: readonly string[];
}

export function recordText(record: KeptRecord): string {
  const changed = record.changedFiles.slice(-MOST_FILES);
  const read = record.readFiles.slice(-MOST_FILES);
  return [
    'This conversation had become long. The text below replaces everything before this point; what follows it is unchanged. Continue the work, and read files again when you need their content.',
    section('user-messages', keptPrompts(record)),
    section('open-todos', record.todos),
    record.team ?? '',
    section('summary', [record.summary]),
    section('files-changed', changed),
    section('files-read', read),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function section(name: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `<${name}>\n${lines.join('\n')}\n</${name}>`;
}

/**
 * An instruction is mostly at the beginning or at the end of a prompt, around what was pasted into it. So of every
 * prompt both are kept before any is kept whole: the longest give most. Where not even that fits, prompts are left
 * out between the first, which is the task, and the latest.
 */
function keptPrompts({ prompts, promptRoom, whole }: KeptRecord): string[] {
  const [first, ...others] = prompts;
  if (first === undefined) return [];
  let left = promptRoom - leastOf(first);
  const gone = others.findLastIndex((prompt) => {
    left -= leastOf(prompt);
    return left < 0;
  });
  const kept = [first, ...others.slice(gone + 1)];
  const most = fairShare(
    kept.map((prompt) => Buffer.byteLength(prompt)),
    promptRoom,
  );
  const [task, ...latest] = kept.map((prompt) => `- ${cutPrompt(prompt, most)}`);
  const gap = gone < 0 ? [] : [`(${gone + 1} more are left out here)`];
  const isCut = gone >= 0 || kept.some((prompt) => Buffer.byteLength(prompt) > most);
  const rest = isCut ? [`(${whole} prints what is left out of these messages)`] : [];
  return [task ?? '', ...gap, ...latest, ...rest];
}

function leastOf(prompt: string): number {
  return Math.min(Buffer.byteLength(prompt), LEAST_OF_PROMPT);
}

function cutPrompt(prompt: string, most: number): string {
  const bytes = Buffer.byteLength(prompt);
  if (bytes <= most) return prompt;
  return cutMiddle(prompt, Math.floor((prompt.length * Math.max(0, most - CUT_BYTES)) / bytes));
}
