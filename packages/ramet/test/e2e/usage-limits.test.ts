import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually, linesOf } from '../fixtures/command.ts';
import { childOf, fanOut } from '../fixtures/fan-out.ts';
import { requestsTaken, test, type User } from '../fixtures/user.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];
const HOURS = { kind: 'status', status: 429, retryAfter: 7_380 } as const;
const UNTIL = /waiting: limit until (?:\w{3} \d+ )?\d\d:\d\d \(in 2 h 3 min\)/;

function setWait(user: User, waitSeconds: number): void {
  mkdirSync(join(user.repository, '.ramet'), { recursive: true });
  const file = join(user.repository, '.ramet', 'settings.local.json');
  writeFileSync(file, JSON.stringify({ limits: { waitSeconds } }));
}

async function agentsOf(user: User): Promise<Record<string, unknown>[]> {
  return JSON.parse((await user.ramet(['ps', '--json'])).stdout);
}

describe.concurrent('LAUNCH-2: a run that meets a usage limit', () => {
  test('says until when, is shown as waiting, and ends at once on Ctrl-C; resume goes on', async ({
    user,
  }) => {
    let limited = false;
    const emulator = await user.emulate({
      respond: ({ turn }) =>
        turn === 0
          ? { tool_use: [{ name: 'Bash', input: { command: 'echo once >> done.txt' } }] }
          : { text: 'Done.' },
      fault: () => (limited ? HOURS : undefined),
      onRequest: () => {
        limited = true;
      },
    });
    const running = user.start(['-p', 'x', ...BYPASS]);
    await eventually(() => UNTIL.test(running.stderr));
    const [agent] = await agentsOf(user);
    expect(agent).toMatchObject({ status: 'waiting', cause: 'limit' });
    expect(Number(agent?.until)).toBeGreaterThan(Date.now() + 7_000_000);
    expect((await user.here(['ps'])).stdout).toMatch(UNTIL);
    running.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    expect(emulator.requests).toHaveLength(2);
    limited = false;
    expect(await user.here(['resume', ...BYPASS])).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(emulator.requests.filter(({ status }) => status === 200)).toHaveLength(2);
  });

  test('killed while it waits it goes on from there, and asks again for nothing', async ({ user }) => {
    let limited = false;
    const emulator = await user.emulate({
      respond: ({ turn }) =>
        turn === 0 ? { tool_use: [{ name: 'Read', input: { file_path: 'README.md' } }] } : { text: 'Done.' },
      fault: () => (limited ? HOURS : undefined),
      onRequest: () => {
        limited = true;
      },
    });
    const running = user.start(['-p', 'x']);
    await eventually(() => UNTIL.test(running.stderr));
    running.kill('SIGKILL');
    await running.ended;
    expect(await agentsOf(user)).toMatchObject([
      { status: 'interrupted', cause: 'process_ended', until: null },
    ]);
    limited = false;
    const end = await user.here(['resume', '--output-format', 'json']);
    expect(JSON.parse(end.stdout)).toMatchObject({ subtype: 'success', result: 'Done.' });
    expect(emulator.requests.filter(({ status }) => status === 200)).toHaveLength(2);
  });

  test('is interrupted with exit code 75 when it is not to wait that long, and never done or failed', async ({
    user,
  }) => {
    await user.emulate({ fault: () => HOURS });
    setWait(user, 60);
    const end = await user.here(['-p', 'x']);
    expect(end.code).toBe(75);
    const [session = ''] = user.sessions();
    const last = linesOf(end.stderr).at(-1) ?? '';
    expect(last).toMatch(/^ramet: interrupted: limit: claude-sonnet-5 is limited until .*\(in 2 h 3 min\)/);
    expect(linesOf(end.stderr)).toHaveLength(1);
    expect(last).toContain(`resume then with: ramet resume ${session}`);
    expect(await agentsOf(user)).toMatchObject([{ status: 'interrupted', cause: 'limit' }]);
  });

  test('with forks that wait it ends them all in the same way', async ({ user }) => {
    await user.emulate({
      respond: fanOut({ children: 3 }),
      fault: ({ request }) => (childOf(request) === null ? undefined : HOURS),
    });
    setWait(user, 60);
    expect((await user.here(['-p', 'x', ...BYPASS])).code).toBe(75);
    const agents = await agentsOf(user);
    expect(agents.map(({ status, cause }) => [status, cause])).toEqual(
      Array(4).fill(['interrupted', 'limit']),
    );
  });

  test('a resume that is still limited strands no agent: the next one ends all of them', async ({ user }) => {
    let limited = true;
    await user.emulate({
      respond: fanOut({ children: 6, command: 'echo line >> lines.txt; echo done' }),
      fault: ({ request, last }) =>
        limited && childOf(request) !== null && /^done$/m.test(last) ? HOURS : undefined,
    });
    setWait(user, 1);
    expect((await user.here(['-p', 'x', ...BYPASS])).code).toBe(75);
    expect((await user.here(['resume', ...BYPASS])).code).toBe(75);
    limited = false;
    expect(await user.here(['resume', ...BYPASS])).toMatchObject({
      code: 0,
      stdout: 'All reports are in.\n',
    });
    expect((await agentsOf(user)).map(({ status }) => status)).toEqual(Array(7).fill('done'));
    expect(readFileSync(join(user.repository, 'lines.txt'), 'utf8')).toBe('line\n'.repeat(6));
  });

  test('many short refusals interrupt its agents in the same way, and resume ends all of them', async ({
    user,
  }) => {
    let limited = true;
    await user.emulate({
      respond: fanOut({ children: 4, command: 'echo line >> lines.txt; echo done' }),
      fault: ({ request }) =>
        limited && childOf(request) !== null ? { kind: 'status', status: 429, retryAfter: 0.1 } : undefined,
    });
    setWait(user, 1);
    const end = await user.ramet(['-p', 'x', ...BYPASS], { env: { RAMET_MAX_RETRIES: '1' } });
    expect(end.code).toBe(75);
    const [session = ''] = user.sessions();
    expect(linesOf(end.stderr).at(-1)).toMatch(
      new RegExp(`^ramet: interrupted: limit: .* with: ramet resume ${session}\\)$`),
    );
    expect((await agentsOf(user)).map(({ status, cause }) => [status, cause])).toEqual(
      Array(5).fill(['interrupted', 'limit']),
    );
    limited = false;
    expect(await user.here(['resume', ...BYPASS])).toMatchObject({
      code: 0,
      stdout: 'All reports are in.\n',
    });
    expect((await agentsOf(user)).map(({ status }) => status)).toEqual(Array(5).fill('done'));
    expect(readFileSync(join(user.repository, 'lines.txt'), 'utf8')).toBe('line\n'.repeat(4));
  });

  test.for([['in-process'], ['process']])(
    'a fallback model comes first, also when it is not to wait that long (%s)',
    async ([executor = ''], { user }) => {
      await user.emulate({
        respond: fanOut({ children: 3, command: 'echo line >> lines.txt; echo done' }),
        fault: ({ request, last }) =>
          request.model === 'claude-sonnet-5' && childOf(request) !== null && /^done$/m.test(last)
            ? HOURS
            : undefined,
      });
      setWait(user, 1);
      const args = [...BYPASS, '--executor', executor, '--fallback-model', 'haiku'];
      const end = await user.here(['-p', 'x', ...args]);
      expect(end).toMatchObject({ code: 0, stdout: 'All reports are in.\n' });
      expect(readFileSync(join(user.repository, 'lines.txt'), 'utf8')).toBe('line\n'.repeat(3));
    },
  );

  test('a prompt that is still limited strands no agent: the next prompt resumes all of them', async ({
    user,
  }) => {
    let limited = true;
    await user.emulate({
      respond: fanOut({ children: 4, command: 'echo line >> lines.txt; echo done' }),
      fault: ({ request }) => (limited && childOf(request) !== null ? HOURS : undefined),
    });
    setWait(user, 1);
    expect((await user.here(['-p', 'x', ...BYPASS])).code).toBe(75);
    const second = await user.here(['-p', '--continue', 'hello', ...BYPASS]);
    expect(second.code).toBe(75);
    expect(second.stderr).toContain('interrupted: limit: ');
    limited = false;
    expect((await user.here(['-p', '--continue', 'y', ...BYPASS])).code).toBe(0);
    expect((await agentsOf(user)).map(({ status }) => status)).toEqual(Array(5).fill('done'));
    expect(readFileSync(join(user.repository, 'lines.txt'), 'utf8')).toBe('line\n'.repeat(4));
  });

  test.for([-5, 1e9, 1e300])('a retry-after of %d s is not believed', async (retryAfter, { user }) => {
    let refusals = 1;
    await user.emulate({
      respond: () => ({ text: 'Done.' }),
      fault: () => (refusals-- > 0 ? { kind: 'status', status: 429, retryAfter } : undefined),
    });
    expect(await user.here(['-p', 'x'])).toMatchObject({ code: 0, stdout: 'Done.\n' });
  });

  test('five forks that a limit stops in the middle all wait, and all end; none is asked twice', async ({
    user,
  }) => {
    let limitedUntil = 0;
    const play = fanOut({ children: 5 });
    const emulator = await user.emulate({
      respond: play,
      fault({ request, last }) {
        if (childOf(request) === null || !/^done$/m.test(last)) return undefined;
        limitedUntil ||= Date.now() + 2_500;
        const left = limitedUntil - Date.now();
        return left > 0 ? { kind: 'status', status: 429, retryAfter: left / 1_000 } : undefined;
      },
    });
    const running = user.start(['-p', 'x', ...BYPASS, '--output-format', 'stream-json']);
    const end = await running.ended;
    expect(end.code).toBe(0);
    const lines = linesOf(end.stdout).map((line): Record<string, unknown> => JSON.parse(line));
    const waited = lines.filter(
      ({ subtype, cause, until }) => subtype === 'agent_status' && cause === 'limit' && until,
    );
    expect(new Set(waited.map(({ agent_id }) => agent_id)).size).toBe(5);
    const ended = lines.filter(({ subtype }) => subtype === 'agent_ended');
    expect(ended.map(({ status }) => status)).toEqual(Array(5).fill('done'));
    expect(emulator.requests.filter(({ status }) => status === 200)).toHaveLength(12);
  });

  test('Ctrl-C ends forks that wait for hours at once, and resume lets all of them go on', async ({
    user,
  }) => {
    let limited = true;
    const emulator = await user.emulate({
      respond: fanOut({ children: 5 }),
      fault: ({ request }) => (limited && childOf(request) !== null ? HOURS : undefined),
    });
    const running = user.start(['-p', 'x', ...BYPASS]);
    await requestsTaken(emulator, 2);
    let agents = await agentsOf(user);
    while (agents.filter(({ cause, until }) => cause === 'limit' && until !== null).length < 5) {
      agents = await agentsOf(user);
    }
    const taken = emulator.requests.length;
    running.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    expect(emulator.requests).toHaveLength(taken);
    expect((await agentsOf(user)).map(({ status }) => status)).toEqual(Array(6).fill('interrupted'));
    limited = false;
    expect(await user.here(['resume', ...BYPASS])).toMatchObject({
      code: 0,
      stdout: 'All reports are in.\n',
    });
    expect((await agentsOf(user)).map(({ status }) => status)).toEqual(Array(6).fill('done'));
    expect(emulator.requests.filter(({ status }) => status === 200)).toHaveLength(12);
  });
});
