/** What rules and hooks look at in a request. */
import { conversationTask, forkPoint } from '../model/recipe/conversation-task.ts';
import { contentBlocks, type WireBlock, type WireRequest } from './messages/message-request.ts';

export interface RequestView {
  request: WireRequest;
  headers: Readonly<Record<string, string>>;
  /** Assistant messages so far; of a fork, those since it began. */
  turn: number;
  isFork: boolean;
  /** What the agent is asked to do: its last prompt, or a fork's own task. Never what others say to it. */
  task: string;
  /** System prompt and first user message: where an agent's marker stands. */
  opening: string;
  /** Text of the last message, tool results included. */
  last: string;
  /** Text of the tool results in the last message; empty when it has none. */
  lastToolResult: string;
}

export function viewRequest(request: WireRequest, headers: Readonly<Record<string, string>>): RequestView {
  const first = request.messages.find(({ role }) => role === 'user');
  const last = contentBlocks(request.messages.at(-1)?.content ?? []);
  const { text: task, isFork } = conversationTask(request.messages);
  return {
    request,
    headers,
    turn: turnOf(request),
    isFork,
    task,
    opening: `${textOf(contentBlocks(request.system ?? []))}\n${textOf(contentBlocks(first?.content ?? []))}`,
    last: textOf(last),
    lastToolResult: textOf(last.filter(({ type }) => type === 'tool_result')),
  };
}

/** Counted for every agent by itself: what a fork took over from its parent are the parent's turns. */
export function turnOf({ messages }: WireRequest): number {
  return messages.slice(forkPoint(messages) + 1).filter(({ role }) => role === 'assistant').length;
}

function textOf(blocks: readonly WireBlock[]): string {
  return blocks
    .flatMap((block) => {
      if (block.type === 'text') return [String(block.text)];
      if (block.type !== 'tool_result') return [];
      const content = block.content as string | WireBlock[] | undefined; // judged by the request's schema
      return [textOf(contentBlocks(content ?? []))];
    })
    .join('\n');
}
