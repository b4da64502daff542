/** An answer as a chat completion: one document, or chunks in the order servers send them. */
import type { AnsweredMessage, MessageUsage } from '../answer.ts';
import { chatErrorBody } from '../api-error.ts';
import { type EmittedEvent, type StreamBreakage, textChunks } from '../messages/event-stream.ts';
import type { WireBlock } from '../messages/message-request.ts';

const FINISH_REASONS: ReadonlyMap<string, string> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
  ['model_context_window_exceeded', 'length'],
]);

export const CHAT_BREAKAGE: StreamBreakage = {
  malformedEvent: 'data: {"object":"chat.completion.chunk","choices":[{\n\n',
  errorEvent: (status, message) => event(chatErrorBody(status, message ?? 'the server gave up')),
};

export function chatDocument(message: AnsweredMessage, created: number): unknown {
  const { id, model, content, usage } = message;
  const calls = content.filter(({ type }) => type === 'tool_use').map(toolCall);
  const thinking = textOf(content, 'thinking');
  const said = {
    role: 'assistant',
    content: textOf(content, 'text') || null,
    refusal: null,
    ...(thinking === '' ? {} : { reasoning_content: thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  const choice = { index: 0, message: said, logprobs: null, finish_reason: finishReason(message) };
  return { id, object: 'chat.completion', created, model, choices: [choice], usage: chatUsage(usage) };
}

export interface ChunkSetting {
  created: number;
  /** Whether a last chunk reports usage. */
  usage: boolean;
}

export function chatEvents(message: AnsweredMessage, setting: ChunkSetting): EmittedEvent[] {
  const { id, model } = message;
  const head = { id, object: 'chat.completion.chunk', created: setting.created, model };
  const later = setting.usage ? { usage: null } : {};
  const chunk = (delta: object, finish: string | null = null): string =>
    event({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], ...later });
  const usage = { ...head, choices: [], usage: chatUsage(message.usage) };
  return [
    plain(chunk({ role: 'assistant', content: '', refusal: null })),
    ...contentDeltas(message.content).map(({ fields, kind, size }) => ({
      text: chunk(fields),
      tokens: size / 4,
      ...(kind === undefined ? {} : { delta: kind }),
    })),
    plain(chunk({}, finishReason(message))),
    ...(setting.usage ? [plain(event(usage))] : []),
    plain('data: [DONE]\n\n'),
  ];
}

interface ContentDelta {
  fields: object;
  kind?: NonNullable<EmittedEvent['delta']>;
  size: number;
}

function contentDeltas(content: readonly WireBlock[]): ContentDelta[] {
  let calls = 0;
  return content.flatMap((block): ContentDelta[] => {
    switch (block.type) {
      case 'text':
        return textDeltas(String(block.text), 'text', (text) => ({ content: text }));
      case 'thinking':
        return textDeltas(String(block.thinking), 'thinking', (text) => ({ reasoning_content: text }));
      case 'tool_use': {
        const index = calls++;
        const { function: called, ...call } = toolCall(block);
        const opening = { index, ...call, function: { ...called, arguments: '' } };
        const pieces = textDeltas(called.arguments, 'tool_input', (text) => ({
          tool_calls: [{ index, function: { arguments: text } }],
        }));
        return [{ fields: { tool_calls: [opening] }, size: 0 }, ...pieces];
      }
      default:
        return [];
    }
  });
}

function textDeltas(
  text: string,
  kind: NonNullable<EmittedEvent['delta']>,
  fields: (part: string) => object,
): ContentDelta[] {
  return textChunks(text).map((part) => ({ fields: fields(part), kind, size: part.length }));
}

function toolCall({ id, name, input }: WireBlock): {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
} {
  const called = { name: String(name), arguments: JSON.stringify(input) };
  return { id: String(id), type: 'function', function: called };
}

function chatUsage(usage: MessageUsage): unknown {
  const cached = usage.cache_read_input_tokens;
  const prompt = usage.input_tokens + usage.cache_creation_input_tokens + cached;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output_tokens,
    total_tokens: prompt + usage.output_tokens,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

function finishReason({ stop_reason }: AnsweredMessage): string {
  return FINISH_REASONS.get(stop_reason) ?? stop_reason;
}

function textOf(content: readonly WireBlock[], type: 'text' | 'thinking'): string {
  return content
    .filter((block) => block.type === type)
    .map((block) => String(block[type]))
    .join('');
}

function event(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function plain(text: string): EmittedEvent {
  return { text, tokens: 0 };
}
