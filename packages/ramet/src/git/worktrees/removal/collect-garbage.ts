/**
 * Goes through all worktrees that Ramet answers for (WORK-3): finishes or undoes what killed processes left half-made,
 * removes those without changes, and says why each other one stays. Each verdict is computed here and now.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { indexPath } from '../../../journal/session-index.ts';
import { isWriterAlive, openReader } from '../../../journal/sessions.ts';
import { UserMistake } from '../../../schema/errors.ts';
import { fewAtOnce } from '../../../system/few-at-once.ts';
import { writeTrouble } from '../../../system/sqlite/sqlite-failure.ts';
import { verdictOf } from '../changes/verdict.ts';
import { discardUnused } from '../dependencies/dependency-template.ts';
import { isHeld } from '../half-made.ts';
import { poolBytes, wantedPool } from '../pool/pool-size.ts';
import { freeLostSlots } from '../pool/slots.ts';
import type { ManagedWorktree } from '../worktree.ts';
import { type WorktreePlace, worktreesDirectory } from '../worktree-place.ts';
import { DEFAULT_CLEANUP_DAYS } from '../worktree-settings.ts';
import { deleteLater } from './delete-directory.ts';
import { finishTrashed, undoDead } from './left-behind.ts';
import { removeDeadLocks } from './ref-locks.ts';
import { settleWorktree } from './release-worktree.ts';
import { removeWorktree } from './remove-worktree.ts';
import { deleteLeftBranches } from './safe-branch.ts';

export interface GarbageOptions {
  /** Judge, and change nothing. */
  dryRun?: boolean | undefined;
  /** How long a worktree without a live owner waits to be continued. */
  cleanupPeriodDays?: number | undefined;
  /** What holds nothing may be prepared for the next agents. Nobody should have to wait for that. */
  pools?: boolean | undefined;
  /** What sessions at work have given back is theirs: an operator is about to commit and to merge it. */
  leavesLiving?: boolean | undefined;
}

export interface GarbageEntry {
  worktree: ManagedWorktree;
  /** What was done, or would be in a dry run. */
  action: 'keep' | 'remove' | 'pool' | 'undo' | 'forget';
  /** Why, one sentence each. */
  reasons: string[];
}

const DAY_MS = 86_400_000;

export async function collectGarbage(
  place: WorktreePlace,
  options: GarbageOptions = {},
): Promise<GarbageEntry[]> {
  const isLiving = livingSessions(place.project);
  const judged = async ({ id }: ManagedWorktree): Promise<GarbageEntry[]> => {
    const worktree = place.registry.find(id);
    if (worktree === null) return [];
    if (options.leavesLiving === true && worktree.state === 'released' && isLiving(worktree))
      return [{ worktree, action: 'keep', reasons: ['its session is at work'] }];
    return [
      await collect(place, worktree, options).catch((error: unknown) => failed(place, worktree, error)),
    ];
  };
  if (options.dryRun !== true) removeDeadLocks(place);
  // Memories last: what is half-made may have to become one of them again.
  const [living, gone] = partition(place.registry.list(), ({ state }) => state !== 'gone');
  const entries = [...(await fewAtOnce(living, judged)), ...(await fewAtOnce(gone, judged))].flat();
  if (options.dryRun !== true) {
    // A run that is not over keeps them: its target may be set back.
    await deleteLeftBranches(place, (row) => !isLiving(row));
    sweep(place);
    const days = options.cleanupPeriodDays ?? DEFAULT_CLEANUP_DAYS;
    await discardUnused(place.home, days, place.now());
  }
  return entries;
}

/** Whether the session of a worktree is at work; each is asked about once. */
function livingSessions(project: string): (worktree: ManagedWorktree) => boolean {
  const known = new Map<string, boolean>();
  return ({ owner }) => {
    if (owner === null) return false;
    const { session } = owner;
    const isLiving = known.get(session) ?? isAtWork(project, session);
    known.set(session, isLiving);
    return isLiving;
  };
}

function isAtWork(project: string, session: string): boolean {
  try {
    return isWriterAlive({ project, session });
  } catch (error) {
    // Nobody writes a session that is not there. Of another that cannot be read nothing is known.
    return !(error instanceof UserMistake);
  }
}

function partition<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

async function collect(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  { dryRun = false, cleanupPeriodDays = DEFAULT_CLEANUP_DAYS, pools = false }: GarbageOptions,
): Promise<GarbageEntry> {
  const entry = (action: GarbageEntry['action'], ...reasons: string[]): GarbageEntry => ({
    worktree,
    action,
    reasons,
  });
  const age = (place.now() - worktree.changed) / DAY_MS;
  const isOld = age >= cleanupPeriodDays;
  const owned = isHeld(place.project, worktree);
  if (owned) return entry('keep', `process ${worktree.lease?.pid} has it (${worktree.state})`);
  switch (worktree.state) {
    case 'making':
    case 'claiming':
    case 'resetting':
      if (!dryRun) await undoDead(place, worktree);
      return entry('undo', `half-made: its process ended while it was ${worktree.state}`);
    case 'trashed':
      return dryRun
        ? entry('remove', 'its removal was interrupted')
        : entry(...(await finishTrashed(place, worktree)));
    case 'gone':
      if (isOld && !dryRun) place.registry.forget(worktree.id);
      return isOld
        ? entry('forget', `removed ${Math.floor(age)} days ago`)
        : entry('keep', 'remembered, so that its agent can be continued');
    case 'ready':
      if (!isOld && !isSurplus(place, worktree)) return entry('keep', 'ready for the next agent');
      if (!dryRun) await undoDead(place, worktree);
      return entry(
        'remove',
        isOld ? `not used for ${Math.floor(age)} days` : 'more are ready than are used at once',
      );
    case 'leased':
    case 'released':
      return judge(place, worktree, { dryRun, isOld, pools });
  }
}

async function judge(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  { dryRun, isOld, pools }: { dryRun: boolean; isOld: boolean; pools: boolean },
): Promise<GarbageEntry> {
  if (worktree.state === 'released' && !dryRun) return settle(place, worktree, pools);
  const verdict = await verdictOf(place, worktree);
  const reasons = verdict.reasons.map(({ text }) => text);
  if (!verdict.isEmpty) return { worktree, action: 'keep', reasons };
  if (worktree.state === 'leased' && !isOld && mayContinue(place, worktree)) {
    return { worktree, action: 'keep', reasons: ['holds nothing; its agent may be continued'] };
  }
  if (dryRun) return { worktree, action: 'remove', reasons: ['holds nothing'] };
  const removal = await removeWorktree(place, worktree, { work: verdict.work });
  return removal.removed
    ? { worktree, action: 'remove', reasons: ['has no changes and was not used again'] }
    : { worktree, action: 'keep', reasons: removal.reasons.map(({ text }) => text) };
}

/** Not an agent that had ended when its process was killed, before it gave its worktree back. */
function mayContinue({ project }: WorktreePlace, { owner, facts }: ManagedWorktree): boolean {
  if (facts.throwaway === true) return false;
  if (owner === null) return true;
  const { session, agent } = owner;
  try {
    const reader = openReader({ project, session, forgiving: true });
    try {
      const types = ['agent.started', 'agent.resumed', 'agent.ended'] as const;
      const last = [...reader.events({ agent, types })].at(-1)?.event;
      return last?.type !== 'agent.ended' || last.status === 'interrupted';
    } finally {
      reader.close();
    }
  } catch {
    return true;
  }
}

async function settle(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  pools: boolean,
): Promise<GarbageEntry> {
  const settled = await settleWorktree(place, worktree, { pools });
  if (settled.kept) return { worktree, action: 'keep', reasons: settled.reasons.map(({ text }) => text) };
  return { worktree, action: settled.became === 'pooled' ? 'pool' : 'remove', reasons: ['holds nothing'] };
}

/** One too many, or one with which they take too much room. */
function isSurplus(place: WorktreePlace, worktree: ManagedWorktree): boolean {
  const ready = place.registry.list().filter(({ state }) => state === 'ready');
  const position = ready.findIndex(({ id }) => id === worktree.id);
  const upTo = ready.slice(0, position + 1).reduce((sum, { facts }) => sum + (facts.bytes ?? 0), 0);
  return position >= wantedPool(place) || upTo > poolBytes(place);
}

function failed(place: WorktreePlace, worktree: ManagedWorktree, error: unknown): GarbageEntry {
  const reason = writeTrouble(indexPath(place.project), error);
  return { worktree, action: 'keep', reasons: [`it could not be judged: ${reason}`] };
}

/** What no row speaks of any more: trees in the trash, registrations never moved into place, slots. */
function sweep(place: WorktreePlace): void {
  const living = place.registry.list().filter(({ state }) => state !== 'gone');
  const ids = new Set(living.map(({ id }) => id));
  const admins = new Set(living.map(({ admin }) => admin));
  const trash = join(worktreesDirectory(place), '.trash');
  for (const name of namesIn(trash)) if (!ids.has(name)) deleteLater(join(trash, name));
  const own = join(place.repository.commonDirectory, 'ramet');
  for (const name of namesIn(own)) {
    const admin = /^(?:new|old)-(ramet-.+)$/.exec(name)?.[1];
    if (admin !== undefined && !admins.has(admin)) rmSync(join(own, name), { recursive: true, force: true });
  }
  freeLostSlots(place.home, place.project, (id) => ids.has(id));
}

function namesIn(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory) : [];
}
