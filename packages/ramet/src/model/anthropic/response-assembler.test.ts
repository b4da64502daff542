import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ModelDelta } from '../provider.ts';
import { ResponseAssembler, type StreamEvent } from './response-assembler.ts';

const START: StreamEvent = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    model: 'm',
    usage: { input_tokens: 5, output_tokens: 1, cache_read_input_tokens: 7 },
  },
};
const end = (stop_reason: string): StreamEvent[] => [
  { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
];
const block = (
  index: number,
  content_block: StreamEvent['content_block'],
  deltas: object[],
): StreamEvent[] => [
  { type: 'content_block_start', index, ...(content_block ? { content_block } : {}) },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta: { ...delta } })),
  { type: 'content_block_stop', index },
];
const text = (index: number, ...parts: string[]): StreamEvent[] =>
  block(
    index,
    { type: 'text', text: '' },
    parts.map((part) => ({ type: 'text_delta', text: part })),
  );
const call = (index: number, ...parts: string[]): StreamEvent[] =>
  block(
    index,
    { type: 'tool_use', id: 't1', name: 'Bash', input: {} },
    parts.map((part) => ({ type: 'input_json_delta', partial_json: part })),
  );

function assemble(events: StreamEvent[]): ReturnType<ResponseAssembler['finish']> & { deltas: ModelDelta[] } {
  const deltas: ModelDelta[] = [];
  const assembler = new ResponseAssembler((delta) => deltas.push(delta));
  for (const event of events) assembler.take(event);
  return { ...assembler.finish(), deltas };
}

describe('MODEL-2: a response is accepted whole or not at all', () => {
  test('text, thinking and tool calls are put together with their exact JSON', () => {
    const thinking = block(0, { type: 'thinking', thinking: '', signature: '' }, [
      { type: 'thinking_delta', thinking: 'let me ' },
      { type: 'thinking_delta', thinking: 'see' },
      { type: 'signature_delta', signature: 'c2ln' },
    ]);
    const message = assemble([
      START,
      ...thinking,
      { type: 'ping' },
      ...text(1, 'Hel', 'lo'),
      ...call(2, '{"command": ', '"ls", "2":1,"1":2}'),
      ...end('tool_use'),
    ]);
    expect(message.blocks.map(({ json }) => json)).toEqual([
      '{"type":"thinking","thinking":"let me see","signature":"c2ln"}',
      '{"type":"text","text":"Hello"}',
      '{"type":"tool_use","id":"t1","name":"Bash","input":{"command": "ls", "2":1,"1":2}}',
    ]);
    expect(message.blocks[2]?.value).toMatchObject({ input: { command: 'ls', '1': 2, '2': 1 } });
    expect(message).toMatchObject({ id: 'msg_1', model: 'm', stopReason: 'tool_use', cutToolUse: false });
  });

  test('usage is cumulative: a later report replaces what it names and keeps the rest', () => {
    expect(assemble([START, ...text(0, 'x'), ...end('end_turn')]).usage).toEqual({
      input_tokens: 5,
      output_tokens: 9,
      cache_read_input_tokens: 7,
    });
  });

  test('the first content is announced once, before the text', () => {
    const { deltas } = assemble([START, ...text(0, 'a', 'b'), ...text(1, 'c'), ...end('end_turn')]);
    expect(deltas.map((delta) => delta.type)).toEqual(['began', 'text', 'text', 'text']);
  });

  test('a tool call without arguments has an empty object as input', () => {
    const message = assemble([START, ...call(0), ...end('tool_use')]);
    expect(message.blocks[0]?.json).toBe('{"type":"tool_use","id":"t1","name":"Bash","input":{}}');
  });

  test('blank text blocks are dropped: no request may carry one', () => {
    const message = assemble([START, ...text(0), ...text(1, '\n \n'), ...text(2, 'x'), ...end('end_turn')]);
    expect(message.blocks).toHaveLength(1);
  });

  test.each([
    ['is not an object', '[1]'],
    ['is nested too deeply', `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
    ['holds half a surrogate pair', '{"a":"\\ud83d"}'],
  ])('tool input that %s is passed on as invalid, so that the model is told', (_, json) => {
    const [block] = assemble([START, ...call(0, json), ...end('tool_use')]).blocks;
    const expected = {
      type: 'tool_use',
      id: 't1',
      name: 'Bash',
      input: { invalid_input: json.slice(0, 1_000) },
    };
    expect(block?.value).toEqual(expected);
    expect(JSON.parse(block?.json ?? '')).toEqual(expected);
  });

  test('a surrogate pair in tool input is left as it is', () => {
    const json = '{"a":"\\ud83c\\udf33"}';
    expect(assemble([START, ...call(0, json), ...end('tool_use')]).blocks[0]?.json).toContain(json);
  });

  test('blocks and events of unknown kinds are kept and ignored', () => {
    const odd = { type: 'web_search_tool_result', tool_use_id: 's1', content: [] };
    const message = assemble([START, { type: 'brand_new' }, ...block(0, odd, []), ...end('end_turn')]);
    expect(message.blocks[0]?.value).toEqual(odd);
  });

  test('a tool call cut off by max_tokens is reported as cut, not run', () => {
    const message = assemble([
      START,
      ...text(0, 'now'),
      ...call(1, '{"command": "rm -r'),
      ...end('max_tokens'),
    ]);
    expect(message).toMatchObject({ cutToolUse: true, stopReason: 'max_tokens' });
    expect(message.blocks).toHaveLength(1);
  });

  test.each([
    ['before anything came', []],
    ['before message_stop', [START, ...text(0, 'x')]],
    ['inside a block', [START, ...text(0, 'x').slice(0, 2)]],
  ])('a stream that ends %s is cut off, which is not the model', (_, events) => {
    expect(() => assemble(events)).toThrow(
      expect.objectContaining({ code: 'stream_cut', family: 'retryable' }),
    );
  });

  test.each([
    ['without a stop reason', [START, ...text(0, 'x'), { type: 'message_stop' }]],
    ['with tool input that is not JSON', [START, ...call(0, '{"command": "l'), ...end('tool_use')]],
    [
      'with a delta of null',
      [START, ...text(0, 'x').slice(0, 1), { type: 'content_block_delta', index: 0, delta: null }],
    ],
    ['with a block opened twice', [START, ...text(0, 'x').slice(0, 1), ...text(0, 'x')]],
    ['with two calls of one id', [START, ...call(0, '{}'), ...call(1, '{}'), ...end('tool_use')]],
    [
      'with a call whose id the API would not take back',
      [START, ...block(0, { type: 'tool_use', id: 'a b', name: 'Bash', input: {} }, []), ...end('tool_use')],
    ],
    ['with a delta for no block', [START, { type: 'content_block_delta', index: 3, delta: {} }]],
    ['with a second start', [START, START]],
    ['with content before the start', text(0, 'x')],
  ])('a stream that ends %s is broken and can be retried', (_, events) => {
    expect(() => assemble(events)).toThrow(
      expect.objectContaining({ code: 'stream_broken', family: 'retryable' }),
    );
  });

  test.each([
    ['overloaded_error', 'retryable'],
    ['invalid_request_error', 'terminal'],
  ])('an error event of type %s in mid-stream is %s', (type, family) => {
    const events = [START, ...text(0, 'x'), { type: 'error', error: { type, message: 'why' } }];
    expect(() => assemble(events)).toThrow(expect.objectContaining({ code: type, family }));
  });

  test('no proper beginning of a stream is taken for a whole response', () => {
    const whole = [START, ...text(0, 'a', 'b'), ...call(1, '{"a":', '1}'), ...end('tool_use')];
    fc.assert(
      fc.property(fc.nat({ max: whole.length - 1 }), (length) => {
        expect(() => assemble(whole.slice(0, length))).toThrow('broken');
      }),
    );
  });
});
