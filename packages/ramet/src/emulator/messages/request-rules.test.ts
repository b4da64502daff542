import { describe, expect, test } from 'vitest';
import { ApiError } from '../api-error.ts';
import { parseRequest } from './message-request.ts';
import { checkRequest } from './request-rules.ts';
import { sealSearch } from './web-search.ts';

const hello = { role: 'user', content: 'hello' };
const call = (...ids: string[]) => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool_use', id, name: 'Read', input: {} })),
});
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'done' });
const results = (...ids: string[]) => ({ role: 'user', content: ids.map(result) });
const text = (value: string) => ({ type: 'text', text: value });

function judge(fields: Record<string, unknown>): void {
  const body = JSON.stringify({ model: 'claude-sonnet-5', max_tokens: 100, messages: [hello], ...fields });
  checkRequest(parseRequest(body, { counting: false }));
}

function refusal(fields: Record<string, unknown>): string {
  try {
    judge(fields);
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return error.message;
    throw error;
  }
  return 'accepted';
}

describe('EMU-1: shape of a request', () => {
  test('a body that is not JSON is refused', () => {
    expect(() => parseRequest('{"model":', { counting: false })).toThrow('not valid JSON');
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['no model', { model: undefined }, 'model'],
    ['no max_tokens', { max_tokens: undefined }, 'max_tokens: Field required'],
    ['negative max_tokens', { max_tokens: -1 }, 'max_tokens'],
    ['no messages', { messages: [] }, 'messages'],
    ['an unknown role', { messages: [{ role: 'tool', content: 'x' }] }, 'messages.0.role'],
    [
      'a text block without text',
      { messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      'messages.0.content.0.text',
    ],
    [
      'tool input that is no object',
      {
        messages: [
          hello,
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'Read', input: [] }] },
          results('a'),
        ],
      },
      'messages.1.content.0.input',
    ],
    [
      'a tool id with forbidden characters',
      { messages: [hello, call('a b'), results('a b')] },
      'messages.1.content.0.id',
    ],
    [
      'an image in the system prompt',
      { system: [{ type: 'image', source: { type: 'base64' } }] },
      'system.0.type',
    ],
    ['an unknown kind of mark', { cache_control: { type: 'forever' } }, 'cache_control'],
    ['an unknown lifetime', { cache_control: { type: 'ephemeral', ttl: '2h' } }, 'cache_control.ttl'],
  ])('refused: %s', (_, fields, message) => {
    expect(refusal(fields)).toContain(message);
  });

  test('counting tokens needs no max_tokens', () => {
    const body = JSON.stringify({ model: 'm', messages: [hello] });
    expect(parseRequest(body, { counting: true }).max_tokens).toBeUndefined();
  });

  test('the order of keys survives parsing', () => {
    const body =
      '{"messages":[{"content":[{"text":"x","type":"text"}],"role":"user"}],"max_tokens":1,"model":"m"}';
    expect(JSON.stringify(parseRequest(body, { counting: false }))).toBe(body);
  });
});

describe('EMU-1: tool calls and their results', () => {
  test.each<[string, unknown[]]>([
    ['every call answered at once', [hello, call('a', 'b'), results('a', 'b')]],
    ['answers in another order', [hello, call('a', 'b'), results('b', 'a')]],
    [
      'answers split over two user messages, which the API merges',
      [hello, call('a', 'b'), results('a'), results('b')],
    ],
    ['text after the results', [hello, call('a'), { role: 'user', content: [result('a'), text('and?')] }]],
    [
      'an error result without content',
      [
        hello,
        call('a'),
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', is_error: true }] },
      ],
    ],
  ])('accepted: %s', (_, messages) => {
    expect(refusal({ messages })).toBe('accepted');
  });

  test.each<[string, unknown[], string]>([
    [
      'a call without a result',
      [hello, call('a', 'b'), results('a')],
      'ids were found without `tool_result` blocks immediately after: b',
    ],
    ['a call at the end', [hello, call('a')], 'without `tool_result` blocks immediately after: a'],
    [
      'a result one turn late',
      [hello, call('a'), hello, { role: 'assistant', content: 'x' }, results('a')],
      'immediately after: a',
    ],
    [
      'a result of no call',
      [hello, { role: 'assistant', content: 'x' }, results('a')],
      'unexpected `tool_use_id`',
    ],
    ['a result in the first message', [results('a')], 'unexpected `tool_use_id`'],
    ['two results of one call', [hello, call('a'), results('a', 'a')], 'single result'],
    ['an id used twice in one turn', [hello, call('a', 'a'), results('a')], 'ids must be unique'],
    [
      'an id used again later',
      [hello, call('a'), results('a'), call('a'), results('a')],
      'ids must be unique',
    ],
    [
      'text before the results',
      [hello, call('a'), { role: 'user', content: [text('so'), result('a')] }],
      'must come first',
    ],
    ['a user message with a call', [{ role: 'user', content: call('a').content }], 'cannot hold tool_use'],
    [
      'an assistant message with a result',
      [hello, { role: 'assistant', content: [result('a')] }],
      'cannot hold tool_result',
    ],
  ])('refused: %s', (_, messages, message) => {
    expect(refusal({ messages })).toContain(message);
  });
});

describe('EMU-1: roles and content', () => {
  const prefill = [hello, { role: 'assistant', content: 'Well' }];

  test.each<[string, Record<string, unknown>, string]>([
    [
      'an assistant message first',
      { messages: [{ role: 'assistant', content: 'x' }, hello] },
      'first message',
    ],
    ['an empty list of blocks', { messages: [{ role: 'user', content: [] }] }, 'non-empty content'],
    [
      'an empty string',
      { messages: [{ role: 'user', content: '' }] },
      'text content blocks must be non-empty',
    ],
    [
      'prefill from 4.6 on',
      { model: 'claude-sonnet-4-6', messages: prefill },
      'does not support assistant message prefill',
    ],
    [
      'prefill that ends in a blank',
      { model: 'claude-haiku-4-5', messages: [hello, { role: 'assistant', content: 'Well ' }] },
      'trailing whitespace',
    ],
    ['two tools of one name', { tools: [{ name: 'Read' }, { name: 'Read' }] }, 'unique'],
    ['a forced tool that is not there', { tool_choice: { type: 'tool', name: 'Read' } }, "'Read' not found"],
    [
      'a forced tool with manual thinking',
      {
        max_tokens: 9000,
        tools: [{ name: 'Read' }],
        tool_choice: { type: 'any' },
        thinking: { type: 'enabled', budget_tokens: 2000 },
      },
      'Thinking may not be enabled',
    ],
    [
      'a forced tool where the model takes none',
      { model: 'claude-opus-5-5', tools: [{ name: 'Read' }], tool_choice: { type: 'any' } },
      'forced tool use',
    ],
    [
      'a thinking budget as large as max_tokens',
      { max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 2000 } },
      'must be greater',
    ],
    [
      'a tiny thinking budget',
      { max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 10 } },
      'at least 1024',
    ],
    [
      'a system message on a model without them',
      { messages: [hello, { role: 'system', content: 'x' }] },
      'role "system"',
    ],
    [
      'a system message after an assistant turn',
      {
        model: 'claude-opus-5',
        messages: [hello, { role: 'assistant', content: 'x' }, { role: 'system', content: 'x' }],
      },
      'must follow a user turn',
    ],
    [
      'a system message followed by a user turn',
      { model: 'claude-opus-5', messages: [hello, { role: 'system', content: 'x' }, hello] },
      'must follow a user turn',
    ],
  ])('refused: %s', (_, fields, message) => {
    expect(refusal(fields)).toContain(message);
  });

  test.each<[string, Record<string, unknown>]>([
    ['prefill up to 4.5', { model: 'claude-sonnet-4-5-20250929', messages: prefill }],
    [
      'a paused server tool sent back',
      {
        messages: [
          hello,
          {
            role: 'assistant',
            content: [{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }],
          },
        ],
      },
    ],
    [
      'a system message after tool results',
      {
        model: 'claude-opus-5',
        messages: [hello, call('a'), results('a'), { role: 'system', content: 'x' }],
      },
    ],
    [
      'forced tools with adaptive thinking',
      { tools: [{ name: 'Read' }], tool_choice: { type: 'any' }, thinking: { type: 'adaptive' } },
    ],
  ])('accepted: %s', (_, fields) => {
    expect(refusal(fields)).toBe('accepted');
  });
});

describe('EMU-2: pre-warming with max_tokens 0', () => {
  test('is accepted alone', () => {
    expect(refusal({ max_tokens: 0 })).toBe('accepted');
  });

  test.each<[string, Record<string, unknown>]>([
    ['stream', { stream: true }],
    ['thinking', { thinking: { type: 'enabled', budget_tokens: 2000 } }],
    ['output_config.format', { output_config: { format: { type: 'json_schema' } } }],
    ['tool_choice', { tools: [{ name: 'Read' }], tool_choice: { type: 'any' } }],
  ])('is refused together with %s', (_, fields) => {
    expect(refusal({ max_tokens: 0, ...fields })).toContain('max_tokens: 0 cannot be combined');
  });

  test('is refused when the placeholder is blank', () => {
    expect(refusal({ max_tokens: 0, messages: [{ role: 'user', content: ' \n' }] })).toContain(
      'non-whitespace',
    );
  });
});

describe('EMU-1: searches of the provider', () => {
  const search = (id: string) => ({ type: 'server_tool_use', id, name: 'web_search', input: { query: 'x' } });
  const page = { type: 'web_search_result', url: 'https://a.example', title: 'A', page_age: null };
  const found = (id: string) =>
    sealSearch({ type: 'web_search_tool_result', tool_use_id: id, content: [page] });
  const turn = (...content: object[]) => ({ role: 'assistant', content });
  const changed = JSON.parse(JSON.stringify(found('a')).replace('"title":"A"', '"title":"B"'));
  const tools = (fields: object) => ({
    tools: [{ type: 'web_search_20250305', name: 'web_search', ...fields }],
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['both lists of domains', tools({ allowed_domains: ['a'], blocked_domains: ['b'] }), 'not both'],
    ['another name', tools({ name: 'search' }), 'must have the name web_search'],
    ['a result without a call', { messages: [hello, turn(found('a')), hello] }, 'unexpected `tool_use_id`'],
    [
      'a call without a result',
      { messages: [hello, turn(search('a'), text('x')), hello] },
      'without results: a',
    ],
    [
      'a result that was changed',
      { messages: [hello, turn(search('a'), changed), hello] },
      'send it back as it came',
    ],
    [
      'a result without what it found',
      {
        messages: [
          hello,
          turn(search('a'), { type: 'web_search_tool_result', tool_use_id: 'a', content: [page] }),
          hello,
        ],
      },
      'encrypted_content: Field required',
    ],
    [
      'one of a user',
      { messages: [{ role: 'user', content: [search('a')] }] },
      'cannot hold server_tool_use',
    ],
  ])('refused: %s', (_, fields, message) => {
    expect(refusal(fields)).toContain(message);
  });

  test.each<[string, Record<string, unknown>]>([
    ['one list of domains', tools({ allowed_domains: ['a.example'] })],
    ['a call and its result', { messages: [hello, turn(search('a'), found('a'), text('x')), hello] }],
    [
      'a pause, and the rest after it',
      { messages: [hello, turn(search('a')), turn(found('a'), text('x')), hello] },
    ],
    [
      'beside a call of ours',
      { messages: [hello, { ...call('t'), content: [search('a'), ...call('t').content] }, results('t')] },
    ],
    [
      'a search that failed',
      {
        messages: [
          hello,
          turn(search('a'), {
            type: 'web_search_tool_result',
            tool_use_id: 'a',
            content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
          }),
          hello,
        ],
      },
    ],
  ])('accepted: %s', (_, fields) => {
    expect(refusal(fields)).toBe('accepted');
  });
});
