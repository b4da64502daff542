/** Reads a request as the agent that sent it: which it is, what it has said, what it was told. */
import type { RequestView, WireBlock, WireMessage } from 'ramet/emulator';

export interface OwnPart {
  task: string;
  /** The agent's own messages: a fork's from its task on. */
  messages: readonly WireMessage[];
}

const TASK = /(?:^|<fork-task>\n|\n- )\[task (\w+)\]/g;

export function ownPart({ request }: RequestView): OwnPart {
  const { messages } = request;
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at];
    if (message?.role !== 'user') continue;
    const found = textsOf(message).flatMap((text) =>
      Array.from(text.matchAll(TASK), ([, task = '']) => task),
    );
    const task = found.at(-1);
    if (task !== undefined) return { task, messages: messages.slice(at) };
  }
  throw new Error('a request names no task');
}

export function blocksOf(message: WireMessage | undefined): readonly WireBlock[] {
  if (message === undefined) return [];
  return typeof message.content === 'string'
    ? [{ type: 'text', text: message.content }]
    : (message.content ?? []);
}

/** Text blocks alone: what a tool brought is in `resultsOf`. */
export function textsOf(message: WireMessage | undefined): string[] {
  return blocksOf(message).flatMap(({ type, text }) => (type === 'text' ? [String(text)] : []));
}

export interface ToolResult {
  call: string;
  text: string;
  isError: boolean;
}

export function resultsOf(message: WireMessage | undefined): ToolResult[] {
  return blocksOf(message).flatMap((block) =>
    block.type === 'tool_result'
      ? [
          {
            call: String(block.tool_use_id),
            text: resultText(block.content),
            isError: block.is_error === true,
          },
        ]
      : [],
  );
}

function resultText(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part) => String(part?.text ?? '')).join('') : '';
}

/** Everything that others have told the agent, in order: results, notifications, messages, a summary. */
export function heard({ messages }: OwnPart): string[] {
  return messages
    .filter(({ role }) => role === 'user')
    .flatMap((message) => [...resultsOf(message).map(({ text }) => text), ...textsOf(message)]);
}
