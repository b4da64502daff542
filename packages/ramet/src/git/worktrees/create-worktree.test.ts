import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runSync } from '../../../test/fixtures/run-sync.ts';
import { temporaryDirectory, temporaryRepository, writeFiles } from '../../../test/fixtures/temporary.ts';
import {
  checkoutBytes,
  FILES,
  git,
  OWNER,
  rametBranches,
  worktreePlace,
} from '../../../test/fixtures/worktrees.ts';
import { thisProcess } from '../../system/processes/process-identity.ts';
import { createWorktree } from './create-worktree.ts';
import { resumeWorktree } from './resume-worktree.ts';
import { worktreesDirectory } from './worktree-place.ts';

const owner = OWNER;

describe('WORK-2: a new worktree', () => {
  test('is outside the repository, on a branch of its own, at the commit of the asking checkout', async () => {
    const place = worktreePlace();
    const { root } = place.repository;
    const head = git(root, 'rev-parse', 'HEAD');
    const { worktree, how, proof, notes } = await createWorktree(place, { name: 'fix', owner });
    expect({ how, notes }).toEqual({ how: 'made', notes: [] });
    expect(worktree).toMatchObject({
      name: 'fix',
      branch: 'ramet/fix',
      base: head,
      state: 'leased',
      slot: 1,
      owner,
    });
    expect(worktree.path).toBe(join(place.home, 'worktrees', basename(place.project), 'fix'));
    expect(proof).toMatchObject({ topLevel: worktree.path, head, ref: 'refs/heads/ramet/fix' });
    expect(git(worktree.path, 'status', '--porcelain=v2', '--branch')).toBe(
      `# branch.oid ${head}\n# branch.head ramet/fix`,
    );
    expect(readFileSync(join(worktree.path, 'src/deep/b.ts'), 'utf8')).toBe('export const b = 2;\n');
    expect(git(root, 'worktree', 'list', '--porcelain')).toContain(`worktree ${worktree.path}\nHEAD ${head}`);
    expect(git(root, 'fsck', '--strict')).toBe('');
  });

  test('WORK-7: leaves every byte of the asking checkout as it was', async () => {
    const root = temporaryRepository(FILES);
    writeFiles(root, { 'src/a.ts': 'changed\n', 'new.txt': 'new\n', 'staged.txt': 'staged\n' });
    git(root, 'add', 'staged.txt');
    const before = checkoutBytes(root);
    for (const dirty of ['carry', 'exclude'] as const) {
      await createWorktree(worktreePlace({ root }), { name: dirty, owner, dirty });
    }
    expect(checkoutBytes(root)).toEqual(before);
  });

  test('begins where it is told, also from a detached HEAD, and says where', async () => {
    const place = worktreePlace();
    const { root } = place.repository;
    const first = git(root, 'rev-parse', 'HEAD');
    git(root, 'commit', '-q', '--allow-empty', '-m', 'second');
    const second = git(root, 'rev-parse', 'HEAD');
    git(root, 'tag', 'start', first);
    git(root, 'pack-refs', '--all');
    git(root, 'checkout', '-q', '--detach');
    expect((await createWorktree(place, { name: 'a', owner, base: 'start' })).worktree.base).toBe(first);
    const created = await createWorktree(place, { name: 'b', owner });
    expect(created.worktree).toMatchObject({ base: second, facts: { target: null } });
  });

  test('works from another worktree, a bare and a shallow repository', async () => {
    const origin = temporaryRepository(FILES);
    git(origin, 'commit', '-q', '--allow-empty', '-m', 'second');
    const directory = temporaryDirectory();
    git(directory, 'clone', '-q', '--bare', origin, 'bare.git');
    git(directory, 'clone', '-q', '--depth=1', `file://${origin}`, 'shallow');
    git(origin, 'worktree', 'add', '-q', '--detach', join(directory, 'tree'));
    for (const name of ['bare.git', 'shallow', 'tree']) {
      const place = worktreePlace({ root: join(directory, name) });
      const { worktree } = await createWorktree(place, { name: 'fix', owner });
      expect(git(worktree.path, 'status', '--porcelain')).toBe('');
      expect(git(worktree.path, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe('ramet/fix');
    }
  });

  test('takes names with slashes, other scripts and 200 characters, and keeps them apart', async () => {
    const place = worktreePlace();
    const names = [
      'agent',
      'agent/1',
      'überarbeiten: Größe',
      '修复 bug',
      'x'.repeat(200),
      `${'x'.repeat(199)}y`,
      '..lock',
      'a b.lock',
    ];
    const created = await Promise.all(names.map((name) => createWorktree(place, { name, owner })));
    const branches = created.map(({ worktree }) => worktree.branch);
    expect(new Set(branches).size).toBe(names.length);
    expect(branches.slice(0, 4)).toEqual([
      'ramet/agent',
      'ramet/agent-1',
      'ramet/überarbeiten-Größe',
      'ramet/修复-bug',
    ]);
    expect(rametBranches(place.repository.root).sort()).toEqual(branches.toSorted());
    await expect(createWorktree(place, { name: ' // ', owner })).rejects.toMatchObject({
      code: 'worktree_name',
    });
  });

  test('refuses a name that is taken by a worktree, a branch, or in another case, or gives it a number', async () => {
    const place = worktreePlace();
    git(place.repository.root, 'branch', 'ramet/mine');
    await createWorktree(place, { name: 'fix', owner });
    for (const name of ['fix', 'FIX', 'mine']) {
      await expect(createWorktree(place, { name, owner })).rejects.toMatchObject({ code: 'worktree_taken' });
    }
    const { worktree } = await createWorktree(place, { name: 'Fix', owner, numbered: true });
    expect(worktree.name).toBe('Fix-2');
  });

  test('leaves a branch alone that another home made at the same moment, and gets a number or says so', async () => {
    const root = temporaryRepository(FILES);
    const makes = (step: string): void => {
      if (step === 'reserved' && rametBranches(root).length === 0) git(root, 'branch', 'ramet/fix');
    };
    const place = worktreePlace({ root, onStep: makes });
    const { worktree } = await createWorktree(place, { name: 'fix', owner, numbered: true });
    expect(worktree.branch).toBe('ramet/fix-2');
    expect(place.registry.list()).toHaveLength(1);
    expect(rametBranches(root)).toEqual(['ramet/fix', 'ramet/fix-2']);

    git(root, 'branch', '-D', 'ramet/fix');
    const other = worktreePlace({
      root,
      onStep: (step) => void (step === 'reserved' && git(root, 'branch', 'ramet/fix')),
    });
    await expect(createWorktree(other, { name: 'fix', owner })).rejects.toMatchObject({
      code: 'branch_taken',
    });
    expect(rametBranches(root)).toEqual(['ramet/fix', 'ramet/fix-2']);
    expect(other.registry.list()).toEqual([]);
  });

  test('says which branch is in the way, and leaves nothing', async () => {
    const place = worktreePlace();
    const { root } = place.repository;
    git(root, 'branch', 'ramet');
    await expect(createWorktree(place, { name: 'fix', owner })).rejects.toThrow(
      /cannot make branch ramet\/fix: .*'refs\/heads\/ramet' exists/,
    );
    expect(place.registry.list()).toEqual([]);
    expect(readdirSync(worktreesDirectory(place))).toEqual([]);
    expect(git(root, 'worktree', 'list').split('\n')).toHaveLength(1);
    expect(readdirSync(join(place.home, 'slots'))).toEqual([]);
  });

  test.each([
    ['a directory that is no repository', () => temporaryDirectory(), 'not_a_repository', undefined],
    ['a repository without a commit', () => emptyRepository(), 'no_commit', undefined],
    ['a base that does not exist', () => temporaryRepository(), 'no_base', 'absent'],
    ['a base that is an option', () => temporaryRepository(), 'no_base', '--all'],
  ])('refuses %s', async (_, root, code, base) => {
    const create = async (): Promise<unknown> =>
      createWorktree(worktreePlace({ root: root() }), { name: 'fix', owner, base });
    await expect(create()).rejects.toMatchObject({ code, family: 'mistake' });
  });

  test('tells of submodules and large files that are not there', async () => {
    const root = temporaryRepository({ ...FILES, '.gitmodules': '', 'a.bin': 'pointer\n' });
    // Afterwards: where git-lfs is installed, it would make another pointer of it.
    writeFiles(root, { '.gitattributes': '*.bin filter=lfs\n' });
    git(root, 'add', '.gitattributes');
    git(root, 'commit', '-qm', 'attributes');
    git(root, 'config', 'filter.lfs.smudge', 'false');
    git(root, 'config', 'filter.lfs.required', 'true');
    const { notes, worktree } = await createWorktree(worktreePlace({ root }), { name: 'fix', owner });
    expect(notes.map((note) => note.split(' ', 1)[0])).toEqual(['submodules', 'large']);
    expect(readFileSync(join(worktree.path, 'a.bin'), 'utf8')).toBe('pointer\n');
  });

  test('has only the folders asked for, and every git there agrees', async () => {
    const place = worktreePlace({ settings: { sparsePaths: ['src/deep/'] } });
    const config = readFileSync(join(place.repository.root, '.git/config'), 'utf8');
    const { worktree } = await createWorktree(place, { name: 'fix', owner });
    expect(readdirSync(worktree.path).sort()).toEqual(['.git', '.gitignore', 'README.md', 'src']);
    expect(readdirSync(join(worktree.path, 'src')).sort()).toEqual(['a.ts', 'deep']);
    expect(git(worktree.path, 'status', '--porcelain')).toBe('');
    expect(readFileSync(join(place.repository.root, '.git/config'), 'utf8')).toBe(config);
  });

  test('gets a slot of its own for ports and databases', async () => {
    const place = worktreePlace();
    const created = await Promise.all(['a', 'b', 'c'].map((name) => createWorktree(place, { name, owner })));
    expect(created.map(({ env }) => env.RAMET_SLOT).sort()).toEqual(['1', '2', '3']);
    const ports = created.map(({ env }) => Number(env.RAMET_PORT_BASE)).sort();
    expect(ports).toEqual([10_020, 10_040, 10_060]);
  });
});

describe('WORK-2: uncommitted work of the asking checkout', () => {
  function dirtyRepository(): string {
    const root = temporaryRepository(FILES);
    writeFiles(root, {
      'src/a.ts': 'changed\n',
      'new file.txt': 'new\n',
      'staged.txt': 'staged\n',
      '.env': 'SECRET=1\n',
    });
    git(root, 'rm', '-q', 'docs/guide.md');
    git(root, 'add', 'staged.txt');
    return root;
  }
  const FOUND = [
    { kind: 'D ', path: 'docs/guide.md' },
    { kind: ' M', path: 'src/a.ts' },
    { kind: 'A ', path: 'staged.txt' },
    { kind: '??', path: 'new file.txt' },
  ];

  test('is carried, staged as staged and new as new, and told', async () => {
    const root = dirtyRepository();
    const { worktree, dirty } = await createWorktree(worktreePlace({ root }), {
      name: 'fix',
      owner,
      dirty: 'carry',
    });
    expect(await dirty).toEqual({ policy: 'carry', files: FOUND });
    expect(git(worktree.path, 'status', '--porcelain')).toBe(git(root, 'status', '--porcelain'));
    expect(readFileSync(join(worktree.path, 'src/a.ts'), 'utf8')).toBe('changed\n');
    expect(readFileSync(join(worktree.path, 'new file.txt'), 'utf8')).toBe('new\n');
    expect(existsSync(join(worktree.path, '.env'))).toBe(false);
  });

  test('is left out by default, and told', async () => {
    const { worktree, dirty } = await createWorktree(worktreePlace({ root: dirtyRepository() }), {
      name: 'fix',
      owner,
    });
    expect(await dirty).toEqual({ policy: 'exclude', files: FOUND });
    expect(git(worktree.path, 'status', '--porcelain')).toBe('');
  });

  test('is a reason to refuse where that is set, and cannot be carried to another commit', async () => {
    const root = dirtyRepository();
    const refusing = worktreePlace({ root, settings: { dirty: 'refuse' } });
    await expect(createWorktree(refusing, { name: 'fix', owner })).rejects.toThrow(
      /4 uncommitted files \(docs\/guide.md, src\/a.ts, staged.txt, …\)/,
    );
    git(root, 'tag', 'old');
    git(root, 'stash', '-q', '-u');
    git(root, 'commit', '-q', '--allow-empty', '-m', 'second');
    writeFiles(root, { 'src/a.ts': 'changed\n' });
    const carrying = worktreePlace({ root, settings: { dirty: 'carry' } });
    await expect(createWorktree(carrying, { name: 'fix', owner, base: 'old' })).rejects.toMatchObject({
      code: 'carry_base',
    });
  });
});

describe('WORK-2: what git does not bring', () => {
  test('is copied by pattern, for this user alone, and is never staged', async () => {
    const root = temporaryRepository({ 'README.md': '' });
    writeFiles(root, { 'secret.env': 'A=1\n', 'config/x.local.json': '{}', 'other.txt': '' });
    const place = worktreePlace({ root, settings: { copy: ['*.env', 'config/*.local.json', 'README.md'] } });
    const { worktree, env } = await createWorktree(place, { name: 'fix', owner });
    expect(Object.keys(worktree.facts.copied)).toEqual(['config/x.local.json', 'secret.env']);
    expect(statSync(join(worktree.path, 'secret.env')).mode & 0o777).toBe(0o600);
    const status = runSync('git', ['status', '--porcelain'], {
      cwd: worktree.path,
      env: { ...place.env, ...env },
    });
    expect(status).toBe('');
    expect(git(root, 'status', '--porcelain', '-uall')).toContain('?? secret.env');
  });

  test('is linked where it is a directory, unless the lock files differ', async () => {
    const root = temporaryRepository({ ...FILES, 'package-lock.json': '1', 'web/package-lock.json': '1' });
    writeFiles(root, {
      'node_modules/a/index.js': '',
      'web/node_modules/b/index.js': '',
      'web/package-lock.json': '2',
    });
    const place = worktreePlace({
      root,
      settings: { symlinkDirectories: ['node_modules', 'web/node_modules/', 'src', 'absent'] },
    });
    const { worktree, notes, env } = await createWorktree(place, { name: 'fix', owner });
    expect(readlinkSync(join(worktree.path, 'node_modules'))).toBe(join(root, 'node_modules'));
    expect(lstatSync(join(worktree.path, 'web/node_modules'), { throwIfNoEntry: false })).toBeUndefined();
    expect(notes).toEqual([
      'web/node_modules is not shared with the checkout: web/package-lock.json differs',
      'src is not shared with the checkout: the commit has it',
      'absent is not shared with the checkout: it is no directory there',
    ]);
    runSync('git', ['add', '--all'], { cwd: worktree.path, env: { ...place.env, ...env } });
    expect(git(worktree.path, 'diff', '--cached', '--name-only')).toBe('');
  });

  test.each([
    { copy: ['../x'] },
    { copy: ['/etc/passwd'] },
    { copy: ['[bad'] },
    { symlinkDirectories: ['..'] },
    { sparsePaths: ['a/../..'] },
  ])('is never from outside the repository, nor by a pattern that cannot be read: %j', async (settings) => {
    const place = worktreePlace({ settings });
    await expect(createWorktree(place, { name: 'fix', owner })).rejects.toMatchObject({
      code: 'worktree_path',
    });
    expect(rametBranches(place.repository.root)).toEqual([]);
  });

  test('is made by the setup command, whose failure is told', async () => {
    const good = worktreePlace({ settings: { setup: 'echo "slot $RAMET_SLOT" > made.txt' } });
    const { worktree, setup } = await createWorktree(good, { name: 'fix', owner });
    expect(setup?.code).toBe(0);
    expect(readFileSync(join(worktree.path, 'made.txt'), 'utf8')).toBe('slot 1\n');
    const bad = worktreePlace({ settings: { setup: 'echo broken >&2; exit 3' } });
    const failed = await createWorktree(bad, { name: 'fix', owner });
    expect(failed.setup).toMatchObject({ code: 3, output: 'broken\n' });
  });
});

describe('WORK-4: many worktrees at once', () => {
  test('come without a failure and without an orphan branch, beside a person who prunes', {
    timeout: 120_000,
  }, async () => {
    const place = worktreePlace();
    const { root } = place.repository;
    for (let round = 0; round < 3; round++) {
      const wanted = Array.from({ length: 32 }, (_, index) =>
        createWorktree(place, { name: `agent-${round}-${index}`, owner }),
      );
      git(root, 'worktree', 'prune', '--expire=now');
      const created = await Promise.all(wanted);
      expect(new Set(created.map(({ worktree }) => worktree.slot)).size).toBe(32);
    }
    expect(rametBranches(root)).toHaveLength(96);
    expect(git(root, 'worktree', 'list').split('\n')).toHaveLength(97);
    expect(git(root, 'fsck', '--strict')).toBe('');
  });
});

describe('WORK-7: a worktree that cannot be proved', () => {
  test('is undone, and the failure says where the shell was', async () => {
    const place = worktreePlace();
    const elsewhere = temporaryRepository();
    const misled = { ...place, env: { ...place.env, GIT_DIR: join(elsewhere, '.git') } };
    await expect(createWorktree(misled, { name: 'fix', owner })).rejects.toMatchObject({
      code: 'isolation_not_proved',
    });
    expect(readdirSync(worktreesDirectory(place))).toEqual([]);
    expect(rametBranches(place.repository.root)).toEqual([]);
    expect(place.registry.list()).toEqual([]);
  });

  test('is not in a directory that another process made meanwhile', async () => {
    let taken = '';
    const place = worktreePlace({
      onStep: (step) => {
        if (step !== 'branch made') return;
        mkdirSync(taken);
        writeFileSync(join(taken, 'precious'), '');
      },
    });
    taken = join(worktreesDirectory(place), 'fix');
    await expect(createWorktree(place, { name: 'fix', owner })).rejects.toThrow(/EEXIST/);
    expect(readdirSync(taken)).toEqual(['precious']);
    expect(rametBranches(place.repository.root)).toEqual([]);
  });
});

describe('WORK-2: repositories in trouble', () => {
  test('a hook that fails does not run', async () => {
    const root = temporaryRepository(FILES);
    for (const name of ['post-checkout', 'reference-transaction', 'post-index-change']) {
      writeFileSync(join(root, '.git/hooks', name), '#!/bin/sh\nexit 1\n');
      chmodSync(join(root, '.git/hooks', name), 0o755);
    }
    // The proof runs git as agents do, hooks and all: it changes nothing, so none of them runs.
    await createWorktree(worktreePlace({ root }), { name: 'fix', owner });
    expect(rametBranches(root)).toEqual(['ramet/fix']);
  });

  test.each([
    ['no object', `${'1'.repeat(40)}\n`, /11111111|damaged|missing|not a/],
    [
      'rubbish',
      'rubbish\n',
      'refs/heads/main of .* is damaged, so a worktree has nothing to begin with: its log names',
    ],
  ])('a branch that holds %s is told, and nothing is left behind', async (_, text, told) => {
    const place = worktreePlace();
    const { root } = place.repository;
    const file = join(root, '.git/refs/heads/main');
    const good = readFileSync(file, 'utf8');
    writeFileSync(file, text);
    await expect(createWorktree(place, { name: 'fix', owner: OWNER })).rejects.toThrow(new RegExp(told));
    expect(readFileSync(file, 'utf8')).toBe(text);
    writeFileSync(file, good);
    expect(git(root, 'worktree', 'list').split('\n')).toHaveLength(1);
    expect(rametBranches(root)).toEqual([]);
  });

  test('a repository that was moved makes new worktrees at its new place', async () => {
    const directory = temporaryDirectory();
    const root = temporaryRepository(FILES);
    const home = join(directory, 'home');
    await createWorktree(worktreePlace({ root, home }), { name: 'fix', owner });
    renameSync(root, join(directory, 'moved'));
    const place = worktreePlace({ root: join(directory, 'moved'), home });
    const { proof } = await createWorktree(place, { name: 'other', owner });
    expect(proof.commonDirectory).toBe(join(directory, 'moved/.git'));
  });

  test('names that differ by case in the repository stay two files', async () => {
    const root = temporaryRepository({ 'a.txt': '1', 'A.txt': '2' });
    const { worktree } = await createWorktree(worktreePlace({ root }), { name: 'fix', owner });
    expect(git(worktree.path, 'status', '--porcelain')).toBe('');
  });

  test('a git directory where nothing can be made leaves no entry, and the name can be had later', async () => {
    const place = worktreePlace();
    const { root } = place.repository;
    const inTheWay = join(root, '.git/ramet');
    rmSync(inTheWay, { recursive: true, force: true });
    writeFileSync(inTheWay, '');
    await expect(createWorktree(place, { name: 'fix', owner })).rejects.toThrow(/^[^\n]*\.git\/ramet[^\n]*$/);
    expect(place.registry.list()).toEqual([]);
    expect(git(root, 'worktree', 'list').split('\n')).toHaveLength(1);
    rmSync(inTheWay);
    expect((await createWorktree(place, { name: 'fix', owner })).worktree.slot).toBe(1);
  });

  test('a repository that cannot be written is told before anything is entered', async ({ skip }) => {
    if (process.getuid?.() === 0) return skip('root may write everywhere');
    const place = worktreePlace();
    chmodSync(place.repository.commonDirectory, 0o500);
    await expect(createWorktree(place, { name: 'fix', owner })).rejects.toThrow(
      /\.git cannot be written \(EACCES\), and a worktree needs a branch there: make it writable, or work in a clone$/,
    );
    chmodSync(place.repository.commonDirectory, 0o700);
    expect(place.registry.list()).toEqual([]);
  });

  test('one whose maker was killed is told as left behind, with what finishes it', async () => {
    const place = worktreePlace();
    const { worktree } = await createWorktree(place, { name: 'fix', owner });
    const gone = { ...thisProcess(), pid: 2 ** 30 };
    place.registry.put({ ...worktree, state: 'making', lease: gone });
    await expect(resumeWorktree(place, worktree.id)).rejects.toThrow(
      /is still making, and the process that was at it is gone: ramet worktree gc finishes that; then take fix again$/,
    );
  });

  test('a directory that cannot be made is named with what to do', async () => {
    const place = worktreePlace({ settings: { directory: '/proc/worktrees' } });
    await expect(createWorktree(place, { name: 'fix', owner })).rejects.toMatchObject({ family: 'mistake' });
  });
});

function emptyRepository(): string {
  const directory = temporaryDirectory();
  git(directory, 'init', '-q');
  return directory;
}
