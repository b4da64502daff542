/** What a change costs, level by level. Each level is 2,000 tokens with its own mark. */
import { describe, expect, test } from 'vitest';
import { PromptCache } from './cache.ts';
import { parseRequest } from './message-request.ts';
import { buildPrompt, type PromptOrigin } from './prompt.ts';

type Fields = Record<string, unknown>;

const mark = { cache_control: { type: 'ephemeral' } };
const words = (fill: string) => ({ type: 'text', text: fill.repeat(8000) });
const tool = { name: 'Read', description: 'd'.repeat(8000), input_schema: {} };
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } };
const WARM = { tools: [{ ...tool, ...mark }], system: [{ ...words('s'), ...mark }] };

function base(...extra: Fields[]): Fields {
  return {
    model: 'claude-opus-5',
    max_tokens: 100,
    ...WARM,
    messages: [{ role: 'user', content: [...extra, { ...words('m'), ...mark }] }],
  };
}

/** Which levels are still read after `before` was sent and then `after`. */
function surviving(before: Fields, after: Fields, origin: Partial<PromptOrigin> = {}): string {
  const cache = new PromptCache();
  const admit = (fields: Fields, from: Partial<PromptOrigin>) => {
    const request = parseRequest(JSON.stringify(fields), { counting: false });
    const admission = cache.admit(buildPrompt(request, { key: 'k', betas: ['b1'], ...from }), 0);
    cache.begin(admission);
    return admission.usage.cache_read_input_tokens;
  };
  admit(before, {});
  const read = admit(after, origin);
  return ['nothing', 'tools', 'tools, system', 'tools, system, messages'][Math.floor(read / 2000)] ?? '?';
}

const ALL = 'tools, system, messages';

describe('EMU-2: what invalidates what', () => {
  test.each<[string, Fields, string]>([
    ['nothing at all', {}, ALL],
    ['a tool description', { tools: [{ ...tool, description: 'e'.repeat(8000), ...mark }] }, 'nothing'],
    [
      'a tool put in front',
      {
        tools: [
          { ...tool, name: 'New' },
          { ...tool, ...mark },
        ],
      },
      'nothing',
    ],
    ['no tools', { tools: [] }, 'nothing'],
    ['the model', { model: 'claude-opus-4-8' }, 'nothing'],
    ['the system text', { system: [{ ...words('t'), ...mark }] }, 'tools'],
    [
      'web search switched on',
      { tools: [...WARM.tools, { type: 'web_search_20260209', name: 'web_search' }] },
      'tools',
    ],
    ['fast speed', { speed: 'fast' }, 'tools'],
    ['standard speed, the default', { speed: 'standard' }, ALL],
    ['tool_choice none', { tool_choice: { type: 'none' } }, 'tools, system'],
    ['tool_choice auto, the default', { tool_choice: { type: 'auto' } }, ALL],
    [
      'disable_parallel_tool_use',
      { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      'tools, system',
    ],
    ['thinking switched on', { thinking: { type: 'adaptive' } }, 'nothing'],
    ['effort', { output_config: { effort: 'low' } }, 'nothing'],
    ['effort named as its default', { output_config: { effort: 'high' } }, ALL],
    ['an output format', { output_config: { format: { type: 'json_schema' } } }, 'nothing'],
    ['context_management', { context_management: { edits: [] } }, 'nothing'],
    ['a field never heard of', { novelty: true }, 'nothing'],
    ['max_tokens', { max_tokens: 7 }, ALL],
    ['stream', { stream: true }, ALL],
    ['metadata', { metadata: { user_id: 'u' } }, ALL],
    ['stop_sequences', { stop_sequences: ['x'] }, ALL],
    [
      'a deferred tool added',
      { tools: [...WARM.tools, { ...tool, name: 'Later', defer_loading: true }] },
      ALL,
    ],
  ])('changing %s', (_, change, expected) => {
    expect(surviving(base(), { ...base(), ...change })).toBe(expected);
  });

  test.each<[string, Fields]>([
    ['an image', image],
    ['an image in a document-like block', { type: 'other', content: [image] }],
  ])('%s added anywhere costs the messages, also those before it', (_, block) => {
    const after = base();
    const grown = {
      ...after,
      messages: [...(after.messages as Fields[]), { role: 'user', content: [{ ...block, ...mark }] }],
    };
    expect(surviving(base(), grown)).toBe('tools, system');
  });

  test('citations switched on cost system and messages', () => {
    const document = (citations?: Fields) => ({ type: 'document', source: { type: 'text' }, citations });
    expect(surviving(base(document()), base(document({ enabled: true })))).toBe('tools');
  });

  test('the thinking budget costs everything', () => {
    const budget = (tokens: number) => ({
      ...base(),
      max_tokens: 9000,
      thinking: { type: 'enabled', budget_tokens: tokens },
    });
    expect(surviving(budget(2000), budget(3000))).toBe('nothing');
  });

  test('the default effort of a model whose default is unknown differs from none', () => {
    const unknown = { ...base(), model: 'claude-sonnet-5-5' };
    expect(surviving(unknown, { ...unknown, output_config: { effort: 'high' } })).toBe('nothing');
  });

  test('another API key reads nothing, another set of beta headers reads nothing, their order does not matter', () => {
    expect(surviving(base(), base(), { key: 'other' })).toBe('nothing');
    expect(surviving(base(), base(), { betas: ['b1', 'b2'] })).toBe('nothing');
    expect(surviving(base(), base(), { betas: ['b1', 'b1'] })).toBe(ALL);
  });
});

describe('EMU-2: marks that are refused', () => {
  const texts = (...marks: (string | undefined)[]) =>
    marks.map((ttl) => ({
      type: 'text',
      text: 'x',
      ...(ttl === undefined ? {} : { cache_control: { type: 'ephemeral', ttl } }),
    }));
  const ask = (content: Fields[], more: Fields = {}) =>
    buildPrompt(
      parseRequest(
        JSON.stringify({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content }], ...more }),
        {
          counting: false,
        },
      ),
      { key: 'k', betas: [] },
    );

  test.each<[string, Fields[], Fields, string]>([
    ['five marks', texts('5m', '5m', '5m', '5m', '5m'), {}, 'maximum of 4'],
    ['four marks and the automatic one', texts('5m', '5m', '5m', '5m'), mark, 'needs one of the 4'],
    ['the automatic one with another lifetime than the last block', texts('1h'), mark, 'differs'],
    ['1 h after 5 min', texts('5m', '1h'), {}, 'must not come after'],
    [
      'an automatic 1 h after 5 min',
      texts('5m', undefined),
      { cache_control: { type: 'ephemeral', ttl: '1h' } },
      'must not come after',
    ],
    ['thinking', [{ type: 'thinking', thinking: 'h', signature: 's', ...mark }], {}, 'thinking blocks'],
    [
      'redacted thinking',
      [{ type: 'redacted_thinking', data: 'd', ...mark }],
      {},
      'redacted_thinking blocks',
    ],
    ['empty text', [{ type: 'text', text: '', ...mark }], {}, 'empty text'],
    [
      'a part of a tool result',
      [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'x', ...mark }] }],
      {},
      'mark the block itself',
    ],
  ])('%s', (_, content, more, message) => {
    expect(() => ask(content, more)).toThrow(message);
  });

  test('four marks, 1 h first, are accepted', () => {
    expect(ask(texts('1h', '1h', '5m', '5m')).marks.map(({ ttl }) => ttl)).toEqual(['1h', '1h', '5m', '5m']);
  });
});
