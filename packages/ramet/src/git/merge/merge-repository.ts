/** The repository that merges happen in: where git is called, and what names stand for. */
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { UserMistake } from '../../schema/errors.ts';
import { isLooseCommit } from '../read-refs.ts';
import { findRepository, readOrNull, readPointer } from '../repository.ts';
import { type GitCall, gitText, isCommitId, runGit } from '../run-git.ts';

export interface MergeRepository {
  /** Where our git calls run: the top of a working tree, or the git directory of a bare repository. */
  readonly cwd: string;
  readonly commonDirectory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Throws outside a repository. A bare one counts, when `directory` is its git directory. */
export function findMergeRepository(
  directory: string,
  env: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): MergeRepository {
  const found = findRepository(directory);
  if (found !== null) return { cwd: found.root, commonDirectory: found.commonDirectory, env, signal };
  const bare = realpathSync(directory);
  if (['HEAD', 'config'].every((name) => readOrNull(join(bare, name)) !== null))
    return { cwd: bare, commonDirectory: bare, env, signal };
  throw new UserMistake(
    'no_repository',
    `${directory} is not in a git repository: go to one, or make one with git init`,
  );
}

export function callIn({ cwd, env, signal }: Pick<MergeRepository, 'cwd' | 'env' | 'signal'>): GitCall {
  return { cwd, env, signal };
}

/** For what must not be killed half-way, because it moves refs or registers something: it is short, and it ends. */
export function callToTheEnd({ cwd, env }: MergeRepository): GitCall {
  return { cwd, env };
}

export interface NamedCommit {
  /** As it was given. */
  name: string;
  /** The branch's full name; null for what is no local branch. */
  ref: string | null;
  commit: string;
  /** Null where it was not looked up. */
  tree: string | null;
}

/** Throws for a name that stands for no commit. */
export async function resolveCommits(
  names: readonly string[],
  repository: MergeRepository,
): Promise<NamedCommit[]> {
  const found = await lookUpCommits(names, repository);
  return names.map((name, index) => {
    const commit = found[index];
    if (commit === undefined || commit === null) throw noCommit(name);
    return commit;
  });
}

/** All in one process; null for a name that stands for no commit. Local branches come before other meanings. */
export async function lookUpCommits(
  names: readonly string[],
  repository: MergeRepository,
): Promise<(NamedCommit | null)[]> {
  const input = names
    .map((name) => (isName(name) ? name : NO_NAME))
    .flatMap((name) => [`refs/heads/${name}`, name].flatMap(lookUps))
    .join('');
  const format = '--batch-check=%(objectname) %(objecttype)';
  const lines = (await gitText(['cat-file', format], { ...callIn(repository), input })).split('\n');
  return names.map((name, index) => {
    const branch = commitIn(lines.slice(4 * index, 4 * index + 2));
    const any = branch ?? commitIn(lines.slice(4 * index + 2, 4 * index + 4));
    return any === null ? null : { name, ref: branch === null ? null : `refs/heads/${name}`, ...any };
  });
}

/** Stands for nothing: no part of a ref's name begins with a dot. */
const NO_NAME = 'refs/heads/.none';

function isName(name: string): boolean {
  return name !== '' && !name.startsWith('-') && !/[\s\0]/.test(name);
}

/** `^0` looks through a tag; what is no commit is missing. */
function lookUps(name: string): string[] {
  return [`${name}^0\n`, `${name}^{tree}\n`];
}

function commitIn(lines: readonly string[]): { commit: string; tree: string } | null {
  const [commit, tree] = lines.map((line) => /^([0-9a-f]+) (?:commit|tree)$/.exec(line)?.[1]);
  return commit === undefined || tree === undefined ? null : { commit, tree };
}

function noCommit(name: string): UserMistake {
  return new UserMistake(
    'no_commit',
    `${JSON.stringify(name)} is no branch or commit here: see git branch --list, or git fetch first`,
  );
}

export async function treeOf(
  { commit, tree }: { commit: string; tree: string | null },
  repository: MergeRepository,
): Promise<string> {
  return tree ?? (await gitText(['rev-parse', '--verify', `${commit}^{tree}`], callIn(repository)));
}

/** The value of a ref; null if it does not exist. Read from files where they show that it is a commit. */
export async function readRef(ref: string, repository: MergeRepository): Promise<string | null> {
  const plain = plainCommit(ref, repository.commonDirectory);
  if (plain !== null) return plain;
  const args = ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`];
  const { code, stdout } = await runGit(args, callIn(repository));
  return code === 0 && isCommitId(stdout.trim()) ? stdout.trim() : null;
}

/** Null where git has to be asked. */
function plainCommit(ref: string, commonDirectory: string): string | null {
  if (!ref.startsWith('refs/') || /(?:^|\/)\./.test(ref)) return null;
  const text = readPointer(join(commonDirectory, ref))?.trimEnd();
  return text !== undefined && isLooseCommit(commonDirectory, text) ? text : null;
}

export async function isAncestor(
  older: string,
  newer: string,
  repository: Parameters<typeof callIn>[0],
): Promise<boolean> {
  const { code } = await runGit(['merge-base', '--is-ancestor', older, newer], callIn(repository));
  return code === 0;
}
