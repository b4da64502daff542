/**
 * What the emulated model says, and the message it becomes. Short forms (`text`, `thinking`, `tool_use`) become blocks
 * in the order thinking, text, calls; `content` gives the blocks as they are. Thinking without a signature is sealed.
 */
import * as z from '../schema/zod.ts';
import type { InputUsage } from './messages/cache.ts';
import type { WireBlock } from './messages/message-request.ts';
import { sealThinking } from './messages/thinking-seal.ts';
import { sealSearch, searchUsage } from './messages/web-search.ts';

export interface Answer {
  text?: string | undefined;
  thinking?: string | undefined;
  tool_use?: { name: string; input: Record<string, unknown>; id?: string | undefined }[] | undefined;
  content?: { type: string; [field: string]: unknown }[] | undefined;
  stop_reason?: string | undefined;
  stop_sequence?: string | undefined;
  /** Otherwise bytes of the content's JSON over four. */
  output_tokens?: number | undefined;
  /** Laid over the usage that the cache accounting gives. */
  usage?: Record<string, unknown> | undefined;
}

export const answerSchema: z.ZodMiniType<Answer> = z.strictObject({
  text: z.optional(z.string()),
  thinking: z.optional(z.string()),
  tool_use: z.optional(
    z.array(
      z.strictObject({
        name: z.string(),
        input: z.record(z.string(), z.unknown()),
        id: z.optional(z.string()),
      }),
    ),
  ),
  content: z.optional(z.array(z.looseObject({ type: z.string() }))),
  stop_reason: z.optional(z.string()),
  stop_sequence: z.optional(z.string()),
  output_tokens: z.optional(z.int().check(z.minimum(0))),
  usage: z.optional(z.record(z.string(), z.unknown())),
});

export interface MessageUsage extends InputUsage {
  output_tokens: number;
  [field: string]: unknown;
}

export interface AnsweredMessage {
  id: string;
  type: 'message';
  role: 'assistant';
  model: string;
  content: WireBlock[];
  stop_reason: string;
  stop_sequence: string | null;
  usage: MessageUsage;
}

export interface AnswerSetting {
  id: string;
  model: string;
  usage: InputUsage;
  /** Where thinking of this answer is thought. */
  place: () => string;
  newToolId: () => string;
}

export function composeMessage(answer: Answer, setting: AnswerSetting): AnsweredMessage {
  const content = answerContent(answer, setting);
  const called = content.some(({ type }) => type === 'tool_use');
  return {
    id: setting.id,
    type: 'message',
    role: 'assistant',
    model: setting.model,
    content,
    stop_reason: answer.stop_reason ?? (called ? 'tool_use' : 'end_turn'),
    stop_sequence: answer.stop_sequence ?? null,
    usage: {
      ...setting.usage,
      output_tokens: answer.output_tokens ?? countTokens(content),
      service_tier: 'standard',
      ...searchUsage(content),
      ...answer.usage,
    },
  };
}

function answerContent(answer: Answer, { place, newToolId }: AnswerSetting): WireBlock[] {
  const blocks: WireBlock[] = [];
  if (answer.thinking !== undefined) blocks.push({ type: 'thinking', thinking: answer.thinking });
  if (answer.text !== undefined) blocks.push({ type: 'text', text: answer.text });
  for (const { id, name, input } of answer.tool_use ?? []) blocks.push({ type: 'tool_use', id, name, input });
  return [...blocks, ...(answer.content ?? [])].map((block) => {
    if (block.type === 'tool_use') return { ...block, id: block.id ?? newToolId() };
    if (block.type === 'thinking' && block.signature === undefined) {
      return { ...block, signature: sealThinking(place(), String(block.thinking)) };
    }
    if (block.type === 'redacted_thinking' && block.data === undefined) {
      return { ...block, data: sealThinking(place(), '') };
    }
    return sealSearch(block);
  });
}

function countTokens(content: readonly WireBlock[]): number {
  if (content.length === 0) return 0;
  return Math.max(1, Math.floor(Buffer.byteLength(JSON.stringify(content)) / 4));
}
