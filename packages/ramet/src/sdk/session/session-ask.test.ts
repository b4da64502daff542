import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, expectTypeOf, test } from 'vitest';
import * as zod from 'zod';
import { call, lastTexts, startAgents, startFamily } from '../../../test/fixtures/family.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { RametError } from '../../schema/errors.ts';
import { drain } from '../../schema/generators.ts';
import type { SessionOptions } from '../options.ts';
import { tool } from '../own-tools/tool.ts';
import { openSession } from './session.ts';
import type { RunEvent } from './session-type.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const Parts = zod.object({
  parts: zod.array(zod.string()).min(1),
  total: zod.number().refine((total) => total % 2 === 0, 'must be even'),
});

describe('LIB-1: session.ask', () => {
  test('resolves with the result of a prompt', async () => {
    const { session } = await startFamily({ cast: { 'Go.': [{ text: 'Done.' }] } });
    const seen: string[] = [];
    const result = await session.ask('Go.', { onEvent: ({ type }) => seen.push(type) });
    expect(result).toMatchObject({ status: 'done', text: 'Done.', turns: 1, costUsd: expect.any(Number) });
    expect(result.cost).toBe(result.costUsd);
    expectTypeOf(result.cost).toEqualTypeOf<number | null>();
    expect(seen.at(-1)).toBe('result');
  });

  test('AGENT-5: with a schema the answer is a typed value; one that does not fit is sent back', async () => {
    const { session, requestsOf } = await startFamily({
      cast: {
        'Go.': [
          { text: 'Here you are.' },
          { text: '{"parts":["a"],"total":3}' },
          { text: '```json\n{"parts":["a"],"total":4}\n```' },
        ],
      },
    });
    const answer = await session.ask('Go.', { schema: Parts });
    expectTypeOf(answer.value).toEqualTypeOf<{ parts: string[]; total: number }>();
    expect(answer.value).toEqual({ parts: ['a'], total: 4 });
    const [first, second, third] = requestsOf('Go.');
    expect(lastTexts(first).at(-1)).toContain('JSON Schema');
    expect(lastTexts(second).join()).toContain('there is no JSON in the answer');
    expect(lastTexts(third).join()).toContain('total: must be even');
  });

  test('takes JSON Schema; the next prompt is free of it', async () => {
    const { session } = await startFamily({
      cast: { 'Go.': [{ text: '[1,2]' }], 'Next.': [{ text: 'As I like.' }] },
    });
    const { value } = await session.ask('Go.', { schema: { type: 'array', items: { type: 'number' } } });
    expect(value).toEqual([1, 2]);
    expect((await session.ask('Next.')).text).toBe('As I like.');
  });

  test('rejects when it does not end as done, with the cause and the whole result', async () => {
    const { session } = await startFamily({
      cast: { 'Go.': () => ({ text: 'no JSON' }), 'Wait.': () => new Promise(() => {}) },
    });
    const failed = await session.ask('Go.', { schema: Parts }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(RametError);
    expect(failed).toMatchObject({
      code: 'schema',
      family: 'terminal',
      cause: { status: 'failed', turns: 3 },
    });
    const asking = session.ask('Wait.', { signal: AbortSignal.timeout(50) });
    await expect(asking).rejects.toMatchObject({ family: 'cancelled', cause: { status: 'interrupted' } });
  });

  test('says which variables give a key where the recipe model found nothing to do', async () => {
    const env = { RAMET_HOME: temporaryDirectory(), PATH: process.env.PATH };
    await using session = await openSession({ cwd: temporaryDirectory(), env, settings: false });
    await expect(session.ask('What is this?')).rejects.toThrow(
      /the recipe model can carry out; it needs no key\. For a task in plain words, set ANTHROPIC_API_KEY, or /,
    );
    await expect(session.ask('```sh\nfalse\n```')).rejects.toThrow(/^(?!.*API_KEY)/);
  });

  test.each(['throws', 'rejects'])(
    'a listener that %s is a warning, and nobody waits for it',
    async (how) => {
      const { session } = await startFamily({
        cast: { 'Go.': [{ text: 'Done.' }], 'Next.': [{ text: 'Too.' }] },
      });
      const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
      const onEvent = (): unknown => {
        if (how === 'throws') throw new Error('the log is full');
        return Promise.reject(new Error('the log is full'));
      };
      expect((await session.ask('Go.', { onEvent })).text).toBe('Done.');
      expect((await session.ask('Next.')).text).toBe('Too.');
      expect(await warned).toMatchObject({
        name: 'ListenerWarning',
        message: expect.stringContaining('the log is full'),
      });
    },
  );

  test.each<[string, unknown, string]>([
    [
      'a listener that is no function',
      { onEvent: 5 },
      'session.ask: the option onEvent is 5; give a function',
    ],
    ['options that are null', null, 'session.ask: the argument for options is null; give an object'],
    ['an option that there is not', { onEvents: 5 }, 'session.ask: there is no option "onEvents"'],
  ])('refuses %s before anything is sent', async (_, options, problem) => {
    const { session, emulator } = await startFamily({ cast: {} });
    await expect(session.ask('Go.', options as object)).rejects.toThrow(problem);
    expect(emulator.requests).toHaveLength(0);
  });

  test('a schema that cannot be used is refused before anything is sent', async () => {
    const { session, emulator } = await startFamily({ cast: {} });
    const bad = { type: 'objekt' };
    await expect(session.ask('Go.', { schema: bad })).rejects.toThrow(/session.run: schema: /);
    await expect(session.ask('Go.', { schema: zod.object({ a: zod.bigint() }) })).rejects.toThrow(
      /session.run: schema cannot be used: it cannot be written as JSON Schema/,
    );
    expect(emulator.requests).toHaveLength(0);
  });
});

describe('LIB-1: session.run', () => {
  test('ends with a result event, which is what the generator returns', async () => {
    const { session } = await startFamily({ cast: { 'Go.': [{ text: 'Done.' }] } });
    const events: RunEvent[] = [];
    for await (const event of session.run('Go.')) events.push(event);
    expect(events.filter(({ type }) => type === 'result')).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({
      ...{ type: 'result', agentId: session.agent.id, parentAgentId: null },
      ...{ status: 'done', text: 'Done.', usage: { output_tokens: expect.any(Number) } },
    });
  });

  test('takes images and files in a prompt, before its text', async () => {
    const { session, emulator } = await startFamily({
      files: { 'a.txt': 'in the file\n' },
      cast: { 'Look at': [{ text: 'Done.' }] },
    });
    await session.ask(['Look at', { type: 'image', data: PNG }, { type: 'file', path: 'a.txt' }, ' these.']);
    const content = emulator.requests[0]?.request?.messages.at(-1)?.content;
    const blocks = Array.isArray(content) ? content.slice(-3) : [];
    expect(blocks).toMatchObject([
      { type: 'image', source: { media_type: 'image/png', data: PNG } },
      { type: 'text', text: expect.stringContaining('in the file') },
      { type: 'text', text: 'Look at\n\n these.' },
    ]);
  });

  test.each([
    [[{ type: 'image', data: 'AAAA' } as const, 'x'], /part 1 of the prompt is refused: it is no PNG/],
    [
      [{ type: 'image' } as never, 'x'],
      /part 1 of the prompt is refused: an image has no data: give its bytes/,
    ],
    [[{ type: 'file', path: 'missing.txt' } as const, 'x'], /missing.txt cannot be attached/],
    [[], /the prompt has no text: say what to do$/],
    [
      [{ type: 'file', path: 'missing.txt' } as const],
      /the prompt has no text: say what to do with missing.txt$/,
    ],
    [[{ type: 'image', data: PNG } as const], /the prompt has no text: say what to do with the image$/],
    [
      [{ type: 'image', source: { type: 'base64', data: PNG, bytes: 1 } } as never, 'x'],
      /part 1 of the prompt is refused: its source has no field "bytes"; there are type, media_type, data$/,
    ],
    [[{ type: 'sound' } as never, 'x'], /part 1 of the prompt is refused: give a text/],
    [['x', null as never], /part 2 of the prompt is refused: give a text/],
    [['x', ['y'] as never], /part 2 of the prompt is refused: give a text/],
    [
      [{ type: 'file', path: 'a.txt', foo: 1 } as never, 'x'],
      /part 1 of the prompt is refused: it has no field "foo"; there are type, path$/,
    ],
    [
      [{ type: 'text', text: 'x', cache_control: {} } as never],
      /it has no field "cache_control"; there are type, text$/,
    ],
    [[{ type: 'image', data: PNG, bytes: 1 } as never, 'x'], /it has no field "bytes"; there are type, data/],
  ])('refuses %j', async (prompt, reason) => {
    const { session } = await startFamily({ cast: {} });
    await expect(session.ask(prompt)).rejects.toThrow(reason);
  });
});

describe('LIB-1: attachments', () => {
  const GOOD = { type: 'text', text: 'good' };
  test('a hole in their list is named', async () => {
    const { session } = await startFamily({ cast: {} });
    const attachments = Object.assign([GOOD], { 2: GOOD }) as never;
    await expect(session.ask('See file.', { attachments })).rejects.toThrow(
      /attachments\[1\] is refused: give /,
    );
  });

  test.each<[string, unknown, RegExp]>([
    [
      'nothing',
      null,
      /attachments\[1\] is refused: give \{ type: text, text \} or \{ type: image, source \}, /,
    ],
    ['a number', 5, /attachments\[1\] is refused: give /],
    ['an empty object', {}, /attachments\[1\] is refused: give /],
    ['another type', { type: 'x' }, /attachments\[1\] is refused: give /],
    ['a file', { type: 'file', path: 'a.txt' }, /attachments\[1\] is refused: give /],
    ['a text that is none', { type: 'text', text: 5 }, /attachments\[1\] is refused: give /],
    ['a blank text', { type: 'text', text: ' ' }, /attachments\[1\] is refused: its text is blank$/],
    ['an unknown field', { type: 'text', text: 'x', foo: 1 }, /it has no field "foo"; there are type, text$/],
    ['an image without data', { type: 'image', source: { type: 'url', url: 'x' } }, /an image has no data: /],
    ['an image that is none', { type: 'image', source: { type: 'base64', data: 'AAAA' } }, /it is no PNG/],
    [
      'what attach gave, whole',
      { path: 'a', problem: null, blocks: [] },
      /files\.flatMap\(\(\{ blocks \}\) => blocks\)$/,
    ],
  ])('%s is refused, and the session goes on', async (_, block, reason) => {
    const { session, emulator } = await startFamily({ cast: { 'Next.': [{ text: 'Done.' }] } });
    const attachments = [GOOD, block] as never;
    await expect(session.ask('See file.', { attachments })).rejects.toThrow(reason);
    await expect(drain(session.run('See file.', { attachments }), () => {})).rejects.toThrow(reason);
    expect(emulator.requests).toEqual([]);
    expect((await session.ask('Next.')).status).toBe('done');
  });

  test('what attach and command gave goes before the prompt, and an image as its bytes are', async () => {
    const { session, emulator, cwd } = await startFamily({
      files: { 'a.txt': 'in the file\n' },
      cast: { 'See.': [{ text: 'Done.' }] },
    });
    writeFileSync(join(cwd, 'a.png'), Buffer.from(PNG, 'base64'));
    const files = await session.attach(['a.txt', 'a.png']);
    const { block } = await session.command('echo from a command');
    const attachments = [...files.flatMap(({ blocks }) => blocks), block];
    await session.ask('See.', { attachments });
    const content = emulator.requests[0]?.request?.messages.at(-1)?.content;
    expect(Array.isArray(content) ? content.slice(-4) : []).toMatchObject([...attachments, { text: 'See.' }]);
  });

  test('no file is read for a prompt of which a later part is wrong', async () => {
    const { session, recorded } = await startFamily({ files: { 'a.txt': 'x\n' }, cast: {} });
    const prompt = ['x', { type: 'file', path: 'a.txt' }, { type: 'sound' }] as never;
    await expect(session.ask(prompt)).rejects.toThrow('part 3 of the prompt is refused');
    expect(recorded().filter(({ event }) => event.type === 'tool.started')).toEqual([]);
  });
});

describe('LIB-1: the system prompt', () => {
  const systemOf = (record: { request?: { system?: unknown } | undefined } | undefined): string[] =>
    ((record?.request?.system ?? []) as { text: string }[]).map(({ text }) => text);

  test('is replaced, or appended to; forks and resumed sessions have the same bytes', async () => {
    const family = await startFamily({
      systemPrompt: 'You are terse.',
      appendSystemPrompt: 'Say please.',
      cast: {
        'Go.': [startAgents(['child']), { text: 'Done.' }],
        child: [{ text: 'Scope: child.' }],
        'Again.': [{ text: 'Done.' }],
      },
    });
    await family.run('Go.');
    expect(systemOf(family.requestsOf('Go.')[0])).toEqual(['You are terse.', 'Say please.']);
    expect(systemOf(family.requestsOf('child')[0])).toEqual(['You are terse.', 'Say please.']);
    const again = await family.reopen(undefined, { systemPrompt: 'You are chatty.' });
    await again.run('Again.');
    expect(systemOf(family.requestsOf('Again.')[0])).toEqual(['You are terse.', 'Say please.']);
    expect(again.session.notices.join()).toContain('keeps the system prompt it began with');
  });

  test('what is appended leaves the bytes before it', async () => {
    const cast = { 'Go.': [{ text: 'Done.' }] };
    const plain = await startFamily({ cast });
    const more = await startFamily({ cast, appendSystemPrompt: 'Say please.' });
    await plain.run('Go.');
    await more.run('Go.');
    const [own = ''] = systemOf(plain.requestsOf('Go.')[0]);
    expect(systemOf(more.requestsOf('Go.')[0])).toEqual([own, 'Say please.']);
  });
});

describe('LIB-1: agent types in code', () => {
  test('are offered and started, and come before files', async () => {
    const { run, requestsOf } = await startFamily({
      agentTypes: { critic: { description: 'finds faults', prompt: 'You find faults.', tools: ['Read'] } },
      home: { 'agents/critic.md': '---\nname: critic\ndescription: from a file\n---\nA file.\n' },
      cast: {
        'Go.': [startAgents(['judge'], { subagent_type: 'critic' }), { text: 'Done.' }],
        judge: [{ text: 'Scope: judge.' }],
      },
    });
    await run('Go.');
    const [main] = requestsOf('Go.');
    const [critic] = requestsOf('judge');
    expect(JSON.stringify(main?.request?.tools)).toContain('- critic: finds faults');
    expect(critic?.request?.tools?.map(({ name }) => name)).toEqual(['Read']);
    expect(JSON.stringify(critic?.request?.system)).toContain('You find faults.');
  });

  test('what cannot be used is refused; what has no effect is said', async () => {
    const open = (agentTypes: object) => startFamily({ cast: {}, agentTypes: agentTypes as never });
    const right = { description: 'd', prompt: 'p' };
    await expect(open({ bad: { prompt: 'p' } })).rejects.toThrow(
      /^agentTypes.bad: description: it is missing/,
    );
    await expect(open({ 'a/b': { description: 'd', prompt: 'p' } })).rejects.toThrow(
      /agentTypes.a\/b: name: it has a \//,
    );
    await expect(open({ 'a b': { description: 'd', prompt: 'p' } })).rejects.toThrow(
      '"agentTypes.a b" is no name for a type: models call it by one word, such as code-reviewer',
    );
    for (const [fields, reason] of [
      [{ maxTurns: -1 }, /^agentTypes.bad: maxTurns: .*-1.* is not a whole number above 0$/],
      [{ permissionMode: 'zz' }, /^agentTypes.bad: permissionMode: there is no mode .*zz.{0,2}$/],
      [{ effort: 'huge' }, /^agentTypes.bad: effort: .* is not one of low, /],
      [{ executor: 'moon' }, /^agentTypes.bad: executor: there are in-process and process$/],
      [{ background: 'maybe' }, /^agentTypes.bad: background: it is neither true nor false/],
    ] as const)
      await expect(open({ bad: { description: 'd', prompt: 'p', ...fields } })).rejects.toThrow(reason);
    for (const [fields, reason] of [
      [{ permissionMode: null }, 'permissionMode is null; give a text'],
      [{ budget: null }, 'budget is null; give an object'],
      [{ model: '' }, 'model is an empty text; give a text'],
      [{ maxTurns: '1' }, 'maxTurns is "1"; give a whole number'],
      [{ color: 5 }, 'color is 5; give a text'],
      [{ readOnly: 'yes' }, 'readOnly is "yes"; give true or false'],
      [{ background: 'no' }, 'background is "no"; give true or false'],
      [{ mcpServers: { a: 5 } }, 'mcpServers is an object; give a list of names of servers'],
      [{ mcpServers: [{ a: null }] }, 'mcpServers is a list; give a list of names of servers'],
      [{ skills: 5 }, 'skills is 5; give a list of names'],
    ] as const)
      await expect(open({ bad: { ...right, ...fields } })).rejects.toThrow(
        `openSession: agentTypes.bad.${reason}`,
      );
    for (const [hooks, reason] of [
      [{ Nope: [] }, 'hooks: "Nope": there is no such event here'],
      [{ PreToolUse: [{ matcher: 5, hooks: [] }] }, 'hooks: PreToolUse: a matcher is no text'],
    ] as const)
      await expect(open({ bad: { ...right, hooks } })).rejects.toThrow(`agentTypes.bad: ${reason}`);
    await expect(open({ bad: 'prompt' })).rejects.toThrow(/agentTypes.bad is no object/);
    const { session } = await open({ odd: { description: 'd', prompt: 'p', tools: ['Read', 'Nope'] } });
    expect(session.notices).toEqual(['agentTypes.odd: tools: there is no tool Nope here: left out']);
  });
});

describe('LIB-1: canUseTool', () => {
  const work = {
    tool_use: ['one', 'two', 'three'].map((name) => ({
      name: 'Write',
      input: { file_path: name, content: 'x' },
    })),
  };

  test('decides what rules and mode leave open, and nothing else', async () => {
    const asked: unknown[] = [];
    const { run, requestsOf } = await startFamily({
      permissionMode: 'default',
      permissions: { deny: ['Write(two)'] },
      canUseTool({ tool, input, agentId }) {
        asked.push([tool, (input as { file_path: string }).file_path, agentId.endsWith('.1')]);
        return asked.length === 1 ? true : { allowed: false, reason: 'one is enough' };
      },
      cast: { 'Go.': [work, call('Read', { file_path: 'one' }), { text: 'Done.' }] },
    });
    await run('Go.');
    expect(asked).toEqual([
      ['Write', 'one', true],
      ['Write', 'three', true],
    ]);
    const [one, two, three] = lastTexts(requestsOf('Go.')[1]);
    expect(one).toMatch(/created|wrote/i);
    expect(two).toContain('Write(two)');
    expect(three).toContain('one is enough');
  });

  test('may change the input: the changed one runs, is on record, and is told to the model', async () => {
    const { run, requestsOf, cwd, recordedOf } = await startFamily({
      permissionMode: 'default',
      canUseTool: ({ input }) => ({ allowed: true, updatedInput: { ...Object(input), content: 'changed' } }),
      cast: { 'Go.': [call('Write', { file_path: 'one', content: 'x' }), { text: 'Done.' }] },
    });
    await run('Go.');
    expect(readFileSync(join(cwd, 'one'), 'utf8')).toBe('changed');
    const [told] = lastTexts(requestsOf('Go.')[1]);
    expect(told).toContain('The program changed the input of this call to ');
    expect(told).toContain('"content":"changed"');
    expect(recordedOf(1)).toContainEqual(
      expect.objectContaining({
        type: 'permission.answered',
        answer: 'once',
        updatedInput: { file_path: 'one', content: 'changed' },
      }),
    );
  });

  test('what it changes an input to is judged again: rules that deny, the tool itself', async () => {
    const inputs: unknown[] = [
      { file_path: 'secret', content: 'x' },
      { file_path: 'three', contents: 'x' },
      'no object',
    ];
    const { run, requestsOf, cwd } = await startFamily({
      permissionMode: 'default',
      permissions: { deny: ['Write(secret)'] },
      canUseTool: () => ({ allowed: true, updatedInput: inputs.shift() as never }),
      cast: { 'Go.': [work, { text: 'Done.' }] },
    });
    await run('Go.');
    const [denied, wrong, odd] = lastTexts(requestsOf('Go.')[1]);
    expect(denied).toContain('Write(secret)');
    expect(wrong).toMatch(/Write is not permitted: the changed input is not valid: .*content is missing/);
    expect(odd).toContain('canUseTool: the option updatedInput is "no object"; give an object');
    expect(readdirSync(cwd).filter((name) => ['one', 'two', 'three', 'secret'].includes(name))).toEqual([]);
  });

  test('EXEC-2: it changes the input of an agent in a process of its own, and of a fork that is narrowed', async () => {
    const { run, session, cwd, requestsOf } = await startFamily({
      permissionMode: 'default',
      agents: { executor: 'process' },
      canUseTool: () => ({ allowed: true, updatedInput: { file_path: 'there', content: 'changed' } }),
      cast: {
        'Go.': [startAgents(['child'], { subagent_type: 'general-purpose' }), { text: 'Done.' }],
        child: [call('Write', { file_path: 'one', content: 'x' }), { text: 'Scope: child.' }],
        narrow: [call('Write', { file_path: 'one', content: 'x' }), { text: 'Scope: narrow.' }],
      },
    });
    await run('Go.');
    expect(readFileSync(join(cwd, 'there'), 'utf8')).toBe('changed');
    const fork = await session.fork('narrow', {
      canUseTool: ({ input }) =>
        JSON.stringify(input).includes('there') ? { allowed: false, reason: 'not there' } : { allowed: true },
    });
    await fork.result;
    expect(lastTexts(requestsOf('narrow')[1])[0]).toContain('not there');
  });

  test('a throw, and what is no decision, are denials', async () => {
    const answers = [() => Promise.reject(new Error('no policy')), () => 'yes', () => undefined];
    const { run, requestsOf } = await startFamily({
      permissionMode: 'default',
      canUseTool: () => answers.shift()?.() as never,
      cast: { 'Go.': [work, { text: 'Done.' }] },
    });
    await run('Go.');
    const texts = lastTexts(requestsOf('Go.')[1]);
    expect(texts[0]).toContain('no policy');
    expect(texts[1]).toContain('canUseTool gave no decision');
    expect(texts[2]).toContain('canUseTool gave no decision');
  });

  test('a yes with a field that there is not, or a rule that cannot be read, is a denial', async () => {
    const answers = [
      { allowed: true, input: { file_path: 'safe', content: 'x' } },
      { allowed: true, updatedinput: { file_path: 'safe', content: 'x' } },
      { allowed: true, rules: ['Write(('] },
    ];
    const { run, requestsOf, cwd } = await startFamily({
      permissionMode: 'default',
      canUseTool: () => answers.shift() as never,
      cast: { 'Go.': [work, { text: 'Done.' }] },
    });
    await run('Go.');
    const [unknown, near, rule] = lastTexts(requestsOf('Go.')[1]);
    expect(unknown).toContain(
      'canUseTool: there is no option "input"; there are allowed, rules, updatedInput',
    );
    expect(near).toContain('did you mean updatedInput?');
    expect(rule).toContain('canUseTool: the rule Write((');
    expect(readdirSync(cwd).filter((name) => ['one', 'two', 'three', 'safe'].includes(name))).toEqual([]);
  });

  test('"always" for an own tool holds: the rule that is offered, and one that names it', async () => {
    const runs: string[] = [];
    const own = (name: string, access: 'write' | 'execute') =>
      tool({
        ...{ name, description: 'd', inputSchema: { type: 'object' }, access },
        run: () => {
          runs.push(name);
          return 'ok';
        },
      });
    const tools = [own('w', 'write'), own('deploy', 'execute')];
    const asked: unknown[] = [];
    const canUseTool: SessionOptions['canUseTool'] = ({ tool: name, suggestedRules }) => {
      asked.push([name, suggestedRules]);
      return { allowed: true, rules: name === 'w' ? suggestedRules : ['deploy'] };
    };
    const twice = [call('w', {}), call('deploy', {}), call('w', {}), call('deploy', {}), { text: 'Done.' }];
    const scene = await startFamily({ permissionMode: 'default', tools, canUseTool, cast: { 'Go.': twice } });
    await scene.run('Go.');
    expect(asked).toEqual([
      ['w', ['w']],
      ['deploy', ['deploy']],
    ]);
    expect(runs).toEqual(['w', 'deploy', 'w', 'deploy']);
    const again = await scene.reopen({ 'More.': twice }, { tools, canUseTool });
    await again.run('More.');
    expect([asked.length, runs.length]).toEqual([2, 8]);
  });

  test('a rule that names a tool which there is not is a denial, and says which tools there are', async () => {
    const { run, requestsOf } = await startFamily({
      permissionMode: 'default',
      tools: [tool({ name: 'w', description: 'd', inputSchema: { type: 'object' }, run: () => 'ok' })],
      canUseTool: () => ({ allowed: true, rules: ['W'] }),
      cast: { 'Go.': [call('w', {}), { text: 'Done.' }] },
    });
    await run('Go.');
    expect(lastTexts(requestsOf('Go.')[1])[0]).toMatch(/the rule W can never match: .*write w/);
  });

  test('is refused beside a broker', async () => {
    const broker = { ask: async () => ({ kind: 'once' }) as const };
    await expect(startFamily({ cast: {}, broker, canUseTool: () => true })).rejects.toThrow(
      'give broker or canUseTool',
    );
  });
});
