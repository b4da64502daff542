/** The variables that a git of our own gets: which repository it works in, and that it asks nobody. */
import { delimiter, dirname } from 'node:path';

/** What `git rev-parse --local-env-vars` names, settings given by variable apart: those are the user's. */
export const LOCAL_VARIABLES: RegExp =
  /^GIT_(ALTERNATE_OBJECT_DIRECTORIES|CONFIG|OBJECT_DIRECTORY|DIR|WORK_TREE|IMPLICIT_WORK_TREE|GRAFT_FILE|INDEX_FILE|NO_REPLACE_OBJECTS|REPLACE_REF_BASE|PREFIX|SHALLOW_FILE|COMMON_DIR|INTERNAL_SUPER_PREFIX|NAMESPACE)$/;

/**
 * The git directories of a checkout whose files are an agent's. Git is told them, so that it never asks the `.git` that the agent
 * can replace, nor the `commondir` of the registration.
 */
export interface CheckoutDirectories {
  /** Its own: HEAD, index. */
  gitDirectory: string;
  commonDirectory: string;
}

export interface GitPlace {
  /** With `checkout`, the top of the files. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Another index file than the checkout's own. */
  index?: string | undefined;
  /** `cwd` may be any folder of a checkout; otherwise it is the top or a git directory, and git looks no further up. */
  looksUp?: boolean | undefined;
  /** Given where the files are those of an agent. */
  checkout?: CheckoutDirectories | undefined;
  /** A directory with objects that count beside those of the repository. Nothing is written there. */
  alsoObjects?: string | undefined;
}

/** For the few that start git by themselves, too. */
export function withoutLocalVariables(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !LOCAL_VARIABLES.test(name)));
}

export function gitEnvironment({
  cwd,
  env,
  index,
  looksUp,
  checkout,
  alsoObjects,
}: GitPlace): Record<string, string> {
  // A worktree that has lost its `.git` file must not be taken for a folder of the repository around it.
  const ceiling = [dirname(cwd), env.GIT_CEILING_DIRECTORIES ?? []].flat().join(delimiter);
  return {
    ...withoutLocalVariables(env),
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_EDITOR: 'true',
    ...(looksUp !== true && { GIT_CEILING_DIRECTORIES: ceiling }),
    LC_ALL: 'C',
    ...(checkout !== undefined && {
      GIT_DIR: checkout.gitDirectory,
      GIT_COMMON_DIR: checkout.commonDirectory,
      GIT_WORK_TREE: cwd,
    }),
    ...(index !== undefined && { GIT_INDEX_FILE: index }),
    ...(alsoObjects !== undefined && { GIT_ALTERNATE_OBJECT_DIRECTORIES: alsoObjects }),
  };
}
