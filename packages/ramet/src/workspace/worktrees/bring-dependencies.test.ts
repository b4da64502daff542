import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryRepository, writeFiles } from '../../../test/fixtures/temporary.ts';
import { checkoutBytes, FILES, git, OWNER, worktreePlace } from '../../../test/fixtures/worktrees.ts';
import { prepareDependencies } from './bring-dependencies.ts';
import { createWorktree } from './create-worktree.ts';
import { templateName, templateTree } from './dependency-template.ts';
import { releaseWorktree } from './release-worktree.ts';
import { removeWorktree } from './remove-worktree.ts';
import type { ManagedWorktree } from './worktree.ts';
import type { WorktreePlace } from './worktree-place.ts';

const owner = OWNER;

/** A checkout with packages installed: files, a link to a package of the repository itself, notes at the top. */
function installed(): string {
  const root = temporaryRepository({
    ...FILES,
    'package-lock.json': '{"a": 1}',
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

function template({ home }: WorktreePlace, root: string): string {
  return templateTree(home, templateName(root, 'node_modules') ?? '');
}

async function linked(root: string): Promise<{ place: WorktreePlace; worktree: ManagedWorktree }> {
  const place = worktreePlace({ root });
  expect(await prepareDependencies(place)).toEqual([]);
  const { worktree } = await createWorktree(place, { name: 'fix', owner });
  return { place, worktree };
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

  test('are those of the lock file at the commit, and none when there is no template of it', async () => {
    const root = installed();
    const { place } = await linked(root);
    writeFiles(root, { 'package-lock.json': '{"a": 2}' });
    git(root, 'commit', '-qam', 'other packages');
    const { worktree } = await createWorktree(place, { name: 'other', owner });
    expect(existsSync(join(worktree.path, 'node_modules'))).toBe(false);
    expect(worktree.facts.dependencies).toEqual([]);
  });

  test('are no template when a link leads into the checkout', async () => {
    const root = installed();
    symlinkSync(join(root, 'packages/own'), join(root, 'node_modules/absolute'));
    const place = worktreePlace({ root });
    expect(await prepareDependencies(place)).toEqual([
      `no template of node_modules: absolute leads into ${root}`,
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

  test('are made anew when a file of the template was changed in place', async () => {
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
    expect(execFileSync('git', ['status', '--porcelain'], options)).toBe('');
    expect(lstatSync(join(worktree.path, 'node_modules')).isDirectory()).toBe(true);
    expect(await releaseWorktree(place, worktree.id)?.settled).toMatchObject({ became: 'pooled' });
  });
});
