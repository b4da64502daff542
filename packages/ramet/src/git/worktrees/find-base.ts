/** The commit a worktree begins with: where the asking checkout is at this moment, or what was asked for. */
import { describeError, UserMistake } from '../../schema/errors.ts';
import {
  damageAdvice,
  gitDirectoryOf,
  headRef,
  isDamagedRef,
  isLooseCommit,
  readHead,
} from '../read-refs.ts';
import { isCommitId, runGit } from '../run-git.ts';
import type { WorktreePlace } from './worktree-place.ts';

export interface WorktreeBase {
  commit: string;
  /** The branch of the asking checkout, `refs/heads/main`; null when it has none. */
  target: string | null;
  /** Whether it is where the asking checkout is. */
  isCheckoutHead: boolean;
}

export async function findBase(place: WorktreePlace, wanted: string | undefined): Promise<WorktreeBase> {
  const { root, commonDirectory } = place.repository;
  const head = readHead(gitDirectoryOf(root) ?? commonDirectory, commonDirectory);
  if (wanted === undefined && head !== null) {
    return { commit: head.commit, target: head.ref, isCheckoutHead: true };
  }
  const own = head?.commit ?? (await resolveCommit(place, 'HEAD'));
  const commit = wanted === undefined ? own : await wantedCommit(place, wanted, own);
  if (commit === null) throw wanted === undefined ? noCommit(place) : noBase(root, wanted);
  return { commit, target: head?.ref ?? null, isCheckoutHead: commit === own };
}

/** `pr/123` and `#123` are pull requests of `origin`, fetched now; a branch that is really named so comes first. */
async function wantedCommit(
  place: WorktreePlace,
  wanted: string,
  own: string | null,
): Promise<string | null> {
  if (wanted === own || isLooseCommit(place.repository.commonDirectory, wanted)) return wanted;
  const known = await resolveCommit(place, wanted);
  const number = /^(?:pr\/|#)(\d{1,10})$/i.exec(wanted)?.[1];
  if (known !== null || number === undefined) return known;
  const ref = `refs/ramet/pull/${number}`;
  const call = { cwd: place.repository.root, env: place.env, reachesRemote: true };
  const failures: string[] = [];
  // GitHub's name for it, and GitLab's.
  for (const source of [`refs/pull/${number}/head`, `refs/merge-requests/${number}/head`]) {
    const fetch = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', 'origin', `+${source}:${ref}`];
    const { code, stderr } = await runGit(fetch, call);
    if (code === 0) return resolveCommit(place, ref);
    failures.push(describeError(stderr).replace(/^fatal: /, ''));
  }
  throw new UserMistake(
    'no_pull_request',
    `cannot fetch pull request ${number} from origin: ${failures[0]}; fetch it yourself and give its branch or commit`,
  );
}

async function resolveCommit({ repository, env }: WorktreePlace, name: string): Promise<string | null> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
  const { code, stdout } = await runGit(args, { cwd: repository.root, env });
  const commit = stdout.trim();
  return code === 0 && isCommitId(commit) ? commit : null;
}

function noCommit({ repository: { root, commonDirectory } }: WorktreePlace): UserMistake {
  const ref = headRef(gitDirectoryOf(root) ?? commonDirectory);
  if (ref !== null && isDamagedRef(commonDirectory, ref))
    return new UserMistake(
      'damaged_ref',
      `${ref} of ${root} is damaged, so a worktree has nothing to begin with: ${damageAdvice(commonDirectory, ref)}`,
    );
  return new UserMistake(
    'no_commit',
    `${root} has no commit yet: a worktree needs one; commit something first`,
  );
}

function noBase(root: string, wanted: string): UserMistake {
  return new UserMistake(
    'no_base',
    `no commit ${JSON.stringify(wanted.slice(0, 80))} in ${root}: give a commit, branch or tag that \`git log\` knows (a shallow clone may lack it)`,
  );
}
