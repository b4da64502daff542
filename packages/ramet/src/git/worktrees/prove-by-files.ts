/**
 * The proof for a tree of the pool (WORK-7), without a process. Bash has said where it is when the tree was taken in;
 * since then it got another path and a branch, which are what git reads: the `.git` file, the registration, HEAD.
 */
import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { keepsRefsInFiles } from '../create-branch.ts';
import { readHead } from '../read-refs.ts';
import { type Repository, readOrNull } from '../repository.ts';
import { LOCAL_VARIABLES } from '../start-git.ts';
import type { WorktreeProof } from './prove-worktree.ts';
import type { ManagedWorktree } from './worktree.ts';

/** Null when files do not tell, or tell something else: ask the shell then, and let it say what is wrong. */
export function proveByFiles(
  repository: Repository,
  { path, admin, branch, base }: ManagedWorktree,
  env: Readonly<Record<string, string>>,
): WorktreeProof | null {
  const { commonDirectory } = repository;
  if (Object.entries(env).some(misleads) || !keepsRefsInFiles(repository) || configures(commonDirectory)) {
    return null;
  }
  const registration = join(commonDirectory, 'worktrees', admin);
  const read = (file: string): string | undefined => readOrNull(file)?.trimEnd();
  const shared = read(join(registration, 'commondir'));
  const isPlace =
    realOrNull(path) === path &&
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

function realOrNull(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}
