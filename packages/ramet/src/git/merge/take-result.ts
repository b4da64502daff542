/**
 * How a result that waits gets into the checkout of its target, in commands that can be run as they stand and keep what
 * is uncommitted there.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runGit } from '../run-git.ts';
import { type BranchCheckout, checkoutsOf } from './branch-checkouts.ts';
import { integrationRef, shortName } from './integration-refs.ts';
import { changedFiles, freePath, OPERATIONS, shellWord } from './merge-advice.ts';
import { callIn, type MergeRepository } from './merge-repository.ts';

/** More than these are not moved one by one. */
const MOST_MOVED = 5;

export interface TakeSteps {
  /** What is in the way, or must be done before; null for nothing. */
  readonly first: string | null;
  /** One after the other, as they stand. */
  readonly commands: readonly string[];
  /** A command that does the same; null where none does. */
  readonly or: string | null;
  /** Where uncommitted files are then; null where there are none. */
  readonly afterwards: string | null;
}

/** For people. A line that begins with two spaces is a command, and no other one is. */
export function takeText({ first, commands, or, afterwards }: TakeSteps): string {
  return [
    first === null ? 'take it with:' : `${first}; take it with:`,
    ...commands.map((command) => `  ${command}`),
    ...(or === null ? [] : ['or with:', `  ${or}`]),
    ...(afterwards === null ? [] : [afterwards]),
  ].join('\n');
}

const NOTHING: Omit<TakeSteps, 'commands'> = { first: null, or: null, afterwards: null };

export async function howToTake(
  target: string,
  commit: string,
  repository: MergeRepository,
): Promise<TakeSteps> {
  const [checkout, ...others] = checkoutsOf(target, repository);
  const git =
    checkout === undefined || checkout.directory === repository.cwd
      ? 'git'
      : `git -C ${shellWord(checkout.directory)}`;
  const merge = `${git} merge --ff-only --autostash ${shellWord(integrationRef(target))}`;
  if (checkout === undefined) return { ...NOTHING, commands: [merge] };
  const { directory } = checkout;
  if (isAtWork(checkout)) {
    const first = `finish or abort what git is doing in ${directory} (${git} status says what)`;
    return { ...NOTHING, first, commands: [merge] };
  }
  const [changes, inTheWay] = await Promise.all([
    changedFiles(directory, ['--untracked-files=no'], repository),
    filesInTheWay(directory, { target, commit }, repository),
  ]);
  const isDirty = changes !== 0;
  const afterwards = isDirty
    ? 'git puts your uncommitted changes back afterwards, and keeps those that conflict in git stash'
    : null;
  // A command is one line.
  if (inTheWay.length > MOST_MOVED || inTheWay.some((name) => /[\n\r]/.test(name)))
    return takeOverStash(git, target, inTheWay.length);
  if (inTheWay.length > 0) {
    const moves = inTheWay.map((name) => join(directory, name)).map(moveAway);
    const first = `git does not know ${namesOf(inTheWay)}, which the result has too`;
    return { ...NOTHING, first, commands: [...moves, merge], afterwards };
  }
  if (isDirty || others.length > 0) return { ...NOTHING, commands: [merge], afterwards };
  const or = `ramet merge --continue --into ${shellWord(shortName(target))} --update-checkout`;
  return { ...NOTHING, commands: [merge], or };
}

/** Not followed by `git stash pop`: that stops at the files that the result has brought. */
function takeOverStash(git: string, target: string, count: number): TakeSteps {
  return {
    ...NOTHING,
    first: `git does not know ${count} files that the result has too`,
    commands: [
      `${git} stash push --include-untracked`,
      `${git} merge --ff-only ${shellWord(integrationRef(target))}`,
    ],
    afterwards: `your files and changes are then in git stash (${git} stash show --include-untracked)`,
  };
}

function isAtWork({ gitDirectory, isBusy }: BranchCheckout): boolean {
  return isBusy || OPERATIONS.some((name) => existsSync(join(gitDirectory, name)));
}

function moveAway(path: string): string {
  return `mv ${shellWord(path)} ${shellWord(freePath(`${path}.mine`))}`;
}

function namesOf(names: readonly string[]): string {
  return names.map((name) => shellWord(name)).join(', ');
}

/** Files that git does not know and would have to overwrite; none where git cannot tell. */
async function filesInTheWay(
  directory: string,
  { target, commit }: { target: string; commit: string },
  repository: MergeRepository,
): Promise<string[]> {
  const listed = async (...args: string[]): Promise<string[]> => {
    const end = await runGit(args, { ...callIn(repository), cwd: directory }).catch(() => null);
    return end?.code === 0 ? end.stdout.split('\0').filter((name) => name !== '') : [];
  };
  const range = ['--no-renames', '--diff-filter=A', '--name-only', '-z', target, commit];
  const added = await listed('diff-tree', '-r', ...range);
  if (added.length === 0) return [];
  const unknown = await listed('ls-files', '--others', '--exclude-standard', '-z');
  const wanted = new Set(added.flatMap(withFolders));
  const files = new Set(added);
  // A folder that is to become a file goes as a whole.
  const obstacles = unknown.flatMap((name) => withFolders(name).find((part) => files.has(part)) ?? name);
  return [...new Set(obstacles)].filter((name) => wanted.has(name));
}

/** `a/b/c` as `a`, `a/b`, `a/b/c`. */
function withFolders(name: string): string[] {
  const parts = name.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
