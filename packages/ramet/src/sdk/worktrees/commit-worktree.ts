/**
 * `ramet worktree commit`: commits everything in a worktree that is not ignored, for an agent that has ended without
 * doing so. The author is the user, as in a merge; the trailers say whose work it is (WORK-6). No hook runs.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  addAll,
  adminDirectory,
  excludeSettings,
  headRef,
  isHeld,
  isPlainRef,
  isTorn,
  leftOutText,
  readHead,
  refuseUnfinished,
  restoreGitFile,
  tornText,
  unlockWorktree,
} from '../../git/managed-worktrees.ts';
import { noIdentityFrom, shellWord } from '../../git/merges.ts';
import { withTrailers } from '../../git/provenance.ts';
import { type GitCall, gitFailed, gitText, runGit } from '../../git/run-git.ts';
import type { ManagedWorktree, Provenance, WorktreePlace } from '../../git/shapes.ts';
import { openReader } from '../../journal/sessions.ts';
import { JournalError, UserMistake } from '../../schema/errors.ts';

export interface WorktreeCommit {
  commit: string;
  /** Null when HEAD was on no branch: nothing but the worktree leads to the commit. */
  branch: string | null;
  files: number;
  /** Repositories inside that could not be taken, by folder. */
  leftOut: readonly string[];
}

/** Throws if there is nothing to commit, and while an agent works there. */
export async function commitFiles(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  message: string | undefined,
): Promise<WorktreeCommit> {
  refuseBusy(place, worktree);
  restoreGitFile(place, worktree);
  const call = { cwd: worktree.path, env: place.env };
  const branch = await ownBranch(place, worktree, call);
  await unlockWorktree(place, worktree);
  const leftOut = await addAll(call, { settings: excludeSettings(place, worktree) });
  const staged = await gitText(['diff', '--cached', '--name-status', '--no-renames', '-z'], call);
  const files = Math.floor(staged.split('\0').length / 2);
  if (files === 0) {
    const why = leftOutText(leftOut).map((text) => `; ${text}`);
    throw new UserMistake('nothing_to_commit', `${worktree.name} has nothing to commit${why.join('')}`);
  }
  const maker = makerOf(place, worktree);
  const subject = message ?? maker.task ?? `Work of ${maker.agent ?? worktree.name}`;
  const args = ['-c', 'user.useConfigOnly=true', 'commit', '--quiet', '--file=-'];
  const end = await runGit(args, { ...call, input: withTrailers(subject, maker) });
  if (end.code !== 0) throw noIdentityFrom(end.stderr) ?? failedCommit(worktree, end.stderr);
  return { commit: await headCommit(place, worktree, call), branch, files, leftOut };
}

function refuseBusy(place: WorktreePlace, worktree: ManagedWorktree): void {
  refuseUnfinished(place.project, worktree);
  const { name, path, state, lease, ...rest } = worktree;
  if (!existsSync(path))
    throw new UserMistake(
      'worktree_gone',
      `the files of the worktree ${name} are gone: nothing can be committed`,
    );
  if (state === 'leased' && lease !== null && isHeld(place.project, { lease, owner: rest.owner }))
    throw new UserMistake(
      'worktree_in_use',
      `an agent works in ${name} (process ${lease.pid}): wait until it has ended, or end it with ramet stop`,
    );
  if (isTorn(adminDirectory(place, rest)))
    throw new UserMistake('worktree_torn', `the worktree ${name} ${tornText(path)}`);
  if (existsSync(join(adminDirectory(place, rest), 'MERGE_HEAD')))
    throw new UserMistake(
      'merge_under_way',
      `a merge is under way in ${path}: finish it there with git commit, or give it up with git merge --abort`,
    );
}

/** Null when HEAD is on none. Throws for another: a commit would move a branch that is not the worktree's to move. */
async function ownBranch(
  place: WorktreePlace,
  { name, path, branch, admin }: ManagedWorktree,
  call: GitCall,
): Promise<string | null> {
  const plain = `refs/heads/${branch}`;
  const isThere = headRef(adminDirectory(place, { admin })) === plain;
  if (branch !== null && isThere && isPlainRef(place.repository.commonDirectory, plain)) return branch;
  const args = ['symbolic-ref', '--quiet', 'HEAD'];
  const end = await runGit(args, call);
  if (end.code === 1) return null;
  if (end.code !== 0) throw gitFailed(args, end);
  const ref = end.stdout.trim();
  if (branch !== null && ref === `refs/heads/${branch}`) return branch;
  const found = ref.replace(/^refs\/heads\//, '');
  const own = branch ?? `ramet/${name}`;
  throw new UserMistake(
    'other_branch',
    `the worktree ${name} is on ${found}, not ${own}, so nothing was committed: run git -C ${shellWord(path)} switch --detach, which leaves its files as they are, then ramet worktree commit ${shellWord(name)}, and merge the commit that it names`,
  );
}

/** From the files of git, or from git itself where they do not tell. */
async function headCommit(place: WorktreePlace, worktree: ManagedWorktree, call: GitCall): Promise<string> {
  const head = readHead(adminDirectory(place, worktree), place.repository.commonDirectory);
  return head?.commit ?? gitText(['rev-parse', 'HEAD'], call);
}

/** Whose worktree it is, and what for. */
function makerOf({ project }: WorktreePlace, { owner }: ManagedWorktree): Provenance {
  if (owner === null) return {};
  return { ...owner, task: taskOf(project, owner) };
}

function taskOf(project: string, { session, agent }: { session: string; agent: string }): string | undefined {
  try {
    const reader = openReader({ project, session });
    try {
      for (const { event } of reader.events({ agent, types: ['agent.started'] }))
        if (event.type === 'agent.started') return event.origin?.description;
      return undefined;
    } finally {
      reader.close();
    }
  } catch (error) {
    if (error instanceof JournalError) return undefined;
    throw error;
  }
}

function failedCommit({ path }: ManagedWorktree, stderr: string): UserMistake {
  const reason = stderr.trim().split('\n').at(-1) ?? 'git commit failed';
  return new UserMistake('not_committed', `git could not commit in ${path}: ${reason}`);
}
