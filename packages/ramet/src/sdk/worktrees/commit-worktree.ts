/**
 * `ramet worktree commit`: commits everything in a worktree that is not ignored, for an agent that has ended without
 * doing so. The author is the user, as in a merge; the trailers say whose work it is (WORK-6). No hook runs.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  addAll,
  adminDirectory,
  copyIndex,
  damageAdvice,
  excludeSettings,
  headRef,
  isDamagedRef,
  isHeld,
  isPlainRef,
  isTorn,
  leftOutText,
  mendHead,
  mendIndex,
  readHead,
  refuseUnfinished,
  repairsOf,
  tornText,
  trustedGit,
  unlockWorktree,
  withScratch,
} from '../../git/managed-worktrees.ts';
import { noIdentityFrom, shellWord } from '../../git/merges.ts';
import { withTrailers } from '../../git/provenance.ts';
import { readPointer } from '../../git/repository.ts';
import { type GitCall, gitFailed, gitText, runGit } from '../../git/run-git.ts';
import type { ManagedWorktree, Provenance, WorktreePlace } from '../../git/shapes.ts';
import { openReader } from '../../journal/sessions.ts';
import { JournalError, UserMistake } from '../../schema/errors.ts';
import { replaceWhole } from '../../system/replace-whole.ts';

export interface WorktreeCommit {
  commit: string;
  /** Null when HEAD was on no branch: nothing but the worktree leads to the commit. */
  branch: string | null;
  files: number;
  /** Repositories inside that could not be taken, by folder. */
  leftOut: readonly string[];
  /** What an agent had made lead elsewhere, and was put right, one line each. */
  repaired: readonly string[];
}

/** Throws if there is nothing to commit, and while an agent works there. `task` is for what, if that is not what its agent was started for. */
export async function commitFiles(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  message: string | undefined,
  task?: string,
): Promise<WorktreeCommit> {
  refuseBusy(place, worktree);
  const call = await trustedGit(place, worktree);
  mendHead(place, worktree);
  refuseTorn(place, worktree);
  const branch = await ownBranch(place, worktree, call);
  await unlockWorktree(place, worktree);
  const made = await withScratch(place.project, (index) =>
    commitThrough(index, { place, worktree, call, branch, message, task }),
  );
  return { ...made, branch, repaired: repairsOf(worktree) };
}

interface CommitOrder {
  place: WorktreePlace;
  worktree: ManagedWorktree;
  call: GitCall;
  branch: string | null;
  message: string | undefined;
  task: string | undefined;
}

/** Not by `git commit`, which writes where files of the registration lead: they are the agent's to write. */
async function commitThrough(
  index: string,
  { place, worktree, call, branch, message, task }: CommitOrder,
): Promise<Pick<WorktreeCommit, 'commit' | 'files' | 'leftOut'>> {
  const own = join(adminDirectory(place, worktree), 'index');
  const copy = { ...call, index };
  const add = async (): ReturnType<typeof addAll> => {
    await copyIndex(own, index);
    return addAll(copy, { settings: excludeSettings(place, worktree) });
  };
  const leftOut = await add().catch(async (error: unknown) => {
    if (await mendIndex(place, worktree)) return add();
    throw error;
  });
  const staged = await gitText(['diff', '--cached', '--name-status', '--no-renames', '-z'], copy);
  const files = Math.floor(staged.split('\0').length / 2);
  if (files === 0) {
    const why = leftOutText(leftOut).map((text) => `; ${text}`);
    const code = leftOut.length === 0 ? 'nothing_to_commit' : 'nested_repository';
    throw new UserMistake(code, `${worktree.name} has nothing to commit${why.join('')}`);
  }
  const maker = { ...makerOf(place, worktree), ...(task !== undefined && { task }) };
  const subject = message ?? maker.task ?? `Work of ${maker.agent ?? worktree.name}`;
  const parent = await headCommit(place, worktree, call);
  const tree = await gitText(['write-tree'], copy);
  const args = ['-c', 'user.useConfigOnly=true', 'commit-tree', tree, '-p', parent, '-F', '-'];
  const end = await runGit(args, { ...call, input: withTrailers(subject, maker) });
  if (end.code !== 0) throw noIdentityFrom(end.stderr) ?? failedCommit(worktree, end.stderr);
  const commit = end.stdout.trim();
  // The index first: after a kill in between everything is staged, and the next commit takes it. An index that is behind HEAD
  // would look like work that is not committed.
  replaceWhole(own, readFileSync(index));
  await moveHead({ place, call, branch }, { commit, parent, subject });
  for (const name of OVER) rmSync(join(adminDirectory(place, worktree), name), { force: true });
  return { commit, files, leftOut };
}

/** What a commit ends. */
const OVER = ['CHERRY_PICK_HEAD', 'REVERT_HEAD', 'MERGE_MSG', 'SQUASH_MSG'];

async function moveHead(
  { place, call, branch }: Pick<CommitOrder, 'place' | 'call' | 'branch'>,
  { commit, parent, subject }: { commit: string; parent: string; subject: string },
): Promise<void> {
  const { repository, env } = place;
  const words = ['update-ref', '--no-deref', '-m', `commit: ${subject.split('\n', 1)[0]}`];
  if (branch !== null)
    await gitText([...words, `refs/heads/${branch}`, commit, parent], { cwd: repository.root, env });
  else await gitText([...words, 'HEAD', commit, parent], call);
}

function refuseBusy(place: WorktreePlace, worktree: ManagedWorktree): void {
  refuseUnfinished(place.project, worktree);
  const { name, path, state, lease, owner } = worktree;
  if (!existsSync(path))
    throw new UserMistake(
      'worktree_gone',
      `the files of the worktree ${name} are gone: nothing can be committed`,
    );
  if (state === 'leased' && lease !== null && isHeld(place.project, { lease, owner }))
    throw new UserMistake(
      'worktree_in_use',
      lease.pid === process.pid
        ? `${name} is not given back yet: wait until its agent has ended`
        : `an agent works in ${name} (process ${lease.pid}): wait until it has ended, or end it with ramet stop`,
    );
}

/** After what leads elsewhere was put right. */
function refuseTorn(place: WorktreePlace, { name, path, admin, branch }: ManagedWorktree): void {
  const { commonDirectory } = place.repository;
  if (branch !== null && isDamagedRef(commonDirectory, `refs/heads/${branch}`))
    throw new UserMistake(
      'branch_damaged',
      `${branch}, the branch of ${name}, names no commit, so nothing was committed and its files stay in ${path}: ${damageAdvice(commonDirectory, `refs/heads/${branch}`)}`,
    );
  if (isTorn(adminDirectory(place, { admin })))
    throw new UserMistake('worktree_torn', `the worktree ${name} ${tornText(path)}`);
  if (isMerging(adminDirectory(place, { admin }), commonDirectory))
    throw new UserMistake(
      'merge_under_way',
      `a merge is under way in ${path}: finish it there with git commit, or give it up with git merge --abort`,
    );
}

/** A merge of what HEAD is already has nothing to merge: it was left by a git that was killed, or by hand, and goes. */
function isMerging(admin: string, commonDirectory: string): boolean {
  const merged = readPointer(join(admin, 'MERGE_HEAD'));
  if (merged === null) return existsSync(join(admin, 'MERGE_HEAD'));
  if (merged.trim() !== readHead(admin, commonDirectory)?.commit) return true;
  for (const name of ['MERGE_HEAD', 'MERGE_MODE', 'MERGE_MSG']) rmSync(join(admin, name), { force: true });
  return false;
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
    // One whose session was deleted still has its work.
    if (error instanceof JournalError || error instanceof UserMistake) return undefined;
    throw error;
  }
}

function failedCommit({ path }: ManagedWorktree, stderr: string): UserMistake {
  const reason = stderr.trim().split('\n').at(-1) ?? 'git commit failed';
  return new UserMistake('not_committed', `git could not commit in ${path}: ${reason}`);
}
