/**
 * Moves a target to its new commit, by compare and swap: it moves only from the value that the merge was computed on,
 * so a person's commit in between is never overwritten. A target that is checked out somewhere moves only when that was
 * asked for and the checkout is clean, and then the checkout's files and index go along.
 */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gitFailed, runGit } from '../run-git.ts';
import { type BranchCheckout, checkoutsOf } from './branch-checkouts.ts';
import { checkingRef, integrationRef, keptRef } from './integration-refs.ts';
import { callIn, callToTheEnd, type MergeRepository, readRef } from './merge-repository.ts';
import { removeDeadLocks, withNotedLocks } from './noted-locks.ts';
import { updateRefs } from './update-refs.ts';

export interface TargetMove {
  /** The full name. */
  target: string;
  from: string;
  to: string;
  /** The present value of the private ref; null if it does not exist. */
  integration: string | null;
  /** Whether the private ref's value must be set aside, because nobody knows what is in it. */
  keepsIntegration: boolean;
  updateCheckout: boolean;
  /** Whether a private ref holds `to` while it is checked. */
  isHeld: boolean;
  reason: string;
}

export type MoveOutcome =
  | { kind: 'moved'; checkout: string | null }
  /** The result is on the private ref. */
  | { kind: 'kept'; reason: string }
  /** A ref moved meanwhile: everything has to be computed again. */
  | { kind: 'stale' };

export async function moveTarget(move: TargetMove, repository: MergeRepository): Promise<MoveOutcome> {
  const checkouts = checkoutsOf(move.target, repository);
  if (checkouts.length === 0) {
    const stale = await updateRefs(
      [update(move.target, move.to, move.from), ...clearing(move)],
      move,
      repository,
    );
    return stale ? { kind: 'stale' } : { kind: 'moved', checkout: null };
  }
  const [checkout] = checkouts;
  await removeDeadLocks(repository.commonDirectory);
  const obstacle = move.updateCheckout
    ? await obstacleIn(checkouts, repository)
    : `${checkout?.directory} has it checked out`;
  if (obstacle !== null || checkout === undefined) return keep(move, obstacle ?? '', repository);
  return fastForward(checkout, move, repository);
}

/** Nothing lands. What was ready is taken off the private ref, where `integration` says what it holds. */
export async function leaveTarget(move: TargetMove, repository: MergeRepository): Promise<MoveOutcome> {
  const stale = await updateRefs(clearing(move), move, repository);
  return stale ? { kind: 'stale' } : { kind: 'moved', checkout: null };
}

async function keep(move: TargetMove, reason: string, repository: MergeRepository): Promise<MoveOutcome> {
  const ref = integrationRef(move.target);
  const aside =
    move.keepsIntegration && move.integration !== null
      ? [`update ${keptRef(move.target, move.integration)} ${move.integration}\n`]
      : [];
  const unchanged = move.integration === move.to;
  const changes = unchanged ? [] : [update(ref, move.to, move.integration)];
  const stale = await updateRefs([...aside, ...changes, ...release(move)], move, repository);
  // Not part of the transaction: git notes even a bare comparison in the reflog of the checkout that has the branch.
  const moved = stale || (await readRef(move.target, repository)) !== move.from;
  return moved ? { kind: 'stale' } : { kind: 'kept', reason };
}

/**
 * Git does it as one act under the checkout's own lock, and refuses when the branch has moved or a file is in the way.
 */
async function fastForward(
  { directory, gitDirectory }: BranchCheckout,
  move: TargetMove,
  repository: MergeRepository,
): Promise<MoveOutcome> {
  // Tried without doing it first: a merge that fails would leave its traces in the checkout.
  const call = { ...callToTheEnd(repository), cwd: directory, isSheltered: true };
  const trial = await runGit(['read-tree', '-n', '-m', '-u', move.from, move.to], call);
  if (trial.code !== 0)
    return keep(move, `${directory} is in the way: ${firstLines(trial.stderr)}`, repository);
  const args = ['merge', '--ff-only', '--no-autostash', '--no-verify-signatures', '--no-stat', '-q', move.to];
  // So that the reflog says who it was.
  const env = { ...call.env, GIT_REFLOG_ACTION: 'ramet merge' };
  const own = relative(repository.commonDirectory, gitDirectory);
  const files = [
    ...['index', 'HEAD', 'ORIG_HEAD'].map((name) => join(own, name)),
    move.target,
    'packed-refs',
  ];
  const end = await withNotedLocks(repository.commonDirectory, files, () => runGit(args, { ...call, env }));
  if (end.code !== 0) {
    if ((await readRef(move.target, repository)) !== move.from) return { kind: 'stale' };
    return keep(move, `git could not move ${directory}: ${firstLines(end.stderr)}`, repository);
  }
  await updateRefs(clearing(move), move, repository);
  return { kind: 'moved', checkout: directory };
}

function firstLines(text: string): string {
  return text.trim().split('\n').slice(0, 3).join(' ');
}

/** Why a checkout must not be moved; null if nothing prevents it. */
async function obstacleIn(
  checkouts: readonly BranchCheckout[],
  repository: MergeRepository,
): Promise<string | null> {
  const [checkout, second] = checkouts;
  if (checkout === undefined) return null;
  const { directory, gitDirectory, isBusy } = checkout;
  if (second !== undefined) return `${directory} and ${second.directory} both have it checked out`;
  const marks = [
    'MERGE_HEAD',
    'CHERRY_PICK_HEAD',
    'REVERT_HEAD',
    'rebase-merge',
    'rebase-apply',
    'index.lock',
  ];
  const found = marks.find((name) => existsSync(join(gitDirectory, name)));
  if (isBusy || found !== undefined) return `git is at work in ${directory} (${found ?? 'rebase or bisect'})`;
  const args = ['status', '--porcelain', '-z', '--untracked-files=no'];
  const end = await runGit(args, { ...callIn(repository), cwd: directory });
  if (end.code !== 0) return gitFailed(args, end).message;
  const changes = end.stdout.split('\0').filter((line) => line !== '').length;
  return changes === 0 ? null : `${directory} has ${changes} uncommitted change${changes === 1 ? '' : 's'}`;
}

function clearing(move: TargetMove): string[] {
  const { target, integration, keepsIntegration } = move;
  const gone = integration === null ? [] : [`delete ${integrationRef(target)} ${integration}\n`];
  const aside =
    keepsIntegration && integration !== null
      ? [`update ${keptRef(target, integration)} ${integration}\n`]
      : [];
  return [...aside, ...gone, ...release(move)];
}

function release({ target, isHeld }: TargetMove): string[] {
  return isHeld ? [`delete ${checkingRef(target)}\n`] : [];
}

/** With an old value of null the ref must not exist. */
function update(ref: string, to: string, from: string | null): string {
  return from === null ? `create ${ref} ${to}\n` : `update ${ref} ${to} ${from}\n`;
}
