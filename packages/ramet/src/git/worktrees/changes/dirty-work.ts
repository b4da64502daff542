/**
 * Uncommitted work of the asking checkout: which files, and bringing them along. The checkout is only read: what
 * it holds becomes a tree through a copy of its index.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { RametError } from '../../../schema/errors.ts';
import type { GitPlace } from '../../git-environment.ts';
import { gitDirectoryOf } from '../../read-refs.ts';
import { type GitCall, gitText, runGit } from '../../run-git.ts';
import { findBase } from '../find-base.ts';
import { copyIndex, withScratch } from '../scratch-index.ts';
import { directoriesOf } from '../trusted-git.ts';
import type { ManagedWorktree } from '../worktree.ts';
import { adminDirectory, type WorktreePlace } from '../worktree-place.ts';
import type { DirtyPolicy } from '../worktree-settings.ts';
import { addAll } from './add-all.ts';

export interface DirtyFile {
  path: string;
  /** As in `git status`: `M ` staged, ` M` changed, `??` not known to git. */
  kind: string;
}

/** Null files: git could not tell, with its reason. */
export type DirtyReport =
  | { policy: DirtyPolicy; files: DirtyFile[] }
  | { policy: DirtyPolicy; files: null; reason: string };

/** What is uncommitted in the asking checkout. Never throws. */
export async function dirtyReport(
  { repository, env }: WorktreePlace,
  policy: DirtyPolicy,
): Promise<DirtyReport> {
  if (repository.root === repository.commonDirectory) return { policy, files: [] };
  try {
    const text = await gitText(STATUS, { cwd: repository.root, env });
    return { policy, files: statusFiles(text) };
  } catch (error) {
    return { policy, files: null, reason: String(error instanceof Error ? error.message : error) };
  }
}

const STATUS = [
  'status',
  '--porcelain=v1',
  '-z',
  '--untracked-files=all',
  '--ignore-submodules=dirty',
  '--no-renames',
];

function statusFiles(text: string): DirtyFile[] {
  const entries = text.split('\0').filter((entry) => entry !== '');
  return entries.map((entry) => ({ kind: entry.slice(0, 2), path: entry.slice(3) }));
}

/** The states of a checkout as trees: what is staged, and what is in its files. */
export interface CheckoutTrees {
  /** Null while a merge with conflicts is under way: such an index is no tree. */
  staged: string | null;
  files: string;
  /** Repositories inside that are in neither, by folder. */
  leftOut: readonly string[];
}

/** Files that git would leave out of a tree, and are wanted in it. */
export interface AlsoKept {
  /** Those that git ignores. */
  ignored: readonly string[];
  /** Those that git was told not to look at. */
  hidden: readonly string[];
}

export interface CheckoutReading {
  /** Where a copy of the index may lie for the moment. */
  scratch: string;
  /** For git, such as `core.excludesFile=...`. */
  settings?: readonly string[];
  also?: AlsoKept | undefined;
}

/** Reads through a copy of the index, whose knowledge of unchanged files makes it quick. */
export async function checkoutTrees(
  { cwd, env, checkout }: GitPlace,
  { scratch, settings = [], also }: CheckoutReading,
): Promise<CheckoutTrees> {
  return withScratch(scratch, async (index) => {
    const own = join(checkout?.gitDirectory ?? gitDirectoryOf(cwd) ?? cwd, 'index');
    const identity = identityOf(own);
    await copyIndex(own, index);
    const call = { cwd, env, index, checkout };
    const staged = await stagedTree(own, identity, call);
    const hidden = listed(also?.hidden);
    // Each mark is removed by its own run: with both, git obeys only the last.
    for (const mark of hidden === '' ? [] : ['--no-assume-unchanged', '--no-skip-worktree'])
      await gitText(['update-index', mark, '-z', '--stdin'], { ...call, input: hidden });
    const leftOut = await addAll(call, { settings, sparse: hidden !== '' });
    const ignored = listed(also?.ignored);
    if (ignored !== '') await gitText(FORCED_ADD, { ...call, input: ignored });
    const files = await gitText(['write-tree'], call);
    return { staged, files, leftOut };
  });
}

/** What was staged in an index, as long as it is the same file. Of the process. */
const stagedIn = new Map<string, { identity: string; tree: string }>();
const MOST_INDEXES = 1_000;

/** Null for an index that is no tree. */
async function stagedTree(own: string, identity: string | null, call: GitCall): Promise<string | null> {
  const known = stagedIn.get(own);
  if (identity !== null && known?.identity === identity) return known.tree;
  const { code, stdout } = await runGit(['write-tree'], call);
  if (code !== 0) return null;
  const tree = stdout.trim();
  if (stagedIn.size >= MOST_INDEXES) stagedIn.clear();
  // The copy is of this very file.
  if (identity !== null && identityOf(own) === identity) stagedIn.set(own, { identity, tree });
  return tree;
}

/** Git replaces the file of an index, and nobody can set the time of a change. Null where two changes could have one time. */
function identityOf(file: string): string | null {
  const stats = statSync(file, { throwIfNoEntry: false, bigint: true });
  if (stats === undefined) return null;
  const isSettled = BigInt(Date.now()) * 1_000_000n - stats.ctimeNs > SETTLED_NS;
  return isSettled ? `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}` : null;
}

/** File systems note times by the tick of a clock. */
const SETTLED_NS = 50_000_000n;

const FORCED_ADD = [
  ...['--literal-pathspecs', 'add', '--force', '--sparse'],
  ...['--pathspec-from-file=-', '--pathspec-file-nul'],
];

function listed(paths: readonly string[] = []): string {
  return paths.map((path) => `${path}\0`).join('');
}

/** Brings everything uncommitted over, staged as staged; the worktree must be fresh, and at the checkout's commit. */
export async function carryDirtyWork(
  place: WorktreePlace,
  worktree: ManagedWorktree,
): Promise<CheckoutTrees> {
  const { repository, env } = place;
  const trees = await checkoutTrees(
    { cwd: repository.root, env },
    { scratch: adminDirectory(place, worktree) },
  );
  const call = { cwd: worktree.path, env, checkout: directoriesOf(place, worktree) };
  await gitText(['read-tree', '-m', '-u', worktree.base, trees.files], call);
  if (trees.staged === null) {
    throw new RametError(
      'carry_conflict',
      'mistake',
      `${repository.root} has unresolved conflicts: resolve them first`,
    );
  }
  await gitText(['read-tree', '-m', trees.staged], call);
  await runGit(['update-index', '-q', '--refresh'], call);
  return trees;
}

/** Whether the checkout is what the worktree was made from: commit, branch, what is staged, and every file that git looks at. */
export async function isCheckoutAsCarried(
  place: WorktreePlace,
  { base, facts: { target, carried } }: ManagedWorktree,
): Promise<boolean> {
  const { repository, env, project } = place;
  const now = await findBase(place, undefined);
  if (now.commit !== base || now.target !== target) return false;
  const { staged, files } = await checkoutTrees({ cwd: repository.root, env }, { scratch: project });
  return staged === carried?.staged && files === carried.files;
}
