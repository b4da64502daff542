import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ModelDelta } from '../provider.ts';
import { type AssembledChat, type ChatChunk, OpenaiAssembler } from './openai-assembler.ts';

const choice = (delta: object, finish: string | null = null): ChatChunk => ({
  id: 'c1',
  model: 'served',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const call = (fields: object, name?: string, json?: unknown): ChatChunk =>
  choice({ tool_calls: [{ ...fields, function: { name, arguments: json } }] });

function assemble(chunks: ChatChunk[], usedIds: string[] = []): AssembledChat & { deltas: ModelDelta[] } {
  const deltas: ModelDelta[] = [];
  const assembler = new OpenaiAssembler(usedIds, (delta) => deltas.push(delta));
  for (const chunk of chunks) assembler.take(chunk);
  return { ...assembler.finish(), deltas };
}

const values = (chunks: ChatChunk[], usedIds?: string[]): unknown[] =>
  assemble(chunks, usedIds).blocks.map(({ value }) => value);

describe('MODEL-1: chunks become a response', () => {
  test('text and thinking are reported as they come; thinking is not kept', () => {
    const { deltas, blocks, stopReason, id, model } = assemble([
      choice({ role: 'assistant', content: null }),
      choice({ reasoning_content: 'hm' }),
      choice({ content: 'Grü' }),
      choice({ content: 'ße', reasoning: null }),
      choice({}, 'stop'),
    ]);
    expect(deltas).toEqual([
      { type: 'began' },
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'Grü' },
      { type: 'text', text: 'ße' },
    ]);
    expect(blocks.map(({ json }) => json)).toEqual(['{"type":"text","text":"Grüße"}']);
    expect({ stopReason, id, model }).toEqual({ stopReason: 'end_turn', id: 'c1', model: 'served' });
  });

  test.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['something_new', 'something_new'],
    ['constructor', 'constructor'],
  ])('finish reason %s is %s', (finish, stopReason) => {
    expect(assemble([choice({ content: 'x' }, finish)]).stopReason).toBe(stopReason);
  });

  test.each(['', 'null'])('a finish reason of %j is none yet', (none) => {
    expect(assemble([choice({ content: 'a' }, none), choice({ content: 'b' }, 'stop')])).toMatchObject({
      stopReason: 'end_turn',
      blocks: [{ value: { text: 'ab' } }],
    });
  });

  test('a refusal is one whatever the finish reason says', () => {
    expect(assemble([choice({ refusal: 'I cannot.' }), choice({}, 'stop')]).stopReason).toBe('refusal');
  });

  test('parallel calls arrive in interleaved pieces', () => {
    const chunks = [
      call({ index: 0, id: 'a', type: 'function' }, 'Read', ''),
      call({ index: 1, id: 'b', type: 'function' }, 'Bash', ''),
      call({ index: 0 }, undefined, '{"file_'),
      call({ index: 1 }, undefined, '{"command":"ls"}'),
      call({ index: 0 }, undefined, 'path":"x"}'),
      choice({}, 'tool_calls'),
    ];
    expect(values(chunks)).toEqual([
      { type: 'tool_use', id: 'a', name: 'Read', input: { file_path: 'x' } },
      { type: 'tool_use', id: 'b', name: 'Bash', input: { command: 'ls' } },
    ]);
    expect(assemble(chunks).stopReason).toBe('tool_use');
  });

  test.each<[string, ChatChunk[]]>([
    [
      'one index for all of them',
      [call({ index: 0, id: 'a' }, 'A', '{}'), call({ index: 0, id: 'b' }, 'B', '{}')],
    ],
    ['no index', [call({ id: 'a' }, 'A', '{}'), call({ id: 'b' }, 'B', '{}')]],
    ['arguments as objects', [call({ index: 0, id: 'a' }, 'A', {}), call({ index: 1, id: 'b' }, 'B', {})]],
    ['no arguments', [call({ index: 0, id: 'a' }, 'A'), call({ index: 1, id: 'b' }, 'B', null)]],
    [
      'id and name with every piece',
      [
        call({ index: 0, id: 'a' }, 'A', '{'),
        call({ index: 0, id: 'a' }, 'A', '}'),
        call({ index: 0, id: 'a' }, 'A', ''),
        call({ index: 1, id: 'b' }, 'B', '{}'),
      ],
    ],
  ])('calls in one piece with %s are told apart', (_, chunks) => {
    expect(values([...chunks, choice({}, 'stop')])).toEqual([
      { type: 'tool_use', id: 'a', name: 'A', input: {} },
      { type: 'tool_use', id: 'b', name: 'B', input: {} },
    ]);
  });

  test('missing, doubled and reused ids become unique ones, the same in every run', () => {
    const chunks = [
      call({ index: 0 }, 'A', '{"n":1}'),
      call({ index: 1, id: 'x' }, 'A', '{"n":2}'),
      call({ index: 2, id: 'x' }, 'A', '{"n":3}'),
      call({ index: 3, id: 'old' }, 'A', '{"n":4}'),
      choice({}, 'tool_calls'),
    ];
    const ids = assemble(chunks, ['old']).blocks.map(({ value }) => ('id' in value ? value.id : null));
    expect(ids).toEqual(['call00002', 'x', 'call00004', 'call00005']);
    expect(new Set([...ids, 'old']).size).toBe(5);
  });

  test('arguments that are no object and names that no tool can have reach the model as mistakes', () => {
    const chunks = [call({ index: 0, id: 'functions.A:0' }, 'functions.A', '[1]'), choice({}, 'tool_calls')];
    expect(values(chunks)).toEqual([
      { type: 'tool_use', id: 'call00001', name: 'functions_A', input: { invalid_input: '[1]' } },
    ]);
  });

  test('blank text is dropped, half a surrogate pair replaced: no request may carry them', () => {
    expect(values([choice({ content: ' \n' }, 'stop')])).toEqual([]);
    expect(values([choice({ content: 'a\ud83d' }, 'stop')])).toEqual([{ type: 'text', text: 'a\ufffd' }]);
  });

  test('ids are made for calls of one name without ids and indexes', () => {
    const chunks = [call({}, 'A', '{"n":1}'), call({}, 'A', '{"n":2}'), choice({}, 'tool_calls')];
    expect(values(chunks)).toMatchObject([{ input: { n: 1 } }, { input: { n: 2 } }]);
  });

  test('content in parts, other choices and chunks without choices are understood or passed over', () => {
    const chunks: ChatChunk[] = [
      { choices: [] },
      { choices: null },
      { choices: [null, { index: 1, delta: { content: 'other' }, finish_reason: 'length' }] },
      choice({ content: [{ type: 'text', text: 'a' }, { type: 'thinking' }, null] }),
      choice({ content: 7, tool_calls: 'none' }, 'stop'),
    ];
    expect(values(chunks)).toEqual([{ type: 'text', text: 'a' }]);
  });

  test('a document that is not streamed is one chunk with a message', () => {
    const message = { role: 'assistant', content: 'whole' };
    const chunk = { id: 'c', choices: [{ index: 0, message, finish_reason: 'stop' }] };
    expect(values([chunk])).toEqual([{ type: 'text', text: 'whole' }]);
  });
});

describe('MODEL-1: properties of tool calls', () => {
  const inputs = fc.array(fc.dictionary(fc.string(), fc.string()), { minLength: 1, maxLength: 4 });
  const sizes = fc.infiniteStream(fc.integer({ min: 1, max: 9 }));

  /** Every call in pieces of these sizes, the pieces of all calls in turn; `fields` come with each piece. */
  function streamed(calls: object[], cut: Iterator<number>, fields: (index: number) => object): ChatChunk[] {
    const left = calls.map((input) => JSON.stringify(input));
    const chunks = calls.map((_, index) => call({ index, id: `id${index}` }, 'A', ''));
    while (left.some((json) => json !== '')) {
      left.forEach((json, index) => {
        const size = Number(cut.next().value);
        if (json !== '') chunks.push(call({ index, ...fields(index) }, undefined, json.slice(0, size)));
        left[index] = json.slice(size);
      });
    }
    return [...chunks, choice({}, 'tool_calls')];
  }

  test('however arguments are cut and mixed, every call gets its own', () => {
    fc.assert(
      fc.property(inputs, sizes, fc.boolean(), (calls, cut, repeatsId) => {
        const chunks = streamed(calls, cut, (index) => (repeatsId ? { id: `id${index}` } : {}));
        expect(values(chunks)).toEqual(
          calls.map((input, index) => ({ type: 'tool_use', id: `id${index}`, name: 'A', input })),
        );
      }),
    );
  });

  test('a stream that ends anywhere before its finish reason is never a response', () => {
    fc.assert(
      fc.property(inputs, sizes, fc.nat(), (calls, cut, end) => {
        const chunks = streamed(calls, cut, () => ({}));
        expect(() => assemble(chunks.slice(0, end % chunks.length))).toThrow('without a finish reason');
      }),
    );
  });
});

describe('MODEL-2: nothing comes of an incomplete answer', () => {
  test.each<[string, ChatChunk[], string]>([
    ['no finish reason', [choice({ content: 'x' })], 'without a finish reason'],
    ['nothing at all', [], 'without a finish reason'],
    ['a server that gave up', [choice({ content: 'x' }, 'error')], 'gave up'],
    [
      'arguments nested beyond all bounds',
      [call({ index: 0, id: 'a' }, 'A', JSON.parse(`{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`))],
      'arguments',
    ],
    ['half a tool call', [call({ index: 0, id: 'a' }, 'A', '{"n":'), choice({}, 'tool_calls')], 'no JSON'],
    [
      'a call without a name',
      [call({ index: 0, id: 'a' }, undefined, '{}'), choice({}, 'stop')],
      'has no name',
    ],
    ['announced calls that are not there', [choice({}, 'tool_calls')], 'has none'],
    [
      'half a call before a whole one',
      [call({ index: 0, id: 'a' }, 'A', '{'), call({ index: 1, id: 'b' }, 'B', '{}'), choice({}, 'length')],
      'no JSON',
    ],
  ])('%s is a broken stream', (_, chunks, message) => {
    expect(() => assemble(chunks)).toThrow(
      expect.objectContaining({
        code: expect.stringMatching(/^stream_(?:broken|cut)$/),
        family: 'retryable',
        message: expect.stringContaining(message),
      }),
    );
  });

  test.each([
    ['half its arguments', '{"n":'],
    ['none yet', ''],
  ])('a call that the output limit cut with %s is left out and told', (_, json) => {
    const { blocks, cutToolUse, stopReason } = assemble([
      call({ index: 0, id: 'a' }, 'A', '{}'),
      call({ index: 1, id: 'b' }, 'B', json),
      choice({}, 'length'),
    ]);
    expect(blocks).toHaveLength(1);
    expect({ cutToolUse, stopReason }).toEqual({ cutToolUse: true, stopReason: 'max_tokens' });
  });
});

describe('MODEL-3: usage', () => {
  const usageOf = (usage: unknown): unknown =>
    // A server may send anything here.
    assemble([choice({ content: 'x' }, 'stop'), { choices: [], usage: usage as null }]).usage;

  test('cached and written tokens are taken out of the prompt', () => {
    const details = { cached_tokens: 1024, cache_write_tokens: 100 };
    expect(usageOf({ prompt_tokens: 1500, completion_tokens: 7, prompt_tokens_details: details })).toEqual({
      input_tokens: 376,
      cache_read_input_tokens: 1024,
      cache_creation_input_tokens: 100,
      cache_creation_1h_input_tokens: 0,
      output_tokens: 7,
    });
  });

  test.each([
    [{ prompt_cache_hit_tokens: 64 }],
    [{ cached_tokens: 64 }],
    [{ prompt_tokens_details: { cached_tokens: 64 }, cached_tokens: 1 }],
  ])('cached tokens are found in %j', (fields) => {
    expect(usageOf({ prompt_tokens: 100, completion_tokens: 1, ...fields })).toMatchObject({
      input_tokens: 36,
      cache_read_input_tokens: 64,
    });
  });

  test.each([
    [null],
    [undefined],
    ['many'],
    [{}],
    [{ prompt_tokens: 5 }],
    [{ prompt_tokens: 0, completion_tokens: 0 }],
  ])('usage %j is unknown, not zero', (usage) => {
    expect(usageOf(usage)).toBeNull();
  });

  test('parts larger than the whole never make a negative count', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 50 } };
    expect(usageOf(usage)).toMatchObject({ input_tokens: 0, cache_read_input_tokens: 10 });
  });
});
