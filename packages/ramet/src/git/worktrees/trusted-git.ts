/**
 * Git in the files of an agent. Its `.git` and its registration can be written by the agent, also in a sandbox: a `.git` that leads to
 * the user's repository, an index or a log that is a link, a HEAD that is a FIFO. So git is told which directories to use, what
 * could lead it elsewhere is put right first, and the report of the agent says so.
 *
 * Invariants
 * 1. Nothing that an agent wrote decides which repository our git reads or writes.
 * 2. What is put right is remembered until someone has said it.
 * 3. A repository that was put in the place of `.git` is moved away, not deleted.
 */
import {
  chmodSync,
  type Dirent,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { describeError, systemCode, UserMistake } from '../../schema/errors.ts';
import { makePrivateDirectory } from '../../system/home.ts';
import { realPath } from '../../system/landing-path.ts';
import { replaceWhole } from '../../system/replace-whole.ts';
import { keepsRefsInFiles } from '../create-branch.ts';
import type { CheckoutDirectories } from '../git-environment.ts';
import { isPointer, linkedDirectory, readPointer } from '../repository.ts';
import { type GitCall, gitText, isCommitId, runGit } from '../run-git.ts';
import { lastInLog, noteRepair } from '../special-files.ts';
import { headText, leadsBack, lockText } from './register-worktree.ts';
import { LARGEST_INDEX, withScratch } from './scratch-index.ts';
import type { ManagedWorktree, WorktreeState } from './worktree.ts';
import { adminDirectory, type WorktreePlace } from './worktree-place.ts';

export { repairsOf, takeRepairs } from '../special-files.ts';

/** With what git is called in its files. Before every git there, or before several that follow each other. */
export async function trustedGit(place: WorktreePlace, worktree: ManagedWorktree): Promise<TrustedCall> {
  await mendCheckout(place, worktree);
  return { cwd: worktree.path, env: place.env, checkout: directoriesOf(place, worktree) };
}

export type TrustedCall = GitCall & { checkout: CheckoutDirectories };

export function directoriesOf(
  place: WorktreePlace,
  worktree: Pick<ManagedWorktree, 'admin'>,
): CheckoutDirectories {
  const { commonDirectory } = place.repository;
  return { gitDirectory: adminDirectory(place, worktree), commonDirectory };
}

/** Puts right what would lead git elsewhere. A few looks at files where all is well. */
export async function mendCheckout(place: WorktreePlace, worktree: ManagedWorktree): Promise<void> {
  if (!statOf(worktree.path)?.isDirectory()) return;
  const tell = (line: string): void => {
    noteRepair(worktree.admin, line);
  };
  const isGone = !statOf(adminDirectory(place, worktree))?.isDirectory();
  if (isGone && !IN_USE.has(worktree.state)) return;
  if (isGone) registerAgain(place, worktree, tell);
  else
    openFolder(adminDirectory(place, worktree), () =>
      tell(`what git knows of ${worktree.name} could not be read`),
    );
  mendEntry(place, worktree, tell);
  mendRegistration(place, worktree, tell);
  mendBranch(place, worktree, tell);
  mendObjects(place, tell);
  const index = statOf(join(adminDirectory(place, worktree), 'index'));
  const isWrong = index !== undefined && (!index.isFile() || index.size > LARGEST_INDEX);
  if (isGone || isWrong) await renewIndex(place, worktree, tell);
}

/** One that git cannot read is made again. Where work is collected, and never to judge a worktree: all its files could count as new. */
export async function mendIndex(place: WorktreePlace, worktree: ManagedWorktree): Promise<boolean> {
  const call = { cwd: worktree.path, env: place.env, checkout: directoriesOf(place, worktree) };
  if ((await runGit(['ls-files', '--', ':(top,literal).none'], call)).code === 0) return false;
  await renewIndex(place, worktree, (line) => noteRepair(worktree.admin, line));
  return true;
}

/** A HEAD that is neither a commit nor a branch. For the same moments. */
export function mendHead(place: WorktreePlace, worktree: ManagedWorktree): void {
  const head = join(adminDirectory(place, worktree), 'HEAD');
  const text = readPointer(head)?.trimEnd() ?? '';
  const isBranch = /^ref: refs\/(?!.*(?:\/\/|\.\.|\/\.|[\s~^:?*[\\]))\S+$/.test(text);
  if (isCommitId(text) || isBranch || !keepsRefsInFiles(place.repository)) return;
  noteRepair(worktree.admin, `HEAD of ${worktree.name} named no branch and no commit`);
  replaceAny(head, headText(worktree));
}

function openFolder(folder: string, tell: () => void): void {
  const mode = statOf(folder)?.mode ?? 0;
  if ((mode & OWN) === OWN) return;
  tell();
  chmodSync(folder, mode | OWN);
}

/** To list, change and enter a folder. */
const OWN = 0o700;

/** Others may lose their registration in the usual way. */
const IN_USE: ReadonlySet<WorktreeState> = new Set<WorktreeState>(['leased', 'released']);

type Tell = (line: string) => void;

function mendEntry(place: WorktreePlace, worktree: ManagedWorktree, tell: Tell): void {
  const { path, name } = worktree;
  const admin = adminDirectory(place, worktree);
  const entry = join(path, '.git');
  const stats = statOf(entry);
  const target = stats?.isFile() === true ? linkedDirectory(path) : null;
  if (target !== null && (resolve(target) === admin || realPath(target) === realPath(admin))) return;
  const was = stats === undefined ? 'was gone' : describe(entry, stats);
  if (stats?.isDirectory()) tell(`.git in ${name} ${was}, which is in ${moveAway(place, worktree)} now`);
  else tell(`.git in ${name} ${was}`);
  rmSync(entry, { force: true });
  writeFileSync(entry, `gitdir: ${admin}\n`, { flag: 'wx' });
}

function describe(entry: string, stats: Stats): string {
  if (stats.isSymbolicLink()) return `was a link to ${readlinkSync(entry)}`;
  if (stats.isDirectory()) return 'was a repository of its own';
  if (!stats.isFile()) return 'was no file';
  if (!isPointer(stats)) return 'was too large';
  const target = linkedDirectory(dirname(entry));
  return target === null ? 'named no git directory' : `led to ${target}`;
}

function moveAway({ home, now }: WorktreePlace, { path, name }: ManagedWorktree): string {
  const kept = join(home, 'kept');
  const time = new Date(now()).toISOString().slice(0, 19).replace(/[-:]/g, '');
  const entry = join(path, '.git');
  let folder: string | null = null;
  try {
    makePrivateDirectory(kept);
    folder = mkdtempSync(join(kept, `${name.replaceAll('/', '-')}-${time}-`));
    renameSync(entry, join(folder, 'git'));
    return folder;
  } catch (error) {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
    throw new UserMistake(
      'worktree_git',
      `the worktree ${name} has a repository of its own in ${entry}, and it cannot be moved to ${kept} (${systemCode(error) ?? describeError(error)}): move that folder away, then try again`,
    );
  }
}

function registerAgain(place: WorktreePlace, worktree: ManagedWorktree, tell: Tell): void {
  const admin = adminDirectory(place, worktree);
  tell(`what git knows of ${worktree.name} was gone`);
  rmSync(admin, { force: true });
  mkdirSync(admin, { recursive: true });
  writeFileSync(join(admin, 'locked'), lockText(worktree), { flag: 'wx' });
}

function mendRegistration(place: WorktreePlace, worktree: ManagedWorktree, tell: Tell): void {
  const { name, path } = worktree;
  const admin = adminDirectory(place, worktree);
  removeLinks(admin, '', (what) => tell(`${what} of ${name} was no file, or too large`));
  const expected: [string, string, boolean][] = [
    ['commondir', '../..\n', leadsToCommon(place, admin)],
    ['gitdir', `${join(path, '.git')}\n`, isAside(path) || leadsBack(admin, path)],
    ['HEAD', headText(worktree), isPointer(statOf(join(admin, 'HEAD')))],
  ];
  for (const [file, text, isRight] of expected) {
    if (isRight) continue;
    tell(`${file} of ${name} led elsewhere or was gone`);
    replaceAny(join(admin, file), text);
  }
}

/** The branch's own file and its log: git appends to whatever a link there leads to. */
function mendBranch({ repository }: WorktreePlace, worktree: ManagedWorktree, tell: Tell): void {
  const { branch, base, name } = worktree;
  if (branch === null) return;
  const ref = join('refs', 'heads', branch);
  const [file, log] = [ref, join('logs', ref)].map((path) => join(repository.commonDirectory, path));
  const [stats, logStats] = [statOf(file ?? ''), statOf(log ?? '')];
  if (logStats !== undefined && !logStats.isFile() && !logStats.isDirectory()) {
    tell(`the log of ${branch} was no file`);
    rmSync(log ?? '', { force: true });
  }
  if (stats === undefined || isPointer(stats) || stats.isDirectory()) return;
  tell(`the branch of ${name} was no file that git could read`);
  replaceWhole(file ?? '', `${lastInLog(repository.commonDirectory, ref) ?? base}\n`);
}

/** Git makes these folders itself, and writes into whatever folder a link there leads to. */
function mendObjects({ repository }: WorktreePlace, tell: Tell): void {
  const objects = join(repository.commonDirectory, 'objects');
  for (const entry of entriesOf(objects)) {
    if (entry.isDirectory() || !/^[0-9a-f]{2}$/.test(entry.name)) continue;
    const path = join(objects, entry.name);
    const stats = statOf(path);
    if (stats === undefined || stats.isDirectory()) continue;
    tell(`${path} ${stats.isSymbolicLink() ? `was a link to ${readlinkSync(path)}` : 'was no folder'}`);
    rmSync(path, { force: true });
  }
}

function leadsToCommon({ repository }: WorktreePlace, admin: string): boolean {
  const text = readPointer(join(admin, 'commondir'))?.trimEnd();
  return text !== undefined && resolve(admin, text) === repository.commonDirectory;
}

/** While it changes places, its registration names another. */
function isAside(path: string): boolean {
  return ['.pool', '.trash'].includes(basename(dirname(path)));
}

/** Links in a registration are never ours; git reads through them, and appends to logs. The index is seen to by itself. */
function removeLinks(admin: string, folder: string, tell: Tell): void {
  for (const entry of entriesOf(join(admin, folder))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && path !== 'modules') removeLinks(admin, path, tell);
    if (entry.isDirectory() || path === 'index') continue;
    if (entry.isFile() && !isTooLarge(join(admin, path), GROWS.test(path))) continue;
    tell(path);
    rmSync(join(admin, path), { force: true });
  }
}

/** What git writes there may be as large as the repository. */
const GROWS = /^(?:index|sharedindex|logs\/|modules\/)/;
const LARGEST_BYTES = 64 << 20;

/** Git reads most of these files whole. */
function isTooLarge(path: string, grows: boolean): boolean {
  return (statOf(path)?.size ?? 0) > (grows ? LARGEST_INDEX : LARGEST_BYTES);
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function replaceAny(path: string, text: string): void {
  if (statOf(path)?.isDirectory()) rmSync(path, { recursive: true, force: true });
  replaceWhole(path, text);
}

/** With what HEAD has. In a sparse tree nobody knows which files were left out: there it has no index then, and commands say so. */
async function renewIndex(place: WorktreePlace, worktree: ManagedWorktree, tell: Tell): Promise<void> {
  const { facts, name, path } = worktree;
  const own = join(adminDirectory(place, worktree), 'index');
  tell(`the index of ${name} was none that git could read`);
  if (statOf(own)?.isDirectory()) rmSync(own, { recursive: true, force: true });
  if (facts.sparse.length > 0 || facts.patterns !== undefined) return rmSync(own, { force: true });
  await withScratch(place.project, async (index) => {
    const call = { cwd: path, env: place.env, checkout: directoriesOf(place, worktree), index };
    // Its HEAD may be as bad.
    if ((await runGit(['read-tree', 'HEAD'], call)).code !== 0)
      await gitText(['read-tree', worktree.base], call);
    replaceWhole(own, readFileSync(index));
  });
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
