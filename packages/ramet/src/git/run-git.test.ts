import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dyingGit } from '../../test/fixtures/dying-git.ts';
import { runSync } from '../../test/fixtures/run-sync.ts';
import { temporaryDirectory, temporaryRepository } from '../../test/fixtures/temporary.ts';
import { leaveStarter, useStarter } from '../../test/worker-starter.ts';
import { gitText, runGit } from './run-git.ts';

const env = { PATH: process.env.PATH ?? '', HOME: '/nowhere' };

afterAll(useStarter);

describe.each([
  ['here', leaveStarter],
  ['by a small process', useStarter],
])('git, called by us and started %s', (_, prepare) => {
  beforeAll(prepare);

  test('tells code and both outputs, and a failure is a value', async () => {
    const cwd = temporaryRepository();
    expect(await runGit(['rev-parse', 'HEAD'], { cwd, env })).toMatchObject({ code: 0, stderr: '' });
    const failed = await runGit(['rev-parse', '--verify', 'absent'], { cwd, env });
    expect(failed.code).toBe(128);
    expect(failed.stderr).toContain('Needed a single revision');
    await expect(gitText(['rev-parse', '--verify', 'absent'], { cwd, env })).rejects.toThrow(
      /git rev-parse failed in .*: fatal: Needed a single revision/,
    );
  });

  test('follows the directory, whatever variables say', async () => {
    const cwd = temporaryRepository();
    const misleading = { ...env, GIT_DIR: '/nowhere', GIT_WORK_TREE: '/nowhere', GIT_INDEX_FILE: '/nowhere' };
    expect(await gitText(['rev-parse', '--show-toplevel'], { cwd, env: misleading })).toBe(cwd);
  });

  test('is ended when it prints more than it may', async () => {
    const cwd = temporaryRepository();
    const call = { cwd, env, mostBytes: 100 };
    await expect(runGit(['help', '-a'], call)).rejects.toThrow('git help printed more than 100 bytes');
    expect(
      await runGit(['rev-parse', '--show-toplevel'], { ...call, mostBytes: cwd.length + 1 }),
    ).toMatchObject({
      stdout: `${cwd}\n`,
    });
  });

  test('finds the repository around a folder only for who asks for that', async () => {
    const top = temporaryRepository();
    const cwd = join(top, 'inner');
    mkdirSync(cwd);
    expect(await gitText(['rev-parse', '--show-toplevel'], { cwd, env, looksUp: true })).toBe(top);
  });

  test('does not take a folder without `.git` for part of the repository around it', async () => {
    const cwd = join(temporaryRepository(), 'inner');
    mkdirSync(cwd);
    expect((await runGit(['status'], { cwd, env })).code).toBe(128);
  });

  test('runs no hook of the repository', async () => {
    const cwd = temporaryRepository();
    const hook = join(cwd, '.git/hooks/reference-transaction');
    writeFileSync(hook, `#!/bin/sh\ntouch ${cwd}/ran\n`);
    chmodSync(hook, 0o755);
    await gitText(['update-ref', 'refs/heads/other', 'HEAD'], { cwd, env });
    expect(existsSync(join(cwd, 'ran'))).toBe(false);
  });

  test('leaves the index alone when it only looks', async () => {
    const cwd = temporaryRepository();
    const index = join(cwd, '.git/index');
    runSync('touch', ['-d', '2001-01-01', join(cwd, 'README.md')]);
    const before = { bytes: readFileSync(index), changed: statSync(index).mtimeMs };
    await gitText(['status'], { cwd, env });
    expect({ bytes: readFileSync(index), changed: statSync(index).mtimeMs }).toEqual(before);
  });

  test('takes input and another index', async () => {
    const cwd = temporaryRepository();
    const blob = await gitText(['hash-object', '-w', '--stdin'], { cwd, env, input: 'text' });
    const index = join(temporaryDirectory(), 'index');
    await gitText(['update-index', '--add', '--cacheinfo', `100644,${blob},new`], { cwd, env, index });
    expect(await gitText(['ls-files'], { cwd, env, index })).toBe('new');
    expect(await gitText(['ls-files'], { cwd, env })).toBe('README.md');
  });

  test('OP-2: is run again when it was killed and only reads, and not when it writes', async () => {
    const cwd = temporaryRepository();
    const meets = (command: string): typeof env => ({ ...env, ...dyingGit(temporaryDirectory(), command) });
    const input = 'text';
    expect(await gitText(['rev-parse', 'HEAD'], { cwd, env: meets('rev-parse') })).toMatch(/^[0-9a-f]{40}$/);
    expect(
      await gitText(['hash-object', '-w', '--stdin'], { cwd, env: meets('hash-object'), input }),
    ).toMatch(/^[0-9a-f]{40}$/);
    await expect(
      runGit(['update-ref', 'refs/heads/new', 'HEAD'], { cwd, env: meets('update-ref') }),
    ).rejects.toMatchObject({ code: 'git_killed', family: 'retryable' });
  });

  test('says what to do when there is no git, and names a directory that is gone', async () => {
    const cwd = temporaryRepository();
    await expect(runGit(['status'], { cwd, env: { PATH: '/nowhere' } })).rejects.toMatchObject({
      code: 'git_missing',
      family: 'mistake',
    });
    rmSync(cwd, { recursive: true });
    await expect(runGit(['status'], { cwd, env })).rejects.toMatchObject({ code: 'git_unusable' });
  });

  test('ends a git that is no longer wanted, or takes too long', async () => {
    const cwd = temporaryRepository();
    const wait = ['-c', 'alias.wait=!sleep 60', 'wait'];
    await expect(runGit(wait, { cwd, env, timeoutMs: 50 })).rejects.toMatchObject({ code: 'git_slow' });
    const controller = new AbortController();
    const running = runGit(wait, { cwd, env, signal: controller.signal });
    controller.abort();
    await expect(running).rejects.toMatchObject({ code: 'cancelled' });
  });
});
