/** What own tools do wrong, and what happens around them: each ends as a result, and nothing is left behind. */
import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import * as zod from 'zod';
import { call, lastTexts, promptBytes, startAgents, startFamily } from '../../../test/fixtures/family.ts';
import { testAgent } from '../../../test/fixtures/tool-context.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import type { RunEvent } from '../session/session-type.ts';
import { type OwnTool, toolsMade } from './own-tool.ts';
import { tool } from './tool.ts';

const INPUT = zod.object({});
const FRESH = { subagent_type: 'general-purpose' };

function reading(name: string, run: Parameters<typeof tool>[0]['run']): OwnTool {
  return tool({ name, description: 'd', input: INPUT, access: 'read', run });
}

describe('LIB-1: a session that closes while an own tool runs', () => {
  test('interrupts the run, tells the tool, and waits for it; the run can be resumed', async () => {
    const began = Promise.withResolvers<void>();
    const order: string[] = [];
    const slow = reading('slow', async (_, { signal }) => {
      began.resolve();
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      order.push('tool ended');
      return 'late';
    });
    const scene = await startFamily({
      tools: [slow],
      cast: { 'Go.': [call('slow', {}), { text: 'Done.' }] },
    });
    const asking = scene.session.ask('Go.').then(
      () => order.push('answered'),
      (error) => order.push(error.family),
    );
    await began.promise;
    await scene.session[Symbol.asyncDispose]();
    order.push('closed');
    await asking;
    expect(order[0]).toBe('tool ended');
    expect(order.slice(1).sort()).toEqual(['cancelled', 'closed']);
    await expect(scene.session.ask('Again.')).rejects.toThrow('this session is closed');
    const again = await scene.reopen({ 'Go.': [{ text: 'Never.' }, { text: 'Resumed.' }] }, { tools: [] });
    expect(again.session.isInterrupted).toBe(true);
    expect((await again.run(null)).result.status).toBe('done');
  });

  test('one that never ends holds nobody longer than its grace, and leaves no timer', async () => {
    const clock = simulatedClock();
    const began = Promise.withResolvers<void>();
    const stuck = reading('stuck', () => {
      began.resolve();
      return new Promise(() => {});
    });
    const { session } = await startFamily({
      clock,
      tools: [stuck],
      cast: { 'Go.': [call('stuck', {}), { text: 'Done.' }] },
    });
    const asking = session.ask('Go.').catch((error: unknown) => error);
    await began.promise;
    const closing = session[Symbol.asyncDispose]();
    await clock.advance(5_000);
    await closing;
    expect(await asking).toMatchObject({ family: 'cancelled' });
    expect(clock.due()).toEqual([]);
  });
});

/** It has no field that JSON sees. */
class Secretive {
  #told = 1;
  told(): number {
    return this.#told;
  }
}

describe('LIB-1: what an own tool returns, and who has it', () => {
  test.each<[string, () => unknown, RegExp]>([
    ['a Map', () => new Map([['a', 1]]), /a Map is no JSON: return a text, a list or a plain object/],
    ['a Set inside', () => ({ found: new Set([1]) }), /a Set is no JSON/],
    [
      'a generator',
      function* () {
        yield 1;
      },
      /a generator is no JSON/,
    ],
    [
      'an async generator',
      async function* () {
        yield 1;
      },
      /an async generator is no JSON/,
    ],
    ['bytes', () => new Uint8Array(3), /a list of bytes is no JSON/],
    ['a Buffer inside', () => ({ b: Buffer.from('x') }), /a list of bytes is no JSON/],
    ['an Error', () => new Error('no'), /an Error \(throw it, or return its message\) is no JSON/],
    ['a RegExp', () => ({ found: /x/ }), /a RegExp is no JSON/],
    ['a Blob', () => new Blob(['x']), /a Blob is no JSON/],
    ['a WeakMap', () => new WeakMap(), /a WeakMap is no JSON/],
    ['a function inside', () => ({ f: () => 1, a: 1 }), /a function is no JSON/],
    ['a symbol inside', () => [Symbol('s')], /a symbol is no JSON/],
    ['NaN', () => Number.NaN, /NaN is no JSON/],
    ['an infinite number inside', () => ({ a: Number.POSITIVE_INFINITY }), /Infinity is no JSON/],
    ['a date that is none', () => ({ at: new Date('never') }), /an invalid date is no JSON/],
    ['nothing in a list', () => [undefined, 1], /undefined in a list is no JSON/],
    ['a Response', () => new Response('x'), /a Response is no JSON/],
    ['an object of a class that keeps its own', () => ({ to: new Secretive() }), /a Secretive is no JSON/],
    ['a failure that is not true or false', () => ({ content: 'x', isError: 'yes' }), /isError is string: /],
  ])('%s is an error result that says what to return', async (_, make, says) => {
    const { requestsOf, run } = await startFamily({
      tools: [reading('odd', () => make())],
      cast: { 'Go.': [call('odd', {}), { text: 'Done.' }] },
    });
    await run('Go.');
    expect(lastTexts(requestsOf('Go.').at(-1)).join()).toMatch(says);
  });

  test('types that come with Ramet and only read have those with read, and no others', async () => {
    const writes = tool({ name: 'writes', description: 'd', input: INPUT, run: () => 'x' });
    const parts = ['Explore', 'Plan', 'code-review'];
    const agent = (type: string) =>
      call('Agent', { subagent_type: type, description: 'd', prompt: `Part ${type}` });
    const { requestsOf, run } = await startFamily({
      tools: [reading('looks', () => 'seen'), writes],
      cast: {
        'Go.': [...parts.map(agent), { text: 'Done.' }],
        ...Object.fromEntries(parts.map((type) => [`Part ${type}`, [call('looks', {}), { text: 'Done.' }]])),
      },
    });
    await run('Go.');
    for (const type of parts) {
      const names = requestsOf(`Part ${type}`)[0]?.request?.tools?.map(({ name }) => name);
      expect(names, type).toContain('looks');
      expect(names, type).not.toContain('writes');
      expect(lastTexts(requestsOf(`Part ${type}`).at(-1)).join(), type).toContain('seen');
    }
  });
});

describe('LIB-1: a report of an own tool', () => {
  const FAILED = { type: 'text', text: 'it failed' };
  const LINK = { type: 'resource_link', uri: 'note://1', name: 'one' };
  const shown = async (value: unknown) =>
    toolsMade([reading('passes', () => value)])[0]?.run({}, testAgent('/').context);
  const text = (words: string) => ({ type: 'text', text: words });

  test.each<[string, unknown, unknown]>([
    ['_meta', { content: [FAILED], isError: true, _meta: { a: 1 } }, [FAILED]],
    ['structuredContent', { content: [FAILED], isError: true, structuredContent: { a: 1 } }, [FAILED]],
    ['a link', { content: [FAILED, LINK], isError: true }, [FAILED, text('[resource note://1: one]')]],
    ['a text', { content: 'no', isError: true, _meta: {} }, 'no'],
    [
      'structuredContent alone',
      { content: [], isError: true, structuredContent: { why: 'x' } },
      '{"why":"x"}',
    ],
    ['structuredContent and no content', { isError: true, structuredContent: { why: 'x' } }, '{"why":"x"}'],
    ['no words', { content: [text(' ')], isError: true }, 'passes failed and does not say why'],
    ['nothing', { content: '', isError: true }, 'passes failed and does not say why'],
  ])('stays a failure with what results of MCP have besides: %s', async (_, value, content) => {
    expect(await shown(value)).toEqual({ content, isError: true });
  });

  test.each<[string, unknown, string]>([
    [
      'another field',
      { content: [FAILED], isError: true, code: 5 },
      'beside isError it has the field "code": return {',
    ],
    ['another field of a success', { content: 'x', isError: false, code: 5 }, 'it has the field "code"'],
    ['no content', { isError: true, message: 'no' }, 'beside isError it has the field "message"'],
    ['nothing else', { isError: true }, 'beside isError it has no content: return {'],
    [
      'an unknown block',
      { content: [FAILED, { type: 'video' }], isError: true },
      'content[1] is a block "video" that is',
    ],
    [
      'a link without a name',
      { content: [{ type: 'resource_link', uri: 'x' }], isError: true },
      'content[0] is a block',
    ],
    ['a text for a block', { content: ['no'], isError: true }, 'beside isError content[0] is "no"'],
    ['content that is a number', { content: 5, isError: true }, 'beside isError its content is 5'],
    ['an image that is none', { content: [{ type: 'image', data: 'x' }], isError: true }, 'it is no PNG'],
  ])('that is not understood is never a success: %s', async (_, value, says) => {
    expect(await shown(value)).toEqual({ content: expect.stringContaining(says), isError: true });
    expect(await shown(value)).toMatchObject({
      content: expect.stringMatching(/^passes returned what cannot be /),
    });
  });

  test('passes on what a client of MCP got, as a tool of a server would show it', async () => {
    const data =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const content = [
      { ...text('seen'), annotations: { priority: 1 } },
      { type: 'image', data, mimeType: 'image/png', _meta: {} },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
      LINK,
      { type: 'resource', resource: { uri: 'note://1', text: 'tea' } },
      { type: 'resource', resource: { uri: 'note://2', mimeType: 'application/zip', blob: 'UEsDBA==' } },
    ];
    const blocks = [
      text('seen'),
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
      text('[picture, image/png, 1 KB: it cannot be shown (it is no PNG, JPEG, GIF or WebP image)]'),
      text('[sound, audio/wav, 1 KB: it cannot be shown]'),
      text('[resource note://1: one]'),
      text('tea'),
      text('[note://2, application/zip, 1 KB: it cannot be shown]'),
    ];
    for (const value of [
      { content, structuredContent: { a: 1 }, _meta: {} },
      { content, isError: false },
      content,
    ])
      expect(await shown(value)).toEqual({ content: blocks });
    expect(await shown({ content: [], structuredContent: { a: 1 } })).toEqual({ content: '{"a":1}' });
  });

  test.each<[unknown]>([
    [{ content: 'of a file', path: 'a.txt' }],
    [{ content: [{ type: 'video' }] }],
    [[{ type: 'resource', id: 1 }]],
    [{ structuredContent: { a: 1 } }],
  ])('is not seen in data: %j', async (value) => {
    expect(await shown(value)).toEqual({ content: JSON.stringify(value) });
  });
});

describe('LIB-1: what an own tool leaves behind', () => {
  test.each([600, Number.POSITIVE_INFINITY])('after a call with a limit of %d s: nothing', async (limit) => {
    const clock = simulatedClock();
    const agent = testAgent('/', { clock });
    const own = tool({ name: 'x', description: 'd', input: INPUT, timeoutSeconds: limit, run: () => 'ok' });
    for (let turn = 0; turn < 3; turn++) await toolsMade([own])[0]?.run({}, agent.context);
    expect(clock.due()).toEqual([]);
    expect(getEventListeners(agent.context.signal, 'abort')).toHaveLength(0);
  });

  test('progress that comes after the end of its call is told to nobody', async () => {
    let late: ((text: string) => void) | null = null;
    const { session } = await startFamily({
      tools: [
        reading('early', (_, { progress }) => {
          progress('in time');
          late = progress;
          return 'ok';
        }),
      ],
      cast: {
        'Go.': [
          call('early', {}),
          () => {
            late?.('too late');
            return { text: 'Done.' };
          },
        ],
      },
    });
    const told: RunEvent[] = [];
    await session.ask('Go.', { onEvent: (event) => void told.push(event) });
    const progress = told.filter(({ type }) => type === 'tool_progress');
    expect(progress).toMatchObject([{ text: 'in time' }]);
  });

  test('a tool that changes its input changes no record of it', async () => {
    const greedy = tool({
      name: 'greedy',
      description: 'd',
      inputSchema: { type: 'object', properties: { list: { type: 'array' } } },
      access: 'read',
      run(input) {
        (input.list as number[]).push(2);
        return 'ok';
      },
    });
    const { run } = await startFamily({
      tools: [greedy],
      cast: { 'Go.': [call('greedy', { list: [1] }), { text: 'Done.' }] },
    });
    const { events } = await run('Go.');
    expect(events.find(({ type }) => type === 'tool_completed')).toMatchObject({
      call: { input: { list: [1] } },
    });
  });

  test('what a call reaches is asked once: permission and record have the same', async () => {
    let asked = 0;
    const moody = tool({
      name: 'moody',
      description: 'd',
      input: zod.object({ path: zod.string() }),
      access: {
        effect: 'write',
        reaches({ path }) {
          asked += 1;
          if (asked > 1) throw new Error('asked again');
          return { writes: [path] };
        },
      },
      run: () => 'ran',
    });
    const [made] = toolsMade([moody]);
    const parsed = made?.input.safeParse({ path: 'a' });
    expect(made?.access?.(parsed?.data)).toEqual({ writes: ['a'] });
    expect(made?.access?.(parsed?.data)).toEqual({ writes: ['a'] });
    expect(asked).toBe(1);
  });
});

describe('LIB-1: what own tools return', () => {
  const cyclic: Record<string, unknown> = { name: 'loop' };
  cyclic.self = cyclic;
  const PNG = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  const TOOLS: OwnTool[] = [
    reading('throws', () => Promise.reject(new Error('no disk\nat all'))),
    reading('throws_nothing', () => Promise.reject(undefined)),
    reading('cyclic', () => cyclic),
    reading('bigint', () => ({ big: 1n })),
    reading('symbol', () => Symbol('x')),
    reading('huge', () => 'x'.repeat(50_000_000)),
    reading('huge_json', () => ({
      list: Array.from({ length: 1_000_000 }, (_, index) => `item number ${index}`),
    })),
    reading('picture', () => [
      { type: 'text', text: 'seen' },
      { type: 'image', data: PNG },
    ]),
    reading('bad_picture', () => [{ type: 'image', data: Buffer.alloc(50_000_000) }]),
    reading('nothing', () => undefined),
  ];
  const names = TOOLS.map((own) => toolsMade([own])[0]?.name ?? '');
  const task = { tool_use: names.map((name) => ({ name, input: {} })) };

  test.each(['in-process', 'process'] as const)('ends as a result, %s', async (executor) => {
    const { run, requestsOf } = await startFamily({
      tools: TOOLS,
      agents: { executor },
      cast: {
        'Go.': [startAgents(['child'], FRESH), { text: 'Done.' }],
        child: [task, { text: 'Scope: child.' }],
      },
    });
    expect((await run('Go.')).result.status).toBe('done');
    const content = requestsOf('child')[1]?.request?.messages.at(-1)?.content;
    const results = Array.isArray(content) ? content.filter(({ type }) => type === 'tool_result') : [];
    const texts = new Map(
      names.map((name, index) => [name, JSON.stringify(results[index]?.content ?? null)]),
    );
    expect(texts.get('throws')).toContain('throws failed: no disk at all');
    expect(texts.get('throws_nothing')).toContain('throws_nothing failed: undefined');
    expect(texts.get('cyclic')).toContain('cyclic returned what cannot be shown: Converting circular');
    expect(texts.get('bigint')).toContain('bigint returned what cannot be shown');
    expect(texts.get('symbol')).toContain('a symbol is no JSON');
    expect(texts.get('huge')).toMatch(/\[cut: 50000000 characters in all; the whole is in /);
    expect(texts.get('huge_json')).toMatch(/\[cut: \d+ characters in all; the whole is in /);
    expect(texts.get('picture')).toContain('"media_type":"image/png"');
    expect(texts.get('bad_picture')).toContain('it is no PNG');
    for (const text of texts.values()) expect(text.length).toBeLessThan(150_000);
  });

  test('FORK-9: forks see the bytes of images and JSON that their parent saw', async () => {
    const { run, session, requestsOf } = await startFamily({
      tools: TOOLS,
      cast: {
        'Go.': [call('picture', {}), call('nothing', {}), { text: 'Done.' }],
        child: [{ text: 'Scope: child.' }],
      },
    });
    await run('Go.');
    const fork = await session.fork('child');
    expect((await fork.result).usage.cache_read_input_tokens).toBeGreaterThan(1_000);
    const last = requestsOf('Go.').at(-1);
    const [forked] = requestsOf('child');
    if (last === undefined || forked === undefined) throw new Error('a request is missing');
    expect(promptBytes(forked).startsWith(promptBytes(last))).toBe(true);
    expect(lastTexts(requestsOf('Go.')[2])).toBeDefined();
  });
});
