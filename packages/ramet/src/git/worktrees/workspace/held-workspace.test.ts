import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory, temporaryRepository } from '../../../../test/fixtures/temporary.ts';
import { git, gitVariables } from '../../../../test/fixtures/worktrees.ts';
import { worktreeWorkspaces } from './worktree-workspaces.ts';

test('WORK-3: a worktree that is given back keeps its work, and no lock of a git that was killed there', async () => {
  const cwd = temporaryRepository({ a: '1\n' });
  const home = join(temporaryDirectory(), 'home');
  const workspaces = worktreeWorkspaces({ home, cwd, env: gitVariables(), settings: {}, now: Date.now });
  onTestFinished(() => workspaces[Symbol.asyncDispose]());
  const owner = { session: 's', agent: 's.2' };
  const { worktree, release } = await workspaces.create({ name: 'work', owner, cwd });
  writeFileSync(join(worktree.path, 'new.txt'), 'new\n');
  const lock = git(worktree.path, 'rev-parse', '--path-format=absolute', '--git-path', 'index.lock').trim();
  writeFileSync(lock, 'half');
  expect(await release()).toMatchObject({ kept: true });
  expect(existsSync(lock)).toBe(false);
  expect(existsSync(join(worktree.path, 'new.txt'))).toBe(true);
});
