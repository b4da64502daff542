import {
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runSync } from '../../test/fixtures/run-sync.ts';
import { temporaryDirectory, temporaryRepository, writeFiles } from '../../test/fixtures/temporary.ts';
import { git, OWNER, worktreePlace } from '../../test/fixtures/worktrees.ts';
import { leaveStarter, useStarter } from '../../test/worker-starter.ts';
import { gitText } from './run-git.ts';
import { removeSpecialFiles, sweepShared, takeRepairs } from './special-files.ts';
import { checkpoint } from './worktrees/changes/checkpoint.ts';
import { createWorktree } from './worktrees/create-worktree.ts';

function fifo(file: string): string {
  mkdirSync(dirname(file), { recursive: true });
  rmSync(file, { force: true });
  runSync('mkfifo', [file]);
  return file;
}

const isThere = (file: string): boolean => lstatSync(file, { throwIfNoEntry: false }) !== undefined;

afterAll(useStarter);

describe.each([
  ['here', leaveStarter],
  ['by a small process', useStarter],
])('WORK-7: git that waits at a FIFO, started %s', (_, prepare) => {
  beforeAll(prepare);

  test('continues without those of an agent, its work is kept, and it is said', async () => {
    const place = worktreePlace();
    const { worktree } = await createWorktree(place, { name: 'fix', owner: OWNER });
    const { path } = worktree;
    writeFiles(path, { 'work.txt': 'w\n', 'sub/more.txt': 'm\n', 'nested/.git/config': '' });
    const met = ['.gitignore', 'sub/.gitignore', 'sub/.gitattributes', 'nested/.git/HEAD'].map((name) =>
      fifo(join(path, name)),
    );
    const own = fifo(join(path, 'sub', 'pipe'));
    const { ref } = await checkpoint(place, worktree);
    expect(git(path, 'show', `${ref}:work.txt`)).toBe('w');
    expect(git(path, 'show', `${ref}:sub/more.txt`)).toBe('m');
    expect(met.filter(isThere)).toEqual([]);
    expect(isThere(own)).toBe(true);
    expect([...takeRepairs(worktree)].sort()).toEqual(
      met.map((file) => `${file} was a FIFO, at which git waits; put right`).sort(),
    );
    expect(takeRepairs(worktree)).toEqual([]);
  });

  test('continues without those in the shared git directory', async () => {
    const cwd = temporaryRepository();
    const common = join(cwd, '.git');
    const outside = fifo(join(temporaryDirectory(), 'outside'));
    const met = ['objects/info/alternates', 'objects/info/commit-graph', 'refs/heads/ramet/T002-1'].map(
      (name) => fifo(join(common, name)),
    );
    const link = join(common, 'refs/heads/ramet/T003-1');
    symlinkSync(outside, link);
    const args = ['for-each-ref', '--format=%(refname) %(subject)', 'refs/heads'];
    const call = { cwd, env: { PATH: process.env.PATH ?? '' } };
    expect(await gitText(args, call)).toMatch(/^refs\/heads\/main \S.*$/);
    expect([...met, link].filter(isThere)).toEqual([]);
    expect(isThere(outside)).toBe(true);
    expect(takeRepairs({ admin: 'any' }).length).toBe(4);
  });

  test('is ended and started again if another program holds the other end', async () => {
    const cwd = temporaryRepository();
    const file = fifo(join(cwd, '.git/objects/info/alternates'));
    const descriptor = openSync(file, constants.O_RDWR | constants.O_NONBLOCK);
    try {
      writeFileSync(descriptor, '#');
      const call = { cwd, env: { PATH: process.env.PATH ?? '' } };
      expect(await gitText(['cat-file', '-t', 'HEAD'], call)).toBe('commit');
    } finally {
      closeSync(descriptor);
    }
    expect(isThere(file)).toBe(false);
    expect(takeRepairs({ admin: 'any' }).length).toBe(1);
  });
});

test('WORK-7: a FIFO at which several gits wait is told once', async () => {
  const cwd = temporaryRepository({ 'README.md': '# Start\n' });
  fifo(join(cwd, '.git/objects/info/alternates'));
  const found = await Promise.all([1, 2, 3].map(() => removeSpecialFiles({ cwd })));
  expect(found.flat()).toHaveLength(1);
});

const LED = ['objects/info/alternates', 'shallow', 'packed-refs'].concat(
  ['attributes', 'exclude', 'sparse-checkout', 'grafts'].map((name) => `info/${name}`),
);

test.each<[name: string, why: string, make: (list: string) => void]>([
  ['objects/info/alternates', 'was too large', truncated],
  ['objects/info/commit-graphs/commit-graph-chain', 'was too large', truncated],
  ...LED.map((name): [string, string, (list: string) => void] => [
    ...([name, 'led to what is no file', (list: string) => symlinkSync('/dev/zero', list)] as const),
  ]),
])('WORK-7: a list %s that %s is moved out of the way of git', async (name, why, make) => {
  const cwd = temporaryRepository({ 'README.md': '# Start\n' });
  const list = join(cwd, '.git', name);
  mkdirSync(dirname(list), { recursive: true });
  rmSync(list, { force: true });
  make(list);
  expect(await gitText(['cat-file', '-t', 'HEAD'], { cwd, env: { PATH: process.env.PATH ?? '' } })).toBe(
    'commit',
  );
  expect(isThere(list)).toBe(false);
  expect(takeRepairs({ admin: 'none' }).join()).toContain(`${list} ${why}, and is in `);
});

test('WORK-7: a ref that leads to a device is removed when an agent has ended, and told', async () => {
  const cwd = temporaryRepository({ 'README.md': '# Start\n' });
  const ref = join(cwd, '.git/refs/tags/endless');
  symlinkSync('/dev/zero', ref);
  await sweepShared(join(cwd, '.git'));
  expect(isThere(ref)).toBe(false);
  expect(takeRepairs({ admin: 'none' })).toEqual(['refs/tags/endless led to what is no file; put right']);
});

function truncated(list: string): void {
  writeFileSync(list, '');
  truncateSync(list, 2 ** 35);
}

const ENV = { PATH: process.env.PATH ?? '' };

test('WORK-7: folders of objects that an agent closed are opened, and an index of packs that is none is put aside', async () => {
  const cwd = temporaryRepository({ 'README.md': '# Start\n' });
  git(cwd, 'repack', '-adq');
  const [info, pack] = ['info', 'pack'].map((name) => join(cwd, '.git/objects', name));
  writeFileSync(join(pack ?? '', 'multi-pack-index'), '\0'.repeat(4096));
  for (const folder of [info ?? '', pack ?? '']) chmodSync(folder, 0);
  expect(await gitText(['cat-file', '-t', 'HEAD'], { cwd, env: ENV })).toBe('commit');
  expect(lstatSync(pack ?? '').mode & 0o700).toBe(0o700);
  const told = takeRepairs({ admin: 'none' }).join('\n');
  expect(told).toContain(`${info} was closed; put right\n${pack} was closed; put right\n`);
  expect(told).toContain('multi-pack-index was not what git writes there, and is in ');
});

test.each([
  ['idx', /git cannot read \S+\.idx: make it again with git index-pack \S+\.pack; then resume$/],
  [
    'pack',
    /git cannot read \S+\.pack: copy it from another clone or a backup of the repository; then resume$/,
  ],
])('WORK-7: a damaged %s is named, with what a person can do', async (kind, message) => {
  const cwd = temporaryRepository({ 'README.md': '# Start\n' });
  git(cwd, 'repack', '-adq');
  const pack = join(cwd, '.git/objects/pack');
  const file = join(pack, readdirSync(pack).find((name) => name.endsWith(`.${kind}`)) ?? '');
  rmSync(file);
  writeFileSync(file, '\0'.repeat(4096));
  await expect(gitText(['log', '-1'], { cwd, env: ENV })).rejects.toMatchObject({
    ...{ code: 'git_damaged', message: expect.stringMatching(message) },
  });
});
