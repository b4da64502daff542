import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Fault } from '../../src/emulator/index.ts';
import { drain } from '../../src/schema/generators.ts';
import { openSession } from '../../src/sdk/session/session.ts';
import { eventually, linesOf, type RunningCommand } from '../fixtures/command.ts';
import { childOf, fanOut } from '../fixtures/fan-out.ts';
import { test, type User } from '../fixtures/user.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];
const ONCE = { children: 3, command: 'echo line >> lines.txt; echo done' };

/** Standard input and outputs, and what Node itself holds for as long as it lives: no socket is below. */
const FILES_OF_ANY_PROCESS = 8;

function setLimits(user: User, limits: Record<string, number>): void {
  mkdirSync(join(user.repository, '.ramet'), { recursive: true });
  writeFileSync(join(user.repository, '.ramet', 'settings.local.json'), JSON.stringify({ limits }));
}

async function agentsOf(user: User): Promise<Record<string, unknown>[]> {
  return JSON.parse((await user.ramet(['ps', '--json'])).stdout);
}

/** A parent with three children, whose requests all meet the fault as long as `isAway` says so. */
async function playOutage(user: User, fault: Fault) {
  const state = { isAway: true, faults: 0 };
  const emulator = await user.emulate({
    respond: fanOut(ONCE),
    fault: ({ request }) => {
      if (!state.isAway || childOf(request) === null) return undefined;
      state.faults += 1;
      return fault;
    },
  });
  return { emulator, state };
}

describe.concurrent('MODEL-2: a provider that goes away while agents are at work', () => {
  test.for<[string, Fault]>([
    ['resets every connection', { kind: 'reset', at: 'headers' }],
    ['answers 401', { kind: 'status', status: 401 }],
    ['answers 403', { kind: 'status', status: 403 }],
    ['is hidden by a login page', { kind: 'wrong_content_type' }],
    ['cuts streams in order', { kind: 'truncated_event' }],
  ])('%s is waited for: every agent ends as if nothing had been', async ([, fault], { user }) => {
    const { emulator, state } = await playOutage(user, fault);
    // Far more failures than retries would bear.
    const running = user.start(['-p', 'x', ...BYPASS], { env: { RAMET_MAX_RETRIES: '1' } });
    await eventually(() => state.faults > 3);
    state.isAway = false;
    expect(await running.ended).toMatchObject({ code: 0, stdout: 'All reports are in.\n' });
    expect((await agentsOf(user)).map(({ status }) => status)).toEqual(Array(4).fill('done'));
    expect(readFileSync(join(user.repository, 'lines.txt'), 'utf8')).toBe('line\n'.repeat(3));
    expect(linesOf(running.stderr).filter((line) => line === 'ramet: waiting: provider')).toHaveLength(1);
    expect(emulator.requests.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(8);
  });

  test.for([['in-process'], ['process']])(
    'for longer than the run may wait: interrupted, exit code 75, and resume ends all of it (%s)',
    async ([executor = ''], { user }) => {
      const { state } = await playOutage(user, { kind: 'reset', at: 'headers' });
      setLimits(user, { outageSeconds: 1 });
      const end = await user.here(['-p', 'x', ...BYPASS, '--executor', executor]);
      expect(end.code).toBe(75);
      const [session = ''] = user.sessions();
      expect(linesOf(end.stderr).at(-1)).toMatch(
        new RegExp(
          `^ramet: interrupted: provider: the connection to .* was lost .*\\(waited \\d s\\) \\(session ${session}; resume with: ramet resume ${session}\\)$`,
        ),
      );
      expect((await agentsOf(user)).map(({ status, cause }) => [status, cause])).toEqual(
        Array(4).fill(['interrupted', 'provider']),
      );
      state.isAway = false;
      expect(await user.here(['resume', ...BYPASS])).toMatchObject({
        code: 0,
        stdout: 'All reports are in.\n',
      });
      expect((await agentsOf(user)).map(({ status }) => status)).toEqual(Array(4).fill('done'));
      expect(readFileSync(join(user.repository, 'lines.txt'), 'utf8')).toBe('line\n'.repeat(3));
    },
  );

  test('says so in ps and stream-json, and ends at once on Ctrl-C', async ({ user }) => {
    const { state } = await playOutage(user, { kind: 'status', status: 502 });
    const running = user.start(['-p', 'x', ...BYPASS, '--output-format', 'stream-json']);
    const waits = (): Record<string, unknown>[] =>
      linesOf(running.stdout)
        .map((line): Record<string, unknown> => JSON.parse(line))
        .filter(({ subtype, cause }) => subtype === 'agent_status' && cause === 'provider');
    await eventually(() => waits().length >= 3);
    expect(waits()).toMatchObject(Array(waits().length).fill({ status: 'waiting' }));
    const shown = async (): Promise<number> =>
      (await user.here(['ps'])).stdout.match(/waiting: provider/g)?.length ?? 0;
    while ((await shown()) < 3);
    running.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    state.isAway = false;
    expect(await user.here(['resume', ...BYPASS])).toMatchObject({ code: 0 });
  });

  test('so is a shortage of file descriptors: nothing can be opened, and agents go on when it can', async ({
    user,
    skip,
  }) => {
    if (spawnSync('prlimit', ['--version']).status !== 0) skip('prlimit cannot be run here');
    let running: RunningCommand | null = null;
    const mayOpen = (files: number): void =>
      void execFileSync('prlimit', ['--pid', String(running?.pid), `--nofile=${files}:`]);
    let isShort = true;
    await user.emulate({
      respond: fanOut(ONCE),
      // What the process holds stays open; a connection that is gone cannot be opened again.
      fault: ({ request }) => {
        if (childOf(request) === null || !isShort) return undefined;
        mayOpen(FILES_OF_ANY_PROCESS);
        return { kind: 'reset', at: 'headers' };
      },
    });
    running = user.start(['-p', 'x', ...BYPASS], { env: { RAMET_MAX_RETRIES: '1' } });
    const { ended } = running;
    await eventually(() => (running?.stderr.match(/EMFILE/g)?.length ?? 0) > 2);
    expect(running.stderr).toMatch(/^ramet: waiting: provider$/m);
    const agents = await agentsOf(user);
    expect(agents.map(({ cause }) => cause)).toContain('provider');
    for (const { status } of agents) expect(['waiting', 'running']).toContain(status);
    isShort = false;
    mayOpen(1_024);
    expect(await ended).toMatchObject({ code: 0, stdout: 'All reports are in.\n' });
    expect((await agentsOf(user)).map(({ status }) => status)).toEqual(Array(4).fill('done'));
    expect(readFileSync(join(user.repository, 'lines.txt'), 'utf8')).toBe('line\n'.repeat(3));
  });

  test('a fallback model comes first', async ({ user }) => {
    await user.emulate({
      respond: fanOut(ONCE),
      fault: ({ request }) =>
        childOf(request) !== null && request.model === 'claude-sonnet-5'
          ? { kind: 'status', status: 529 }
          : undefined,
    });
    const end = await user.here(['-p', 'x', ...BYPASS, '--fallback-model', 'haiku'], {
      env: { RAMET_MAX_RETRIES: '1' },
    });
    expect(end).toMatchObject({ code: 0, stdout: 'All reports are in.\n' });
    expect((await agentsOf(user)).map(({ status }) => status)).toEqual(Array(4).fill('done'));
  });

  test('a new session waits for an endpoint that has answered this machine today', async ({ user }) => {
    const state = { isAway: false };
    const emulator = await user.emulate({
      respond: () => ({ text: 'Here.' }),
      fault: () => (state.isAway ? { kind: 'reset', at: 'headers' } : undefined),
    });
    expect((await user.here(['-p', 'x'])).code).toBe(0);
    state.isAway = true;
    const running = user.start(['-p', 'y'], { env: { RAMET_MAX_RETRIES: '0' } });
    await eventually(() => emulator.requests.length > 2);
    state.isAway = false;
    expect(await running.ended).toMatchObject({ code: 0, stdout: 'Here.\n' });
  });
});

describe.concurrent('MODEL-2: a provider that goes away after a usage limit', () => {
  test('resume ends with exit code 75 too, and with the work once the provider is there', async ({
    user,
  }) => {
    let fault: Fault | undefined = { kind: 'status', status: 429, retryAfter: 600 };
    const emulator = await user.emulate({
      respond: fanOut({ ...ONCE, children: 8 }),
      fault: ({ request }) => (childOf(request) === null ? undefined : fault),
    });
    setLimits(user, { waitSeconds: 1, outageSeconds: 0.1 });
    expect(await user.here(['-p', 'x', ...BYPASS])).toMatchObject({
      code: 75,
      stderr: expect.stringContaining('interrupted: limit'),
    });
    const sent = emulator.requests.length;
    fault = { kind: 'status', status: 500 };
    const second = await user.here(['resume', ...BYPASS]);
    expect(second.code).toBe(75);
    expect(linesOf(second.stderr).at(-1)).toMatch(
      new RegExp(`^ramet: interrupted: provider: .*resume with: ramet resume ${user.sessions()[0]}\\)$`),
    );
    expect(emulator.requests.length).toBeGreaterThan(sent + 1);
    fault = undefined;
    expect(await user.here(['resume', ...BYPASS])).toMatchObject({
      code: 0,
      stdout: 'All reports are in.\n',
    });
    expect((await agentsOf(user)).map(({ status }) => status)).toEqual(Array(9).fill('done'));
    expect(readFileSync(join(user.repository, 'lines.txt'), 'utf8')).toBe('line\n'.repeat(8));
  });
});

describe.concurrent('AGENT-5: an agent of which its parent was told that the provider interrupted it', () => {
  test('is named with exit code 75 by a run that leaves it, and resumes with ramet resume', async ({
    user,
  }) => {
    let isAway = true;
    const emulator = await user.emulate({
      respond: fanOut({ ...ONCE, children: 1 }),
      fault: ({ request }) =>
        isAway && childOf(request) !== null ? { kind: 'stall', at: 'headers' } : undefined,
    });
    const { cwd, env } = { cwd: user.repository, env: user.env };
    const session = await openSession({ cwd, env, permissionMode: 'bypassPermissions' });
    const running = drain(session.run('x'), () => {});
    await eventually(() => emulator.requests.length === 2);
    // As versions did that interrupted an agent alone.
    for (const agent of session.agents) agent.stop('provider');
    await running;
    await session[Symbol.asyncDispose]();
    isAway = false;
    const other = await user.here(['-p', '--continue', 'y', ...BYPASS]);
    expect(other).toMatchObject({ code: 75, stdout: 'All reports are in.\n' });
    expect(linesOf(other.stderr)).toEqual([
      `ramet: interrupted: provider: the provider interrupted agent ${session.id}.2, not resumed since (session ${session.id}; resume with: ramet resume ${session.id})`,
    ]);
    expect(await user.here(['resume', ...BYPASS])).toMatchObject({ code: 0, stderr: '' });
    expect((await agentsOf(user)).map(({ status }) => status)).toEqual(['done', 'done']);
    expect(await user.here(['resume'])).toMatchObject({ code: 2 });
  });
});

describe.concurrent('MODEL-2: a request that stalls', () => {
  test('is sent again when it was silent for too long', async ({ user }) => {
    let stalls = 1;
    mkdirSync(user.rametHome, { recursive: true });
    // Longer than a busy machine keeps an answer waiting that does come.
    writeFileSync(join(user.rametHome, 'settings.json'), '{"limits":{"silenceSeconds":3}}');
    const emulator = await user.emulate({
      respond: ({ turn }) =>
        turn === 0 ? { tool_use: [{ name: 'Read', input: { file_path: 'README.md' } }] } : { text: 'Done.' },
      fault: ({ turn }) => (turn > 0 && stalls-- > 0 ? { kind: 'stall', at: 'start' } : undefined),
    });
    const end = await user.here(['-p', 'x']);
    expect(end).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(linesOf(end.stderr)).toContainEqual(
      expect.stringMatching(/attempt 1 failed: the provider sent nothing for 3 s/),
    );
    expect(emulator.requests).toHaveLength(3);
  });
});

describe.concurrent('MODEL-3: the bill of a process that was killed', () => {
  test('names the requests that no response tells of, and what they cost at most', async ({ user }) => {
    let isAsked = false;
    await user.emulate({
      fault: () => {
        isAsked = true;
        return { kind: 'stall', at: 'headers' };
      },
    });
    const running = user.start(['-p', 'x']);
    await eventually(() => isAsked);
    running.kill('SIGKILL');
    await running.ended;
    const text = (await user.here(['cost'])).stdout;
    expect(text).toMatch(/1 request without a response: cost unknown, at most \$0\.\d+/);
    const { total } = JSON.parse((await user.here(['cost', '--json'])).stdout);
    expect(total).toMatchObject({ requests: 1, responses: 0, total_cost_usd: 0 });
    expect(total.unanswered.requests).toBe(1);
    expect(total.unanswered.at_most_usd).toBeGreaterThan(0.16);
  });
});
