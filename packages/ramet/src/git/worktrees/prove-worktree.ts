/**
 * The proof that an agent is where it should be (WORK-7), asked the way agents ask: bash, started in the directory.
 * What it says is compared with what was asked for; anything else is a failure, never a warning.
 */
import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describeError, RametError } from '../../schema/errors.ts';
import { existingPath } from '../../system/landing-path.ts';
import { runElsewhere } from '../../system/processes/starter.ts';
import { keepsRefsInFiles } from '../create-branch.ts';
import { LOCAL_VARIABLES } from '../git-environment.ts';
import { readHead } from '../read-refs.ts';
import { type Repository, readOrNull, readPointer } from '../repository.ts';
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
const MOST_BYTES = 1 << 20;
const execute = promisify(execFile);

/** Throws when the shell is elsewhere, or does not say. `isFresh`: nobody has worked in it, so HEAD is known too. */
export async function proveWorktree(
  { commonDirectory }: Pick<Repository, 'commonDirectory'>,
  worktree: ManagedWorktree,
  env: Readonly<Record<string, string>>,
  isFresh = true,
): Promise<WorktreeProof> {
  const options = { cwd: worktree.path, env: { ...env, PWD: worktree.path }, timeout: PROOF_TIMEOUT_MS };
  const stdout = await shellOutput(options).catch((error: unknown) => {
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

async function shellOutput(options: {
  cwd: string;
  env: Record<string, string>;
  timeout: number;
}): Promise<string> {
  const { cwd, env, timeout } = options;
  // Where its input is a socket, bash takes itself for a remote shell and reads ~/.bashrc, which may be slow or print.
  const order = { program: 'bash', args: ['--norc', '-c', PROOF_COMMAND], cwd, env };
  const elsewhere = await runElsewhere(
    { ...order, detached: false, mostBytes: MOST_BYTES },
    AbortSignal.timeout(timeout),
  );
  if (elsewhere === null) return (await execute(order.program, order.args, options)).stdout;
  const { end, stdout, stderr } = elsewhere;
  if (end !== 0) throw new Error(`bash ended with ${end}: ${stderr.toString('utf8').trim()}`);
  return stdout.toString('utf8');
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

/**
 * The proof for a tree of the pool (WORK-7), without a process. Bash has said where it is when the tree was taken in;
 * since then it got another path and a branch, which are what git reads: the `.git` file, the registration, HEAD.
 *
 * Null when files do not tell, or tell something else: ask the shell then, and let it say what is wrong.
 */
export function proveByFiles(
  repository: Repository,
  { path, admin, branch, base }: Pick<ManagedWorktree, 'path' | 'admin' | 'branch' | 'base'>,
  env: Readonly<Record<string, string>>,
): WorktreeProof | null {
  const { commonDirectory } = repository;
  if (Object.entries(env).some(misleads) || !keepsRefsInFiles(repository) || configures(commonDirectory)) {
    return null;
  }
  const registration = join(commonDirectory, 'worktrees', admin);
  const read = (file: string): string | undefined => readPointer(file)?.trimEnd();
  const shared = read(join(registration, 'commondir'));
  const isPlace =
    existingPath(path) === path &&
    read(join(path, '.git')) === `gitdir: ${registration}` &&
    read(join(registration, 'gitdir')) === join(path, '.git') &&
    shared !== undefined &&
    resolve(registration, shared) === commonDirectory;
  const head = isPlace ? readHead(registration, commonDirectory) : null;
  const ref = branch === null ? null : `refs/heads/${branch}`;
  if (head === null || head.commit !== base || head.ref !== ref) return null;
  return { topLevel: path, commonDirectory, head: base, ref: ref ?? 'HEAD' };
}

/** What makes a shell, or git in it, look elsewhere. */
function misleads([name, value]: [string, string]): boolean {
  if (
    LOCAL_VARIABLES.test(name) ||
    /^(BASH_ENV|BASH_FUNC_.*|GIT_EXEC_PATH|GIT_CEILING_DIRECTORIES)$/.test(name)
  )
    return true;
  return name.startsWith('GIT_CONFIG_KEY_') && /^(core\.worktree|include.*\.path)$/i.test(value);
}

/** Settings that may say where a worktree is. */
function configures(commonDirectory: string): boolean {
  const config = readOrNull(join(commonDirectory, 'config')) ?? '';
  return /^\s*(worktree|worktreeconfig)\s*=|^\s*\[\s*include/im.test(config);
}
