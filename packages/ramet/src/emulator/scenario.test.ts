import { afterEach, describe, expect, test } from 'vitest';
import { bodyOf, type Fields, post } from '../../test/fixtures/emulator-client.ts';
import { FORK_TASK } from '../schema/content.ts';
import type { EmulatorOptions } from './emulator-state.ts';
import type { ScenarioMatch } from './scenario.ts';
import { type Emulator, startEmulator } from './server.ts';

let running: Emulator | undefined;
afterEach(() => running?.close());

async function start(options: EmulatorOptions): Promise<Emulator> {
  running = await startEmulator(options);
  return running;
}

const conversation = {
  model: 'claude-haiku-4-5',
  system: 'You are [reviewer].',
  messages: [
    { role: 'user', content: 'Task 7: look' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'Bash', input: {} }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'exit code 1' }] },
        { type: 'text', text: 'Go on' },
      ],
    },
  ],
};

/** The request of a fork in its second turn; its parent had one turn before it asked for two forks. */
const fork = {
  tools: ['Read', 'Bash', 'Agent'].map((name) => ({ name, input_schema: { type: 'object' } })),
  messages: [
    { role: 'user', content: 'Task of the parent' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'Bash', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'b', name: 'Agent', input: {} }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'b', content: 'placeholder' },
        { type: 'text', text: 'rules' },
        { type: 'text', text: `${FORK_TASK}\nTask of the fork\n</fork-task>` },
      ],
    },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'Bash', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'y' }] },
  ],
};

async function say(emulator: Emulator, fields: Fields = {}, headers = {}): Promise<string> {
  const body = (await bodyOf(await post(emulator, fields, { headers }))) as {
    content?: { text: string }[];
    error?: { message: string };
  };
  return body.content?.[0]?.text ?? body.error?.message ?? '';
}

describe('EMU-4: matching', () => {
  test.each<[string, ScenarioMatch, boolean]>([
    ['nothing', {}, true],
    ['part of the model', { model: 'haiku' }, true],
    ['another model', { model: 'opus' }, false],
    ['a marker in the system prompt', { marker: '[reviewer]' }, true],
    ['a marker in the first user message', { marker: 'Task 7' }, true],
    ['a marker that stands only later', { marker: 'Go on' }, false],
    ['the last text', { last: 'Go on' }, true],
    ['the last text as an expression', { last: '/^go ON$/im' }, true],
    ['a tool result as part of the last message', { last: 'exit code 1' }, true],
    ['the last tool result', { lastToolResult: '/exit code [1-9]/' }, true],
    ['text that is no tool result', { lastToolResult: 'Go on' }, false],
    ['the turn', { turn: 1 }, true],
    ['another turn', { turn: 0 }, false],
    ['a header', { header: { 'x-agent': 'child' } }, true],
    ['a header that is absent', { header: { 'x-other': 'child' } }, false],
    ['all of several', { turn: 1, model: 'haiku', last: 'Go' }, true],
    ['not all of several', { turn: 1, model: 'haiku', last: 'Stop' }, false],
  ])('%s', async (_, match, expected) => {
    const emulator = await start({
      scenario: { rules: [{ match, respond: { text: 'yes' } }, { respond: { text: 'no' } }] },
    });
    expect(await say(emulator, conversation, { 'x-agent': 'child-1' })).toBe(expected ? 'yes' : 'no');
  });

  test.each<[string, ScenarioMatch, boolean]>([
    ['is one', { fork: true }, true],
    ['is no parent', { fork: false }, false],
    ['has its own task', { task: '/^Task of the fork$/' }, true],
    ['does not have the task of its parent', { task: 'parent' }, false],
    ['counts its own turns', { turn: 1 }, true],
    ['does not count those of its parent', { turn: 3 }, false],
    ['is offered tools', { tools: 'Bash Agent' }, true],
    ['is not offered others', { tools: '/\\bWrite\\b/' }, false],
  ])('a fork %s', async (_, match, expected) => {
    const emulator = await start({
      scenario: { rules: [{ match, respond: { text: 'yes' } }, { respond: { text: 'no' } }] },
    });
    expect(await say(emulator, fork)).toBe(expected ? 'yes' : 'no');
  });

  test('a prompt that quotes the mark of forks is no fork', async () => {
    const emulator = await start({
      scenario: {
        rules: [
          { match: { fork: true }, respond: { text: 'a fork' } },
          { match: { task: 'What is', turn: 0 }, respond: { text: 'no fork' } },
        ],
      },
    });
    const content = `What is\n\n${FORK_TASK}\nforged\n</fork-task>`;
    expect(await say(emulator, { messages: [{ role: 'user', content }] })).toBe('no fork');
  });

  test('the first rule wins until it has fired as often as it may', async () => {
    const emulator = await start({
      scenario: { rules: [{ times: 2, respond: { text: 'a' } }, { respond: { text: 'b' } }] },
    });
    expect([await say(emulator), await say(emulator), await say(emulator)]).toEqual(['a', 'a', 'b']);
    expect(emulator.requests.map(({ rule }) => rule)).toEqual([1, 1, 2]);
  });
});

describe('EMU-4: answering', () => {
  test('{{last}} stands for the last text, taken literally', async () => {
    const emulator = await start({ scenario: { rules: [{ respond: { text: '<{{last}}>' } }] } });
    expect(await say(emulator, { messages: [{ role: 'user', content: '$& {{last}}' }] })).toBe(
      '<$& {{last}}>',
    );
  });

  test('raw content, stop reason, tokens and usage are given as they are', async () => {
    const content = [{ type: 'text', text: 'partial', citations: null }];
    const emulator = await start({
      scenario: {
        rules: [
          { respond: { content, stop_reason: 'refusal', output_tokens: 7, usage: { input_tokens: 99 } } },
        ],
      },
    });
    expect(await bodyOf(await post(emulator, {}))).toMatchObject({
      content,
      stop_reason: 'refusal',
      usage: { input_tokens: 99, output_tokens: 7 },
    });
  });

  test('headers of a rule are sent', async () => {
    const emulator = await start({
      scenario: { rules: [{ respond: { text: 'x' }, headers: { 'x-should-retry': 'false' } }] },
    });
    expect((await post(emulator, {})).headers.get('x-should-retry')).toBe('false');
  });

  test('the respond hook is asked when no rule matches', async () => {
    const emulator = await start({
      scenario: { rules: [{ match: { turn: 5 }, respond: { text: 'rule' } }] },
      respond: async ({ last, turn }) => ({ text: `${turn}: ${last}` }),
    });
    expect(await say(emulator)).toBe('0: hello');
  });
});

describe('EMU-4: no answer fails loudly', () => {
  test('the refusal says what was asked and which rules exist, and it is remembered', async () => {
    const rules = [
      { match: { turn: 9 }, respond: { text: 'x' } },
      { times: 1, match: { model: 'sonnet' }, respond: { text: 'x' } },
    ];
    const emulator = await start({ scenario: { rules } });
    await say(emulator);
    const response = await post(emulator, { messages: [{ role: 'user', content: 'surprise' }] });
    expect(response.status).toBe(400);
    const text = await response.text();
    for (const part of ['claude-sonnet-5', 'turn 0', 'surprise', 'turn\\":9', '(spent)']) {
      expect(text).toContain(part);
    }
    expect(emulator.unmatched).toMatchObject([{ model: 'claude-sonnet-5', turn: 0, last: 'surprise' }]);
    expect(emulator.requests.at(-1)?.outcome).toBe('unmatched');
  });

  test('an emulator without rules says so', async () => {
    expect(await say(await start({}))).toContain('there are no rules');
  });

  test('a hook that throws or has no answer is reported', async () => {
    const emulator = await start({
      respond: ({ last }) => {
        if (last === 'none') return undefined;
        throw new Error('hook broke');
      },
    });
    expect(await say(emulator)).toContain('hook broke');
    expect(await say(emulator, { messages: [{ role: 'user', content: 'none' }] })).toContain(
      'no rule answers',
    );
    expect(emulator.unmatched).toHaveLength(2);
  });
});

describe('EMU-4: the recipe model', () => {
  const scenario = { rules: [{ recipe: true as const }] };
  const tools = [{ name: 'Bash', input_schema: { type: 'object' } }];

  test('answers where a rule says so, with the cache accounted for as ever', async () => {
    const emulator = await start({ scenario });
    const messages = [{ role: 'user', content: '```sh\nnpm test\n```' }];
    const body = await bodyOf(await post(emulator, { messages, tools }));
    expect(body).toMatchObject({
      stop_reason: 'tool_use',
      content: [
        { type: 'text', text: 'Step 1 of 1: sh: npm test' },
        { type: 'tool_use', name: 'Bash', input: { command: 'npm test' } },
      ],
    });
    expect(emulator.requests[0]?.usage?.input_tokens).toBeGreaterThan(0);
  });

  test('stops with a reason of its own when it fails, streaming too', async () => {
    const emulator = await start({ scenario });
    const messages = [{ role: 'user', content: 'Fix it.' }];
    expect(await bodyOf(await post(emulator, { messages }))).toMatchObject({ stop_reason: 'recipe_failed' });
    const streamed = await post(emulator, { messages, stream: true });
    expect(await streamed.text()).toContain('"stop_reason":"recipe_failed"');
  });

  test('gives way to rules before it and to faults', async () => {
    const rules = [
      { times: 1, fault: { kind: 'status' as const, status: 529 } },
      { match: { last: 'hello' }, respond: { text: 'hi' } },
      { recipe: true as const },
    ];
    const emulator = await start({ scenario: { rules } });
    expect(await say(emulator, { messages: [{ role: 'user', content: 'hello' }] })).toContain('overloaded');
    expect(await say(emulator, { messages: [{ role: 'user', content: 'hello' }] })).toBe('hi');
    expect(await say(emulator, { messages: [{ role: 'user', content: 'x' }] })).toMatch(/^Failed: /);
  });
});
