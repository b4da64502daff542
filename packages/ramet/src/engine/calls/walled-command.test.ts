import { describe, expect, test } from 'vitest';
import { type EngineFixture, startEngine } from '../../../test/fixtures/engine.ts';
import { contentOf } from '../../conversation/frozen-block.ts';
import type { PermissionAnswer, PermissionBroker, PermissionQuestion } from '../../permission/broker.ts';
import { parseRules, sessionRules } from '../../permission/policy.ts';
import { type CommandSandbox, createCommandSandbox, plainShell } from '../../sandbox/command-sandbox.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import type { AgentSpec } from '../agent/runtime.ts';
import { runCalls } from './tool-runner.ts';

interface Walled extends EngineFixture {
  /** What ran behind the wall, and the questions that were asked. */
  walled: string[];
  asked: PermissionQuestion[];
  bash(command: string, background?: boolean): Promise<{ text: string; isError: boolean }>;
}

interface WalledOptions {
  spec?: Partial<AgentSpec>;
  /** What a command does behind the wall, as a script. */
  behind?: string;
  answer?: PermissionAnswer;
  allow?: readonly string[];
}

/** An engine with a wall that is none: what it starts is a script of the test's. */
async function walledEngine({
  spec,
  behind = 'echo inside',
  answer,
  allow = [],
}: WalledOptions = {}): Promise<Walled> {
  const walled: string[] = [];
  const asked: PermissionQuestion[] = [];
  const sandbox: CommandSandbox = {
    ...createCommandSandbox('off', {}),
    wall: async () => true,
    async shell(command) {
      walled.push(command);
      return { ...plainShell(behind), confined: true };
    },
  };
  const broker: PermissionBroker = {
    async ask(question) {
      asked.push(question);
      return answer ?? { kind: 'once' };
    },
  };
  const origin = { base: '/', home: null };
  const { rules } = parseRules({ allow }, { place: 'the test', ...origin });
  const engine = await startEngine({
    provider: scriptedModel(),
    spec: { permissionMode: 'default', ...spec },
    runtime: { sandbox, broker, permissions: sessionRules(rules, origin) },
  });
  let calls = 0;
  return {
    ...engine,
    walled,
    asked,
    async bash(command, background = false) {
      const id = `call-${++calls}`;
      const run = { agent: engine.agent, signal: new AbortController().signal };
      const input = { command, ...(background && { run_in_background: true }) };
      const block = (await runCalls(run, [{ type: 'tool_use', id, name: 'Bash', input }])).get(id);
      if (block === undefined) throw new Error('no result');
      const result = contentOf(block);
      return { text: String(result.content), isError: result.is_error === true };
    },
  };
}

const STOPPED = 'echo "ls: cannot do it: Read-only file system"; exit 1';

describe('RES-3: a command that was judged to only read', () => {
  test.for(['plan', 'dontAsk', 'default', 'acceptEdits'] as const)(
    'runs behind the wall in %s',
    async (permissionMode) => {
      const engine = await walledEngine({ spec: { permissionMode } });
      expect(await engine.bash('ls')).toEqual({ text: 'inside', isError: false });
      expect([engine.walled, engine.asked]).toEqual([['ls'], []]);
    },
  );

  test('runs behind it in bypassPermissions only for an agent that only reads', async () => {
    const permissionMode = 'bypassPermissions';
    const free = await walledEngine({ spec: { permissionMode } });
    expect((await free.bash('echo free')).text).toBe('free');
    const reader = await walledEngine({ spec: { permissionMode, readOnly: true } });
    expect((await reader.bash('echo free')).text).toBe('inside');
  });

  test('says that it is there when it runs in the background', async () => {
    const engine = await walledEngine();
    expect((await engine.bash('ls', true)).text).toContain('It runs in a read-only sandbox without network.');
  });

  test('runs outside where a rule covers it', async () => {
    const engine = await walledEngine({ allow: ['Bash(echo:*)'] });
    expect((await engine.bash('echo free')).text).toBe('free');
    expect(engine.walled).toEqual([]);
  });

  test('what a person allowed runs outside', async () => {
    const engine = await walledEngine();
    expect((await engine.bash('touch new; echo made')).text).toBe('made');
    expect([engine.walled.length, engine.asked.length]).toEqual([0, 1]);
  });
});

describe('RES-3: a command that the sandbox makes fail', () => {
  test('becomes a question, and runs outside after a yes', async () => {
    const engine = await walledEngine({ behind: STOPPED });
    expect(await engine.bash('echo outside')).toEqual({ text: 'outside', isError: false });
    expect(engine.asked).toMatchObject([
      { summary: 'echo outside', reason: 'the read-only sandbox stopped it: files are read-only there' },
    ]);
    const recorded = engine.recorded().filter(({ type }) => type.startsWith('permission.'));
    expect(recorded.map(({ type }) => type)).toEqual(['permission.asked', 'permission.answered']);
  });

  test('stays failed after a no, and says why', async () => {
    const engine = await walledEngine({ behind: STOPPED, answer: { kind: 'denied', reason: 'not now' } });
    const { text, isError } = await engine.bash('echo outside');
    expect(isError).toBe(true);
    expect(text).toBe(
      'ls: cannot do it: Read-only file system\nExit code 1.\n' +
        'Bash is not permitted: the read-only sandbox stopped it: files are read-only there, and not now',
    );
  });

  test.for<[string, Partial<AgentSpec>]>([
    ['plan', { permissionMode: 'plan' }],
    ['dontAsk', { permissionMode: 'dontAsk' }],
    ['an agent that only reads', { readOnly: true }],
    ['one in bypassPermissions', { readOnly: true, permissionMode: 'bypassPermissions' }],
  ])('asks nobody where nobody is asked, and says in one line what happened: %s', async ([, spec]) => {
    const engine = await walledEngine({ behind: STOPPED, spec });
    const { text, isError } = await engine.bash('echo outside');
    expect(isError).toBe(true);
    expect(engine.asked).toEqual([]);
    const lines = text.split('\n').slice(2);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/read-only sandbox stopped it: files are read-only there/);
  });

  test('is not asked about when it failed by itself', async () => {
    const engine = await walledEngine({ behind: 'echo "ls: missing: No such file or directory"; exit 2' });
    expect((await engine.bash('ls missing')).text).toBe(
      'ls: missing: No such file or directory\nExit code 2.',
    );
    expect(engine.asked).toEqual([]);
  });

  test('says so where only its output shows it', async () => {
    const engine = await walledEngine({ behind: 'echo "git: Could not resolve host: example.invalid"' });
    expect((await engine.bash('git log')).text).toBe(
      'git: Could not resolve host: example.invalid\n(It ran in a read-only sandbox: there is no network there.)',
    );
    expect(engine.asked).toEqual([]);
  });
});
