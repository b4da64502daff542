/** Where a session goes on, and which one: what a person means by "continue". */
import { cpSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { openSession } from '../../src/sdk/session/session.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { linesOf } from '../fixtures/command.ts';
import { runSync } from '../fixtures/run-sync.ts';
import { test, toolResults } from '../fixtures/user.ts';

const PWD_THEN_DONE = [
  { match: { turn: 0 }, respond: { text: 'first' } },
  { match: { turn: 1 }, respond: { tool_use: [{ name: 'Bash', input: { command: 'pwd' } }] } },
  { respond: { text: 'done' } },
];

describe.concurrent('RES-6: a resumed session', () => {
  test('goes on in the directory it began in, and says so', async ({ user }) => {
    const emulator = await user.emulate({ scenario: { rules: PWD_THEN_DONE } });
    await user.ramet(['-p', 'one', '--permission-mode', 'bypassPermissions']);
    mkdirSync(join(user.repository, 'sub'));
    const { code, stderr } = await user.ramet(['-p', 'two', '--continue'], {
      cwd: join(user.repository, 'sub'),
    });
    expect(code).toBe(0);
    expect(linesOf(stderr)).toEqual([`ramet: continuing in ${user.repository}`]);
    expect(toolResults(emulator)).toEqual([{ text: user.repository, isError: false }]);
  });

  test('is of this working tree, not of another one of the repository', async ({ user }) => {
    await user.emulate({ scenario: { rules: [{ respond: { text: 'ok' } }] } });
    const other = `${user.repository}-other`;
    runSync('git', ['worktree', 'add', '--quiet', other], { cwd: user.repository });
    await user.here(['-p', 'here']);
    const { code, stderr } = await user.ramet(['-p', 'there', '--continue'], { cwd: other });
    expect(code).toBe(2);
    expect(stderr).toContain('no session of this working tree');
  });

  test('cannot be asked for in two ways at once', async ({ user }) => {
    const { code, stderr } = await user.here(['-p', 'x', '--continue', '--resume', 'abc']);
    expect(code).toBe(2);
    expect(linesOf(stderr)).toHaveLength(1);
  });
});

describe.concurrent('LOG-1: a session that never got its prompt', () => {
  test('does not block the one before it', async ({ user }) => {
    await user.emulate({ scenario: { rules: [{ respond: { text: 'ok' } }] } });
    await user.here(['-p', 'one']);
    const empty = await openSession({ cwd: user.repository, env: user.env, provider: scriptedModel() });
    await empty[Symbol.asyncDispose]();
    const { code } = await user.here(['-p', 'two', '--continue']);
    expect(code).toBe(0);
    expect(user.sessions()).toHaveLength(2);
  });
});

describe.concurrent('RES-6: a repository that was renamed', () => {
  test('has its sessions still, and they continue in it; a copy has none of them', async ({ user }) => {
    const emulator = await user.emulate({ scenario: { rules: PWD_THEN_DONE } });
    await user.here(['-p', 'one', '--permission-mode', 'bypassPermissions']);
    const [session = ''] = user.sessions();
    const [renamed, copy] = [join(user.root, 'renamed'), join(user.root, 'copy')];
    cpSync(user.repository, copy, { recursive: true });
    renameSync(user.repository, renamed);
    expect((await user.ramet(['ps'], { cwd: renamed })).stdout).toContain(session);
    const { code } = await user.ramet(['-p', 'two', '--continue'], { cwd: renamed });
    expect(code).toBe(0);
    expect(toolResults(emulator)).toEqual([{ text: renamed, isError: false }]);
    expect((await user.ramet(['ps'], { cwd: copy })).stdout).not.toContain(session);
  });
});

describe.concurrent('UI-1: a limit of open files that is too low', () => {
  test('is told in one line', async ({ user }) => {
    const end = await user.ramet(['-p', 'x'], { shell: 'ulimit -n 24; exec "$@"' });
    expect(end).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'ramet: only 24 files may be open at once (ulimit -n), and Ramet needs 48: raise it with ulimit -n 1024\n',
    });
  });
});

describe.concurrent('UI-1: output that cannot be written', () => {
  test('is told in one line and makes the command fail', async ({ user }) => {
    await user.emulate({ scenario: { rules: [{ respond: { text: 'ok' } }] } });
    const { code, stderr } = await user.ramet(['-p', 'x'], { shell: 'exec "$@" > /dev/full' });
    expect(code).toBe(1);
    expect(stderr).toBe('ramet: cannot write to standard output: ENOSPC\n');
  });
});

test('one session runs one prompt at a time', async ({ user }) => {
  await using session = await openSession({
    cwd: user.repository,
    env: user.env,
    provider: scriptedModel('hang'),
  });
  const controller = new AbortController();
  const first = session.run('one', { signal: controller.signal }).next();
  await expect(session.run('two').next()).rejects.toMatchObject({ code: 'session_busy' });
  controller.abort();
  await first;
});
