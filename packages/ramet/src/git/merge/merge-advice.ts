/**
 * What to do about a branch that was left behind, in commands that can be run as they stand. It is worked out when it is
 * told, not when it is recorded: which ref holds the other side, and where the branch is checked out, changes meanwhile.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { gitDirectoryOf, readRef as readRefFile } from '../read-refs.ts';
import { runGit } from '../run-git.ts';
import { unfinishedAt } from '../worktrees/half-made.ts';
import { checkoutsOf } from './branch-checkouts.ts';
import { integrationRef, shortName } from './integration-refs.ts';
import type { MergeEntry } from './merge-entries.ts';
import { callIn, isAncestor, type MergeRepository, readRef } from './merge-repository.ts';
import type { MergeWishes } from './merge-request.ts';

/** What `--check-seconds` is without a word about it. */
export const DEFAULT_CHECK_SECONDS = 1_800;

/** The entries as they are told: reasons with what to do about them. */
export async function withAdvice(
  entries: readonly MergeEntry[],
  repository: MergeRepository,
  { wishesOf = () => null, project }: AdviceSources = {},
): Promise<MergeEntry[]> {
  const sides = new Map<string, Promise<string>>();
  return Promise.all(
    entries.map(async (entry) => {
      const again = repeatOptions(entry, wishesOf(entry.target));
      if (entry.state === 'nothing') return withUncommitted(entry, { again, project }, repository);
      if (entry.state !== 'conflicted') return entry;
      const side = sides.get(entry.target) ?? otherSide(entry.target, repository);
      sides.set(entry.target, side);
      return {
        ...entry,
        reason: `${entry.reason}; ${await remedy(entry, { side: await side, again }, repository)}`,
      };
    }),
  );
}

export interface AdviceSources {
  /** What the last run of a target was asked for. */
  wishesOf?: ((target: string) => MergeWishes | null) | undefined;
  /** The directory that Ramet keeps for the repository: it says which worktrees are whole. */
  project?: string | undefined;
}

const LEFT_BEHIND: ReadonlySet<string> = new Set(['conflicted', 'failed', 'nothing']);

/** The queue as it is listed: nothing of a branch that was left behind once and has come further since. */
export async function listedEntries(
  entries: readonly MergeEntry[],
  repository: MergeRepository,
  sources?: AdviceSources,
): Promise<MergeEntry[]> {
  const isSame = (one: MergeEntry, other: MergeEntry): boolean =>
    one.target === other.target && one.branch === other.branch;
  const current = entries.filter(
    (entry, index) =>
      !LEFT_BEHIND.has(entry.state) || !entries.slice(index + 1).some((later) => isSame(entry, later)),
  );
  const byHand = await Promise.all(current.map((entry) => landedByHand(entry, repository)));
  const open = current.filter((_, index) => byHand[index] !== true);
  const told = await Promise.all(open.map((entry) => asTaken(entry, repository)));
  return withAdvice(told, repository, sources);
}

/** A result that waited is taken with git, as the output says; the queue hears of it when it runs again. */
async function asTaken(entry: MergeEntry, repository: MergeRepository): Promise<MergeEntry> {
  const { state, result, target } = entry;
  if (state !== 'integrated' || result === null || !(await isAncestor(result, target, repository)))
    return entry;
  return { ...entry, state: 'landed' };
}

/** A person may have merged it. */
async function landedByHand(
  { state, branch, tip, target }: MergeEntry,
  repository: MergeRepository,
): Promise<boolean> {
  if (state !== 'conflicted') return false;
  const now = readRefFile(repository.commonDirectory, `refs/heads/${branch}`) ?? tip;
  return isAncestor(now, target, repository);
}

/** Where the result is that the branch has to fit: on the private ref while it waits there, else on the target. */
async function otherSide(target: string, repository: MergeRepository): Promise<string> {
  const [ready, landed] = await Promise.all([
    readRef(integrationRef(target), repository),
    readRef(target, repository),
  ]);
  if (ready === null || landed === null) return shortName(target);
  return (await isAncestor(ready, landed, repository)) ? shortName(target) : integrationRef(target);
}

async function remedy(
  { branch, tip }: MergeEntry,
  { side, again }: { side: string; again: string },
  repository: MergeRepository,
): Promise<string> {
  const { name, merge, commit, after } = await stepsToResolve({ branch, tip }, side, repository);
  const steps = [...merge, 'edit the files', commit, `ramet merge ${shellWord(name)} ${again}`, ...after];
  return `to resolve it: ${steps.join('; ')}`;
}

export interface ResolveSteps {
  /** The branch that has the result then. */
  name: string;
  /** Commands before the files are edited, then the one that commits them, then what tidies up when that is merged. */
  merge: string[];
  commit: string;
  after: string[];
}

/** How a person merges `side` into a branch that conflicts with it. */
export async function stepsToResolve(
  { branch, tip }: Pick<MergeEntry, 'branch' | 'tip'>,
  side: string,
  repository: MergeRepository,
): Promise<ResolveSteps> {
  const { into, name, git, isDirty, after } = await wayToBranch(branch, tip, repository);
  // Git refuses to merge over uncommitted files, and puts these back after the commit.
  const merge = [...into, `${git} merge ${isDirty ? '--autostash ' : ''}${shellWord(side)}`];
  return { name, merge, commit: `${git} commit -a --no-edit`, after };
}

export interface WayToBranch {
  into: string[];
  name: string;
  git: string;
  /** There are uncommitted files where the merge is to happen. */
  isDirty: boolean;
  after: string[];
}

/** How to get to the branch: its worktree where it has one, this checkout where that can leave its branch. */
export async function wayToBranch(
  branch: string,
  tip: string,
  repository: MergeRepository,
): Promise<WayToBranch> {
  const [checkout] = checkoutsOf(`refs/heads/${branch}`, repository);
  if (checkout !== undefined) {
    const { directory } = checkout;
    const git = directory === repository.cwd ? 'git' : `git -C ${shellWord(directory)}`;
    const isDirty = (await changedFiles(directory, ['--untracked-files=no'], repository)) !== 0;
    return { into: [], name: branch, git, isDirty, after: [] };
  }
  const isBranch = readRefFile(repository.commonDirectory, `refs/heads/${branch}`) !== null;
  const name = isBranch ? branch : `merge-${tip.slice(0, 12)}`;
  const found = { name, isDirty: false, after: [] };
  if (repository.cwd !== repository.commonDirectory && (await isFreeToSwitch(repository))) {
    const words = isBranch ? [name] : ['-c', name, tip];
    return { ...found, into: [`git switch ${words.map(shellWord).join(' ')}`], git: 'git' };
  }
  const directory = freePath(`${repository.cwd}-${name.replaceAll('/', '-')}`);
  const words = isBranch ? [directory, name] : ['-b', name, directory, tip];
  return {
    ...found,
    into: [`git worktree add ${words.map(shellWord).join(' ')}`],
    git: `git -C ${shellWord(directory)}`,
    after: [`git worktree remove ${shellWord(directory)}`],
  };
}

export function freePath(wanted: string, number = 1): string {
  const path = number === 1 ? wanted : `${wanted}-${number}`;
  return existsSync(path) ? freePath(wanted, number + 1) : path;
}

export const OPERATIONS: readonly string[] = [
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'rebase-merge',
  'rebase-apply',
];

/** Git changes the branch of a checkout only if no file is in the way, and nothing is under way there. */
async function isFreeToSwitch(repository: MergeRepository): Promise<boolean> {
  const gitDirectory = gitDirectoryOf(repository.cwd) ?? repository.commonDirectory;
  if (OPERATIONS.some((name) => existsSync(join(gitDirectory, name)))) return false;
  return (await changedFiles(repository.cwd, [], repository)) === 0;
}

/** How many files differ from HEAD; null where git cannot tell. */
export async function changedFiles(
  directory: string,
  options: readonly string[],
  repository: MergeRepository,
): Promise<number | null> {
  const args = ['status', '--porcelain', '-z', '--no-renames', ...options];
  const end = await runGit(args, { ...callIn(repository), cwd: directory }).catch(() => null);
  return end?.code === 0 ? end.stdout.split('\0').filter((line) => line !== '').length : null;
}

/** A branch without commits of its own may have its work in the files of its worktree. */
async function withUncommitted(
  entry: MergeEntry,
  { again, project }: { again: string; project: string | undefined },
  repository: MergeRepository,
): Promise<MergeEntry> {
  const [checkout] = checkoutsOf(`refs/heads/${entry.branch}`, repository);
  if (checkout === undefined || checkout.directory === repository.cwd) return entry;
  const { directory } = checkout;
  const unfinished = project === undefined ? null : unfinishedAt(project, checkout);
  if (unfinished !== null)
    return { ...entry, reason: `${entry.reason}; its worktree ${directory} ${unfinished}` };
  const files = await changedFiles(directory, ['--untracked-files=all'], repository);
  if (files === null || files === 0) return entry;
  const what = `${files} uncommitted file${files === 1 ? '' : 's'}`;
  const name = shellWord(entry.branch);
  const reason = `${entry.reason}; its worktree ${directory} has ${what}, which no merge takes: ramet worktree commit ${name}; ramet merge ${name} ${again}`;
  return { ...entry, reason };
}

/** The options with which a branch is merged once more as it was asked for, as words for a shell. */
function repeatOptions(
  { target, strategy }: Pick<MergeEntry, 'target' | 'strategy'>,
  wishes: MergeWishes | null,
): string {
  const check = wishes?.check ?? null;
  const seconds = check === null ? DEFAULT_CHECK_SECONDS : check.timeoutMs / 1_000;
  const words = [
    ...['--into', shortName(target)],
    ...(strategy === 'merge' ? [] : ['--strategy', strategy]),
    ...(check === null ? [] : ['--check', check.command]),
    ...(seconds === DEFAULT_CHECK_SECONDS ? [] : ['--check-seconds', String(seconds)]),
    ...(wishes?.updateCheckout ? ['--update-checkout'] : []),
  ];
  return words.map(shellWord).join(' ');
}

export function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
