/**
 * A chat completions request in the words of the Messages API, so that one set of rules answers both. Tool messages
 * and the user's text behind them are one message there: `last` and `turn` then mean the same in both.
 */
import { FORK_TASK } from '../../schema/content.ts';
import { badRequest } from '../api-error.ts';
import type { WireBlock, WireMessage, WireRequest } from '../messages/message-request.ts';
import type { ChatWireCall, ChatWireMessage, ChatWirePart, ChatWireRequest } from './chat-request.ts';

export function translateChat(chat: ChatWireRequest): WireRequest {
  const isSystem = ({ role }: ChatWireMessage): boolean => role === 'system' || role === 'developer';
  const messages: WireMessage[] = [];
  for (const message of chat.messages.filter((one) => !isSystem(one))) addMessage(messages, message);
  return {
    model: chat.model,
    system: chat.messages.filter(isSystem).flatMap(({ content }) => contentParts(content)),
    messages,
    tools: (chat.tools ?? []).map(({ function: { name, description, parameters } }) => ({
      name,
      description,
      input_schema: parameters,
    })),
    max_tokens: chat.max_completion_tokens ?? chat.max_tokens ?? Number.MAX_SAFE_INTEGER,
    stream: chat.stream === true,
  };
}

function addMessage(messages: WireMessage[], message: ChatWireMessage): void {
  const role = message.role === 'assistant' ? 'assistant' : 'user';
  const blocks = role === 'assistant' ? assistantBlocks(message) : userBlocks(message);
  const last = messages.at(-1);
  const joins =
    last?.role === 'user' && Array.isArray(last.content) && last.content[0]?.type === 'tool_result';
  if (role === 'user' && joins && Array.isArray(last.content)) last.content.push(...blocks);
  else messages.push({ role, content: blocks });
}

function userBlocks({ role, content, tool_call_id }: ChatWireMessage): WireBlock[] {
  if (role !== 'tool') return contentParts(content).flatMap(withForkTask);
  const said = typeof content === 'string' ? content : contentParts(content);
  return [{ type: 'tool_result', tool_use_id: tool_call_id, content: said }];
}

/** Texts of one message are sent as one, an empty line between them: a fork's task gets its own block back. */
function withForkTask(block: WireBlock): WireBlock[] {
  const text = block.type === 'text' ? String(block.text) : '';
  const at = text.lastIndexOf(`\n\n${FORK_TASK}\n`);
  if (at === -1) return [block];
  return [text.slice(0, at), text.slice(at + 2)].map((part) => ({ type: 'text', text: part }));
}

function assistantBlocks({ content, tool_calls }: ChatWireMessage): WireBlock[] {
  return [...contentParts(content), ...(tool_calls ?? []).map(toolUse)];
}

function toolUse({ id, function: { name, arguments: json } }: ChatWireCall): WireBlock {
  try {
    return { type: 'tool_use', id, name, input: JSON.parse(json) };
  } catch {
    throw badRequest(`the arguments of tool call ${id} are not valid JSON: ${json.slice(0, 80)}`);
  }
}

function contentParts(content: string | ChatWirePart[] | null | undefined): WireBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return (content ?? []).map((part) => (part.type === 'image_url' ? { type: 'image', source: part } : part));
}
