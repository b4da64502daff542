/**
 * Finds what a conversation asks its agent to do: the last prompt, or the task with which a fork begins. Pure; used
 * by the recipe model, which carries it out, and by the emulator, whose rules look at it.
 *
 * Invariants
 * 1. Only a text block of a user message that *begins* with a mark is the engine's. The same words further on, or in a
 *    tool result, are other text.
 * 2. Notifications, messages of other agents, what hooks say and the engine's notices are never a task: text that is quoted
 *    in one must not be carried out.
 */
import { AGENT_MESSAGE, FORK_TASK, type OtherBlock, TASK_NOTIFICATION } from '../../schema/content.ts';

/** A message as the Messages API has it. */
export interface TaskMessage {
  role: string;
  content: string | readonly OtherBlock[];
}

export interface ConversationTask {
  /** Empty when nothing is asked for. */
  text: string;
  /** The index of its message; -1 without one. */
  at: number;
  isFork: boolean;
}

const FORK_TASK_END = FORK_TASK.replace('<', '</');
const NOTIFICATION = new RegExp(`^<${TASK_NOTIFICATION}[\\s>]`);
const MESSAGE = new RegExp(`^<${AGENT_MESSAGE}[\\s>]`);
const OF_HOOK = /^<hook-(?:context|feedback)[\s>]/;

/** How the notices in `engine/agent/notices.ts` begin, which this room cannot import; a test holds them together. */
const CANCELLED = ['This work was cancelled. ', 'This work is called off. '];
/** Sessions that earlier versions recorded hold other words for some of them. */
const EARLIER_NOTICES: readonly string[] = [
  'Your last message is not the answer that was asked for: ',
  'Your work does not count as done yet; ',
  'You have used all turns you were given. ',
  'Your directory is not as you left it: ',
  'The record of this session lost its end: ',
  'Files that you have read were changed by others; ',
  'Background commands of yours were interrupted when you were. ',
];
const NOTICES: readonly string[] = [
  ...EARLIER_NOTICES,
  'Your last message was cut off at the output limit. ',
  'Your last message was empty. ',
  'Your last message announced a tool call but contained none. ',
  'Your web search was stopped: ',
  'Your last message is not in the form that was asked for: ',
  'Not done yet. We checked the repository, not your report: ',
  'You have used all your turns. ',
  'Your budget is nearly spent (',
  'Your directory has changed: ',
  'The last part of this session is not on record: ',
  'Others changed files that you have read. ',
  'An agent of yours was interrupted and has resumed. ',
  'Your background commands were interrupted with you. ',
  'You are not done: a hook says so. ',
  'You were stopped, and now you work again: ',
  ...CANCELLED,
];

export function conversationTask(messages: readonly TaskMessage[]): ConversationTask {
  const at = messages.findLastIndex((message) => promptIn(message) !== undefined);
  const prompt = at === -1 ? undefined : promptIn(messages[at] as TaskMessage); // found just above
  return { text: withoutMark(prompt ?? ''), at, isFork: forkPoint(messages) !== -1 };
}

/** The message with which a fork begins its own part of the conversation; -1 for other agents. */
export function forkPoint(messages: readonly TaskMessage[]): number {
  return messages.findLastIndex((message) => ownTexts(message).some(isForkTask));
}

/** Whether the agent has just been told to stop its work and say how far it came. */
export function isCancelled(messages: readonly TaskMessage[]): boolean {
  return messages
    .slice(-1)
    .flatMap(ownTexts)
    .some((text) => CANCELLED.some((start) => text.startsWith(start)));
}

/** The notifications that a conversation holds, in order. */
export function notificationsIn(messages: readonly TaskMessage[]): string[] {
  return messages.flatMap(ownTexts).filter((text) => NOTIFICATION.test(text));
}

/**
 * A message that answers calls is no prompt, though the engine may say something beside the results; except the one
 * with which a fork begins. Project instructions and the environment stand before a prompt: the last text counts.
 */
function promptIn(message: TaskMessage): string | undefined {
  const texts = ownTexts(message);
  const forked = texts.findLast(isForkTask);
  if (forked !== undefined || blocksOf(message).some(({ type }) => type === 'tool_result')) return forked;
  return texts.findLast((text) => !isEngines(text));
}

function ownTexts(message: TaskMessage): string[] {
  if (message.role !== 'user') return [];
  return blocksOf(message)
    .filter(({ type }) => type === 'text')
    .map(({ text }) => String(text));
}

function isForkTask(text: string): boolean {
  return text.startsWith(`${FORK_TASK}\n`);
}

function isEngines(text: string): boolean {
  return (
    [NOTIFICATION, MESSAGE, OF_HOOK].some((form) => form.test(text)) ||
    NOTICES.some((beginning) => text.startsWith(beginning))
  );
}

function withoutMark(text: string): string {
  if (!isForkTask(text)) return text;
  const inside = text.slice(FORK_TASK.length + 1);
  return inside.endsWith(`\n${FORK_TASK_END}`) ? inside.slice(0, -FORK_TASK_END.length - 1) : inside;
}

export function blocksOf({ content }: TaskMessage): readonly OtherBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}
