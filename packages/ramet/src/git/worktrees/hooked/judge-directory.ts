/**
 * Whether a directory that a hook made can be an agent's worktree: one of this repository, new, and nobody else's. Git says so, not the
 * path: what is a copy, a clone or a link looks like one.
 */
import { existsSync, lstatSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { UserMistake } from '../../../schema/errors.ts';
import { isInside, realPath } from '../../../system/landing-path.ts';
import { readPointer } from '../../repository.ts';
import { gitText, isCommitId, runGit } from '../../run-git.ts';
import { OPERATIONS } from '../changes/verdict.ts';
import { isTorn } from '../half-made.ts';
import { isLockOurs } from '../register-worktree.ts';
import type { ManagedWorktree } from '../worktree.ts';
import type { WorktreePlace } from '../worktree-place.ts';

/** What was there before the hook ran. */
export interface KnownBefore {
  /** Registrations of worktrees whose directories are there. */
  readonly admins: readonly string[];
  readonly branches: ReadonlySet<string>;
}

export interface FoundDirectory {
  path: string;
  admin: string;
  head: string;
  /** The branch that it is on; null for none. */
  branch: string | null;
  isNewBranch: boolean;
}

const HEADS = 'refs/heads/';

export async function knownBefore(place: WorktreePlace): Promise<KnownBefore> {
  const call = callIn(place);
  const heads = await gitText(['for-each-ref', '--format=%(refname)', HEADS], call);
  const registered = await registeredWorktrees(place);
  return {
    admins: registered.flatMap(({ admin }) => admin ?? []),
    branches: new Set(heads.split('\n').map((ref) => ref.slice(HEADS.length))),
  };
}

export interface RegisteredWorktree {
  path: string;
  /** Null for the main one. */
  admin: string | null;
}

/** Those that git lists and whose directories are there, the main one among them. */
export async function registeredWorktrees(place: WorktreePlace): Promise<RegisteredWorktree[]> {
  const list = await gitText(['worktree', 'list', '--porcelain', '-z'], callIn(place));
  const paths = list.split('\0').flatMap((line) => /^worktree (.+)$/s.exec(line)?.[1] ?? []);
  return paths.filter((path) => existsSync(path)).map((path) => ({ path, admin: adminOf(place, path) }));
}

function adminOf({ repository }: WorktreePlace, path: string): string | null {
  const target = /^gitdir: (.+)$/m.exec(readPointer(join(path, '.git')) ?? '')?.[1];
  if (target === undefined) return null;
  const admin = resolve(path, target.trimEnd());
  return realPath(dirname(admin)) === join(repository.commonDirectory, 'worktrees') ? basename(admin) : null;
}

/** Throws with what is wrong with it and what to do. `own` is the worktree that it is to take the place of. */
export async function judgeDirectory(
  place: WorktreePlace,
  given: string,
  { before, own }: { before: KnownBefore; own: ManagedWorktree },
): Promise<FoundDirectory> {
  const path = plainDirectory(given);
  const found = await askGit(place, given, path);
  const others = (await registeredWorktrees(place)).filter((other) => realPath(other.path) !== path);
  refuseTaken(place, given, { found, before, own });
  await refusePlace(place, given, { path, others, own });
  const admin = join(place.repository.commonDirectory, 'worktrees', found.admin);
  const operation = OPERATIONS.find((name) => existsSync(join(admin, name)));
  if (operation !== undefined)
    throw refused(given, `where git is in the middle of something (${operation})`, 'let it end that first');
  if (isTorn(admin)) throw refused(given, 'where no files are checked out', 'leave out --no-checkout');
  const isNewBranch = found.branch !== null && !before.branches.has(found.branch);
  return { ...found, isNewBranch };
}

/** Its real path. */
function plainDirectory(given: string): string {
  const stats = lstatSync(given, { throwIfNoEntry: false });
  if (stats === undefined)
    throw refused(given, 'where nothing is', 'print the path of the worktree as the last line, or nothing');
  if (stats.isSymbolicLink()) throw refused(given, 'which is a link', 'print the path that it leads to');
  if (!stats.isDirectory()) throw refused(given, 'which is no directory', WORKTREE);
  return realPath(given);
}

const WORKTREE = 'make it with `git worktree add`';

async function askGit(
  place: WorktreePlace,
  given: string,
  path: string,
): Promise<Omit<FoundDirectory, 'isNewBranch'>> {
  const { commonDirectory } = place.repository;
  // A folder of one is worth a word of its own.
  const call = { cwd: path, env: place.env, looksUp: true };
  const ask = ['rev-parse', '--path-format=absolute', '--show-toplevel', '--git-dir', '--git-common-dir'];
  const { code, stdout } = await runGit(ask, call);
  const [top = '', directory = '', common = ''] = stdout.split('\n');
  if (code !== 0) throw refused(given, 'which is no git worktree', WORKTREE);
  if (realPath(common) !== realPath(commonDirectory))
    throw refused(given, `which is a checkout of another repository (${common})`, WORKTREE);
  if (realPath(directory) === realPath(commonDirectory))
    throw refused(given, 'which is the main checkout itself', WORKTREE);
  if (realPath(top) !== path) throw refused(given, `which is a folder in ${top}`, `print ${top}`);
  const leadsTo = readPointer(join(directory, 'gitdir'))?.trimEnd() ?? '';
  if (realPath(resolve(directory, leadsTo)) !== join(path, '.git'))
    throw refused(given, `which is a copy of the worktree ${dirname(leadsTo)}`, WORKTREE);
  const head = (await runGit(['rev-parse', '--verify', '--quiet', 'HEAD'], call)).stdout.trim();
  if (!isCommitId(head))
    throw refused(given, 'whose branch has no commit', 'begin it at a commit of the repository');
  const ref = await runGit(['symbolic-ref', '--quiet', 'HEAD'], call);
  const name = ref.stdout.trim();
  if (ref.code === 0 && !name.startsWith(HEADS))
    throw refused(given, `whose HEAD is ${name}`, 'put it on a branch, or detach it');
  const branch = ref.code === 0 ? name.slice(HEADS.length) : null;
  return { path, admin: basename(directory), head, branch };
}

/** It is to be of this hook and of this time alone. */
function refuseTaken(
  place: WorktreePlace,
  given: string,
  {
    found,
    before,
    own,
  }: { found: { path: string; admin: string }; before: KnownBefore; own: ManagedWorktree },
): void {
  const holder = holderOf(place, found, own);
  if (holder !== null) throw refused(given, `which ${holder} has`, 'make one for each agent');
  if (before.admins.includes(found.admin))
    throw refused(given, 'which was there before the hook ran', 'make a new one for each agent');
  if (isLockOurs(place, found) === true)
    throw refused(given, 'which another Ramet has', 'make one for each agent');
}

/** Who has it by the registry, in words; null for nobody. */
export function holderOf(
  { registry }: WorktreePlace,
  { path, admin }: Pick<ManagedWorktree, 'path' | 'admin'>,
  own: Pick<ManagedWorktree, 'id'>,
): string | null {
  const row = registry
    .list()
    .find(
      ({ id, state, ...other }) =>
        id !== own.id && state !== 'gone' && (other.path === path || other.admin === admin),
    );
  if (row === undefined) return null;
  return row.owner === null ? `the worktree ${row.name}` : `agent ${row.owner.agent}`;
}

/** Where others may write, or where Ramet keeps its own, no agent is alone. */
async function refusePlace(
  place: WorktreePlace,
  given: string,
  { path, others, own }: { path: string; others: readonly RegisteredWorktree[]; own: ManagedWorktree },
): Promise<void> {
  const { repository, home } = place;
  const beside = 'make it beside the checkout';
  const kept = [home, repository.commonDirectory, own.path].map((each) => realPath(each));
  const around = kept.find((directory) => isInside(path, directory));
  if (around !== undefined)
    throw refused(given, `which is inside ${around}, where only Ramet writes`, beside);
  const roots = [...others.map((other) => other.path), repository.root].map((each) => realPath(each));
  const inner = [...kept, ...roots].find((directory) => isInside(directory, path));
  if (inner !== undefined) throw refused(given, `which contains ${inner}`, beside);
  for (const { path: other, admin } of others) {
    if (!isInside(path, realPath(other))) continue;
    if (admin !== null) throw refused(given, `which is inside the worktree ${other}`, beside);
    const { code } = await runGit(['check-ignore', '--quiet', path], { cwd: other, env: place.env });
    if (code !== 0)
      throw refused(given, `which is inside ${other} and not ignored there`, `${beside}, or ignore it`);
  }
}

function refused(given: string, which: string, advice: string): UserMistake {
  return new UserMistake('hook_directory', `it gave ${given}, ${which}: ${advice}`);
}

function callIn({ repository, env }: WorktreePlace): { cwd: string; env: WorktreePlace['env'] } {
  return { cwd: repository.root, env };
}
