/**
 * What of a worktree's files is work: everything but what its commit has and what can be made again. One `git status`
 * and a look into ignored folders; what cannot be read counts as work.
 */
import { lstatSync, opendirSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describeError } from '../../../schema/errors.ts';
import { parseGlob } from '../../../system/glob-pattern.ts';
import { gitText } from '../../run-git.ts';
import { fileDigest } from '../dependencies/bring-files.ts';
import { trustedGit } from '../trusted-git.ts';
import type { ManagedWorktree, VerdictKind, VerdictReason } from '../worktree.ts';
import { excludeSettings } from '../worktree-environment.ts';
import { adminDirectory, type WorktreePlace } from '../worktree-place.ts';
import { DEFAULT_PRECIOUS } from '../worktree-settings.ts';
import { checkoutTrees } from './dirty-work.ts';

const CARRIED: ReadonlySet<VerdictKind> = new Set<VerdictKind>(['staged', 'changed', 'untracked']);

const STATUS = [
  'status',
  '--porcelain=v2',
  '-z',
  '--untracked-files=normal',
  '--ignored=matching',
  '--ignore-submodules=none',
  '--no-renames',
];

/** Ignored folders that a build or an installation makes again; nobody looks for work in them. */
const MADE_AGAIN: ReadonlySet<string> = new Set(
  'node_modules .venv venv __pycache__ .mypy_cache .pytest_cache .ruff_cache .tox .nox target .gradle .next .nuxt .turbo .cache .parcel-cache .vite coverage .nyc_output bower_components'.split(
    ' ',
  ),
);
/** A folder with more than this is not searched: it stays, and a person decides. */
const MOST_ENTRIES = 20_000;

/** Paths relative to the worktree, by why they are work. */
export interface HeldPaths {
  staged: string[];
  changed: string[];
  untracked: string[];
  hidden: string[];
  precious: string[];
  /** The `.git` of repositories in ignored folders. */
  nested: string[];
  /** Ignored folders with too much in them. */
  unsearched: string[];
  /** Folders of submodules that were never filled and have files nevertheless: git does not look into them. */
  submodules: string[];
}

async function heldFiles(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  signal?: AbortSignal,
): Promise<VerdictReason[]> {
  try {
    const held = await heldPaths(place, worktree, signal);
    return [
      ...told('staged', 'staged and not committed', held.staged),
      ...told('changed', 'changed and not committed', held.changed),
      ...told('untracked', 'not known to git', held.untracked),
      ...told('hidden', 'hidden from git by assume-unchanged or skip-worktree', held.hidden),
      ...told('precious', 'ignored by git, and may be the only copy', held.precious),
      ...told('nested', 'repositories in ignored folders', held.nested),
      ...told('unknown', 'ignored folders too large to search', held.unsearched),
      ...told('nested', 'files where a submodule belongs, which git does not see', held.submodules),
    ];
  } catch (error) {
    return [{ kind: 'unknown', text: `its files could not be read: ${describeError(error)}` }];
  }
}

/** Throws when the files cannot be read. */
export async function heldPaths(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  signal?: AbortSignal,
): Promise<HeldPaths> {
  const settings = excludeSettings(place, worktree).flatMap((setting) => ['-c', setting]);
  const call = { ...(await trustedGit(place, worktree)), signal };
  const [status, marks] = await Promise.all([
    gitText([...settings, ...STATUS], call),
    gitText(['ls-files', '-v', '--stage', '-z'], call),
  ]);
  const entries = status.split('\0').filter((entry) => entry !== '');
  return {
    ...changedFiles(entries),
    hidden: hiddenFiles(worktree, marks),
    submodules: filledByHand(worktree, marks),
    ...ignoredWork(place, worktree, entries),
  };
}

function changedFiles(entries: readonly string[]): Pick<HeldPaths, 'staged' | 'changed' | 'untracked'> {
  const found: Pick<HeldPaths, 'staged' | 'changed' | 'untracked'> = {
    staged: [],
    changed: [],
    untracked: [],
  };
  for (const entry of entries) {
    const [kind, states = '..'] = entry.split(' ', 2);
    const path = entry
      .split(' ')
      .slice(kind === 'u' ? 10 : 8)
      .join(' ');
    if (kind === '?') found.untracked.push(entry.slice(2));
    else if (kind === 'u') found.changed.push(path);
    else if (kind === '1' && states[0] !== '.') found.staged.push(path);
    if (kind === '1' && states[1] !== '.') found.changed.push(path);
  }
  return found;
}

function told(kind: VerdictReason['kind'], what: string, paths: readonly string[]): VerdictReason[] {
  if (paths.length === 0) return [];
  const names = paths.slice(0, 3).join(', ');
  const more = paths.length > 3 ? ` and ${paths.length - 3} more` : '';
  return [{ kind, text: `${what}: ${names}${more}`, count: paths.length }];
}

/** An entry of the index: its mark, mode, object, stage and path. */
const HIDDEN = /(?<=^|\0)([a-zS]) [^\t\0]*\t([^\0]+)/g;
const SUBMODULE = /(?<=^|\0). 160000 [^\t\0]*\t([^\0]+)/g;

/** Files that git was told not to look at: their changes are in no status. */
function hiddenFiles({ path }: ManagedWorktree, marks: string): string[] {
  return Array.from(marks.matchAll(HIDDEN), ([, mark = '', name = '']) => ({ mark, name }))
    .filter(({ mark, name }) => !/s/i.test(mark) || lstatSync(join(path, name), { throwIfNoEntry: false }))
    .map(({ name }) => name);
}

/** A submodule that was filled has a repository, which git asks. */
function filledByHand({ path }: ManagedWorktree, marks: string): string[] {
  const folders = Array.from(marks.matchAll(SUBMODULE), ([, name = '']) => name);
  return folders.filter((folder) => {
    const stats = lstatSync(join(path, folder), { throwIfNoEntry: false });
    if (stats?.isDirectory() !== true) return false;
    const names = readdirSync(join(path, folder));
    return names.length > 0 && !names.includes('.git');
  });
}

function ignoredWork(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  entries: readonly string[],
): Pick<HeldPaths, 'precious' | 'nested' | 'unsearched'> {
  const isPrecious = preciousMatcher(place.settings.precious ?? DEFAULT_PRECIOUS);
  const ignored = entries.filter((entry) => entry.startsWith('! ')).map((entry) => entry.slice(2));
  const precious: string[] = [];
  const nested: string[] = [];
  const unsearched: string[] = [];
  for (const path of ignored) {
    if (!path.endsWith('/')) {
      if (isWork(worktree, path, isPrecious)) precious.push(path);
      continue;
    }
    const folder = path.slice(0, -1);
    if (isOurs(worktree, folder) || MADE_AGAIN.has(basename(folder))) continue;
    const found = searchFolder(worktree.path, folder);
    if (found === null) unsearched.push(folder);
    for (const inner of found ?? []) {
      if (basename(inner) === '.git') nested.push(inner);
      else if (isWork(worktree, inner, isPrecious)) precious.push(inner);
    }
  }
  return { precious, nested, unsearched };
}

function isOurs({ facts }: ManagedWorktree, folder: string): boolean {
  return facts.links.includes(folder) || facts.dependencies.some(({ directory }) => directory === folder);
}

/** A copy of ours counts when it is not what was copied any more. */
function isWork(worktree: ManagedWorktree, path: string, isPrecious: (path: string) => boolean): boolean {
  if (worktree.facts.links.includes(path)) return false;
  const copied = worktree.facts.copied[path];
  return copied === undefined ? isPrecious(path) : fileDigest(join(worktree.path, path)) !== copied;
}

function preciousMatcher(patterns: readonly string[]): (path: string) => boolean {
  const globs = patterns.map(parseGlob).filter((glob) => glob.ok);
  return (path) => globs.some((glob) => glob.matches(path) || glob.matches(basename(path)));
}

/** Files and repositories below a folder, links not followed; null when there are too many. */
function searchFolder(root: string, folder: string): string[] | null {
  const found: string[] = [];
  const folders = [folder];
  for (let count = 0, next = folders.pop(); next !== undefined; next = folders.pop()) {
    using directory = opendirSync(join(root, next));
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      if (++count > MOST_ENTRIES) return null;
      const path = join(next, entry.name);
      if (entry.name === '.git' || !entry.isDirectory()) found.push(path);
      else if (!MADE_AGAIN.has(entry.name)) folders.push(path);
    }
  }
  return found;
}

/**
 * Files of a worktree that are work of its agent: what `held-files.ts` finds, less what was carried over from the
 * asking checkout and looks as it did then. That is the person's, and they have it.
 *
 * One that is called off says nothing of use.
 */
export async function heldWork(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  signal?: AbortSignal,
): Promise<VerdictReason[]> {
  if (worktree.facts.throwaway === true) return [];
  const reasons = await heldFiles(place, worktree, signal);
  const { carried } = worktree.facts;
  if (carried === undefined || !reasons.some(({ kind }) => CARRIED.has(kind))) return reasons;
  try {
    const trees = await checkoutTrees(await trustedGit(place, worktree), {
      scratch: adminDirectory(place, worktree),
      settings: excludeSettings(place, worktree),
    });
    const isUntouched = trees.files === carried.files && trees.staged === carried.staged;
    return isUntouched ? reasons.filter(({ kind }) => !CARRIED.has(kind)) : reasons;
  } catch (error) {
    return [...reasons, { kind: 'unknown', text: `its files could not be read: ${describeError(error)}` }];
  }
}
