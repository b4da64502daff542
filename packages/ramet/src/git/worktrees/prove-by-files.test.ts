import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { git, OWNER, worktreePlace } from '../../../test/fixtures/worktrees.ts';
import { createWorktree } from './create-worktree.ts';
import { proveByFiles, proveWorktree } from './prove-worktree.ts';
import { releaseWorktree } from './removal/release-worktree.ts';
import type { ManagedWorktree } from './worktree.ts';
import { adminDirectory, type WorktreePlace } from './worktree-place.ts';

async function made(): Promise<{ place: WorktreePlace; worktree: ManagedWorktree }> {
  const place = worktreePlace();
  const { worktree } = await createWorktree(place, { name: 'fix', owner: OWNER });
  return { place, worktree };
}

describe('WORK-7: the proof without a process', () => {
  test('says what a shell says', async () => {
    const { place, worktree } = await made();
    const asked = await proveWorktree(place.repository, worktree, place.env);
    expect(proveByFiles(place.repository, worktree, place.env)).toEqual(asked);
  });

  test('a shell that is asked is told not to read ~/.bashrc, as it would with a socket as its input', async () => {
    const { place, worktree } = await made();
    const bin = temporaryDirectory();
    const script = `#!/bin/bash\necho "$1" > ${bin}/first\nexec /bin/bash "$@"\n`;
    writeFileSync(join(bin, 'bash'), script, { mode: 0o755 });
    const env = { ...place.env, PATH: `${bin}:${process.env.PATH}` };
    expect(await proveWorktree(place.repository, worktree, env)).toMatchObject({ topLevel: worktree.path });
    expect(readFileSync(join(bin, 'first'), 'utf8')).toBe('--norc\n');
  });

  test('serves a claim, which then starts no shell', async () => {
    const { place, worktree } = await made();
    await releaseWorktree(place, worktree.id)?.settled;
    const bare = join(temporaryDirectory(), 'bin');
    symlinkSync('/nowhere', bare);
    // Without programs: whatever is asked of one fails.
    const created = await createWorktree({ ...place, env: { PATH: bare } }, { name: 'next', owner: OWNER });
    expect(created.how).toBe('claimed');
    expect(created.proof).toMatchObject({ topLevel: created.worktree.path, ref: 'refs/heads/ramet/next' });
    expect(await created.dirty).toMatchObject({ files: null });
  });

  test.each<[string, (tried: { place: WorktreePlace; worktree: ManagedWorktree }) => void]>([
    [
      'its `.git` leads elsewhere',
      ({ worktree, place }) =>
        writeFileSync(join(worktree.path, '.git'), `gitdir: ${place.repository.commonDirectory}\n`),
    ],
    ['its `.git` is gone', ({ worktree }) => rmSync(join(worktree.path, '.git'))],
    [
      'its registration means another directory',
      ({ place, worktree }) =>
        writeFileSync(join(adminDirectory(place, worktree), 'gitdir'), '/elsewhere/.git\n'),
    ],
    [
      'its registration belongs to another repository',
      ({ place, worktree }) =>
        writeFileSync(join(adminDirectory(place, worktree), 'commondir'), '/elsewhere\n'),
    ],
    ['it is on another branch', ({ worktree }) => void git(worktree.path, 'checkout', '-q', '-b', 'other')],
    [
      'it has a commit',
      ({ worktree }) => void git(worktree.path, 'commit', '-q', '--allow-empty', '-m', 'work'),
    ],
    [
      'a setting may say where it is',
      ({ place }) => void git(place.repository.root, 'config', 'extensions.worktreeConfig', 'true'),
    ],
    [
      'settings are included',
      ({ place }) => void git(place.repository.root, 'config', 'include.path', '/elsewhere'),
    ],
  ])('does not hold when %s', async (_, change) => {
    const tried = await made();
    change(tried);
    expect(proveByFiles(tried.place.repository, tried.worktree, tried.place.env)).toBeNull();
  });

  test.each([
    [{ GIT_DIR: '/elsewhere' }],
    [{ GIT_WORK_TREE: '/elsewhere' }],
    [{ BASH_ENV: '/elsewhere' }],
    [{ 'BASH_FUNC_git%%': '() { true; }' }],
    [{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.worktree', GIT_CONFIG_VALUE_0: '/elsewhere' }],
  ])('does not hold with variables that mislead: %o', async (variables) => {
    const { place, worktree } = await made();
    expect(proveByFiles(place.repository, worktree, { ...place.env, ...variables })).toBeNull();
  });
});
