import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { runSync } from '../../test/fixtures/run-sync.ts';
import { temporaryDirectory, temporaryRepository } from '../../test/fixtures/temporary.ts';
import { trust } from '../system/trust.ts';
import { checkProgramsBy } from './folder-guard.ts';
import { runGit } from './run-git.ts';

// The files of programs are checked in a later room, and tested there.
beforeAll(() => {
  const before = checkProgramsBy(async () => new Map());
  return () => void checkProgramsBy(before);
});

interface PartialClone {
  root: string;
  home: string;
  env: Record<string, string>;
  hasRun(): boolean;
}

/** A clone without the blobs of older commits, whose configuration names the program that serves them. */
function partialClone(key: 'uploadpack' | null): PartialClone {
  const source = temporaryRepository({ 'f.txt': 'one\n' });
  const base = temporaryDirectory();
  const git = (cwd: string, ...args: string[]): void => {
    runSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args], { cwd });
  };
  for (const setting of ['allowFilter', 'allowAnySHA1InWant'])
    git(source, 'config', `uploadpack.${setting}`, 'true');
  writeFileSync(join(source, 'f.txt'), 'two\n');
  git(source, 'commit', '-qam', 'second');
  const root = join(base, 'clone');
  git(base, 'clone', '-q', '--no-local', '--filter=blob:none', `file://${source}`, root);
  const [mark, program] = [join(base, 'ran'), join(base, 'serve')];
  writeFileSync(program, `#!/bin/sh\ntouch ${mark}\nexec git-upload-pack "$@"\n`);
  chmodSync(program, 0o755);
  if (key !== null) git(root, 'config', `remote.origin.${key}`, program);
  const home = join(base, 'ramet');
  const env = { PATH: process.env.PATH ?? '', HOME: base, RAMET_HOME: home };
  return { root, home, env, hasRun: () => existsSync(mark) };
}

const BLAME = ['blame', 'HEAD~1', '--', 'f.txt'];

describe('SEC-1: git of our own in a folder that is not trusted', () => {
  test('fetches no missing object through a program that the folder names, and says what to do', async () => {
    const { root, home, env, hasRun } = partialClone('uploadpack');
    await expect(runGit(BLAME, { cwd: root, env })).rejects.toMatchObject({
      code: 'folder_not_trusted',
      message: expect.stringContaining('ramet trust'),
    });
    expect(hasRun()).toBe(false);
    trust({ home, root });
    expect((await runGit(BLAME, { cwd: root, env })).code).toBe(0);
    expect(hasRun()).toBe(true);
  });

  test('does not run it either when the user asks for something from the remote', async () => {
    const { root, env, hasRun } = partialClone('uploadpack');
    const fetch = ['fetch', '--quiet', 'origin', '+HEAD:refs/ramet/pull/1'];
    await expect(runGit(fetch, { cwd: root, env, reachesRemote: true })).rejects.toMatchObject({
      code: 'folder_not_trusted',
    });
    expect(hasRun()).toBe(false);
  });

  test('fetches what the user asks for where the folder names no program', async () => {
    const { root, env } = partialClone(null);
    const fetch = ['fetch', '--quiet', 'origin', '+HEAD:refs/ramet/pull/1'];
    expect((await runGit(fetch, { cwd: root, env, reachesRemote: true })).code).toBe(0);
  });

  test('has nothing to say about the setting where nothing is fetched', async () => {
    const { root, env } = partialClone('uploadpack');
    expect(await runGit(['status', '--short'], { cwd: root, env })).toMatchObject({ code: 0, stderr: '' });
  });
});
