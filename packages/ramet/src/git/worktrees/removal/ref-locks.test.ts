import { existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runSync } from '../../../../test/fixtures/run-sync.ts';
import { temporaryDirectory } from '../../../../test/fixtures/temporary.ts';
import { git, OWNER, rametBranches, worktreePlace } from '../../../../test/fixtures/worktrees.ts';
import { withRepositoryLock } from '../../repository-lock.ts';
import { createWorktree } from '../create-worktree.ts';
import type { WorktreePlace } from '../worktree-place.ts';
import { collectGarbage } from './collect-garbage.ts';
import { staleLockNotes } from './ref-locks.ts';
import { deleteFreshBranch, deleteSafeBranch } from './safe-branch.ts';

/** No process has this number. */
const DEAD = { pid: 999_999_999, started: null };

async function halfMade(place: WorktreePlace, count: number): Promise<string[]> {
  const branches: string[] = [];
  for (let each = 0; each < count; each += 1) {
    const { worktree } = await createWorktree(place, { name: 'agent', owner: OWNER, numbered: true });
    place.registry.put({ ...worktree, state: 'making', lease: DEAD });
    branches.push(worktree.branch ?? '');
  }
  return branches;
}

function lock(place: WorktreePlace, name: string): string {
  const path = join(place.repository.commonDirectory, name);
  writeFileSync(path, '');
  const hourAgo = new Date(Date.now() - 3_600_000);
  utimesSync(path, hourAgo, hourAgo);
  return path;
}

describe('WORK-3: locks that a killed git has left', () => {
  test('on packed refs is named, and its branches go when it is gone', async () => {
    const place = worktreePlace();
    const branches = await halfMade(place, 3);
    const path = lock(place, 'packed-refs.lock');
    const entries = await collectGarbage(place);
    expect(entries.map(({ reasons }) => reasons.join())).toEqual(
      branches.map((branch) => expect.stringContaining(`${branch} cannot be deleted: packed-refs.lock`)),
    );
    expect(staleLockNotes(place)).toEqual([expect.stringContaining(`${path} is 3600 s old`)]);
    expect(existsSync(path)).toBe(true);
    rmSync(path);
    for (const row of place.registry.list()) place.registry.put({ ...row, lease: DEAD });
    await collectGarbage(place);
    expect(rametBranches(place.repository.root)).toEqual([]);
    expect(place.registry.list()).toEqual([]);
    expect(staleLockNotes(place)).toEqual([]);
  });

  test('go at once if it was ours and its caller lives, and the branch goes too', async () => {
    const place = worktreePlace();
    git(place.repository.root, 'branch', 'ramet/done');
    const bin = temporaryDirectory();
    const real = runSync('sh', ['-c', 'command -v git']).trim();
    const shared = place.repository.commonDirectory;
    const locks = ['packed-refs', 'refs/heads/ramet/done'].map((name) => join(shared, `${name}.lock`));
    const die = `if mkdir '${bin}/died' 2>/dev/null; then touch ${locks.map((path) => `'${path}'`).join(' ')}; kill -s KILL $$; fi`;
    const script = `#!/bin/sh\ncase " $* " in *" update-ref "*) ${die} ;; esac\nexec '${real}' "$@"\n`;
    writeFileSync(join(bin, 'git'), script, { mode: 0o755 });
    const env = { ...place.env, PATH: `${bin}:${place.env.PATH}` };
    expect(await deleteSafeBranch({ ...place, env }, 'ramet/done')).toBe('deleted');
    expect(existsSync(join(bin, 'died'))).toBe(true);
    expect(locks.filter((path) => existsSync(path))).toEqual([]);
    expect(rametBranches(place.repository.root)).toEqual([]);
  });

  test('on a branch of a dead maker goes, and on any other it is named', async () => {
    const place = worktreePlace();
    const [branch = ''] = await halfMade(place, 1);
    const own = lock(place, `refs/heads/${branch}.lock`);
    const other = lock(place, 'refs/heads/ramet/other.lock');
    await collectGarbage(place);
    expect(existsSync(own)).toBe(false);
    expect(existsSync(other)).toBe(true);
    expect(staleLockNotes(place)).toEqual([expect.stringContaining(other)]);
    expect(rametBranches(place.repository.root)).toEqual([]);
  });

  test('branches that go together go by one transaction', async () => {
    const { place, transactions } = counted();
    const root = place.repository.root;
    const tip = git(root, 'rev-parse', 'HEAD');
    const names = ['ramet/a', 'ramet/b', 'ramet/c', 'ramet/d'];
    for (const name of names) git(root, 'branch', name);
    git(root, 'pack-refs', '--all');
    expect(await deletedTogether(place, names, tip)).toEqual([]);
    expect(transactions()).toEqual([names]);
  });

  test('one of them that has moved stays, and keeps none of the others', async () => {
    const { place, transactions } = counted();
    const root = place.repository.root;
    const tip = git(root, 'rev-parse', 'HEAD');
    const names = ['ramet/a', 'ramet/b', 'ramet/c'];
    for (const name of names) git(root, 'branch', name);
    git(root, 'commit', '-q', '--allow-empty', '-m', 'later');
    const moved = (): void => void git(root, 'branch', '-f', 'ramet/b');
    expect(await deletedTogether(place, names, tip, moved)).toEqual(['ramet/b']);
    expect(transactions()).toEqual([names, ['ramet/a'], ['ramet/b'], ['ramet/c']]);
  });
});

/** Asks while a process has the lock, so that all of them wait for it. Returns the branches that are left. */
async function deletedTogether(
  place: WorktreePlace,
  names: readonly string[],
  tip: string,
  meanwhile = (): void => {},
): Promise<string[]> {
  let asked: Promise<void>[] = [];
  await withRepositoryLock(place.repository, 'branches', async () => {
    asked = names.map((name) => deleteFreshBranch(place, name, tip));
    meanwhile();
  });
  await Promise.all(asked);
  return rametBranches(place.repository.root);
}

/** A place whose git notes the branches of each transaction that deletes some. */
function counted(): { place: WorktreePlace; transactions(): string[][] } {
  const plain = worktreePlace();
  const bin = temporaryDirectory();
  const log = join(bin, 'log');
  const real = (process.env.PATH ?? '').split(':').find((folder) => existsSync(join(folder, 'git'))) ?? '';
  const script = `#!/bin/sh
case "$*" in
*"update-ref --no-deref --stdin"*) cat > ${bin}/input.$$; { cat ${bin}/input.$$; echo; } >> ${log}; exec "${real}/git" "$@" < ${bin}/input.$$ ;;
esac
exec "${real}/git" "$@"
`;
  writeFileSync(join(bin, 'git'), script, { mode: 0o755 });
  const place = { ...plain, env: { ...plain.env, PATH: `${bin}:${plain.env.PATH}` } };
  const transactions = (): string[][] =>
    readFileSync(log, 'utf8')
      .split('\n\n')
      .filter((text) => text !== '')
      .map((text) => [...text.matchAll(/^delete refs\/heads\/(\S+)/gm)].map(([, name = '']) => name));
  return { place, transactions };
}
