import { describe, expect, expectTypeOf, test } from 'vitest';
import * as zod from 'zod';
import { call, lastTexts, startAgents, startFamily } from '../../../test/fixtures/family.ts';
import { testAgent } from '../../../test/fixtures/tool-context.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { parseInput } from '../../tools/registry.ts';
import { type Tool, toolSchema } from '../../tools/tool.ts';
import { type OwnTool, toolsMade } from './own-tool.ts';
import type { StandardSchema } from './standard-schema.ts';
import { tool } from './tool.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

function made(own: OwnTool): Tool {
  const [one] = toolsMade([own]);
  if (one === undefined) throw new Error('none');
  return one;
}

/** What a call with this input comes to. */
async function outcome(own: OwnTool, input: unknown, context = testAgent('/').context) {
  const parsed = parseInput(made(own), input);
  return parsed.ok ? made(own).run(parsed.value, context) : { content: parsed.message, isError: true };
}

const greet = (run: (input: { name: string; times: number }) => unknown): OwnTool =>
  tool({
    name: 'greet',
    description: 'Greets.',
    input: zod.object({ name: zod.string(), times: zod.number().default(1) }),
    access: 'read',
    run,
  });

/** A schema of another library: it checks, and writes its JSON Schema if `writes`. */
function other(writes: boolean): StandardSchema<{ word: string }> {
  const jsonSchema = { input: () => ({ type: 'object', properties: { word: { type: 'string' } } }) };
  const standard = {
    version: 1 as const,
    vendor: 'other',
    validate: (value: unknown) =>
      typeof (value as { word?: unknown }).word === 'string'
        ? { value: value as { word: string } }
        : { issues: [{ message: 'no word', path: ['word', { key: 0 }] }] },
    ...(writes && { jsonSchema }),
  };
  return { '~standard': standard };
}

describe('LIB-1: a tool of the caller', () => {
  test('has the types of its schema, and the JSON Schema of what the schema takes', () => {
    const own = greet((input) => {
      expectTypeOf(input).toEqualTypeOf<{ name: string; times: number }>();
      return '';
    });
    expect(toolSchema(made(own))).toEqual({
      name: 'greet',
      description: 'Greets.',
      input_schema: {
        type: 'object',
        properties: { name: { type: 'string' }, times: { type: 'number', default: 1 } },
        required: ['name'],
      },
    });
  });

  test('gets what its schema makes of the input; what does not fit is told', async () => {
    const own = greet(({ name, times }) => name.repeat(times));
    expect(await outcome(own, { name: 'a' })).toEqual({ content: 'a' });
    expect(await outcome(own, { name: 7 })).toEqual({
      content: expect.stringMatching(
        /^Wrong input for greet: .*name: .*expected string.*Fields: name \(string\)/,
      ),
      isError: true,
    });
  });

  test('takes other schemas that write JSON Schema, or come with one', async () => {
    const word = { name: 'word', description: 'd', run: ({ word }: { word: string }) => word };
    const inputSchema = { type: 'object', properties: { word: { type: 'string' } } };
    expect(await outcome(tool({ ...word, input: other(true) }), { word: 'w' })).toEqual({ content: 'w' });
    const both = tool({ ...word, input: other(false), inputSchema });
    expect(await outcome(both, {})).toMatchObject({ content: expect.stringContaining('word.0: no word') });
    expect(() => tool({ ...word, input: other(false) })).toThrow(
      'tool "word": input cannot be used: "other" writes no JSON Schema by itself: wrap it, or pass the JSON Schema yourself',
    );
  });

  test('takes JSON Schema alone, and checks with it', async () => {
    const own = tool({
      name: 'add',
      description: 'd',
      inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
      run: ({ a }) => Number(a) + 1,
    });
    expect(await outcome(own, { a: 1 })).toEqual({ content: '2' });
    expect(await outcome(own, { a: 'x' })).toMatchObject({
      content: expect.stringMatching(/at \/a/),
      isError: true,
    });
  });

  test.each([
    ['text', 'text', 'text'],
    ['nothing', undefined, ''],
    ['JSON', { a: [1] }, '{"a":[1]}'],
    ['blocks', [{ type: 'text', text: 't' }], [{ type: 'text', text: 't' }]],
    ['an empty list', [], '[]'],
  ])('returns %s', async (_, value, content) => {
    expect(
      await outcome(
        greet(() => value),
        { name: 'a' },
      ),
    ).toEqual({ content });
  });

  test('an image that is far too large is refused before anything reads what is in it', async () => {
    const unsound = Buffer.concat([PNG.subarray(0, 20), Buffer.alloc(16_000_000)]);
    for (const data of [unsound, unsound.toString('base64')]) {
      const { content } = await outcome(
        greet(() => [{ type: 'image', data }]),
        { name: 'x' },
      );
      expect(content).toMatch(/the image has .+ MB; at most .+ MB can be shown/);
    }
  });

  test('returns images, as bytes or base64, and no others than a provider takes', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: PNG.toString('base64') };
    for (const data of [PNG, new Uint8Array(PNG), PNG.toString('base64')])
      expect(
        await outcome(
          greet(() => [{ type: 'image', data }]),
          { name: 'a' },
        ),
      ).toEqual({
        content: [{ type: 'image', source }],
      });
    const none = greet(() => [{ type: 'image', data: undefined }] as never);
    expect(await outcome(none, { name: 'x' })).toMatchObject({
      content: expect.stringContaining('an image has no data: give its bytes'),
    });
    const bad = greet(() => ({ content: [{ type: 'image', data: 'AAAA' }] }));
    expect(await outcome(bad, { name: 'a' })).toEqual({
      content: 'greet returned what cannot be shown: it is no PNG, JPEG, GIF or WebP image',
      isError: true,
    });
  });

  test('a report can say that it failed', async () => {
    expect(
      await outcome(
        greet(() => ({ content: 'no', isError: true })),
        { name: 'a' },
      ),
    ).toEqual({
      content: 'no',
      isError: true,
    });
  });

  test('what is no JSON is an error result', async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    for (const value of [cyclic, 1n, () => 1, Symbol('s')])
      expect(
        await outcome(
          greet(() => value),
          { name: 'a' },
        ),
      ).toMatchObject({
        content: expect.stringMatching(/^greet returned what cannot be shown: /),
        isError: true,
      });
  });

  test('one that never ends is told to stop when its time is over, or when it is interrupted', async () => {
    const clock = simulatedClock();
    const told: unknown[] = [];
    const stuck = tool({
      name: 'stuck',
      description: 'd',
      input: zod.object({}),
      timeoutSeconds: 5,
      run: (_, { signal }) =>
        new Promise(() =>
          signal.addEventListener('abort', () => told.push(signal.reason.message ?? signal.reason)),
        ),
    });
    const agent = testAgent('/', { clock });
    const late = outcome(stuck, {}, agent.context);
    await clock.whenSleeping();
    await clock.advance(5_000);
    expect(await late).toEqual({
      content: 'stuck did not end within 5 s and was told to stop. It may have acted.',
      isError: true,
    });
    void outcome(stuck, {}, agent.context);
    agent.abort('interrupted');
    expect(told).toEqual(['stuck took longer than 5 s', 'interrupted']);
  });

  test('what it reaches is known before it runs; a rule that fails is a wrong input', async () => {
    const own = tool({
      name: 'reach',
      description: 'd',
      input: zod.object({ path: zod.string() }),
      access: { effect: 'write', reaches: ({ path }) => ({ writes: [path.trim()] }) },
      run: () => 'ran',
    });
    expect(made(own).access?.({ path: ' a ' })).toEqual({ writes: ['a'] });
    const broken = tool({
      name: 'broken',
      description: 'd',
      input: zod.object({}),
      access: { effect: 'read', reaches: () => JSON.parse('{') },
      run: () => 'ran',
    });
    expect(await outcome(broken, {})).toMatchObject({
      content: expect.stringContaining('access.reaches failed'),
      isError: true,
    });
  });

  test.each<[string, unknown]>([
    ['another field', { paths: ['secret'] }],
    ['one path for a list', { writes: 'secret' }],
    ['a list', ['secret']],
    ['a text', 'secret'],
    ['nothing', undefined],
    ['a promise', Promise.resolve({ writes: ['secret'] })],
    ['no text', { command: 5 }],
    ['a Map', new Map([['writes', ['secret']]])],
  ])('SEC-1: what it reaches in a form that is not known is a wrong input: %s', async (_, given) => {
    const own = tool({
      name: 'reach',
      description: 'd',
      input: zod.object({}),
      access: { effect: 'write', reaches: () => given as object },
      run: () => 'ran',
    });
    expect(await outcome(own, {})).toMatchObject({
      content: expect.stringContaining('return an object with none or some of reads and writes'),
      isError: true,
    });
  });
});

describe('LIB-1: a result with the names of the API', () => {
  const returns = (value: unknown): OwnTool =>
    tool({ name: 'r', description: 'd', input: zod.object({}), run: () => value as string });

  test.each<[unknown]>([
    [{ content: 'no', is_error: true }],
    [{ content: 'ok', is_error: false }],
    [{ is_error: true }],
  ])('%j is an error result that says what to write', async (value) => {
    expect(await outcome(returns(value), {})).toMatchObject({
      content: expect.stringContaining('is_error is written isError'),
      isError: true,
    });
  });

  test('a report that an object makes of itself counts', async () => {
    const report = { toJSON: () => ({ content: 'no', isError: true }) };
    expect(await outcome(returns(report), {})).toEqual({ content: 'no', isError: true });
    expect(await outcome(returns({ at: new Date(0) }), {})).toEqual({
      content: '{"at":"1970-01-01T00:00:00.000Z"}',
    });
  });
});

describe('SEC-1: the address that a tool reaches', () => {
  const asking = (url: string): OwnTool =>
    tool({
      name: 'ask',
      description: 'd',
      input: zod.object({}),
      access: { effect: 'execute', reaches: () => ({ url }) },
      run: () => 'ran',
    });

  test.each([
    'example.com/x',
    '//example.com/x',
    ' https://example.com/',
    'https:example.com',
    'https:///example.com',
    'https://exam\tple.com/',
    'https://good.example\\@example.com/',
    'https://./x',
    'https://',
    'ftp://example.com/',
    'file:///etc/passwd',
    '',
  ])('fails the call unless it is whole: %j', async (url) => {
    expect(await outcome(asking(url), {})).toMatchObject({
      content: expect.stringContaining(
        `access.reaches gave the url ${JSON.stringify(url)}: return a whole address, which begins with https:// or http://`,
      ),
      isError: true,
    });
  });

  test.each([
    'HTTPS://Example.COM/x',
    'https://user:pass@example.com/x?q=two words',
    'https://example.com.:8443',
    'https://ex%61mple.com#x',
    'http://ｅxample.com/',
  ])(
    'is held by a rule about its host, however it is written, also where a rule allows the tool: %s',
    async (url) => {
      const { run } = await startFamily({
        tools: [asking(url)],
        permissions: { allow: ['ask'], deny: ['WebFetch(domain:example.com)'] },
        cast: { 'Go.': [call('ask', {}), { text: 'Done.' }] },
      });
      const { events } = await run('Go.');
      const [completed] = events.flatMap((event) => (event.type === 'tool_completed' ? [event] : []));
      expect(completed).toMatchObject({ denied: true });
      expect(JSON.stringify(completed?.result)).toContain('the rule WebFetch(domain:example.com)');
    },
  );

  test('a command that is blank is a wrong input: nobody knows what it would run', async () => {
    const own = tool({
      name: 'run_it',
      description: 'd',
      input: zod.object({}),
      access: { effect: 'execute', reaches: () => ({ command: ' ' }) },
      run: () => 'ran',
    });
    expect(await outcome(own, {})).toMatchObject({
      content: expect.stringContaining('access.reaches gave a blank command'),
      isError: true,
    });
  });
});

describe('LIB-1: a tool that cannot work is refused when it is made', () => {
  const good = { name: 'x', description: 'd', input: zod.object({}), run: () => '' };
  test.each<[string, unknown, RegExp]>([
    ['no object', null, /^tool: the argument is null; give an object$/],
    ['nothing', undefined, /^tool: the argument is undefined; give an object$/],
    ['no name', { ...good, name: undefined }, /^tool: name is missing$/],
    ['an unknown field', { ...good, handler: 1 }, /there is no option "handler"/],
    ['a rule of access that is no function', { ...good, access: { effect: 'write', reaches: 5 } }, /reaches/],
    [
      'a rule of access without reaches',
      { ...good, access: { effect: 'write' } },
      /\{ effect, reaches\(input\) \}/,
    ],
    ['an unknown field of access', { ...good, access: { effect: 'write', foo: 1 } }, /give read, write/],
    ['no description', { ...good, description: undefined }, /tool "x": description is missing/],
    [
      'no schema',
      { ...good, input: undefined },
      /tool "x": input is missing: give a Zod 4 schema, or inputSchema/,
    ],
    ['no schema, but something', { ...good, input: { type: 'object' } }, /give a Zod 4 or Standard Schema/],
    ['a name of MCP', { ...good, name: 'mcp__a__b' }, /tool "mcp__a__b": its name begins with mcp__/],
    [
      'two schemas',
      { ...good, inputSchema: { type: 'object' } },
      /tool "x": give input or inputSchema, not both/,
    ],
    ['an unknown access', { ...good, access: 'all' }, /give read, write, execute, or \{ effect/],
    ['a schema of a text', { ...good, input: zod.string() }, /its input must be an object/],
    [
      'a schema that JSON cannot say',
      { ...good, input: zod.object({ a: zod.date() }) },
      /cannot be written as JSON Schema/,
    ],
    [
      'a bad JSON Schema',
      { ...good, input: undefined, inputSchema: { type: 'objekt' } },
      /tool "x": inputSchema cannot be used: schema: /,
    ],
    [
      'a reference to nothing',
      { ...good, input: undefined, inputSchema: { type: 'object', $ref: '#/x' } },
      /nothing is at/,
    ],
  ])('%s', (_, definition, reason) => {
    expect(() => tool(definition as typeof good)).toThrow(reason);
  });
});

describe('LIB-1: own tools in a session', () => {
  test('tell their progress, also from children in processes of their own', async () => {
    const slow = tool({
      name: 'slow',
      description: 'd',
      input: zod.object({}),
      access: 'read',
      run(_, { progress }) {
        progress('half');
        return 'done';
      },
    });
    const { run, session } = await startFamily({
      tools: [slow],
      agents: { executor: 'process' },
      cast: {
        'Go.': [
          call('slow', {}),
          startAgents(['child'], { subagent_type: 'general-purpose' }),
          { text: 'ok' },
        ],
        child: [call('slow', {}), { text: 'Scope: child.' }],
      },
    });
    const { events } = await run('Go.');
    const told = events.filter(({ type }) => type === 'tool_progress');
    expect(told).toMatchObject([
      { agentId: `${session.id}.1`, call: { name: 'slow' }, text: 'half' },
      { agentId: `${session.id}.2`, call: { name: 'slow' }, text: 'half' },
    ]);
  });

  test('one that throws, or returns far too much, is a result that the model can use', async () => {
    const input = zod.object({});
    const { run, requestsOf } = await startFamily({
      tools: [
        tool({ name: 'throws', description: 'd', input, run: () => Promise.reject(new Error('no disk')) }),
        tool({ name: 'floods', description: 'd', input, run: () => 'x'.repeat(5_000_000) }),
      ],
      cast: { 'Go.': [call('throws', {}), call('floods', {}), { text: 'ok' }] },
    });
    expect((await run('Go.')).result.status).toBe('done');
    const [, thrown, flooded] = requestsOf('Go.');
    expect(lastTexts(thrown)).toEqual(['throws failed: no disk']);
    expect(lastTexts(flooded)[0]).toMatch(/\[cut: 5000000 characters in all; the whole is in /);
    expect(lastTexts(flooded)[0]?.length).toBeLessThan(130_000);
  });
});
