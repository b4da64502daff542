import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Emulator, EmulatorOptions } from '../../src/emulator/index.ts';
import { eventually, isRunning, linesOf, type RunningCommand } from '../fixtures/command.ts';
import { writeFiles } from '../fixtures/temporary.ts';
import { requestsTaken, test, toolResults, type User } from '../fixtures/user.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];

/** Prints its process id and that of a child of its own, then hangs. */
const HANGING = { name: 'Bash', input: { command: 'sleep 60 & echo $$ $! > pids.txt; wait' } };

/** A module that says when standard input is listened to: nothing else shows it from outside. */
const TELLS_WHEN_IT_READS =
  'data:text/javascript,process.stdin.on(`newListener`,(name)=>name===`readable`%26%26console.log(`reads`))';

interface Phase {
  emulator: EmulatorOptions;
  /** Resolves when the run is in the phase. */
  reached(user: User, emulator: Emulator, running: RunningCommand): Promise<unknown>;
}

const PHASES: Record<string, Phase> = {
  'before the headers of an answer': {
    emulator: { fault: () => ({ kind: 'stall', at: 'headers' }) },
    reached: (_, emulator) => requestsTaken(emulator, 1),
  },
  'in the middle of an answer': {
    emulator: { respond: () => ({ text: 'Hello there.' }), fault: () => ({ kind: 'stall', at: 'text' }) },
    reached: (_, __, running) => eventually(() => running.stdout.includes('text_delta')),
  },
  'while a tool runs': {
    emulator: { respond: () => ({ tool_use: [HANGING] }) },
    reached: (user) => processesOf(user),
  },
  'while it waits to try again': {
    emulator: { fault: () => ({ kind: 'status', status: 529, retryAfter: 60 }) },
    reached: (_, __, running) => eventually(() => running.stdout.includes('api_retry')),
  },
};

/** Starts a run and returns once it is in the phase. */
async function startUntil(user: User, name: string): Promise<RunningCommand> {
  const phase = PHASES[name];
  if (phase === undefined) throw new Error(`no phase ${name}`);
  const emulator = await user.emulate(phase.emulator);
  const format = ['--output-format', 'stream-json', '--include-partial-messages'];
  const running = user.start(['-p', 'Work.', ...BYPASS, ...format]);
  await phase.reached(user, emulator, running);
  return running;
}

async function expectResumable(user: User, cause: string): Promise<Emulator> {
  const [agent] = JSON.parse((await user.ramet(['ps', '--json'])).stdout);
  expect(agent).toMatchObject({ status: 'interrupted', cause });
  const emulator = await user.emulate({ respond: () => ({ text: 'Where was I?' }) });
  const end = await user.ramet(['-p', '--continue', ...BYPASS]);
  expect(end).toEqual({ code: 0, stdout: 'Where was I?\n', stderr: '' });
  return emulator;
}

describe.concurrent('RES-5: a hook of the start', () => {
  test.for([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('ends at once with %s', async ([signal, code], { user }) => {
    await user.emulate({ respond: () => ({ text: 'done' }) });
    const command = 'echo $$ > pids.txt; sleep 1000';
    const hooks = { SessionStart: [{ hooks: [{ type: 'command', command }] }] };
    writeFiles(user.root, { 'home/.claude/settings.json': JSON.stringify({ hooks }) });
    const running = user.start(['-p', 'Work.', ...BYPASS]);
    const path = join(user.repository, 'pids.txt');
    await eventually(() => existsSync(path) && readFileSync(path, 'utf8').endsWith('\n'));
    running.kill(signal);
    expect((await running.ended).code).toBe(code);
    expect(isRunning(Number(readFileSync(path, 'utf8')))).toBe(false);
  });
});

describe.concurrent('RES-5: SIGINT', () => {
  test.for(Object.keys(PHASES))(
    '%s ends with 130 and one line, and can be resumed',
    async (name, { user }) => {
      const running = await startUntil(user, name);
      running.kill('SIGINT');
      const end = await running.ended;
      expect(end.code).toBe(130);
      const [session = ''] = user.sessions();
      expect(linesOf(end.stderr)).toEqual([
        `ramet: interrupted: SIGINT: interrupted (SIGINT) (session ${session}; resume with: ramet resume ${session})`,
      ]);
      expect(JSON.parse(linesOf(end.stdout).at(-1) ?? '')).toMatchObject({
        type: 'result',
        subtype: 'error_during_execution',
        is_error: true,
        agents: [{ status: 'interrupted', cause: 'SIGINT' }],
      });
      await expectResumable(user, 'SIGINT');
    },
  );

  test('ends the process group of a command, and the model learns of it', async ({ user }) => {
    const running = await startUntil(user, 'while a tool runs');
    const pids = await processesOf(user);
    running.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    for (const pid of pids) expect(isRunning(pid)).toBe(false);
    const emulator = await expectResumable(user, 'SIGINT');
    expect(toolResults(emulator)).toEqual([
      { text: expect.stringContaining('Interrupted: the command was stopped.'), isError: true },
    ]);
  });

  test('twice ends at once, and the session can still be resumed', async ({ user }) => {
    // Tells that it was asked to end, and goes on.
    const command = "trap 'touch asked.txt' TERM; echo $$ $$ > pids.txt; while :; do sleep 0.1; done";
    const stubborn = { name: 'Bash', input: { command } };
    await user.emulate({ respond: () => ({ tool_use: [stubborn] }) });
    const running = user.start(['-p', 'Work.', ...BYPASS]);
    const [shell = 0] = await processesOf(user);
    running.kill('SIGINT');
    await eventually(() => existsSync(join(user.repository, 'asked.txt')));
    running.kill('SIGINT');
    const end = await running.ended;
    expect(end.code).toBe(130);
    if (isRunning(shell)) process.kill(-shell, 'SIGKILL');
    const emulator = await expectResumable(user, 'process_ended');
    expect(toolResults(emulator)).toEqual([
      { text: expect.stringContaining('may have taken effect'), isError: true },
    ]);
  });

  test('MODEL-3: what had come of an answer is on the bill, and said to be estimated', async ({ user }) => {
    const text = 'word '.repeat(400);
    await user.emulate({ respond: () => ({ text }), fault: () => ({ kind: 'stall', at: 'text' }) });
    const format = ['--output-format', 'stream-json', '--include-partial-messages'];
    const running = user.start(['-p', 'Work.', ...BYPASS, ...format]);
    await eventually(() => running.stdout.includes('text_delta'));
    running.kill('SIGINT');
    const end = await running.ended;
    expect(end.stdout).not.toContain('api_retry');
    const result = JSON.parse(linesOf(end.stdout).at(-1) ?? '');
    expect(result.usage).toMatchObject({ estimated: true });
    expect(result.usage.input_tokens + result.usage.cache_creation_input_tokens).toBeGreaterThan(1_000);
    expect(result.total_cost_usd).toBeGreaterThan(0);
    const [agent] = JSON.parse((await user.ramet(['ps', '--json'])).stdout);
    expect(agent.usage).toMatchObject(result.usage);
    const { stdout } = await user.ramet(['cost']);
    expect(stdout).toMatch(/~\d/);
    expect(stdout).toContain(
      'an answer was cut off before the provider told its count: its output is estimated (~)',
    );
    expect(stdout).not.toContain('without a response');
    expect((await user.ramet(['logs'])).stdout).toContain('request stopped while it answered');
  });

  test('runs none of the calls that were still to come', async ({ user }) => {
    const next = { name: 'Write', input: { file_path: 'later.txt', content: 'x' } };
    await user.emulate({ respond: () => ({ tool_use: [HANGING, next] }) });
    const running = user.start(['-p', 'Work.', ...BYPASS]);
    await processesOf(user);
    running.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    const emulator = await expectResumable(user, 'SIGINT');
    expect(toolResults(emulator)[1]).toEqual({ text: 'interrupted: this call was not run', isError: true });
    expect(existsSync(join(user.repository, 'later.txt'))).toBe(false);
  });
});

describe.concurrent('RES-5: before there is a session', () => {
  test.for([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s while the prompt is still being written ends with %i', async ([signal, code], { user }) => {
    await user.model({ text: 'never' });
    const running = user.start(['-p'], {
      stdin: null,
      env: { NODE_OPTIONS: `--import=${TELLS_WHEN_IT_READS}` },
    });
    await eventually(() => running.stdout.includes('reads'));
    running.kill(signal);
    expect(await running.ended).toMatchObject({ code, stderr: `ramet: interrupted (${signal})\n` });
    expect(existsSync(user.rametHome)).toBe(false);
  });
});

describe.concurrent('RES-5: other ends from outside', () => {
  test.for([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s ends with %i, and can be resumed', async ([signal, code], { user }) => {
    const running = await startUntil(user, 'while a tool runs');
    const pids = await processesOf(user);
    running.kill(signal);
    const end = await running.ended;
    expect(end.code).toBe(code);
    expect(linesOf(end.stderr)).toEqual([expect.stringContaining(`interrupted: ${signal}`)]);
    for (const pid of pids) expect(isRunning(pid)).toBe(false);
    await expectResumable(user, signal);
  });

  test.for(Object.keys(PHASES))('LOG-1: kill -9 %s can be resumed', async (name, { user }) => {
    const running = await startUntil(user, name);
    running.kill('SIGKILL');
    expect((await running.ended).code).toBe(null);
    if (name === 'while a tool runs') for (const pid of await processesOf(user)) process.kill(pid, 'SIGKILL');
    await expectResumable(user, 'process_ended');
  });
});

/** The processes that a hanging command has told of. */
function processesOf(user: User): Promise<number[]> {
  return eventually(() => {
    const text = readFileSync(join(user.repository, 'pids.txt'), 'utf8');
    return text.endsWith('\n') && text.trim().split(' ').map(Number);
  });
}
