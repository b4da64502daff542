/** A message as the server-sent events of the Messages API, in documented order. */
import type { AnsweredMessage } from '../answer.ts';
import { apiErrorBody, apiErrorType } from '../api-error.ts';
import type { WireBlock } from './message-request.ts';

export interface EmittedEvent {
  /** The whole event, blank line included. */
  text: string;
  /** What of an answer it carries, so that faults can aim: text, tool input, thinking. */
  delta?: 'text' | 'tool_input' | 'thinking';
  /** Output tokens it stands for, for pacing. */
  tokens: number;
}

/** What breaks a stream, in the words of the API that is spoken. */
export interface StreamBreakage {
  malformedEvent: string;
  errorEvent(status: number, message: string | undefined): string;
}

/** Characters in one delta. Shorter texts still come in two, so that a stream can break inside any of them. */
const CHUNK = 64;

function serverSentEvent(type: string, fields: Record<string, unknown>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

export const MESSAGE_BREAKAGE: StreamBreakage = {
  malformedEvent: 'event: content_block_delta\ndata: {"type":"content_block_\n\n',
  errorEvent: (status, message) => {
    const type = apiErrorType(status);
    const { type: _, ...body } = apiErrorBody(type, message ?? type, 'req_stream');
    return serverSentEvent('error', body);
  },
};

export function messageEvents(message: AnsweredMessage): EmittedEvent[] {
  const { usage, content, stop_reason, stop_sequence } = message;
  const opening = {
    ...message,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: Math.min(1, usage.output_tokens) },
  };
  return [
    plain('message_start', { message: opening }),
    plain('ping', {}),
    ...content.flatMap(blockEvents),
    plain('message_delta', { delta: { stop_reason, stop_sequence }, usage }),
    plain('message_stop', {}),
  ];
}

function blockEvents(block: WireBlock, index: number): EmittedEvent[] {
  const { opening, deltas } = unfold(block);
  return [
    plain('content_block_start', { index, content_block: opening }),
    ...deltas.map(({ delta, kind, size }) => ({
      text: serverSentEvent('content_block_delta', { index, delta }),
      tokens: size / 4,
      ...(kind === undefined ? {} : { delta: kind }),
    })),
    plain('content_block_stop', { index }),
  ];
}

interface Delta {
  delta: Record<string, unknown>;
  kind?: NonNullable<EmittedEvent['delta']>;
  size: number;
}

/** What a block starts as, and what is then added to it. Kinds without deltas start whole. */
function unfold(block: WireBlock): { opening: WireBlock; deltas: Delta[] } {
  switch (block.type) {
    case 'text':
      return {
        opening: { ...block, text: '' },
        deltas: textChunks(String(block.text)).map((text) => ({
          delta: { type: 'text_delta', text },
          kind: 'text',
          size: text.length,
        })),
      };
    case 'tool_use':
      return {
        opening: { ...block, input: {} },
        deltas: textChunks(JSON.stringify(block.input)).map((partial_json) => ({
          delta: { type: 'input_json_delta', partial_json },
          kind: 'tool_input',
          size: partial_json.length,
        })),
      };
    case 'thinking':
      return { opening: { ...block, thinking: '', signature: '' }, deltas: thinkingDeltas(block) };
    default:
      return { opening: block, deltas: [] };
  }
}

function thinkingDeltas(block: WireBlock): Delta[] {
  const shown = textChunks(String(block.thinking)).map(
    (thinking): Delta => ({
      delta: { type: 'thinking_delta', thinking },
      kind: 'thinking',
      size: thinking.length,
    }),
  );
  return [...shown, { delta: { type: 'signature_delta', signature: block.signature }, size: 0 }];
}

/** Cuts by characters as people see code points, never inside a surrogate pair. */
export function textChunks(text: string): string[] {
  const size = Math.min(CHUNK, Math.ceil(text.length / 2));
  const parts: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = start + size;
    if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function plain(type: string, fields: Record<string, unknown>): EmittedEvent {
  return { text: serverSentEvent(type, fields), tokens: 0 };
}
