/** Commits made from a tree and parents; nothing refers to them until a ref is moved. */
import { UserMistake } from '../../schema/errors.ts';
import { gitFailed, runGit } from '../run-git.ts';
import { requireObjectId } from './merge-output.ts';
import { callIn, type MergeRepository } from './merge-repository.ts';

export interface NewCommit {
  tree: string;
  parents: readonly string[];
  message: string;
  /** Whose work it is; the user's own when absent. */
  author?: { name: string; email: string; date: string } | undefined;
}

/** The identity is the user's own git identity; without one it throws and says how to set it. */
export async function writeCommit(commit: NewCommit, repository: MergeRepository): Promise<string> {
  const parents = commit.parents.flatMap((parent) => ['-p', parent]);
  // Without this setting git makes an address up from the name of the machine.
  const args = ['-c', 'user.useConfigOnly=true', 'commit-tree', commit.tree, ...parents, '-F', '-'];
  const { author } = commit;
  const env =
    author === undefined
      ? repository.env
      : {
          ...repository.env,
          GIT_AUTHOR_NAME: author.name,
          GIT_AUTHOR_EMAIL: author.email,
          GIT_AUTHOR_DATE: author.date,
        };
  const end = await runGit(args, { ...callIn(repository), env, input: commit.message });
  if (end.code === 0) return requireObjectId(end.stdout, 'git commit-tree');
  throw noIdentityFrom(end.stderr) ?? gitFailed(['commit-tree'], end);
}

/** A commit that is made only to be merged from: nobody sees it. */
export async function writeScratchCommit(
  tree: string,
  parents: readonly string[],
  repository: MergeRepository,
): Promise<string> {
  const name = { GIT_AUTHOR_NAME: 'Ramet', GIT_COMMITTER_NAME: 'Ramet' };
  const email = { GIT_AUTHOR_EMAIL: 'ramet@localhost', GIT_COMMITTER_EMAIL: 'ramet@localhost' };
  const date = { GIT_AUTHOR_DATE: '@0 +0000', GIT_COMMITTER_DATE: '@0 +0000' };
  const env = { ...repository.env, ...name, ...email, ...date };
  const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-m', 'scratch'];
  const end = await runGit(args, { ...callIn(repository), env });
  if (end.code !== 0) throw gitFailed(args, end);
  return requireObjectId(end.stdout, 'git commit-tree');
}

/** What to do where git says that it does not know who commits; null where it says something else. */
export function noIdentityFrom(stderr: string): UserMistake | null {
  if (!/tell me who you are|no email was given|no name was given|empty ident/i.test(stderr)) return null;
  return new UserMistake(
    'no_identity',
    'git does not know who commits: set it with git config --global user.name "Your Name" and user.email you@example.com',
  );
}
