import { describe, expect, test } from 'vitest';
import {
  call,
  type FamilyOptions,
  lastTexts,
  promptBytes,
  startAgents,
  startFamily,
} from '../../../../test/fixtures/family.ts';
import type { RequestRecord } from '../../../emulator/index.ts';
import * as z from '../../../schema/zod.ts';
import { scriptedModel } from '../../../testing/scripted-model.ts';
import { defineTool, type Tool, type ToolEffect } from '../../../tools/tool.ts';
import { resolveOptions } from '../../options.ts';
import { type OwnTool, ownTool } from '../../own-tools/own-tool.ts';
import { findPlace } from '../../place.ts';
import { openSessionTools } from './session-tools.ts';

const FRESH = { subagent_type: 'general-purpose' };
const REPORT = { text: 'Scope: child. Done.' };

interface Told {
  readonly agent: string;
  readonly pid: number;
}

/** Says what it was given, in which process, for which agent. */
function echo(name: string, effect: ToolEffect = 'read', told: Told[] = []): Tool {
  return defineTool({
    name,
    description: `The tool ${name}.`,
    effect,
    schedule: effect === 'read' ? 'parallel' : 'ordered',
    input: z.strictObject({ text: z.string() }),
    async run({ text }, { agent }) {
      told.push({ agent, pid: process.pid });
      return { content: `${name} got ${text}` };
    },
  });
}

function own(...tools: Tool[]): OwnTool[] {
  return tools.map(ownTool);
}

/** The names in the head of a request. */
function offered(record: RequestRecord | undefined): string[] {
  return (record?.request?.tools ?? []).map(({ name }) => name);
}

describe('LIB-1: tools of a session', () => {
  test('come after the built-in ones in the given order, and answer calls', async () => {
    const { run, requestsOf, session } = await startFamily({
      tools: own(echo('zeta'), echo('alpha')),
      cast: { 'Go.': [call('zeta', { text: 'one' }), { text: 'Done.' }] },
    });
    expect((await run('Go.')).result).toMatchObject({ status: 'done', text: 'Done.' });
    const [first, second] = requestsOf('Go.');
    expect(offered(first).slice(-3)).toEqual(['ExitWorktree', 'zeta', 'alpha']);
    expect(session.tools.slice(-2)).toEqual(['zeta', 'alpha']);
    expect(lastTexts(second)).toEqual(['zeta got one']);
  });

  test('a wrong input is told by field, and nothing runs', async () => {
    const told: Told[] = [];
    const { run, requestsOf } = await startFamily({
      tools: own(echo('mine', 'read', told)),
      cast: { 'Go.': [call('mine', { txt: 1 }), { text: 'Done.' }] },
    });
    await run('Go.');
    expect(lastTexts(requestsOf('Go.')[1])[0]).toMatch(/Wrong input for mine: .*text is missing/);
    expect(told).toEqual([]);
  });

  test('without any the bytes are those of a session without the option', async () => {
    const scene: FamilyOptions = { cast: { 'Go.': [{ text: 'Done.' }] } };
    const [plain, empty] = [await startFamily(scene), await startFamily({ ...scene, tools: [] })];
    await plain.run('Go.');
    await empty.run('Go.');
    expect(offered(empty.requestsOf('Go.')[0])).toEqual(offered(plain.requestsOf('Go.')[0]));
  });

  test('FORK-2: a fork has the same bytes, and its calls run', async () => {
    const { run, requestsOf } = await startFamily({
      tools: own(echo('mine')),
      cast: {
        'Go.': [startAgents(['child']), { text: 'Done.' }],
        child: [call('mine', { text: 'forked' }), REPORT],
      },
    });
    await run('Go.');
    const [main] = requestsOf('Go.').map(promptBytes);
    const [fork, answered] = requestsOf('child');
    expect(promptBytes(fork ?? raise()).startsWith(main ?? 'absent')).toBe(true);
    expect(lastTexts(answered)).toContain('mine got forked');
  });

  test('TYPE-2: a type that only reads is offered those that only read; a list of tools may name them', async () => {
    const { run, requestsOf, session } = await startFamily({
      tools: own(echo('looks'), echo('runs', 'execute'), echo('writes', 'write')),
      home: {
        'agents/picky.md': '---\nname: picky\ndescription: d\ntools: Read, runs\n---\nYou pick.\n',
        'agents/reader.md': '---\nname: reader\ndescription: d\nreadOnly: true\n---\nYou read.\n',
      },
      cast: {
        'Go.': [
          startAgents(['explore'], { subagent_type: 'reader' }),
          startAgents(['picky'], { subagent_type: 'picky' }),
          { text: 'Done.' },
        ],
        explore: [REPORT],
        picky: [REPORT],
      },
    });
    await run('Go.');
    const reader = offered(requestsOf('explore')[0]);
    expect(reader).toContain('looks');
    expect(reader).not.toContain('runs');
    expect(reader).not.toContain('writes');
    expect(offered(requestsOf('picky')[0])).toEqual(['Read', 'runs']);
    expect(session.notices).toEqual([]);
  });

  test('rules name them, and what nothing allows is asked', async () => {
    const { run, requestsOf } = await startFamily({
      tools: own(echo('runs', 'execute'), echo('banned'), echo('open', 'execute')),
      permissionMode: 'default',
      permissions: { allow: ['runs'], deny: ['banned'] },
      cast: {
        'Go.': [
          {
            tool_use: ['runs', 'banned', 'open'].map((name) => ({ name, input: { text: 'x' } })),
          },
          { text: 'Done.' },
        ],
      },
    });
    await run('Go.');
    const [runs, banned, open] = lastTexts(requestsOf('Go.')[1]);
    expect(runs).toBe('runs got x');
    expect(banned).toContain('banned');
    expect(banned).not.toContain('got x');
    expect(open).not.toContain('got x');
  });

  test('EXEC-2: an agent in a process of its own has the host run them', async () => {
    const told: Told[] = [];
    const { run, requestsOf, session } = await startFamily({
      tools: own(echo('mine', 'execute', told)),
      agents: { executor: 'process' },
      cast: {
        'Go.': [startAgents(['child'], FRESH), { text: 'Done.' }],
        child: [call('mine', { text: 'far' }), call('mine', { wrong: 1 }), REPORT],
      },
    });
    await run('Go.');
    const [, second, third] = requestsOf('child');
    expect(lastTexts(second)).toContain('mine got far');
    expect(lastTexts(third)[0]).toMatch(/Wrong input for mine/);
    expect(told).toEqual([{ agent: `${session.id}.2`, pid: process.pid }]);
  });

  test('LOG-1: a resumed session has the recorded bytes, and a tool that is not brought again says so', async () => {
    const scene = await startFamily({
      tools: own(echo('mine'), echo('other')),
      cast: { 'Go.': [{ text: 'Ready.' }], 'Again.': [call('mine', { text: 'x' }), { text: 'Done.' }] },
    });
    await scene.run('Go.');
    const changed: Tool = { ...echo('mine'), description: 'Another description.' };
    const again = await scene.reopen(undefined, { tools: own(changed, echo('fresh')) });
    expect(again.session.notices).toEqual([
      'tools that this session had are not there now: other; calls of them fail',
      'not offered: fresh; a resumed session keeps the tools it began with',
    ]);
    await again.run('Again.');
    const [first] = scene.requestsOf('Go.');
    const [resumed, answered] = scene.requestsOf('Again.');
    expect(resumed?.request?.tools).toEqual(first?.request?.tools);
    expect(lastTexts(answered)).toContain('mine got x');

    const without = await again.reopen(
      { 'Third.': [call('mine', { text: 'x' }), { text: 'Done.' }] },
      { tools: [] },
    );
    await without.run('Third.');
    expect(scene.requestsOf('Third.')[0]?.request?.tools).toEqual(first?.request?.tools);
    expect(lastTexts(scene.requestsOf('Third.')[1])[0]).toContain('the tool mine is not there any more');
  });
});

describe('LIB-1: names of tools', () => {
  const order = {
    settings: resolveOptions({}),
    place: findPlace({ cwd: '/', env: { RAMET_HOME: '/nowhere' } }),
    prompts: {
      all: [],
      store: null,
      family: null,
      find: async () => null,
      whyNot: async () => null,
      notices: async () => [],
    },
    provider: scriptedModel(),
  };

  test.each([
    [['Bash'], /a built-in tool has that name/],
    [['twice', 'twice'], /two tools have that name/],
    [['with space'], /give 1 to 128 letters/],
    [[''], /give 1 to 128 letters/],
  ])('%j are refused', async (names, reason) => {
    const sources = names.map((name) => () => ({ tools: [echo(name)] }));
    await expect(openSessionTools(order, sources)).rejects.toThrow(reason);
  });

  test('what other sources have opened is closed when one fails', async () => {
    const closed: string[] = [];
    const source = (name: string) => () => ({
      tools: [echo(name)],
      async close() {
        closed.push(name);
      },
    });
    const failing = () => Promise.reject(new Error('no server'));
    await expect(openSessionTools(order, [source('a'), failing, source('b')])).rejects.toThrow('no server');
    expect(closed.sort()).toEqual(['a', 'b']);
    await using tools = await openSessionTools(order, [source('b'), () => null, source('a')]);
    expect(tools.tools.map(({ name }) => name)).toEqual(['b', 'a']);
  });

  test('what tool() did not make is refused', async () => {
    const tools = [{ name: 'mine', description: 'd' }];
    await expect(startFamily({ cast: {}, tools })).rejects.toThrow(
      /tools\[0\] is no tool: make it with tool/,
    );
  });
});

function raise(): never {
  throw new Error('there was no such request');
}
