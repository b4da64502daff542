import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { processDirectory } from '../../src/system/processes/process-register.ts';
import { eventually, isRunning } from '../fixtures/command.ts';
import { fanOut } from '../fixtures/fan-out.ts';
import { requestsTaken, test, type User } from '../fixtures/user.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];
const HANGING = { name: 'Bash', input: { command: 'echo $$ > pid.txt; sleep 60' } };

async function startHanging(user: User) {
  await user.emulate({ respond: ({ turn }) => (turn === 0 ? { tool_use: [HANGING] } : { text: 'Done.' }) });
  const running = user.start(['-p', 'x', ...BYPASS]);
  const file = join(user.repository, 'pid.txt');
  const pid = await eventually(() => existsSync(file) && Number(readFileSync(file, 'utf8')));
  // A command is noted just after it began: one that was not could not be found again.
  const notes = processDirectory(user.project);
  await eventually(() => existsSync(notes) && readdirSync(notes).length > 0);
  const [session = ''] = user.sessions();
  return { running, pid, session };
}

describe.concurrent('UI-1: ramet stop', () => {
  test('ends a session with its commands, says so, and resume goes on', async ({ user }) => {
    const { running, pid, session } = await startHanging(user);
    const stop = await user.ramet(['stop']);
    expect(stop).toEqual({
      code: 0,
      stdout: `session ${session} has ended: 1 agent, interrupted; resume with: ramet resume ${session}\n`,
      stderr: '',
    });
    expect((await running.ended).code).toBe(143);
    expect(isRunning(pid)).toBe(false);
    expect(await user.ramet(['resume', ...BYPASS])).toMatchObject({ code: 0, stdout: 'Done.\n' });
  });

  test('--now ends it at once, and its commands with it', async ({ user }) => {
    const { running, pid, session } = await startHanging(user);
    const stop = await user.ramet(['stop', session.slice(0, 6), '--now', '--json']);
    expect(stop).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(stop.stdout)).toMatchObject({
      ...{ session, agent: null, ended: true, resume: `ramet resume ${session}` },
      agents: [{ status: 'interrupted', started_at: expect.any(Number) }],
    });
    await running.ended;
    await eventually(() => !isRunning(pid));
  });

  test('one that does not run, is unknown or was killed gets a clear answer and exit code 2', async ({
    user,
  }) => {
    expect(await user.ramet(['stop'])).toMatchObject({
      code: 2,
      stderr: 'ramet: no session of this directory runs: ramet ps lists those that did\n',
    });
    const { running, pid, session } = await startHanging(user);
    running.kill('SIGKILL');
    await running.ended;
    const killed = await user.ramet(['stop', session]);
    expect(killed).toMatchObject({
      code: 2,
      stderr: `ramet: session ${session} does not run: it is interrupted: process_ended; ended 1 of its commands that were still running; resume with: ramet resume ${session}\n`,
    });
    await eventually(() => !isRunning(pid));
    await user.ramet(['resume', ...BYPASS]);
    expect((await user.ramet(['stop', session])).stderr).toContain('does not run: it is done');
    expect((await user.ramet(['stop', 'zzzz'])).stderr).toContain('there is no session "zzzz"');
  });

  test('of two that run it wants to know which', async ({ user }) => {
    const emulator = await user.emulate({ fault: () => ({ kind: 'stall', at: 'headers' }) });
    for (const prompt of ['x', 'y']) user.start(['-p', prompt]);
    await requestsTaken(emulator, 2);
    await eventually(() => user.sessions().length === 2);
    const end = await user.ramet(['stop']);
    expect(end.code).toBe(2);
    for (const session of user.sessions()) expect(end.stderr).toContain(session);
  });

  test('AGENT-7: ends one agent alone; its siblings go on and its parent is told', async ({ user }) => {
    // One of them, also where all begin at the same moment.
    const command = 'if mkdir go 2>/dev/null; then echo $$ > pid.txt; exec sleep 60; fi; echo done';
    const emulator = await user.emulate({ respond: fanOut({ children: 3, command }) });
    const running = user.start(['-p', 'x', ...BYPASS]);
    const file = join(user.repository, 'pid.txt');
    const pid = await eventually(() => existsSync(file) && Number(readFileSync(file, 'utf8')));
    const [session = ''] = user.sessions();
    await eventually(() => emulator.requests.filter(({ outcome }) => outcome === 'answered').length >= 6);
    let agents: Record<string, unknown>[] = [];
    while (agents.filter(({ status }) => status === 'done').length < 2) {
      agents = JSON.parse((await user.ramet(['ps', '--json'])).stdout);
    }
    const hanging = String(agents.find(({ parent, status }) => parent !== null && status !== 'done')?.id);
    expect(await user.ramet(['stop', hanging])).toEqual({
      code: 0,
      stdout: `agent ${hanging} is cancelled: stopped\n`,
      stderr: '',
    });
    expect(isRunning(pid)).toBe(false);
    expect(await running.ended).toMatchObject({ code: 0, stdout: 'All reports are in.\n' });
    expect(JSON.stringify(emulator.requests.at(-1)?.request?.messages)).toContain('cancelled');
    const folder = join(user.project, session, 'stop');
    expect(readdirSync(folder)).toEqual([]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect((await user.ramet(['stop', hanging])).stderr).toContain('does not run');
  });
});
