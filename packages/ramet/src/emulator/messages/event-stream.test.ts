import { describe, expect, test } from 'vitest';
import { composeMessage } from '../answer.ts';
import { messageEvents } from './event-stream.ts';

const USAGE = {
  input_tokens: 3,
  cache_creation_input_tokens: 2,
  cache_read_input_tokens: 1,
  cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 0 },
};

const message = composeMessage(
  {
    thinking: 'Let me see',
    text: `naïve 😀 ${'long '.repeat(50)}`,
    tool_use: [{ name: 'Read', input: { file_path: '/a', nested: { deep: [1] } } }],
    output_tokens: 42,
  },
  { id: 'msg_1', model: 'm', usage: USAGE, place: () => 'here', newToolId: () => 'toolu_1' },
);

type Event = { type: string; index?: number; [field: string]: unknown };

const events = messageEvents(message).map(({ text }): Event => {
  const [, name, data] = /^event: (\w+)\ndata: (.*)\n\n$/.exec(text) ?? [];
  const parsed = JSON.parse(data ?? '');
  expect(parsed.type).toBe(name);
  return parsed;
});

describe('EMU-1: events of a streamed message', () => {
  test('come in documented order', () => {
    const order = events.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1]);
    const block = ['content_block_start', 'content_block_delta', 'content_block_stop'];
    expect(order).toEqual([
      'message_start',
      'ping',
      ...block,
      ...block,
      ...block,
      'message_delta',
      'message_stop',
    ]);
  });

  test('the first holds an empty message with all of the input usage, the last usage is cumulative', () => {
    expect(events[0]).toMatchObject({ message: { content: [], stop_reason: null, usage: USAGE } });
    expect(events.at(-2)).toEqual({
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { ...USAGE, output_tokens: 42, service_tier: 'standard' },
    });
  });

  test('deltas of a block, put together, are the block', () => {
    const joined = (index: number, field: string) =>
      events
        .filter((event) => event.type === 'content_block_delta' && event.index === index)
        .map((event) => (event.delta as Record<string, string>)[field] ?? '')
        .join('');
    expect(joined(0, 'thinking')).toBe('Let me see');
    expect(joined(1, 'text')).toBe(message.content[1]?.text);
    expect(JSON.parse(joined(2, 'partial_json'))).toEqual(message.content[2]?.input);
  });

  test('blocks start empty, and thinking ends with exactly one signature', () => {
    const starts = events.filter(({ type }) => type === 'content_block_start');
    expect(starts.map(({ content_block }) => content_block)).toEqual([
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'text', text: '' },
      { type: 'tool_use', id: 'toolu_1', name: 'Read', input: {} },
    ]);
    const ofThinking = events.filter(({ type, index }) => type === 'content_block_delta' && index === 0);
    expect(ofThinking.map(({ delta }) => (delta as Event).type)).toEqual([
      'thinking_delta',
      'thinking_delta',
      'signature_delta',
    ]);
  });

  test('no delta ends inside a character', () => {
    const emoji = composeMessage(
      { text: '😀'.repeat(99) },
      { id: 'm', model: 'm', usage: USAGE, place: () => '', newToolId: () => '' },
    );
    for (const { text } of messageEvents(emoji)) expect(text).not.toContain('\\ud83d');
  });

  test('an empty text and an empty input still have valid events', () => {
    const empty = composeMessage(
      {
        content: [
          { type: 'text', text: '' },
          { type: 'tool_use', name: 'T', input: {} },
        ],
      },
      { id: 'm', model: 'm', usage: USAGE, place: () => '', newToolId: () => 'toolu_2' },
    );
    expect(messageEvents(empty).filter(({ delta }) => delta === 'text')).toEqual([]);
    expect(messageEvents(empty).filter(({ delta }) => delta === 'tool_input')).toHaveLength(2);
  });
});
