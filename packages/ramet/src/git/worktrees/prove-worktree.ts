/**
 * The proof that an agent is where it should be (WORK-7), asked the way agents ask: bash, started in the directory.
 * What it says is compared with what was asked for; anything else is a failure, never a warning.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describeError, RametError } from '../../schema/errors.ts';
import type { Repository } from '../repository.ts';
import type { ManagedWorktree } from './worktree.ts';

/** Run in the agent's own shell, in its own directory. */
export const PROOF_COMMAND =
  'git rev-parse --path-format=absolute --show-toplevel --git-common-dir HEAD --symbolic-full-name HEAD';

export interface WorktreeProof {
  topLevel: string;
  commonDirectory: string;
  head: string;
  /** `refs/heads/ramet/name`, or `HEAD` when detached. */
  ref: string;
}

const PROOF_TIMEOUT_MS = 30_000;
const execute = promisify(execFile);

/** Throws when the shell is elsewhere, or does not say. `isFresh`: nobody has worked in it, so HEAD is known too. */
export async function proveWorktree(
  { commonDirectory }: Pick<Repository, 'commonDirectory'>,
  worktree: ManagedWorktree,
  env: Readonly<Record<string, string>>,
  isFresh = true,
): Promise<WorktreeProof> {
  const options = { cwd: worktree.path, env: { ...env, PWD: worktree.path }, timeout: PROOF_TIMEOUT_MS };
  const { stdout } = await execute('bash', ['-c', PROOF_COMMAND], options).catch((error: unknown) => {
    throw notProved(worktree, describeError(error));
  });
  const found = stdout.trimEnd().split('\n');
  const place = [worktree.path, commonDirectory];
  const wanted = isFresh ? [...place, worktree.base, refOf(worktree)] : place;
  const wrong = wanted.findIndex((text, index) => found[index] !== text);
  if (wrong !== -1) {
    throw notProved(
      worktree,
      `it is at ${found[wrong] || 'no place it could name'} instead of ${wanted[wrong]}`,
    );
  }
  const [topLevel = '', common = '', head = '', ref = ''] = found;
  return { topLevel, commonDirectory: common, head, ref };
}

function refOf({ branch }: ManagedWorktree): string {
  return branch === null ? 'HEAD' : `refs/heads/${branch}`;
}

function notProved({ path }: ManagedWorktree, reason: string): RametError {
  return new RametError(
    'isolation_not_proved',
    'terminal',
    `a shell in ${path} is not where it should be: ${reason}; check GIT_ variables and the git configuration`,
  );
}
