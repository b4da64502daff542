/**
 * Fills a registered worktree with the files of a commit. Outside the lock: this is what takes long. Large files kept
 * elsewhere (LFS) stay pointers, so that a fan-out does not download them once an agent.
 */
import { statfsSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { RametError, UserMistake } from '../../schema/errors.ts';
import { readOrNull } from '../repository.ts';
import { runGit } from '../run-git.ts';
import { applySparsePatterns } from './sparse-checkout.ts';
import { directoriesOf } from './trusted-git.ts';
import type { ManagedWorktree } from './worktree.ts';
import { adminDirectory, type WorktreePlace } from './worktree-place.ts';

const FULL_BELOW_BYTES = 1_000_000;
/** Of a very large repository on a slow disk. */
const LONGEST_MS = 3_600_000;
const WITHOUT_LFS = ['filter.lfs.smudge=', 'filter.lfs.process=', 'filter.lfs.required=false'];

export async function checkOut(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  { signal, workers = idleCores() }: { signal?: AbortSignal | undefined; workers?: number } = {},
): Promise<void> {
  const settings = [...WITHOUT_LFS, `checkout.workers=${workers}`, ...sparseSettings(place, worktree)];
  const args = [
    ...settings.flatMap((setting) => ['-c', setting]),
    'read-tree',
    '--reset',
    '-u',
    worktree.base,
  ];
  const { code, stderr } = await runGit(args, {
    ...{ cwd: worktree.path, env: place.env, signal, timeoutMs: LONGEST_MS },
    checkout: directoriesOf(place, worktree),
  });
  if (code !== 0) throw checkOutFailed(worktree, stderr);
}

/** More than one worker is slower than one where the cores are busy. */
function idleCores(): number {
  const cores = availableParallelism();
  return Math.max(1, Math.min(8, cores - Math.round(loadavg()[0] ?? cores)));
}

/**
 * `git sparse-checkout` would switch on a setting of the whole repository. Given for this one command, the paths
 * left out are marked in the index of the worktree, and every later git there leaves them out.
 */
function sparseSettings(place: WorktreePlace, worktree: ManagedWorktree): string[] {
  const { sparse, patterns } = worktree.facts;
  const admin = adminDirectory(place, worktree);
  if (sparse.length > 0) return applySparsePatterns(admin, { text: conePatterns(sparse), isCone: true });
  return patterns === undefined ? [] : applySparsePatterns(admin, patterns);
}

/** The files of every folder on the way down, and everything below the folders named. */
export function conePatterns(paths: readonly string[]): string {
  const folders = paths.map((path) => path.replace(/^\.?\/+|\/+$/g, '')).filter((path) => path !== '');
  const parents = new Set(folders.flatMap((path) => parentsOf(path)));
  const opened = [...parents].filter((path) => !folders.includes(path));
  const lines = ['/*', '!/*/'];
  for (const path of opened.sort()) lines.push(`/${path}/`, `!/${path}/*/`);
  for (const path of folders.sort()) lines.push(`/${path}/`);
  return `${lines.join('\n')}\n`;
}

function parentsOf(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** What the new tree does not have though it looks complete. */
export function checkOutNotes({ path }: ManagedWorktree): string[] {
  const notes: string[] = [];
  if (readOrNull(join(path, '.gitmodules')) !== null)
    notes.push('submodules are empty here: run `git submodule update --init` where they are needed');
  if (/\bfilter=lfs\b/.test(readOrNull(join(path, '.gitattributes')) ?? ''))
    notes.push('large files (LFS) are pointers here: run `git lfs pull` where they are needed');
  return notes;
}

function checkOutFailed({ path, base }: ManagedWorktree, stderr: string): RametError {
  const reason = stderr.trim().split('\n', 1)[0] ?? '';
  if (/No space left|Disk quota/i.test(stderr) || isDiskFull(path)) {
    return new UserMistake(
      'disk_full',
      `no room for a worktree in ${path}: free some, or set worktree.directory`,
    );
  }
  return new RametError(
    'checkout_failed',
    'terminal',
    `cannot check out ${base.slice(0, 12)} in ${path}: ${reason}`,
  );
}

/** Git does not always say why it cannot write. */
function isDiskFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize < FULL_BELOW_BYTES;
  } catch {
    return false;
  }
}
