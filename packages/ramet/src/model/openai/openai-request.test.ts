import type OpenAI from 'openai';
import { describe, expect, expectTypeOf, test } from 'vitest';
import type { Message } from '../../schema/content.ts';
import { type ChatRequest, chatRequest, type TranslatableBody } from './openai-request.ts';

const translate = (messages: Message[], more: Partial<TranslatableBody> = {}): ChatRequest =>
  chatRequest({ model: 'm', max_tokens: 9, messages, ...more });

const PNG = { type: 'base64', media_type: 'image/png', data: 'iVBO' } as const;

/** Fails to compile when the official SDK would not accept what is sent. */
test("MODEL-1: a request is the official SDK's", () => {
  expectTypeOf<ChatRequest>().toExtend<OpenAI.ChatCompletionCreateParamsStreaming>();
});

describe('MODEL-1: a Messages body becomes a chat completions request', () => {
  test('system, text and limits have their places, and usage is asked for', () => {
    const system = [
      { type: 'text' as const, text: 'Be kind.' },
      { type: 'text' as const, text: 'Be brief.' },
    ];
    const user = { role: 'user' as const, content: [{ type: 'text' as const, text: 'hello' }] };
    expect(translate([user], { system })).toEqual({
      model: 'm',
      messages: [
        { role: 'system', content: 'Be kind.\n\nBe brief.' },
        { role: 'user', content: 'hello' },
      ],
      max_tokens: 9,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test.for([
    [{ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }, 'low'],
    [{ thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }, 'high'],
    [{ thinking: { type: 'enabled', budget_tokens: 9_000 } }, 'low'],
    [{ thinking: { type: 'enabled', budget_tokens: 10_000 } }, 'medium'],
    [{ thinking: { type: 'enabled', budget_tokens: 90_000 } }, 'high'],
    [{ thinking: { type: 'disabled' } }, undefined],
    [{}, undefined],
  ] as const)('RES-9: thinking is a reasoning effort: %j', ([body, effort]) => {
    expect(translate([], body).reasoning_effort).toBe(effort);
  });

  test('several calls and their results become tool_calls and tool messages, other text comes behind', () => {
    const { messages } = translate([
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'text', text: 'Reading.' },
          { type: 'tool_use', id: 'a', name: 'Read', input: { file_path: 'x' } },
          { type: 'tool_use', id: 'b', name: 'Bash', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'one' },
          { type: 'tool_result', tool_use_id: 'b', content: 'gone wrong', is_error: true },
          { type: 'text', text: 'Go on.' },
        ],
      },
    ]);
    expect(messages).toEqual([
      {
        role: 'assistant',
        content: 'Reading.',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'Read', arguments: '{"file_path":"x"}' } },
          { id: 'b', type: 'function', function: { name: 'Bash', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      { role: 'tool', tool_call_id: 'b', content: 'Error: gone wrong' },
      { role: 'user', content: 'Go on.' },
    ]);
  });

  test('calls without text have null content; thinking alone leaves no message', () => {
    const { messages } = translate([
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'Read', input: {} }] },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: 's' }] },
    ]);
    expect(messages).toMatchObject([{ role: 'assistant', content: null }]);
  });

  test('an image is a data address; one in a tool result follows the results', () => {
    const { messages } = translate([
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'image', source: PNG }] },
          { type: 'tool_result', tool_use_id: 'b', content: 'text' },
          { type: 'text', text: 'Look.' },
          { type: 'image', source: PNG },
        ],
      },
    ]);
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } };
    expect(messages).toEqual([
      { role: 'tool', tool_call_id: 'a', content: '(image below)' },
      { role: 'tool', tool_call_id: 'b', content: 'text' },
      {
        role: 'user',
        content: [
          { type: 'text', text: '(from tool call a)' },
          image,
          { type: 'text', text: 'Look.' },
          image,
        ],
      },
    ]);
  });

  test('tools lose their cache marks, and every tool choice has its word', () => {
    const tool = { name: 'Read', description: 'reads', input_schema: { type: 'object' } };
    const marked = { ...tool, cache_control: { type: 'ephemeral' } };
    expect(translate([], { tools: [marked] }).tools).toEqual([
      { type: 'function', function: { name: 'Read', description: 'reads', parameters: { type: 'object' } } },
    ]);
    const choices = ['auto', 'any', 'none'].map(
      (type) => translate([], { tool_choice: { type } }).tool_choice,
    );
    expect(choices).toEqual(['auto', 'required', 'none']);
    const forced = { type: 'tool', name: 'Read', disable_parallel_tool_use: true };
    expect(translate([], { tool_choice: forced })).toMatchObject({
      tool_choice: { type: 'function', function: { name: 'Read' } },
      parallel_tool_calls: false,
    });
  });
});
