import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { writeFiles } from '../../../test/fixtures/temporary.ts';
import { test } from '../../../test/fixtures/temporary-directory.ts';
import { systemClock } from '../../schema/clock.ts';
import { findProcess } from '../../system/processes/process-identity.ts';
import { createProcessRegister } from '../../system/processes/process-register.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { type HookInput, readHooks } from './hook-config.ts';
import type { HookEventName } from './hook-event.ts';
import { type HookResult, HookRunner } from './hook-runner.ts';

interface Fired {
  event?: HookEventName;
  hooks: readonly unknown[];
  input?: Record<string, unknown>;
  signal?: AbortSignal;
  clock?: typeof systemClock;
  variables?: Record<string, string>;
  environment?: Record<string, string>;
}

function inputOf(directory: string, event: HookEventName, more: Record<string, unknown> = {}): HookInput {
  return {
    session_id: 's',
    transcript_path: '',
    cwd: directory,
    hook_event_name: event,
    tool_name: 'Bash',
    ...more,
  };
}

async function fire(directory: string, fired: Fired): Promise<HookResult> {
  const { event = 'PreToolUse', hooks, input, signal = new AbortController().signal, clock } = fired;
  await using runner = new HookRunner({
    clock: clock ?? systemClock,
    processes: createProcessRegister(join(directory, 'processes'), () => {}),
    environment: { PATH: process.env.PATH ?? '', ...fired.environment },
    projectDirectory: directory,
  });
  const read = readHooks({ [event]: [{ hooks }] }, { label: 'test', variables: fired.variables });
  expect(read.unused).toEqual([]);
  return await runner.run({
    hooks: read.hooks,
    input: inputOf(directory, event, input),
    agent: 'a1',
    signal,
  });
}

const variable = (name: string): string => `$\{${name}}`;
const run = (command: string, more: object = {}): object => ({ type: 'command', command, ...more });
const say = (value: unknown): object => run(`echo '${JSON.stringify(value)}'`);
const pre = (fields: object): object =>
  say({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...fields } });

describe('EXT-2: a command hook', () => {
  test.for([
    'if read -r line; then case "$line" in *marked*) exit 2;; esac; fi',
    'while read -r line; do echo "$line" | grep -q marked && exit 2; done; exit 0',
    'set -e; read -r all; case $all in *marked*) exit 2;; esac',
    'test "$(tail -c 2 | od -An -c | tr -d " ")" = "}\\\\n" && exit 2',
  ])('reads its input as a whole line: %s', async (command, { directory }) => {
    const { effect } = await fire(directory, { hooks: [run(command)], input: { tool_input: 'marked' } });
    expect(effect.decision).toBe('deny');
  });

  test.for([
    'cat /dev/stdin > read',
    'cat > read',
    'while IFS= read -r line || [ -n "$line" ]; do printf %s "$line"; done < /dev/stdin > read',
    'head -c 1 > read; cat >> read',
    'cp /dev/stdin read',
  ])('reads its input by name and without: %s', async (command, { directory }) => {
    const { runs } = await fire(directory, { hooks: [run(command)], input: { text: 'é'.repeat(200_000) } });
    expect(runs).toMatchObject([{ outcome: 'ok' }]);
    expect(JSON.parse(readFileSync(join(directory, 'read'), 'utf8'))).toEqual(
      inputOf(directory, 'PreToolUse', { text: 'é'.repeat(200_000) }),
    );
  });

  test('that changes the input of who reads it after it has no answer', async ({ directory }) => {
    const { runs } = await fire(directory, { hooks: [run('echo "{}" 1<> /dev/stdin')] });
    expect(runs).toMatchObject([
      { outcome: 'failed', problem: expect.stringContaining('its input was changed') },
    ]);
  });

  test('that may not run is named once, and so is each other one that runs the same file', async ({
    directory,
  }) => {
    await using runner = new HookRunner({
      clock: systemClock,
      processes: createProcessRegister(join(directory, 'processes'), () => {}),
      environment: {},
      projectDirectory: directory,
    });
    const source = { label: 'test', check: () => 'a.js is not what you trusted' };
    const { hooks } = readHooks({ Stop: [{ hooks: [run('node a.js'), run('node a.js --more')] }] }, source);
    const order = { hooks, input: inputOf(directory, 'Stop'), agent: 'a1', signal: AbortSignal.any([]) };
    const known = async (): Promise<unknown> => (await runner.run(order)).runs.map(({ isKnown }) => isKnown);
    expect(await known()).toEqual([undefined, undefined]);
    expect(await known()).toEqual([true, true]);
  });

  test('that says so in its first line is not waited for, and ends with the runner', async ({
    directory,
  }) => {
    const left = run(`echo $$ > pid; echo '{"async": true, "asyncTimeout": 9}'; sleep 600; echo more`);
    const { runs, effect } = await fire(directory, { hooks: [left, say({ systemMessage: 'x' })] });
    expect(runs).toMatchObject([{ outcome: 'ok' }, { outcome: 'ok' }]);
    expect(effect).toMatchObject({ contexts: [] });
    expect(findProcess(Number(readFileSync(join(directory, 'pid'), 'utf8')))?.ended ?? true).toBe(true);
    const quick = run(`echo '{"async": true}'; echo '{"decision": "block"}'`);
    expect((await fire(directory, { hooks: [quick] })).runs).toMatchObject([{ outcome: 'ok' }]);
  });

  test('reads JSON from its input, in the directory, with the project in its environment', async ({
    directory,
  }) => {
    const command = 'cat > seen.json; echo "$CLAUDE_PROJECT_DIR" > env.txt';
    const { runs } = await fire(directory, { hooks: [run(command)], input: { tool_input: { a: 'é' } } });
    expect(runs).toMatchObject([{ hook: command, source: 'test', outcome: 'ok' }]);
    expect(JSON.parse(readFileSync(join(directory, 'seen.json'), 'utf8'))).toMatchObject({
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { a: 'é' },
    });
    expect(readFileSync(join(directory, 'env.txt'), 'utf8')).toBe(`${directory}\n`);
  });

  test('of an agent type answers no server with a yes', async ({ directory }) => {
    await using runner = new HookRunner({
      clock: systemClock,
      processes: createProcessRegister(join(directory, 'processes'), () => {}),
      environment: {},
      projectDirectory: directory,
    });
    const answered = async (action: string): Promise<unknown> => {
      const hook = () => ({ hookSpecificOutput: { hookEventName: 'Elicitation', action } });
      const source = { label: 'agent x', narrows: true } as const;
      const { hooks } = readHooks({ Elicitation: [{ hooks: [hook] }] }, source);
      const order = { input: inputOf(directory, 'Elicitation'), agent: 'a1', signal: AbortSignal.any([]) };
      return (await runner.run({ hooks, ...order })).effect.answer?.action;
    };
    expect([await answered('accept'), await answered('decline')]).toEqual([undefined, 'decline']);
  });

  test('reads no start-up file of its shell', async ({ directory }) => {
    writeFiles(directory, { '.bashrc': 'echo from bashrc' });
    const { effect } = await fire(directory, {
      event: 'SessionStart',
      hooks: [run('echo own')],
      environment: { HOME: directory },
    });
    expect(effect.contexts).toEqual(['own']);
  });

  test('blocks with exit code 2 and says why on its standard error', async ({ directory }) => {
    const { effect, runs } = await fire(directory, { hooks: [run('echo "no curl" >&2; exit 2')] });
    expect(effect).toMatchObject({ decision: 'deny', reason: 'no curl' });
    expect(runs).toMatchObject([{ outcome: 'blocked' }]);
  });

  test('that exits with 2 and says nothing still has a reason', async ({ directory }) => {
    const { effect } = await fire(directory, { hooks: [run('exit 2')] });
    expect(effect).toMatchObject({ decision: 'deny', reason: 'a hook refused it and gave no reason' });
    const stop = await fire(directory, { event: 'Stop', hooks: [run('exit 2')] });
    expect(stop.effect.block).toBe('a hook refused it and gave no reason');
  });

  test('that ends with another code, prints garbage or cannot be found fails visibly and blocks nothing', async ({
    directory,
  }) => {
    const { effect, runs } = await fire(directory, {
      hooks: [
        run('echo broken >&2; exit 1'),
        run('echo "{ nonsense"'),
        run('/no/such/program'),
        run('no-such-program', { args: ['x'] }),
        run('kill -9 $$'),
        pre({ permissionDecision: 'maybe' }),
        say({ hookSpecificOutput: { hookEventName: 'Stop' } }),
        say({ systemMessage: 7 }),
      ],
    });
    expect(effect).toEqual({ contexts: [] });
    expect(runs.map(({ outcome }) => outcome)).toEqual(Array(8).fill('failed'));
    expect(runs.map(({ problem }) => problem)).toEqual([
      'exit code 1: broken',
      'what it printed begins like JSON and is none: "{ nonsense"',
      expect.stringMatching(/^exit code 127/),
      expect.stringMatching(/^it could not be started: .*ENOENT/),
      'it was ended by SIGKILL',
      'hookSpecificOutput.permissionDecision is none of allow, approve, ask, defer, deny, block',
      'it answered for the event Stop',
      'systemMessage is no text',
    ]);
  });

  test('decides, changes the input and adds context by JSON', async ({ directory }) => {
    const { effect } = await fire(directory, {
      hooks: [
        pre({
          permissionDecision: 'ask',
          permissionDecisionReason: 'r',
          updatedInput: { command: 'ls' },
          additionalContext: 'c',
        }),
      ],
    });
    expect(effect).toMatchObject({
      decision: 'ask',
      reason: 'r',
      updatedInput: { command: 'ls' },
      contexts: ['c'],
    });
  });

  test('in the older form decides too', async ({ directory }) => {
    const { effect } = await fire(directory, { hooks: [say({ decision: 'block', reason: 'old' })] });
    expect(effect).toMatchObject({ decision: 'deny', reason: 'old' });
    const after = await fire(directory, {
      event: 'PostToolUse',
      hooks: [say({ decision: 'block', reason: 'lint' })],
    });
    expect(after.effect).toMatchObject({ block: 'lint' });
  });

  test('ends the run with continue: false, and speaks to the user', async ({ directory }) => {
    const { effect, messages } = await fire(directory, {
      hooks: [say({ continue: false, stopReason: 'enough', systemMessage: 'look' })],
    });
    expect([effect.stop, messages]).toEqual(['enough', ['look']]);
  });

  test('prints plain text as context where the event takes it, and nowhere else', async ({ directory }) => {
    const hooks = [run('echo hello')];
    expect((await fire(directory, { event: 'SessionStart', hooks })).effect.contexts).toEqual(['hello']);
    expect((await fire(directory, { event: 'UserPromptSubmit', hooks })).effect.contexts).toEqual(['hello']);
    expect((await fire(directory, { event: 'Stop', hooks })).effect.contexts).toEqual([]);
  });

  test('without a shell gets its arguments as they are, with the variables put in', async ({ directory }) => {
    writeFiles(directory, { 'p/hook.sh': 'printf "%s|" "$@" > out.txt' });
    await fire(directory, {
      hooks: [
        run('bash', {
          args: [`${variable('CLAUDE_PLUGIN_ROOT')}/hook.sh`, '$HOME `x`', variable('CLAUDE_PROJECT_DIR')],
        }),
      ],
      variables: { CLAUDE_PLUGIN_ROOT: join(directory, 'p') },
    });
    expect(readFileSync(join(directory, 'out.txt'), 'utf8')).toBe(`$HOME \`x\`|${directory}|`);
  });

  test('that prints 50 MB is read to its end and little of it is kept', async ({ directory }) => {
    const flood = 'head -c 50000000 /dev/zero | tr "\\0" x';
    for (const event of ['SessionStart', 'PreToolUse'] as const) {
      const { effect, runs } = await fire(directory, { event, hooks: [run(flood)] });
      expect(runs).toMatchObject([{ outcome: 'failed', problem: 'it printed more than 1 MiB' }]);
      expect(effect.contexts).toEqual([]);
    }
    const errors = await fire(directory, { hooks: [run(`${flood} >&2; exit 2`)] });
    expect(errors.effect.decision).toBe('deny');
    const refusing = await fire(directory, { hooks: [run(`${flood}; echo no >&2; exit 2`)] });
    expect(refusing).toMatchObject({
      effect: { decision: 'deny', reason: 'no' },
      runs: [{ outcome: 'blocked' }],
      messages: [
        'a PreToolUse hook refused with exit code 2, and it printed more than 1 MiB, which is not read',
      ],
    });
    const json = await fire(directory, { hooks: [run(`echo "{"; ${flood}`)] });
    expect(json.runs).toMatchObject([{ problem: 'it printed more than 1 MiB' }]);
  });

  test.for([
    ['bytes that are no UTF-8', "printf '\\377\\376 x'"],
    ['a NUL', "printf 'a\\000b'"],
  ])('that prints %s has failed, and still refuses with exit code 2', async ([, garbage], { directory }) => {
    for (const event of ['PreToolUse', 'SessionStart', 'PostToolUse'] as const) {
      const { effect, runs } = await fire(directory, { event, hooks: [run(`${garbage}`)] });
      expect(runs).toMatchObject([{ outcome: 'failed', problem: 'what it printed is no text' }]);
      expect(effect.contexts).toEqual([]);
    }
    const refused = await fire(directory, { hooks: [run(`${garbage}; echo no >&2; exit 2`)] });
    expect(refused.effect).toMatchObject({ decision: 'deny', reason: 'no' });
    expect(refused.messages).toEqual([
      'a PreToolUse hook refused with exit code 2, and what it printed is no text, which is not read',
    ]);
  });

  test('that prints text of every language, or plain text for nobody, has not', async ({ directory }) => {
    const { runs } = await fire(directory, { hooks: [run('echo "grün 日本 🌱"')] });
    expect(runs).toMatchObject([{ outcome: 'ok' }]);
  });

  test('that does not read its input is no failure', async ({ directory }) => {
    const { runs } = await fire(directory, { hooks: [run('exit 0')], input: { big: 'x'.repeat(500_000) } });
    expect(runs).toMatchObject([{ outcome: 'ok' }]);
  });
});

describe('EXT-2: processes of hooks', () => {
  function marks(directory: string): string[] {
    return existsSync(join(directory, 'processes')) ? readdirSync(join(directory, 'processes')) : [];
  }

  test('that take too long are ended with everything they started, and block nothing', async ({
    directory,
  }) => {
    const clock = simulatedClock();
    const firing = fire(directory, {
      clock,
      hooks: [run('sleep 1000 & echo $! > child; wait', { timeout: 5 })],
    });
    await clock.whenSleeping();
    await clock.advance(5_000);
    const { runs, effect } = await firing;
    expect(runs).toMatchObject([{ outcome: 'failed', problem: 'it took longer than 5 s' }]);
    expect(effect.decision).toBeUndefined();
    expect(marks(directory)).toEqual([]);
  });

  test('end when the run is interrupted', async ({ directory }) => {
    const stop = new AbortController();
    const firing = fire(directory, { hooks: [run('touch there; sleep 1000')], signal: stop.signal });
    await expect.poll(() => existsSync(join(directory, 'there'))).toBe(true);
    stop.abort();
    expect((await firing).runs).toMatchObject([{ problem: 'it was interrupted' }]);
    expect(marks(directory)).toEqual([]);
  });

  test('that leave something running in their group leave nothing', async ({ directory }) => {
    const { runs } = await fire(directory, { hooks: [run('sleep 1000 & echo $! > child')] });
    expect(runs).toMatchObject([{ outcome: 'ok' }]);
    const child = Number(readFileSync(join(directory, 'child'), 'utf8'));
    await expect.poll(() => isRunning(child)).toBe(false);
  });

  test('with a daemon that holds their output open do not hold up the run', async ({ directory }) => {
    const { runs } = await fire(directory, { hooks: [run('setsid sleep 3 & echo $! > child; exit 0')] });
    expect(runs).toMatchObject([{ outcome: 'ok' }]);
    expect(runs[0]?.durationMs).toBeLessThan(2_500);
  });

  test('RES-8: that leave a daemon with a session of its own: it ends with the runner', async ({
    directory,
  }) => {
    const command = 'setsid sh -c "echo \\$\\$ > child; exec sleep 1000" & until test -s child; do :; done';
    await fire(directory, { hooks: [run(command)] });
    const daemon = Number(readFileSync(join(directory, 'child'), 'utf8'));
    expect(findProcess(daemon)?.ended ?? true).toBe(true);
    expect(readdirSync(join(directory, 'processes'))).toEqual([]);
  });

  test('SEC-1: run no compiled Python that lies beside a module', async ({ directory, skip }) => {
    const probe = spawnSync('python3', ['--version']);
    if (probe.status !== 0) return skip('there is no python3');
    writeFiles(directory, { 'd/mod.py': 'print("the module")\n' });
    const forge = [
      'import importlib._bootstrap_external as b, importlib.util as u, os',
      'p = u.cache_from_source("d/mod.py"); os.makedirs(os.path.dirname(p), exist_ok=True)',
      'c = compile("print(\'what an agent wrote\')", "x", "exec")',
      'open(p, "wb").write(b._code_to_hash_pyc(c, b"12345678", False))',
    ].join('\n');
    spawnSync('python3', ['-c', forge], { cwd: directory });
    const said = spawnSync('python3', ['-m', 'd.mod'], { cwd: directory, encoding: 'utf8' });
    expect(said.stdout).toBe('what an agent wrote\n');
    const environment = { HOME: directory, RAMET_HOME: join(directory, 'home') };
    const hooks = [run('python3 -m d.mod')];
    const { effect } = await fire(directory, { event: 'SessionStart', hooks, environment });
    expect(effect.contexts).toEqual(['the module']);
  });

  test('that are asynchronous are not waited for, change nothing, and end with the runner', async ({
    directory,
  }) => {
    const { runs, effect } = await fire(directory, {
      hooks: [run('echo $$ > child; sleep 1000; exit 2', { async: true })],
    });
    expect(runs).toMatchObject([{ outcome: 'started' }]);
    expect(effect.decision).toBeUndefined();
    expect(marks(directory)).toEqual([]);
  });
});

function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe('EXT-2: many hooks of one event', () => {
  test('run side by side, and deny beats ask beats allow in any order of ending', async ({ directory }) => {
    const { effect, runs } = await fire(directory, {
      hooks: [
        pre({ permissionDecision: 'allow', updatedInput: { n: 1 }, additionalContext: 'one' }),
        run('sleep 0.1; echo late >&2; exit 2'),
        pre({ permissionDecision: 'ask', updatedInput: { n: 2 }, additionalContext: 'two' }),
        run('echo later >&2; exit 2'),
      ],
    });
    expect(effect).toMatchObject({
      decision: 'deny',
      reason: 'late',
      updatedInput: { n: 2 },
      contexts: ['one', 'two'],
    });
    expect(runs).toHaveLength(4);
  });

  test('run each command once', async ({ directory }) => {
    const hook = run('echo x >> count');
    const { runs } = await fire(directory, { hooks: [hook, hook, run('echo x >> count', { timeout: 3 })] });
    expect(runs).toHaveLength(1);
    expect(readFileSync(join(directory, 'count'), 'utf8')).toBe('x\n');
  });

  test('run at most sixteen at once', async ({ directory }) => {
    let running = 0;
    let most = 0;
    const hooks = Array.from({ length: 40 }, () => async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((done) => setImmediate(done));
      running -= 1;
    });
    await fire(directory, { hooks });
    expect(most).toBe(16);
  });
});

describe('EXT-2: a function as a hook', () => {
  test('answers as a command would, and cannot change what others see', async ({ directory }) => {
    const spoil = (input: HookInput): object => {
      Object.assign(input, { tool_name: 'spoilt' });
      return { hookSpecificOutput: { permissionDecision: 'allow' } };
    };
    const { effect } = await fire(directory, {
      hooks: [spoil, (input: HookInput, id: string) => ({ systemMessage: `${input.tool_name} ${id}` })],
      input: { tool_use_id: 't1' },
    });
    expect(effect.decision).toBe('allow');
  });

  test('that throws, returns nonsense or never returns fails and blocks nothing', async ({ directory }) => {
    const clock = simulatedClock();
    const never = (): Promise<never> => new Promise(() => {});
    const bad = (): never => {
      throw new Error('oops');
    };
    /** Whether a process waits for each limit. */
    const waited: unknown[] = [];
    const watched: typeof systemClock = {
      ...clock,
      sleep: (ms, signal, options) => {
        waited.push(options?.keepsAlive ?? true);
        return clock.sleep(ms, signal, options);
      },
    };
    const firing = fire(directory, { clock: watched, hooks: [bad, () => 7, never] });
    await clock.whenSleeping();
    await clock.advance(600_000);
    expect((await firing).runs.map(({ problem }) => problem)).toEqual([
      'it threw: oops',
      'what it answered is no object',
      'it took longer than 600 s',
    ]);
    expect(waited).toEqual([true, true, true]);
  });
});
