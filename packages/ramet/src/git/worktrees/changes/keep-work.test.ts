import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryRepository, writeFiles } from '../../../../test/fixtures/temporary.ts';
import { FILES, git, OWNER, worktreePlace } from '../../../../test/fixtures/worktrees.ts';
import { createWorktree } from '../create-worktree.ts';
import { removeWorktree } from '../removal/remove-worktree.ts';
import type { ManagedWorktree } from '../worktree.ts';
import { adminDirectory, type WorktreePlace } from '../worktree-place.ts';
import { checkpoint } from './checkpoint.ts';

describe('WORK-3: a person who insists', () => {
  test('removes a worktree whose work is kept on a private ref and on its branch', async () => {
    const { place, tree, root } = await fresh();
    appendFileSync(join(tree.path, 'src/a.ts'), 'work\n');
    commitAll(tree.path);
    writeFiles(tree.path, { 'new.txt': 'work\n' });
    const removal = await removeWorktree(place, tree, { force: true, isHolder: true });
    expect(removal).toMatchObject({
      removed: true,
      branch: 'kept',
      checkpoint: { ref: 'refs/ramet/wip/abcdefgh.1' },
    });
    expect(git(root, 'show', 'refs/ramet/wip/abcdefgh.1:new.txt')).toBe('work');
    expect(existsSync(tree.path)).toBe(false);
  });

  test('loses nothing of what git ignores or was told not to look at', async () => {
    const root = temporaryRepository(FILES);
    writeFiles(root, { 'notes.local': 'x\n' });
    const { place, tree } = await fresh({ root, settings: { copy: ['notes.local'] } });
    writeFiles(tree.path, { '.env': 'SECRET\n', 'build/.env.*': 'STAR\n', 'src/a.ts': 'hidden\n' });
    appendFileSync(join(tree.path, 'notes.local'), 'work\n');
    git(tree.path, 'update-index', '--assume-unchanged', 'src/a.ts');
    const removal = await removeWorktree(place, tree, { force: true, isHolder: true });
    expect(removal).toMatchObject({ removed: true, keptFolder: null });
    const kept = (path: string): string => git(root, 'show', `refs/ramet/wip/abcdefgh.1:${path}`);
    expect(['.env', 'build/.env.*', 'notes.local', 'src/a.ts'].map(kept)).toEqual([
      ...['SECRET', 'STAR', 'x\nwork', 'hidden'],
    ]);
  });

  test('gets repositories inside it moved aside, ignored or not', async () => {
    const { place, tree } = await fresh();
    for (const folder of ['build/r', 'new/r']) {
      writeFiles(join(tree.path, folder), { 'f.txt': folder, '.env': 'SECRET\n' });
      git(join(tree.path, folder), 'init', '-q');
      commitAll(join(tree.path, folder));
      writeFiles(join(tree.path, folder), { 'g.txt': 'not committed' });
    }
    const removal = await removeWorktree(place, tree, { force: true, isHolder: true });
    const folder = removal.removed ? (removal.keptFolder ?? '') : '';
    expect(folder.startsWith(join(place.home, 'kept', 'fix-'))).toBe(true);
    for (const each of ['build/r', 'new/r']) {
      expect(git(join(folder, each), 'show', 'HEAD:f.txt')).toBe(each);
      expect(readFileSync(join(folder, each, 'g.txt'), 'utf8')).toBe('not committed');
    }
  });

  test('gets one without a commit moved aside, and everything else in the checkpoint', async () => {
    const { place, tree, root } = await fresh();
    writeFiles(tree.path, {
      'work.txt': 'important\n',
      'sub[1]/x': 'x\n',
      'sub1/y': 'y\n',
      'deep/in/z': 'z\n',
    });
    git(join(tree.path, 'sub[1]'), 'init', '-q');
    git(join(tree.path, 'deep/in'), 'init', '-q');
    const saved = await checkpoint(place, tree);
    expect([...saved.leftOut].sort()).toEqual(['deep/in', 'sub[1]']);
    const kept = git(root, 'ls-tree', '-r', '--name-only', saved.ref).split('\n');
    expect(kept).toEqual(expect.arrayContaining(['work.txt', 'sub1/y', 'src/a.ts']));
    const removal = await removeWorktree(place, tree, { force: true, isHolder: true });
    const folder = removal.removed ? (removal.keptFolder ?? '') : '';
    expect(readFileSync(join(folder, 'sub[1]/x'), 'utf8')).toBe('x\n');
    expect(readFileSync(join(folder, 'deep/in/z'), 'utf8')).toBe('z\n');
  });

  test('has them back where it stays after all', async () => {
    const { place, tree } = await fresh();
    writeFiles(tree.path, { 'build/r/.git/HEAD': 'x', 'build/r/f.txt': 'work' });
    const other = {
      ...place,
      onStep: (step: string) =>
        step === 'checkpoint committed' && place.registry.put({ ...tree, changed: 1 }),
    };
    writeFiles(tree.path, { 'new.txt': 'work\n' });
    expect(await removeWorktree(other, tree, { force: true, isHolder: true })).toMatchObject({
      removed: false,
    });
    expect(readFileSync(join(tree.path, 'build/r/f.txt'), 'utf8')).toBe('work');
    expect(existsSync(join(place.home, 'kept'))).toBe(true);
  });

  test('cannot remove submodules with it', async () => {
    const { place, tree } = await fresh();
    mkdirSync(join(adminDirectory(place, tree), 'modules/lib'), { recursive: true });
    expect(await removeWorktree(place, tree, { force: true, isHolder: true })).toMatchObject({
      removed: false,
      reasons: [{ kind: 'submodule' }],
    });
  });
});

interface Tried {
  place: WorktreePlace;
  tree: ManagedWorktree;
  root: string;
}

async function fresh(options: Parameters<typeof worktreePlace>[0] = {}): Promise<Tried> {
  const place = worktreePlace(options);
  const { worktree } = await createWorktree(place, { name: 'fix', owner: OWNER });
  return { place, tree: worktree, root: place.repository.root };
}

function commitAll(path: string): void {
  git(path, 'add', '--all');
  git(path, 'commit', '-qm', 'work');
}
