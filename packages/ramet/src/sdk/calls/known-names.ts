/** Names that a user may be typing: branches and worktrees of the repository. Read at once, for a shell that waits. */
import { spawnSync } from 'node:child_process';
import { NO_TRANSPORT } from '../../git/folder-guard.ts';
import { withoutLocalVariables } from '../../git/run-git.ts';
import { WorktreeRegistry } from '../../git/worktrees/registry.ts';
import { childEnvironment } from '../../system/child-environment.ts';
import { findPlace } from '../place.ts';
import { type CallOptions, callerOf } from './caller.ts';

export interface KnownName {
  name: string;
  about: string;
}

/** Those that are there, with their branches. */
export function worktreeNames(options: CallOptions = {}): KnownName[] {
  using registry = new WorktreeRegistry(findPlace(callerOf(options)).project);
  const there = registry.list().filter(({ state }) => state === 'leased' || state === 'released');
  return there.map(({ name, branch }) => ({ name, about: branch ?? '' }));
}

/** The newest first, with the subjects of their last commits; none outside a repository. */
export function branchNames(options: CallOptions = {}): KnownName[] {
  const { cwd, env } = callerOf(options);
  const format = '--format=%(refname:short)%09%(contents:subject)';
  const args = ['for-each-ref', '--sort=-committerdate', '--count=200', format, 'refs/heads'];
  const ours = { ...withoutLocalVariables(childEnvironment(env)), ...NO_TRANSPORT };
  const words = ['-c', 'safe.bareRepository=explicit', ...args];
  const { stdout } = spawnSync('git', words, { cwd, env: ours, encoding: 'utf8' });
  return (stdout ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [name = '', about = ''] = line.split('\t');
      return { name, about };
    });
}
