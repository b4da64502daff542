import { UserMistake } from '../schema/errors.ts';
import { type GitCall, gitText } from './run-git.ts';

export interface GitVersion {
  major: number;
  minor: number;
}

/** The first that merges without a working tree. */
const MERGES: GitVersion = { major: 2, minor: 38 };
/** The first that takes many merges in one process. */
const MERGES_MANY: GitVersion = { major: 2, minor: 39 };

/** Null for a text that tells no version. */
export function parseGitVersion(text: string): GitVersion | null {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(text) ?? [];
  return major === undefined ? null : { major: Number(major), minor: Number(minor) };
}

export function canMerge(version: GitVersion): boolean {
  return isAtLeast(version, MERGES);
}

export function canMergeMany(version: GitVersion): boolean {
  return isAtLeast(version, MERGES_MANY);
}

/** Throws for a git that cannot merge without a working tree. */
export async function requireMergingGit(call: GitCall): Promise<GitVersion> {
  const text = (await gitText(['--version'], call)).trim();
  const version = parseGitVersion(text);
  if (version !== null && canMerge(version)) return version;
  throw new UserMistake(
    'git_too_old',
    `ramet merge needs git 2.38 or later and this is "${text}": update git, or merge with git merge in a checkout`,
  );
}

function isAtLeast(version: GitVersion, wanted: GitVersion): boolean {
  return version.major > wanted.major || (version.major === wanted.major && version.minor >= wanted.minor);
}
