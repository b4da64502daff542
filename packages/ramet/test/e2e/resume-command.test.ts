import { existsSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { linesOf } from '../fixtures/command.ts';
import { requestsTaken, test, type User } from '../fixtures/user.ts';

const sessionsOf = (user: User): string[] => (existsSync(user.project) ? user.sessions() : []);

/** Leaves a session that was killed while it waited for its first answer; from then on the model answers. */
async function interrupted(user: User): Promise<string> {
  const emulator = await user.emulate({ fault: () => ({ kind: 'stall', at: 'headers' }) });
  const before = sessionsOf(user);
  const running = user.start(['-p', 'x']);
  await requestsTaken(emulator, 1);
  running.kill('SIGKILL');
  await running.ended;
  await user.model({ text: 'Done.' });
  return sessionsOf(user).find((session) => !before.includes(session)) ?? '';
}

describe.concurrent('UI-1: ramet resume', () => {
  test('resumes the latest interrupted session, also when a later one is done', async ({ user }) => {
    const session = await interrupted(user);
    expect((await user.ramet(['-p', 'later'])).code).toBe(0);
    const end = await user.here(['resume', '--output-format', 'json']);
    expect(end).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(end.stdout)).toMatchObject({ session_id: session, result: 'Done.' });
  });

  test('a command that was refused meanwhile is no session to resume', async ({ user }) => {
    const session = await interrupted(user);
    expect(await user.ramet(['-p', '/nope'])).toMatchObject({ code: 2 });
    const [refused] = sessionsOf(user).filter((one) => one !== session);
    expect((await user.here(['ps'])).stdout).toMatch(new RegExp(`${refused}.1 +main +done`));
    expect((await user.here(['logs'])).stdout).toContain(`${session}.1`);
    const end = await user.here(['resume', '--output-format', 'json']);
    expect(JSON.parse(end.stdout)).toMatchObject({ session_id: session });
  });

  test('reads nothing from standard input', async ({ user }) => {
    await interrupted(user);
    const running = user.start(['resume'], { stdin: null });
    expect(await running.ended).toMatchObject({ code: 0, stdout: 'Done.\n' });
  });

  test('an agent resumes with its session, and that is said', async ({ user }) => {
    const session = await interrupted(user);
    const end = await user.here(['resume', `${session}.1`]);
    expect(end).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(end.stderr).toContain(`resuming all interrupted agents of ${session}`);
    expect((await user.here(['resume', `${session}.9`])).stderr).toContain('there is no agent');
  });

  test.for([[['resume']], [['-p', '--continue']]])(
    '%j with nothing left to do says so, with exit code 2',
    async ([args = []], { user }) => {
      await user.model({ text: 'Done.' });
      await user.here(['-p', 'x']);
      const end = await user.here(args);
      expect(end).toMatchObject({ code: 2, stdout: '' });
      expect(linesOf(end.stderr)).toHaveLength(1);
      expect(end.stderr).toMatch(/give a prompt/);
    },
  );

  test('where there is no session at all it says that', async ({ user }) => {
    const end = await user.here(['resume']);
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toContain('nothing to resume');
  });

  test('one that still runs is left alone', async ({ user }) => {
    const emulator = await user.emulate({ fault: () => ({ kind: 'stall', at: 'headers' }) });
    user.start(['-p', 'x']);
    await requestsTaken(emulator, 1);
    const [session = ''] = user.sessions();
    expect((await user.here(['resume', session])).stderr).toContain(`ramet stop ${session}`);
    expect(await user.here(['resume'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${session} still runs`),
    });
  });
});
