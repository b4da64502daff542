import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runSync } from '../../../../test/fixtures/run-sync.ts';
import { temporaryRepository, writeFiles } from '../../../../test/fixtures/temporary.ts';
import { checkoutBytes, FILES, git, OWNER, worktreePlace } from '../../../../test/fixtures/worktrees.ts';
import { createWorktree } from '../create-worktree.ts';
import { collectGarbage } from '../removal/collect-garbage.ts';
import { releaseWorktree } from '../removal/release-worktree.ts';
import { removeWorktree } from '../removal/remove-worktree.ts';
import type { ManagedWorktree } from '../worktree.ts';
import type { WorktreePlace } from '../worktree-place.ts';
import type { WorktreeSettings } from '../worktree-settings.ts';
import { prepareDependencies } from './bring-dependencies.ts';
import { templateTree } from './dependency-template.ts';
import { lookAtTemplates } from './template-look.ts';
import { wantedTemplate } from './template-name.ts';

const owner = OWNER;

/** A checkout with packages installed: files, a link to a package of the repository itself, notes at the top. */
function installed(): string {
  const root = temporaryRepository({
    ...FILES,
    'package-lock.json': '{"a": 1}',
    'package.json': '{"version": "1", "dependencies": {"a": "1"}}',
    'packages/own/index.js': 'own\n',
  });
  writeFiles(root, {
    'node_modules/a/index.js': 'module.exports = 1;\n',
    'node_modules/a/lib/deep.js': 'deep\n',
    'node_modules/.package-lock.json': '{}',
  });
  symlinkSync('../packages/own', join(root, 'node_modules/own'));
  return root;
}

function template(place: WorktreePlace, root: string): string {
  return templateTree(place.home, wantedTemplate(place, root, 'node_modules')?.name ?? 'none');
}

async function linked(root: string): Promise<{ place: WorktreePlace; worktree: ManagedWorktree }> {
  const place = worktreePlace({ root });
  expect(await prepareDependencies(place)).toEqual([]);
  const { worktree } = await createWorktree(place, { name: 'fix', owner });
  return { place, worktree };
}

const FILE = 'node_modules/a/index.js';

function poison({ path }: ManagedWorktree): void {
  chmodSync(join(path, FILE), 0o644);
  appendFileSync(join(path, FILE), 'poison\n');
}

describe('WORK-2: installed packages', () => {
  test('are there in a new worktree, not shared with the checkout, and unknown to git', async () => {
    const root = installed();
    const before = checkoutBytes(root);
    const { place, worktree } = await linked(root);
    const file = join(worktree.path, 'node_modules/a/index.js');
    expect(readFileSync(file, 'utf8')).toBe('module.exports = 1;\n');
    expect(statSync(file).ino).toBe(statSync(join(template(place, root), 'a/index.js')).ino);
    expect(statSync(file).ino).not.toBe(statSync(join(root, 'node_modules/a/index.js')).ino);
    expect(statSync(file).mode & 0o222).toBe(0);
    expect(readFileSync(join(worktree.path, 'node_modules/own/index.js'), 'utf8')).toBe('own\n');
    expect(readlinkSync(join(worktree.path, 'node_modules/own'))).toBe('../packages/own');
    expect(git(worktree.path, 'status', '--porcelain')).toBe('');
    expect(checkoutBytes(root)).toEqual(before);
  });

  test('can be written where package managers keep their notes', async () => {
    const root = installed();
    const { place, worktree } = await linked(root);
    writeFileSync(join(worktree.path, 'node_modules/.package-lock.json'), 'changed');
    expect(readFileSync(join(template(place, root), '.package-lock.json'), 'utf8')).toBe('{}');
  });

  test('are those of the lock file at the commit, and what is missing is told with its command', async () => {
    const root = installed();
    const { place } = await linked(root);
    const old = git(root, 'rev-parse', 'HEAD');
    writeFiles(root, { 'package-lock.json': '{"a": 2}', 'node_modules/.package-lock.json': '{"b": 1}' });
    git(root, 'commit', '-qam', 'other packages');
    rmSync(join(place.home, 'dependencies'), { recursive: true });
    const { worktree, missing } = await createWorktree(place, { name: 'other', owner, base: old });
    expect(existsSync(join(worktree.path, 'node_modules'))).toBe(false);
    expect(worktree.facts.dependencies).toEqual([]);
    expect(missing.map(({ forAgent }) => forAgent)).toEqual([
      'node_modules is not here (this commit asks for other packages than the checkout has): run `npm ci` here before anything needs packages',
    ]);
  });

  test('are there for all agents of the first session, from one copy', async () => {
    const place = worktreePlace({ root: installed() });
    const names = ['one', 'two', 'three', 'four', 'five'];
    const created = await Promise.all(names.map((name) => createWorktree(place, { name, owner })));
    for (const { worktree, missing } of created) {
      expect(readFileSync(join(worktree.path, 'node_modules/a/lib/deep.js'), 'utf8')).toBe('deep\n');
      expect(missing).toEqual([]);
    }
    expect(readdirSync(join(place.home, 'dependencies'))).toHaveLength(1);
  });

  test('are there without a lock file while package.json asks for the same', async () => {
    const root = installed();
    git(root, 'rm', '-q', 'package-lock.json');
    git(root, 'commit', '-qm', 'no lock file');
    const place = worktreePlace({ root });
    const first = await createWorktree(place, { name: 'first', owner });
    expect(existsSync(join(first.worktree.path, 'node_modules/a/index.js'))).toBe(true);
    const base = git(root, 'rev-parse', 'HEAD');
    writeFiles(root, { 'package.json': '{"version": "2", "dependencies": {"a": "2"}}' });
    git(root, 'commit', '-qam', 'asks for another');
    const { worktree, missing } = await createWorktree(place, { name: 'second', owner, base });
    // The checkout does not have what that commit asks for; the copy of when it had it is still there.
    expect(existsSync(join(worktree.path, 'node_modules/a/index.js'))).toBe(true);
    expect(missing).toEqual([]);
  });

  test('that were installed again come to the next worktree, also to one from the pool', async () => {
    const root = installed();
    const { place, worktree } = await linked(root);
    await releaseWorktree(place, worktree.id)?.settled;
    writeFiles(root, { 'node_modules/a/index.js': 'newer\n', 'node_modules/.package-lock.json': '{"a": 2}' });
    const next = await createWorktree(place, { name: 'next', owner });
    expect(next.how).toBe('claimed');
    expect(readFileSync(join(next.worktree.path, 'node_modules/a/index.js'), 'utf8')).toBe('newer\n');
  });

  test('are those of each package of a workspace too', async () => {
    for (const listed of [
      { 'package.json': '{"workspaces": ["packages/*", "!packages/not"]}' },
      { 'package.json': '{"workspaces": {"packages": ["./packages/*/"]}}' },
      { 'package.json': '{"workspaces": ["packages/**", "[bad", "!**/node_modules/**"]}' },
      {
        'package.json': '{}',
        'pnpm-workspace.yaml': "packages:\n  # ours\n  - 'packages/*'\n  - tools\nonly: x\n",
      },
    ]) {
      const root = temporaryRepository({
        ...FILES,
        ...listed,
        'pnpm-lock.yaml': 'x',
        'packages/README.md': 'beside the packages',
        'packages/one/package.json': '{}',
        'packages/two/package.json': '{"dependencies": {"b": "1"}}',
      });
      writeFiles(root, { 'node_modules/a/index.js': 'a', 'packages/one/node_modules/b/index.js': 'b' });
      symlinkSync('../../../node_modules/a', join(root, 'packages/one/node_modules/a'));
      const { worktree } = await createWorktree(worktreePlace({ root }), { name: 'fix', owner });
      expect(readFileSync(join(worktree.path, 'packages/one/node_modules/b/index.js'), 'utf8')).toBe('b');
      expect(readFileSync(join(worktree.path, 'packages/one/node_modules/a/index.js'), 'utf8')).toBe('a');
      expect(readlinkSync(join(worktree.path, 'packages/one/node_modules/a'))).toBe(
        '../../../node_modules/a',
      );
      expect(worktree.facts.dependencies.map(({ directory }) => directory)).toEqual([
        'node_modules',
        'packages/one/node_modules',
      ]);
      expect(git(worktree.path, 'status', '--porcelain')).toBe('');
    }
  });

  test.each([
    ['package-lock.json', 'npm ci'],
    ['yarn.lock', 'yarn install'],
    ['pnpm-lock.yaml', 'pnpm install --frozen-lockfile'],
    ['README.md', 'npm install'],
  ])('that nobody has installed are told, with the command for %s', async (lock, command) => {
    const root = temporaryRepository({
      ...FILES,
      [lock]: '',
      'package.json': '{"dependencies": {"a": "1"}}',
    });
    const { missing } = await createWorktree(worktreePlace({ root }), { name: 'fix', owner });
    expect(missing.map(({ forAgent }) => forAgent)).toEqual([
      `node_modules is not here (the checkout has none either): run \`${command}\` here before anything needs packages`,
    ]);
  });

  test('are not missed where none are asked for, where the user sees to them, or where the setup installs them', async () => {
    const asks = { 'package.json': '{"dependencies": {"a": "1"}}', 'package-lock.json': '{}' };
    const cases: [Record<string, string>, WorktreeSettings][] = [
      [{ 'package.json': '{}' }, {}],
      [{ 'package.json': 'broken' }, {}],
      [asks, { dependencies: [] }],
      [asks, { setup: 'mkdir node_modules' }],
    ];
    for (const [files, settings] of cases) {
      const root = temporaryRepository({ ...FILES, ...files });
      const place = worktreePlace({ root, settings });
      expect((await createWorktree(place, { name: 'fix', owner })).missing).toEqual([]);
    }
  });

  test('of Python are reported, unless they are shared', async () => {
    const root = temporaryRepository({ ...FILES, '.gitignore': '.venv' });
    writeFiles(root, { '.venv/bin/python': '' });
    const { missing } = await createWorktree(worktreePlace({ root }), { name: 'fix', owner });
    expect(missing).toEqual([
      {
        forAgent: expect.stringContaining(`.venv is not here: use ${root}/.venv/bin, or`),
        forUser: expect.stringContaining('set worktree.symlinkDirectories to [".venv"] or'),
      },
    ]);
    const shared = worktreePlace({ root, settings: { symlinkDirectories: ['.venv'] } });
    expect((await createWorktree(shared, { name: 'other', owner })).missing).toEqual([]);
  });

  test('that nobody has used for long leave the home, and nothing that was linked', async () => {
    const root = installed();
    const { place, worktree } = await linked(root);
    const later = Date.now() + 40 * 86_400_000;
    await collectGarbage({ ...place, now: () => later });
    expect(readdirSync(join(place.home, 'dependencies'))).toEqual([]);
    expect(existsSync(join(worktree.path, 'node_modules/a/index.js'))).toBe(true);
  });

  test('are no template when a link leads into the checkout', async () => {
    const root = installed();
    symlinkSync(join(root, 'packages/own'), join(root, 'node_modules/absolute'));
    const place = worktreePlace({ root });
    expect(await prepareDependencies(place)).toEqual([
      `no template of node_modules: node_modules/absolute leads into ${root}`,
    ]);
    expect(existsSync(template(place, root))).toBe(false);
  });

  test('do not keep a worktree, and go with it without touching the template', async () => {
    const root = installed();
    const { place, worktree } = await linked(root);
    const removal = await removeWorktree(place, worktree, { isHolder: true });
    if (removal.removed) await removal.deleted();
    expect(removal.removed).toBe(true);
    expect(readFileSync(join(template(place, root), 'a/index.js'), 'utf8')).toBe('module.exports = 1;\n');
  });

  test('stay in a tree that goes through the pool, unless something was changed', async () => {
    const root = installed();
    const { place, worktree } = await linked(root);
    await releaseWorktree(place, worktree.id)?.settled;
    const second = (await createWorktree(place, { name: 'second', owner })).worktree;
    expect(second.facts.dependencies).toEqual(worktree.facts.dependencies);
    rmSync(join(second.path, 'node_modules/a/index.js'));
    writeFiles(second.path, { 'node_modules/a/index.js': 'hacked\n', 'node_modules/a/extra.js': '' });
    expect(await releaseWorktree(place, second.id)?.settled).toMatchObject({ became: 'pooled' });
    const third = (await createWorktree(place, { name: 'third', owner })).worktree;
    expect(third.admin).toBe(worktree.admin);
    expect(readFileSync(join(third.path, 'node_modules/a/index.js'), 'utf8')).toBe('module.exports = 1;\n');
    expect(existsSync(join(third.path, 'node_modules/a/extra.js'))).toBe(false);
  });

  test('are made again when a file of the template was changed in place', async () => {
    const root = installed();
    const { place, worktree } = await linked(root);
    const file = join(worktree.path, 'node_modules/a/index.js');
    chmodSync(file, 0o644);
    appendFileSync(file, 'leaked\n');
    const released = releaseWorktree(place, worktree.id);
    await released?.settled;
    expect(await released?.prepared).toEqual([]);
    expect(readFileSync(join(template(place, root), 'a/index.js'), 'utf8')).toBe('module.exports = 1;\n');
    const next = (await createWorktree(place, { name: 'next', owner })).worktree;
    expect(readFileSync(join(next.path, 'node_modules/a/index.js'), 'utf8')).toBe('module.exports = 1;\n');
  });

  test('that an agent changed in place are not handed out from the pool, though its own worktree stays', async () => {
    const root = installed();
    const { place, worktree } = await linked(root);
    const { worktree: other } = await createWorktree(place, { name: 'other', owner });
    await releaseWorktree(place, other.id)?.settled;
    poison(worktree);
    writeFileSync(join(worktree.path, 'work.txt'), 'work');
    expect(await releaseWorktree(place, worktree.id)?.settled).toMatchObject({ kept: true });
    const next = await createWorktree(place, { name: 'next', owner });
    expect([next.how, next.worktree.admin]).toEqual(['claimed', other.admin]);
    expect(readFileSync(join(next.worktree.path, FILE), 'utf8')).toBe('module.exports = 1;\n');
  });

  test('that an agent changed in place are not handed out when its process was killed', async () => {
    const root = installed();
    const { place, worktree } = await linked(root);
    const { worktree: other } = await createWorktree(place, { name: 'other', owner });
    await releaseWorktree(place, other.id)?.settled;
    poison(worktree);
    place.registry.change(worktree.id, ['leased'], { lease: { pid: 2 ** 22 + 1, started: null } });
    const next = (await createWorktree(place, { name: 'next', owner })).worktree;
    expect(readFileSync(join(next.path, FILE), 'utf8')).toBe('module.exports = 1;\n');
    // What was checked once is not checked with every claim.
    expect(place.registry.find(worktree.id)?.facts.packagesSeen).toBe(
      place.registry.find(worktree.id)?.changed,
    );
  });

  test('that an agent changed in place are reported when it ends', async () => {
    const { place, worktree } = await linked(installed());
    expect(await lookAtTemplates(place.home, worktree)).toEqual([]);
    const { worktree: other } = await createWorktree(place, { name: 'other', owner });
    const early = lookAtTemplates(place.home, other);
    poison(worktree);
    const late = lookAtTemplates(place.home, other);
    const told = [
      'shared files in node_modules were changed in place: worktrees in use with the same packages see that, later ones get them fresh from the checkout',
    ];
    await early;
    // An agent that ends during a check is checked afterwards.
    expect(await late).toEqual(told);
    // Who was not the first to end is told too, and may be the one who did it.
    expect(await lookAtTemplates(place.home, worktree)).toEqual(told);
    const { worktree: next } = await createWorktree(place, { name: 'next', owner });
    expect(await lookAtTemplates(place.home, next)).toEqual([]);
  });

  test('become a template when the setup command installs them in the pool', async () => {
    const root = temporaryRepository({ ...FILES, 'package-lock.json': '{}' });
    const setup = 'mkdir -p node_modules/a && echo installed > node_modules/a/index.js';
    const place = worktreePlace({ root, settings: { setup } });
    const first = (await createWorktree(place, { name: 'first', owner })).worktree;
    await releaseWorktree(place, first.id)?.settled;
    expect(readFileSync(join(template(place, root), 'a/index.js'), 'utf8')).toBe('installed\n');
  });

  test('that git would show are kept out of its sight for the agent', async () => {
    const root = installed();
    git(root, 'rm', '-q', '.gitignore');
    git(root, 'commit', '-qm', 'nothing is ignored');
    const place = worktreePlace({ root });
    await prepareDependencies(place);
    const { worktree, env } = await createWorktree(place, { name: 'fix', owner });
    const options = { cwd: worktree.path, env: { ...place.env, ...env }, encoding: 'utf8' } as const;
    expect(runSync('git', ['status', '--porcelain'], options)).toBe('');
    expect(lstatSync(join(worktree.path, 'node_modules')).isDirectory()).toBe(true);
    expect(await releaseWorktree(place, worktree.id)?.settled).toMatchObject({ became: 'pooled' });
  });
});
