/**
 * Whether a worktree may vanish (WORK-3), judged from git and the system at the moment of asking. It may when nothing
 * in it would be lost and nobody is in it; every doubt is a reason to keep it, and every reason is told.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readHead, readRef } from '../../read-refs.ts';
import { readOrNull, readPointer } from '../../repository.ts';
import { isCommitId, runGit } from '../../run-git.ts';
import { isHeld } from '../half-made.ts';
import { isLockOurs, isTreeOf } from '../register-worktree.ts';
import { mountsIn, processesInside } from '../removal/delete-directory.ts';
import { directoriesOf } from '../trusted-git.ts';
import type { ManagedWorktree, VerdictReason } from '../worktree.ts';
import { adminDirectory, type WorktreePlace } from '../worktree-place.ts';
import { heldCommits, type WorktreeTips } from './held-commits.ts';
import { heldWork } from './held-files.ts';

export interface WorktreeVerdict {
  /** Nothing is lost when it goes. */
  isEmpty: boolean;
  /** Why it stays, in words. */
  reasons: VerdictReason[];
  /** Its directory is gone already: it was removed by hand. */
  isMissing: boolean;
  /** Those of them that are about its files. */
  work: readonly VerdictReason[];
  /** What it was judged at; null when not known. */
  tips: WorktreeTips | null;
}

export interface VerdictOptions {
  /** The asker holds the lease itself. */
  isHolder?: boolean | undefined;
  /** Where its directory is for the moment, when not at its path. */
  directory?: string | undefined;
  /** The changes in its files, if they were read. */
  work?: readonly VerdictReason[] | undefined;
  /** A commit whose content a target has by record: a replay or a resolved conflict leaves no trace of it there. */
  landed?: string | undefined;
}

export async function verdictOf(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  { isHolder = false, directory = worktree.path, work: known, landed }: VerdictOptions = {},
): Promise<WorktreeVerdict> {
  const isMissing = !existsSync(directory);
  const tips = await tipsOf(place, worktree);
  const there = { ...worktree, path: directory };
  // Files and commits are asked about at the same time: neither depends on the other.
  const [work, commits] = await Promise.all([
    isMissing || !isTreeOf(directory, worktree) ? [] : (known ?? heldWork(place, there)),
    tips === null ? [headUnknown()] : heldCommits(place, worktree, tips, landed),
  ]);
  const reasons = [
    ...(isHolder ? [] : leaseReason(place, worktree)),
    ...(isMissing ? [] : placeReasons(there)),
    ...registrationReasons(place, worktree),
    ...work,
    ...commits,
  ];
  return { isEmpty: reasons.length === 0, reasons, work, isMissing, tips };
}

/** What has come since it was judged. Its tree is in `directory` by now, where nobody looks for it. */
export async function cameSince(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  { directory, tips }: { directory: string; tips: WorktreeTips | null },
): Promise<VerdictReason[]> {
  const there = { ...worktree, path: directory };
  const work = await heldWork(place, there);
  // After the files: a commit leaves nothing in them.
  const now = await tipsOf(place, there);
  const isSame =
    now !== null && now.head === tips?.head && now.ref === tips.ref && now.branch === tips.branch;
  if (isSame) return work;
  return [...work, { kind: 'commits', text: 'its branch or HEAD moved while it was judged' }];
}

function leaseReason({ project }: WorktreePlace, worktree: ManagedWorktree): VerdictReason[] {
  if (!isHeld(project, worktree)) return [];
  return [{ kind: 'in_use', text: `in use by process ${worktree.lease?.pid}` }];
}

function placeReasons(worktree: ManagedWorktree): VerdictReason[] {
  const reasons: VerdictReason[] = [];
  const processes = processesInside(worktree.path);
  if (processes === null) {
    reasons.push({ kind: 'unknown', text: 'which processes work in it is not known on this system' });
  } else if (processes.length > 0) {
    reasons.push({ kind: 'in_use', text: `process ${processes.slice(0, 3).join(', ')} works in it` });
  }
  const mounts = mountsIn(worktree.path);
  if (mounts === null) reasons.push({ kind: 'unknown', text: 'what is mounted in it is not known' });
  else if (mounts.length > 0) reasons.push({ kind: 'mount', text: `${mounts[0]} is a mount point` });
  if (!isTreeOf(worktree.path, worktree)) {
    reasons.push({ kind: 'unknown', text: 'its `.git` file does not lead to it any more' });
  }
  return reasons;
}

export const OPERATIONS: readonly string[] = [
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'rebase-merge',
  'rebase-apply',
  'BISECT_LOG',
];

function registrationReasons(place: WorktreePlace, worktree: ManagedWorktree): VerdictReason[] {
  const admin = adminDirectory(place, worktree);
  const reasons: VerdictReason[] = [];
  if (isLockOurs(place, worktree) === false)
    reasons.push({ kind: 'locked', text: `locked: ${lockText(admin)}` });
  const operation = OPERATIONS.find((name) => existsSync(join(admin, name)));
  if (operation !== undefined)
    reasons.push({ kind: 'operation', text: `${operation}: git is in the middle of something` });
  if (existsSync(join(admin, 'index.lock'))) {
    reasons.push({ kind: 'operation', text: 'index.lock: a git is at work, or was killed' });
  }
  if (existsSync(join(admin, 'modules'))) {
    reasons.push({
      kind: 'submodule',
      text: `submodules with repositories of their own in ${join(admin, 'modules')}`,
    });
  }
  return [...reasons, ...branchReason(place, worktree), ...stashReason(place, worktree)];
}

/** What is on the other branch is not its work, and where its own was nobody knows. */
function branchReason({ repository }: WorktreePlace, { branch }: ManagedWorktree): VerdictReason[] {
  const ref = branch === null ? null : readPointer(join(repository.commonDirectory, 'refs/heads', branch));
  const led = /^ref: (?:refs\/heads\/)?(.+)/.exec(ref ?? '')?.[1];
  return led === undefined ? [] : [{ kind: 'unknown', text: `its branch ${branch} leads to ${led}` }];
}

function lockText(admin: string): string {
  return readPointer(join(admin, 'locked'))?.trim() || 'by someone, without a reason';
}

/** Stashes stay when a worktree goes, but nobody would look for them. */
function stashReason({ repository }: WorktreePlace, { branch }: ManagedWorktree): VerdictReason[] {
  if (branch === null) return [];
  const log = readOrNull(join(repository.commonDirectory, 'logs', 'refs', 'stash')) ?? '';
  const count = log.split('\n').filter((line) => / on (.+?): /i.exec(line)?.[1] === branch).length;
  return count === 0 ? [] : [{ kind: 'stash', text: `${count} stashes made on ${branch}` }];
}

/** Null when HEAD cannot be read: never taken for the base. */
async function tipsOf(place: WorktreePlace, worktree: ManagedWorktree): Promise<WorktreeTips | null> {
  const { commonDirectory, root } = place.repository;
  const position = readHead(adminDirectory(place, worktree), commonDirectory);
  const branch = worktree.branch === null ? null : await branchTip(place, `refs/heads/${worktree.branch}`);
  if (position !== null) return { head: position.commit, ref: position.ref, branch };
  const isThere = existsSync(worktree.path);
  const checkout = isThere ? directoriesOf(place, worktree) : undefined;
  const call = { cwd: isThere ? worktree.path : root, env: place.env, checkout };
  const head = await runGit(['rev-parse', '--verify', '--quiet', 'HEAD'], call);
  const commit = head.stdout.trim();
  if (head.code !== 0 || !isCommitId(commit) || call.cwd !== worktree.path) return null;
  const symbolic = await runGit(['symbolic-ref', '--quiet', 'HEAD'], call);
  return { head: commit, ref: symbolic.code === 0 ? symbolic.stdout.trim() : null, branch };
}

async function branchTip({ repository, env }: WorktreePlace, ref: string): Promise<string | null> {
  const read = readRef(repository.commonDirectory, ref);
  if (read !== null) return read;
  const { code, stdout } = await runGit(['rev-parse', '--verify', '--quiet', ref], {
    cwd: repository.root,
    env,
  });
  return code === 0 ? stdout.trim() : null;
}

function headUnknown(): VerdictReason {
  return { kind: 'unknown', text: 'where its HEAD is could not be read' };
}
