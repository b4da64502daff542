/**
 * The commits of an agent in its clone, brought into the repository. The git directory of the clone is the agent's to write, so it is
 * read as files alone: no git runs in it, no link in it is followed, and its configuration never counts.
 *
 * Invariant: what is taken are commits that the agent made on top of those it began with. Of anything else its files are taken.
 */
import { lstatSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { RametError } from '../../schema/errors.ts';
import { isAncestor } from '../merge/merge-repository.ts';
import { readOrNull } from '../repository.ts';
import { type GitCall, isCommitId, runGit, runGitForBytes } from '../run-git.ts';
import { type HeadLog, headLog } from '../worktrees/changes/held-commits.ts';
import { diverged, type LeftCommit, notItsOwn, shortRef } from './own-commits.ts';
import { entriesOf, isFolder, plainText, refsIn } from './ref-files.ts';

export interface CloneReading {
  /** The commit that it began with. */
  base: string;
  /** The git directory that its objects are shared with. */
  commonDirectory: string;
  call: GitCall;
}

/** Null for a tip that is not the agent's work, with the reason. */
export interface ClonedTip {
  tip: string | null;
  problem: string | null;
}

/** Objects of an agent's own. More are not looked at. */
const MOST_ENTRIES = 200_000;
const LONGEST_MS = 300_000;

export async function clonedTip(git: string, reading: CloneReading): Promise<ClonedTip> {
  const wrong = wrongIn(git, reading.commonDirectory);
  if (wrong !== null) return { tip: null, problem: wrong };
  const tip = headOf(git);
  if (tip === null) return { tip: null, problem: 'HEAD of its clone names no commit' };
  if (tip === reading.base) return { tip, problem: null };
  try {
    const problem = (await bring(join(git, 'objects'), tip, reading)) ?? (await notItsOwn(tip, reading));
    return { tip: problem === null ? tip : null, problem };
  } catch (error) {
    if (!(error instanceof RametError)) throw error;
    return { tip: null, problem: `the commits of its clone cannot be read: ${error.message}` };
  }
}

/** Commits that the agent left elsewhere in its clone than at `tip`, as the log of its HEAD and its refs name them. */
export async function leftInClone(git: string, tip: string, reading: CloneReading): Promise<LeftCommit[]> {
  if (wrongIn(git, reading.commonDirectory) !== null) return [];
  const { left, replaced } = clonedLog(git);
  const refs = refsIn(git);
  const named = new Set(refs.values());
  // Where its HEAD is has been judged already.
  const known = new Set([tip, reading.base, headOf(git)]);
  const found: LeftCommit[] = [];
  const look = async (commit: string, where: string, isDeleted: boolean): Promise<void> => {
    known.add(commit);
    const lost = await bring(join(git, 'objects'), commit, reading);
    if (lost === null && (await isAncestor(commit, tip, reading.call))) return;
    const problem = lost ?? (await notItsOwn(commit, reading));
    const kept = `both are in ${dirname(git)}, which is kept`;
    const lines = [tip.slice(0, 12), `${commit.slice(0, 12)} on ${where}`] as const;
    found.push({ commit, where, isDeleted, objection: problem === null ? null : diverged(...lines, kept) });
  };
  for (const [name, commit] of left) {
    if (known.has(commit)) continue;
    const where = isCommitId(name) || name === '' ? 'no branch' : name;
    await look(commit, where, where === name && !named.has(commit));
  }
  for (const [name, commit] of refs) {
    // What it was cloned with: the repository's own branches, also those that are gone there by now.
    if (known.has(commit) || name.startsWith('refs/remotes/origin/')) continue;
    // What it kept of a commit before an amend or a rebase is no work of its own.
    if (replaced.has(commit) || (await isOfRepository(commit, reading))) continue;
    await look(commit, shortRef(name), false);
  }
  return found;
}

/** The log of its HEAD; empty if a link leads to another. */
export function clonedLog(git: string): HeadLog {
  const file = join(git, 'logs', 'HEAD');
  const isPlainLog =
    isFolder(git) && isFolder(join(git, 'logs')) && lstatSync(file, { throwIfNoEntry: false })?.isFile();
  return headLog(isPlainLog === true ? file : '', null);
}

/** Whether a ref of the repository leads to it. */
async function isOfRepository(commit: string, { call }: CloneReading): Promise<boolean> {
  const { code, stdout } = await runGit(['rev-list', '--max-count=1', commit, '--not', '--all', '--'], call);
  return code === 0 && stdout.trim() === '';
}

function wrongIn(git: string, commonDirectory: string): string | null {
  const stats = lstatSync(git, { throwIfNoEntry: false });
  if (stats === undefined) return '.git of its clone was gone';
  if (!stats.isDirectory()) return '.git of its clone was not its own';
  const objects = join(git, 'objects');
  if (!isFolder(objects) || !isPlain(objects)) return 'the objects of its clone were not its own';
  const alternates = readOrNull(join(objects, 'info', 'alternates')) ?? '';
  const others = alternates.split('\n').filter((line) => line !== '');
  const shared = join(commonDirectory, 'objects');
  return others.every((line) => resolve(objects, line) === shared)
    ? null
    : 'the objects of its clone led to another repository';
}

/** Whether there are only folders and files: git would follow a link, and wait for ever at a FIFO. */
function isPlain(folder: string): boolean {
  const folders = [folder];
  let count = 0;
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    for (const entry of entriesOf(next)) {
      if (++count > MOST_ENTRIES || !(entry.isFile() || entry.isDirectory())) return false;
      if (entry.isDirectory()) folders.push(join(next, entry.name));
    }
  }
  return true;
}

/** As git would read it, but through no link. */
function headOf(git: string): string | null {
  const text = plainText(git, 'HEAD');
  if (isCommitId(text)) return text;
  const ref = /^ref: (refs\/heads\/[^\s~^:?*[\\]+)$/.exec(text ?? '')?.[1];
  if (ref === undefined || ref.split('/').includes('..')) return null;
  const own = plainText(git, ref);
  if (own !== null) return isCommitId(own) ? own : null;
  const packed = plainText(git, 'packed-refs') ?? '';
  const line = packed.split('\n').find((one) => one.endsWith(` ${ref}`));
  const id = line?.split(' ', 1)[0];
  return isCommitId(id) ? id : null;
}

/** Copies what the repository does not have; git looks at each object. Says what is wrong. */
async function bring(objects: string, tip: string, { base, call }: CloneReading): Promise<string | null> {
  const wanted = `${tip}\n^${base}\n`;
  const pack = await runGitForBytes(['pack-objects', '--revs', '--stdout', '-q', '--delta-base-offset'], {
    ...{ ...call, input: wanted, alsoObjects: objects, timeoutMs: LONGEST_MS },
  });
  if (pack.code !== 0) return 'the commits of its clone are not all there';
  const { code } = await runGit(['unpack-objects', '-q', '--strict'], { ...call, input: pack.stdout });
  return code === 0 ? null : 'git does not accept the commits of its clone';
}
