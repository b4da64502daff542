import type Anthropic from '@anthropic-ai/sdk';
import { expect, expectTypeOf, test } from 'vitest';
import type {
  CacheControl,
  ContentBlock,
  Message,
  StopReason,
  ThinkingConfig,
  ToolSchema,
} from './content.ts';

/** Fails to compile when our shapes are not what the official SDK would accept. */
test("MODEL-1: the conversation format is the official SDK's", () => {
  expectTypeOf<ContentBlock>().toExtend<Anthropic.ContentBlockParam>();
  expectTypeOf<Message>().toExtend<Anthropic.MessageParam>();
  expectTypeOf<ToolSchema['name']>().toExtend<Anthropic.Tool['name']>();
  expectTypeOf<CacheControl>().toExtend<Anthropic.CacheControlEphemeral>();
  expectTypeOf<StopReason>().toExtend<Anthropic.StopReason>();
  expectTypeOf<ThinkingConfig>().toExtend<Anthropic.ThinkingConfigParam>();
  const message: Anthropic.MessageParam = { role: 'user', content: [{ type: 'text', text: 'hello' }] };
  expect(message.role).toBe('user');
});
