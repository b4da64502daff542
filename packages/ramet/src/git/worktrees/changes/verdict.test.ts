import { type ChildProcess, spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory, temporaryRepository, writeFiles } from '../../../../test/fixtures/temporary.ts';
import {
  checkoutBytes,
  FILES,
  git,
  OWNER,
  rametBranches,
  worktreePlace,
} from '../../../../test/fixtures/worktrees.ts';
import { createSession } from '../../../journal/sessions.ts';
import { createWorktree } from '../create-worktree.ts';
import { collectGarbage } from '../removal/collect-garbage.ts';
import { releaseWorktree } from '../removal/release-worktree.ts';
import { removeWorktree } from '../removal/remove-worktree.ts';
import type { ManagedWorktree } from '../worktree.ts';
import { adminDirectory, type WorktreePlace } from '../worktree-place.ts';
import { verdictOf } from './verdict.ts';

const owner = OWNER;
const DAYS_LATER = 40 * 86_400_000;

interface Tried {
  place: WorktreePlace;
  tree: ManagedWorktree;
  root: string;
}

/** Every state that has changes or may have some, made by real means, and what is said about it. */
const HOLDING: Record<string, { make(tried: Tried): void; told: RegExp }> = {
  'a changed file': {
    make: ({ tree }) => writeFiles(tree.path, { 'src/a.ts': 'work\n' }),
    told: /^changed and not committed: src\/a.ts$/,
  },
  'a staged file': {
    make: ({ tree }) => {
      writeFiles(tree.path, { 'src/a.ts': 'work\n' });
      git(tree.path, 'add', 'src/a.ts');
    },
    told: /^staged and not committed: src\/a.ts$/,
  },
  'a staged change that the files do not show': {
    make: ({ tree }) => {
      writeFiles(tree.path, { 'src/a.ts': 'work\n' });
      git(tree.path, 'add', 'src/a.ts');
      writeFiles(tree.path, { 'src/a.ts': FILES['src/a.ts'] ?? '' });
    },
    told: /^staged/,
  },
  'a deleted file': {
    make: ({ tree }) => rmSync(join(tree.path, 'README.md')),
    told: /^changed .*README.md/,
  },
  'a new file': {
    make: ({ tree }) => writeFiles(tree.path, { 'a b/ü.txt': 'work\n' }),
    told: /^not known to git: a b\//,
  },
  'a new file, though the user wants git not to show any': {
    make: ({ tree, root }) => {
      git(root, 'config', 'status.showUntrackedFiles', 'no');
      writeFiles(tree.path, { 'new.txt': 'work\n' });
    },
    told: /^not known to git/,
  },
  'an ignored secret': {
    make: ({ tree }) => writeFiles(tree.path, { '.env': 'KEY=1\n' }),
    told: /only copy: .env$/,
  },
  'an ignored secret in an ignored folder': {
    make: ({ tree }) => writeFiles(tree.path, { 'build/deep/server.key': 'work\n' }),
    told: /only copy: build\/deep\/server.key/,
  },
  'a repository in an ignored folder': {
    make: ({ tree }) => {
      mkdirSync(join(tree.path, 'build/clone'), { recursive: true });
      git(join(tree.path, 'build/clone'), 'init', '-q');
    },
    told: /^repositories in ignored folders: build\/clone\/.git/,
  },
  'a file hidden by assume-unchanged': {
    make: ({ tree }) => {
      git(tree.path, 'update-index', '--assume-unchanged', 'README.md');
      writeFiles(tree.path, { 'README.md': 'work\n' });
    },
    told: /^hidden from git .*README.md/,
  },
  'a file hidden by skip-worktree': {
    make: ({ tree }) => {
      git(tree.path, 'update-index', '--skip-worktree', 'README.md');
      writeFiles(tree.path, { 'README.md': 'work\n' });
    },
    told: /^hidden from git .*README.md/,
  },
  'a commit of its own, without an upstream': {
    make: ({ tree }) => commit(tree.path),
    told: /^1 commit that is not merged/,
  },
  'a commit on top of what its target has got meanwhile': {
    make: ({ tree, root }) => {
      for (let each = 0; each < 3; each += 1) git(root, 'commit', '-q', '--allow-empty', '-m', 'meanwhile');
      git(tree.path, 'merge', '-q', '--ff-only', 'main');
      commit(tree.path);
    },
    told: /^1 commit that is not merged/,
  },
  'commits that undo each other': {
    make: ({ tree }) => {
      commit(tree.path);
      git(tree.path, 'revert', '--no-edit', 'HEAD');
    },
    told: /^2 commits that are not merged/,
  },
  'a commit that only private refs lead to': {
    make: ({ tree }) => {
      commit(tree.path);
      for (const name of ['wip/abcdefgh.1', 'merge/main'])
        git(tree.path, 'update-ref', `refs/ramet/${name}`, 'HEAD');
    },
    told: /^1 commit that is not merged/,
  },
  'a commit of which a broken ref keeps git from telling who else has it': {
    make: ({ tree, root }) => {
      commit(tree.path);
      git(tree.path, 'branch', 'other');
      writeFileSync(join(root, '.git/refs/heads/torn'), 'half of an i');
    },
    told: /^its commits could not be judged: .*bad object torn/,
  },
  'a commit that only the stash and notes lead to': {
    make: ({ tree }) => {
      commit(tree.path);
      git(tree.path, 'update-ref', 'refs/stash', 'HEAD');
      git(tree.path, 'update-ref', 'refs/notes/commits', 'HEAD');
    },
    told: /^1 commit that is not merged/,
  },
  'a commit on a detached HEAD': {
    make: ({ tree }) => {
      git(tree.path, 'checkout', '-q', '--detach');
      commit(tree.path);
    },
    told: /^1 commit without a branch/,
  },
  'a commit on its branch, and HEAD back at the base': {
    make: ({ tree }) => {
      commit(tree.path);
      git(tree.path, 'checkout', '-q', '--detach', tree.base);
    },
    told: /^1 commit that is not merged/,
  },
  'a merge under way': {
    make: ({ tree }) => {
      commit(tree.path);
      git(tree.path, 'branch', 'other');
      git(tree.path, 'reset', '-q', '--hard', tree.base);
      git(tree.path, 'merge', '-q', '--no-ff', '--no-commit', 'other');
    },
    told: /^(MERGE_HEAD|staged)/,
  },
  'a stash': {
    make: ({ tree }) => {
      writeFiles(tree.path, { 'src/a.ts': 'work\n' });
      git(tree.path, 'stash', '-q');
    },
    told: /^1 stashes made on ramet\/fix/,
  },
  'a lock of another process': {
    make: ({ tree, root }) => {
      git(root, 'worktree', 'unlock', tree.path);
      git(root, 'worktree', 'lock', '--reason=mine', tree.path);
    },
    told: /^locked: mine/,
  },
  'a process in it': {
    make: ({ tree }) => {
      mkdirSync(join(tree.path, 'build'));
      keep(spawn('sleep', ['1000'], { cwd: join(tree.path, 'build'), stdio: 'ignore' }));
    },
    told: /^process \d+ works in it/,
  },
  'an index that cannot be read': {
    make: (tried) => writeFileSync(join(adminDirectory(tried.place, tried.tree), 'index'), 'broken'),
    told: /^its files could not be read: git (status|ls-files) failed/,
  },
  'a HEAD that cannot be read': {
    make: (tried) => writeFileSync(join(adminDirectory(tried.place, tried.tree), 'HEAD'), 'broken'),
    told: /^(where its HEAD is could not be read|its files could not be read)/,
  },
  'a `.git` file that leads elsewhere': {
    make: ({ tree, root }) => writeFileSync(join(tree.path, '.git'), `gitdir: ${root}/.git\n`),
    told: /^its `.git` file does not lead to it/,
  },
  'a git that is at work, or was killed': {
    make: (tried) => writeFileSync(join(adminDirectory(tried.place, tried.tree), 'index.lock'), ''),
    told: /^index.lock/,
  },
  'a file where a submodule belongs': {
    make: ({ tree }) => {
      const link = `160000,${git(tree.path, 'rev-parse', 'HEAD').trim()},sub`;
      git(tree.path, 'update-index', '--add', '--cacheinfo', link);
      git(tree.path, 'commit', '-qm', 'a submodule');
      git(tree.path, 'branch', 'elsewhere');
      writeFiles(tree.path, { 'sub/new.txt': 'work\n' });
    },
    told: /^files where a submodule belongs, which git does not see: sub$/,
  },
  'a submodule with a repository of its own': {
    make: (tried) =>
      mkdirSync(join(adminDirectory(tried.place, tried.tree), 'modules/lib'), { recursive: true }),
    told: /^submodules/,
  },
};

/** Every way a worktree can go without a person who insists. */
const WAYS: Record<string, (tried: Tried) => Promise<unknown>> = {
  'its agent ends and the pool is full': ({ place, tree }) => {
    const full = { ...place, settings: { ...place.settings, pool: 0 } };
    return releaseWorktree(full, tree.id)?.settled ?? Promise.resolve();
  },
  'its agent ends and the pool has room': ({ place, tree }) =>
    releaseWorktree(place, tree.id)?.settled ?? Promise.resolve(),
  'a person removes it': ({ place, tree }) => removeWorktree(place, tree, { isHolder: true }),
  'it is old and is collected': ({ place, tree }) => {
    place.registry.put({ ...tree, lease: { pid: 2 ** 22 - 1, started: 'never' } });
    return collectGarbage({ ...place, now: () => Date.now() + DAYS_LATER });
  },
};

describe('WORK-3: a worktree that has changes', () => {
  for (const [state, { make, told }] of Object.entries(HOLDING)) {
    test(`stays, however its removal is asked for: ${state}`, async () => {
      const tried = await fresh();
      make(tried);
      const before = checkoutBytes(tried.tree.path);
      const verdict = await verdictOf(tried.place, tried.tree, { isHolder: true });
      expect(verdict.isEmpty).toBe(false);
      expect(verdict.reasons.map(({ text }) => text)).toContainEqual(expect.stringMatching(told));
      for (const [way, take] of Object.entries(WAYS)) {
        tried.place.registry.put(tried.tree);
        await take(tried);
        expect(checkoutBytes(tried.tree.path), way).toEqual(before);
        expect(existsSync(adminDirectory(tried.place, tried.tree)), way).toBe(true);
        expect(rametBranches(tried.root), way).toEqual(['ramet/fix']);
      }
    });
  }

  test('would be removed in each of these ways if it had no changes, also after another way left it', async () => {
    for (const [way, take] of Object.entries(WAYS)) {
      const tried = await fresh();
      const late = join(tried.tree.path, 'new.txt');
      writeFileSync(late, 'work');
      for (const other of Object.values(WAYS)) {
        tried.place.registry.put(tried.tree);
        await other(tried);
      }
      rmSync(late);
      tried.place.registry.put(tried.tree);
      await take(tried);
      expect(existsSync(tried.tree.path), way).toBe(false);
    }
  });

  test('stays while a live process holds it', async () => {
    const { place, tree } = await fresh();
    const verdict = await verdictOf(place, tree);
    expect(verdict.reasons).toEqual([{ kind: 'in_use', text: `in use by process ${process.pid}` }]);
    expect(await removeWorktree(place, tree, { force: true })).toMatchObject({ removed: false });
  });

  test('stays when a copied file was changed, and not for one that was not', async () => {
    const root = temporaryRepository(FILES);
    writeFiles(root, { '.env': 'A=1\n', 'notes.local': 'x\n' });
    const place = worktreePlace({ root, settings: { copy: ['.env', 'notes.local'] } });
    const { worktree } = await createWorktree(place, { name: 'fix', owner });
    expect((await verdictOf(place, worktree, { isHolder: true })).reasons).toEqual([]);
    appendFileSync(join(worktree.path, 'notes.local'), 'work\n');
    expect((await verdictOf(place, worktree, { isHolder: true })).reasons).toMatchObject([
      { kind: 'precious' },
    ]);
  });

  test('is back in its place when something was written while it was being removed', async () => {
    const root = temporaryRepository(FILES);
    const tried = await fresh({
      root,
      onStep: (step) => step === 'trashing' && writeFiles(tried.tree.path, { late: 'work' }),
    });
    const removal = await removeWorktree(tried.place, tried.tree, { isHolder: true });
    expect(removal).toMatchObject({ removed: false, reasons: [{ kind: 'untracked' }] });
    expect(readFileSync(join(tried.tree.path, 'late'), 'utf8')).toBe('work');
    expect(git(tried.tree.path, 'status', '--porcelain')).toBe('?? late');
  });
});

describe('WORK-3: a worktree that holds nothing', () => {
  const EMPTY: Record<string, (tried: Tried) => void> = {
    'nothing was done': () => {},
    'only what can be made again was made': ({ tree }) =>
      writeFiles(tree.path, { 'build/out.js': '', 'node_modules/.env/x': '' }),
    'its commits were merged': ({ tree, root }) => {
      commit(tree.path);
      git(root, 'merge', '-q', '--no-ff', '--no-edit', 'ramet/fix');
    },
    'its commits were squashed into one': ({ tree, root }) => {
      commit(tree.path);
      writeFiles(tree.path, { 'more.txt': 'more\n' });
      commit(tree.path);
      git(root, 'merge', '-q', '--squash', 'ramet/fix');
      git(root, 'commit', '-qm', 'squashed');
      writeFiles(root, { 'later.txt': 'later\n' });
      git(root, 'add', '.');
      git(root, 'commit', '-qm', 'later');
    },
    'its commits were squashed, and the same lines changed since': ({ tree, root }) => {
      commit(tree.path);
      git(root, 'merge', '-q', '--squash', 'ramet/fix');
      git(root, 'commit', '-qm', 'squashed');
      writeFiles(root, { 'src/a.ts': 'and again\n' });
      git(root, 'commit', '-qam', 'again');
    },
    'its commits were rebased': ({ tree, root }) => {
      commit(tree.path);
      git(root, 'commit', '-q', '--allow-empty', '-m', 'between');
      git(root, 'cherry-pick', 'ramet/fix');
      writeFiles(root, { 'src/a.ts': 'and again\n' });
      git(root, 'commit', '-qam', 'again');
    },
    'its commits are on a branch whose name begins with its own': ({ tree }) => {
      commit(tree.path);
      git(tree.path, 'branch', 'ramet/fix-2');
    },
    'a tag and a remote branch lead to its commits, and tags to things that are none': ({ tree, root }) => {
      commit(tree.path);
      git(root, 'tag', 'tree', 'HEAD^{tree}');
      git(root, 'update-ref', 'refs/remotes/origin/fix', git(tree.path, 'rev-parse', 'HEAD'));
    },
    'its commits are on a branch of another name': ({ tree }) => {
      git(tree.path, 'checkout', '-q', '-b', 'feature');
      commit(tree.path);
    },
  };

  test.each(Object.entries(EMPTY))('goes, and the checkout stays as it is: %s', async (_, make) => {
    const tried = await fresh();
    make(tried);
    const before = checkoutBytes(tried.root);
    expect(await verdictOf(tried.place, tried.tree, { isHolder: true })).toMatchObject({
      isEmpty: true,
      reasons: [],
    });
    const removal = await removeWorktree(tried.place, tried.tree, { isHolder: true });
    expect(removal.removed).toBe(true);
    if (removal.removed) await removal.deleted();
    expect(existsSync(tried.tree.path)).toBe(false);
    expect(git(tried.root, 'worktree', 'list').split('\n')).toHaveLength(1);
    expect(checkoutBytes(tried.root)).toEqual(before);
    expect(git(tried.root, 'fsck', '--strict', '--no-dangling')).toBe('');
  });

  test('goes when all it has is uncommitted work that came along, and stays when any of it changed', async () => {
    const root = temporaryRepository(FILES);
    writeFiles(root, { 'src/a.ts': 'mine\n', 'new.txt': 'mine\n', 'staged.txt': 'mine\n' });
    git(root, 'add', 'staged.txt');
    const place = worktreePlace({ root, settings: { dirty: 'carry' } });
    const { worktree } = await createWorktree(place, { name: 'fix', owner });
    expect((await verdictOf(place, worktree, { isHolder: true })).reasons).toEqual([]);
    appendFileSync(join(worktree.path, 'new.txt'), 'and its own\n');
    expect((await verdictOf(place, worktree, { isHolder: true })).isEmpty).toBe(false);
    writeFiles(worktree.path, { 'new.txt': 'mine\n' });
    git(worktree.path, 'add', 'new.txt');
    expect((await verdictOf(place, worktree, { isHolder: true })).isEmpty).toBe(false);
    git(worktree.path, 'rm', '-q', '--cached', 'new.txt');
    expect(await releaseWorktree(place, worktree.id)?.settled).toMatchObject({ became: 'pooled' });
    const next = (await createWorktree(place, { name: 'next', owner, dirty: 'exclude' })).worktree;
    expect(git(next.path, 'status', '--porcelain')).toBe('');
  });

  test('keeps its branch when no other ref leads to its tip', async () => {
    const tried = await fresh();
    commit(tried.tree.path);
    git(tried.root, 'merge', '-q', '--squash', 'ramet/fix');
    git(tried.root, 'commit', '-qm', 'squashed');
    expect(await removeWorktree(tried.place, tried.tree, { isHolder: true })).toMatchObject({
      branch: 'kept',
    });
    expect(rametBranches(tried.root)).toEqual(['ramet/fix']);
  });

  test('keeps its branch while another checkout has it', async () => {
    const tried = await fresh();
    git(tried.tree.path, 'checkout', '-q', '--detach');
    git(tried.root, 'checkout', '-q', 'ramet/fix');
    expect(await removeWorktree(tried.place, tried.tree, { isHolder: true })).toMatchObject({
      branch: 'kept',
    });
    expect(git(tried.root, 'status', '--porcelain', '--branch')).toBe('## ramet/fix');
  });

  test('of two branches at one commit that nothing else has, one stays', async () => {
    const { place, tree, root } = await fresh();
    const other = (await createWorktree(place, { name: 'other', owner })).worktree;
    commit(tree.path);
    git(other.path, 'reset', '-q', '--hard', 'ramet/fix');
    await Promise.all([tree, other].map((each) => removeWorktree(place, each, { isHolder: true })));
    expect(rametBranches(root)).toHaveLength(1);
  });

  test('keeps work that besides it only a worktree has that began with it, as that of a reviewer', async () => {
    const { place, tree, root } = await fresh();
    commit(tree.path);
    const work = git(tree.path, 'rev-parse', 'HEAD');
    const reviewer = (await createWorktree(place, { name: 'review', owner, base: work })).worktree;
    expect(await removeWorktree(place, tree, { isHolder: true })).toMatchObject({
      ...{ removed: false, reasons: [{ kind: 'commits' }] },
    });
    expect(await removeWorktree(place, reviewer, { isHolder: true })).toMatchObject({ branch: 'deleted' });
    expect(rametBranches(root)).toEqual(['ramet/fix']);
  });

  test('goes without what its links lead to', async () => {
    const root = temporaryRepository({ ...FILES, 'package-lock.json': '1' });
    writeFiles(root, { 'node_modules/a/index.js': 'kept\n' });
    const place = worktreePlace({ root, settings: { symlinkDirectories: ['node_modules'] } });
    const { worktree } = await createWorktree(place, { name: 'fix', owner });
    mkdirSync(join(worktree.path, 'build'));
    symlinkSync(root, join(worktree.path, 'build/link'));
    chmodSync(join(worktree.path, 'src'), 0o755);
    const before = checkoutBytes(root);
    const removal = await removeWorktree(place, worktree, { isHolder: true });
    if (removal.removed) await removal.deleted();
    expect(removal.removed).toBe(true);
    expect(checkoutBytes(root)).toEqual(before);
    expect(lstatSync(worktree.path, { throwIfNoEntry: false })).toBeUndefined();
  });

  test('is forgotten when a user has deleted it already', async () => {
    const { place, tree, root } = await fresh();
    rmSync(tree.path, { recursive: true });
    expect(await removeWorktree(place, tree, { isHolder: true })).toMatchObject({
      removed: true,
      branch: 'deleted',
    });
    expect(git(root, 'worktree', 'list').split('\n')).toHaveLength(1);
  });

  test('keeps the commits of one that a user has deleted', async () => {
    const { place, tree, root } = await fresh();
    commit(tree.path);
    rmSync(tree.path, { recursive: true });
    expect(await removeWorktree(place, tree, { isHolder: true })).toMatchObject({ removed: false });
    expect(rametBranches(root)).toEqual(['ramet/fix']);
  });
});

describe('WORK-3: the clean-up', () => {
  test('tells of everything without touching it in a dry run', async () => {
    const { place, tree } = await fresh();
    const work = (await createWorktree(place, { name: 'work', owner })).worktree;
    writeFiles(work.path, { 'new.txt': '' });
    for (const each of [tree, work]) place.registry.put({ ...each, lease: null, state: 'released' });
    const rows = place.registry.list();
    const entries = await collectGarbage(place, { dryRun: true });
    expect(
      entries.map(({ worktree, action, reasons }) => [worktree.name, action, ...reasons]).sort(),
    ).toEqual([
      ['fix', 'remove', 'holds nothing'],
      ['work', 'keep', 'not known to git: new.txt'],
    ]);
    expect(place.registry.list()).toEqual(rows);
    expect(existsSync(tree.path)).toBe(true);
  });

  test('removes what holds nothing without running the setup command; only one that nobody waits for prepares it', async () => {
    const ran = join(temporaryDirectory(), 'ran');
    const { place } = await fresh();
    const settings = { setup: `echo x >> ${ran}`, pool: 2 };
    for (const [pools, action] of [
      [undefined, 'remove'],
      [true, 'pool'],
    ] as const) {
      const { worktree } = await createWorktree(place, { name: `old-${action}`, owner });
      place.registry.put({ ...worktree, lease: null, state: 'released' });
      const entries = await collectGarbage({ ...place, settings }, { pools });
      const entry = entries.find((one) => one.worktree.id === worktree.id);
      expect(entry).toMatchObject({ action, reasons: ['holds nothing'] });
      expect(existsSync(worktree.path)).toBe(false);
      expect(existsSync(ran)).toBe(pools === true);
    }
  });

  test('lets one without a live owner wait for it, and takes it after the set time', async () => {
    const { place, tree } = await fresh();
    place.registry.put({ ...tree, lease: { pid: 2 ** 22 - 1, started: 'never' } });
    expect(await collectGarbage(place)).toMatchObject([{ action: 'keep' }]);
    const later = { ...place, now: () => Date.now() + DAYS_LATER };
    expect(await collectGarbage(later, { cleanupPeriodDays: 50 })).toMatchObject([{ action: 'keep' }]);
    expect(await collectGarbage(later)).toMatchObject([{ action: 'remove' }]);
    expect(existsSync(tree.path)).toBe(false);
  });

  test('takes one whose agent had ended when its process was killed, also if it has not given it back', async () => {
    const place = worktreePlace();
    const dead = { pid: 2 ** 22 - 1, started: 'never' };
    const journal = await createSession({ project: place.project, cwd: '/w' });
    const { session } = journal;
    const ends = { done: ['done'], cut: ['interrupted'], again: ['done', null], working: [] } as const;
    for (const [name, statuses] of Object.entries(ends)) {
      const agent = `${session}.${name}`;
      for (const status of statuses)
        journal.append(
          agent,
          status === null
            ? { type: 'agent.resumed', from: 'interrupted' }
            : { type: 'agent.ended', status, cause: null, message: null },
        );
      const { worktree } = await createWorktree(place, { name, owner: { session, agent } });
      place.registry.put({ ...worktree, lease: dead });
    }
    await journal.close();
    const entries = await collectGarbage(place);
    expect(Object.fromEntries(entries.map(({ worktree, action }) => [worktree.name, action]))).toEqual({
      ...{ done: 'remove', cut: 'keep', again: 'keep', working: 'keep' },
    });
  });

  test('says that a worktree of a repository that was moved cannot be judged', async () => {
    const { tree, place, root } = await fresh();
    place.registry.put({ ...tree, lease: null, state: 'released' });
    renameSync(root, `${root}-moved`);
    onTestFinished(() => rmSync(`${root}-moved`, { recursive: true }));
    const [entry] = await collectGarbage(place);
    expect(entry?.action).toBe('keep');
    expect(existsSync(tree.path)).toBe(true);
  });
});

async function fresh(options: Parameters<typeof worktreePlace>[0] = {}): Promise<Tried> {
  const place = worktreePlace(options);
  const { worktree } = await createWorktree(place, { name: 'fix', owner });
  return { place, tree: worktree, root: place.repository.root };
}

function commit(path: string): void {
  appendFileSync(join(path, 'src/a.ts'), 'work\n');
  git(path, 'add', '--all');
  git(path, 'commit', '-qm', 'work');
}

function keep(child: ChildProcess): void {
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
}
