/**
 * A Messages API body as a chat completions request. Owns what each block becomes; which fields a server takes is
 * `openai-dialect.ts`.
 *
 * 1. Every tool result becomes a `tool` message right after the calls, in their order; what else the user message
 *    holds comes behind, because nothing may stand between calls and results.
 * 2. A `tool` message holds text only: images of results follow in a user message.
 * 3. Thinking and blocks of kinds the protocol lacks are left out, and so is a message of which nothing is left.
 */
import type { ContentBlock, ImageBlock, Message, TextBlock, ToolResultBlock } from '../../schema/content.ts';
import type { Effort } from '../../schema/status.ts';
import { chatEffort } from '../thinking.ts';

export interface ChatToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

export type ChatPart = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } };

export type ChatMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string | ChatPart[] }
  | { role: 'assistant'; content: string | null; tool_calls?: ChatToolCall[] }
  | { role: 'tool'; tool_call_id: string; content: string };

export interface ChatTool {
  type: 'function';
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

export type ChatToolChoice = 'auto' | 'required' | 'none' | { type: 'function'; function: { name: string } };

export interface ChatRequest {
  model: string;
  messages: ChatMessage[];
  tools?: ChatTool[];
  tool_choice?: ChatToolChoice;
  parallel_tool_calls?: boolean;
  temperature?: number;
  top_p?: number;
  stop?: string[];
  reasoning_effort?: 'low' | 'medium' | 'high';
  max_tokens?: number;
  max_completion_tokens?: number;
  stream: true;
  stream_options?: { include_usage: boolean };
}

/** The fields of a Messages body that have a counterpart. */
export interface TranslatableBody {
  model: string;
  messages: Message[];
  max_tokens: number;
  system?: string | TextBlock[];
  tools?: { name: string; description?: string; input_schema?: Record<string, unknown> }[];
  tool_choice?: { type: string; name?: string; disable_parallel_tool_use?: boolean };
  temperature?: number;
  top_p?: number;
  stop_sequences?: string[];
  thinking?: { type: string; budget_tokens?: number };
  output_config?: { effort?: Effort };
}

export function chatRequest(body: TranslatableBody): ChatRequest {
  return {
    model: body.model,
    messages: [...systemMessage(body.system), ...body.messages.flatMap(chatMessages)],
    ...chatTools(body.tools),
    ...toolChoice(body.tool_choice),
    ...(body.temperature === undefined ? {} : { temperature: body.temperature }),
    ...(body.top_p === undefined ? {} : { top_p: body.top_p }),
    ...(body.stop_sequences === undefined ? {} : { stop: body.stop_sequences }),
    ...reasoning(body),
    max_tokens: body.max_tokens,
    stream: true,
    stream_options: { include_usage: true },
  };
}

function systemMessage(system: TranslatableBody['system'] = []): ChatMessage[] {
  const content = typeof system === 'string' ? system : joinTexts(system);
  return content === '' ? [] : [{ role: 'system', content }];
}

/** Tools of another provider's servers, in a session that began there, cannot be used here. */
function chatTools(tools: TranslatableBody['tools'] = []): Pick<ChatRequest, 'tools'> {
  const own = tools.filter(({ input_schema }) => input_schema !== undefined);
  return own.length === 0 ? {} : { tools: own.map(chatTool) };
}

function chatTool(tool: NonNullable<TranslatableBody['tools']>[number]): ChatTool {
  const { name, description = '', input_schema: parameters = {} } = tool;
  return { type: 'function', function: { name, description, parameters } };
}

const CHOICES: Readonly<Record<string, 'auto' | 'required' | 'none'>> = {
  auto: 'auto',
  any: 'required',
  none: 'none',
};

function toolChoice(
  choice: TranslatableBody['tool_choice'],
): Pick<ChatRequest, 'tool_choice' | 'parallel_tool_calls'> {
  if (choice === undefined) return {};
  const single = choice.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {};
  const { name = '' } = choice;
  return { tool_choice: CHOICES[choice.type] ?? { type: 'function', function: { name } }, ...single };
}

function reasoning({
  thinking,
  output_config: { effort } = {},
}: TranslatableBody): Pick<ChatRequest, 'reasoning_effort'> {
  const wanted = effort ?? thinking?.budget_tokens;
  return wanted === undefined ? {} : { reasoning_effort: chatEffort(wanted) };
}

function chatMessages({ role, content }: Message): ChatMessage[] {
  const blocks: ContentBlock[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return role === 'assistant' ? assistantMessage(blocks) : userMessages(blocks);
}

function assistantMessage(blocks: readonly ContentBlock[]): ChatMessage[] {
  const text = joinTexts(blocks.filter(isText));
  const calls = blocks.flatMap((block): ChatToolCall[] => {
    if (block.type !== 'tool_use') return [];
    const call = { name: block.name, arguments: JSON.stringify(block.input ?? {}) };
    return [{ id: block.id, type: 'function', function: call }];
  });
  if (calls.length > 0) return [{ role: 'assistant', content: text || null, tool_calls: calls }];
  return text === '' ? [] : [{ role: 'assistant', content: text }];
}

function userMessages(blocks: readonly ContentBlock[]): ChatMessage[] {
  const results = blocks.filter((block) => block.type === 'tool_result');
  const images = results.flatMap(resultImages);
  const rest = blocks.filter((block) => isText(block) || block.type === 'image');
  return [...results.map(toolMessage), ...userMessage([...images, ...rest])];
}

function toolMessage({ tool_use_id, content, is_error }: ToolResultBlock): ChatMessage {
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : (content ?? []);
  const text = joinTexts(parts.filter(isText));
  const shown = parts.some(({ type }) => type === 'image') ? `${text}\n(image below)`.trim() : text;
  // The protocol has no flag for a failure, so the text carries it.
  const told = is_error === true ? `Error: ${shown.replace(/^error: /i, '')}` : shown;
  return { role: 'tool', tool_call_id: tool_use_id, content: told };
}

function resultImages({ tool_use_id, content }: ToolResultBlock): (TextBlock | ImageBlock)[] {
  if (!Array.isArray(content)) return [];
  const images = content.filter((part) => part.type === 'image');
  return images.length === 0 ? [] : [{ type: 'text', text: `(from tool call ${tool_use_id})` }, ...images];
}

/** Text alone is sent as a string: servers with simple prompt templates know nothing else. */
function userMessage(blocks: readonly (TextBlock | ImageBlock)[]): ChatMessage[] {
  if (blocks.length === 0) return [];
  if (blocks.every(isText)) return [{ role: 'user', content: joinTexts(blocks) }];
  return [{ role: 'user', content: blocks.map(chatPart) }];
}

function chatPart(block: TextBlock | ImageBlock): ChatPart {
  if (block.type === 'text') return { type: 'text', text: block.text };
  const { media_type, data } = block.source;
  return { type: 'image_url', image_url: { url: `data:${media_type};base64,${data}` } };
}

function isText(block: { type: string }): block is TextBlock {
  return block.type === 'text';
}

function joinTexts(blocks: readonly TextBlock[]): string {
  return blocks.map(({ text }) => text).join('\n\n');
}
