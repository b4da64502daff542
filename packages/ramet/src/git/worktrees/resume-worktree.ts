/**
 * The worktree of an agent that is continued (WORK-8): the one that is still there, or the same place, branch and
 * base again.
 */
import { existsSync } from 'node:fs';
import { UserMistake } from '../../schema/errors.ts';
import { thisProcess } from '../../system/processes/process-identity.ts';
import { readRef } from '../read-refs.ts';
import { runGit } from '../run-git.ts';
import { dirtyReport } from './changes/dirty-work.ts';
import { type CreatedWorktree, makeWorktree } from './create-worktree.ts';
import { isHeld } from './half-made.ts';
import { takeSlot } from './pool/slots.ts';
import { proveWorktree } from './prove-worktree.ts';
import { unregisterWorktree } from './register-worktree.ts';
import { finishLeft } from './removal/left-behind.ts';
import { slotHolder } from './reserve-worktree.ts';
import { mendCheckout } from './trusted-git.ts';
import { unlockWorktree } from './unlock-worktree.ts';
import type { ManagedWorktree } from './worktree.ts';
import { worktreeEnvironment } from './worktree-environment.ts';
import type { WorktreePlace } from './worktree-place.ts';

/** The worktree that an agent had last, whatever happened to it; null when it never had one. */
export function worktreeOfAgent({ registry }: WorktreePlace, agent: string): ManagedWorktree | null {
  return registry.list().findLast(({ owner }) => owner?.agent === agent) ?? null;
}

export async function resumeWorktree(
  place: WorktreePlace,
  id: string,
  signal?: AbortSignal,
  /** Where its branch was, for one that is gone. */
  lostTip: string | null = null,
): Promise<CreatedWorktree> {
  await finishLeft(place, id);
  const known = place.registry.find(id);
  if (known === null) throw unknownWorktree(id);
  if (known.state === 'gone') return restore(place, known, { signal, lostTip });
  const leased = place.registry.transact(() => takeOver(place, id));
  await mendCheckout(place, leased);
  await unlockWorktree(place, leased);
  const proof = await proveWorktree(place.repository, leased, place.env, false);
  const dirty = dirtyReport(place, 'exclude');
  const env = worktreeEnvironment(place, leased);
  return { worktree: leased, how: howAgain(leased), proof, dirty, setup: null, notes: [], missing: [], env };
}

/** Where a hook was at work when its process was killed, nobody has worked yet: it is asked again. */
function howAgain({ facts }: ManagedWorktree): CreatedWorktree['how'] {
  return facts.hookRun === undefined ? 'restored' : 'made';
}

/** In a transaction: two processes that continue one agent do not both get it. */
function takeOver({ registry, now, project }: WorktreePlace, id: string): ManagedWorktree {
  const current = registry.find(id);
  if (current === null) throw unknownWorktree(id);
  const isFree = !isHeld(project, current) || isOwn(current);
  if (!isFree) throw inUse(current);
  if (current.state !== 'leased' && current.state !== 'released') throw leftBehind(current);
  const leased: ManagedWorktree = { ...current, state: 'leased', lease: thisProcess(), changed: now() };
  registry.put(leased);
  return leased;
}

function isOwn({ lease }: ManagedWorktree): boolean {
  return lease?.pid === thisProcess().pid && lease.started === thisProcess().started;
}

async function restore(
  place: WorktreePlace,
  known: ManagedWorktree,
  { signal, lostTip }: { signal: AbortSignal | undefined; lostTip: string | null },
): Promise<CreatedWorktree> {
  const tip = known.branch === null ? null : await existingBranch(place, known.branch);
  const base = tip ?? lostTip ?? known.base;
  const facts = { ...known.facts, hadBranch: tip !== null };
  const reserved = place.registry.transact(() => reserveAgain(place, { ...known, base, facts }));
  try {
    // Who removed it may have been killed before git was told: two checkouts of one branch would be refused to commit.
    if (!isHandedOn(place, known)) await unregisterWorktree(place, known);
    const created = await makeWorktree(place, reserved, {
      ...{ dirty: dirtyReport(place, 'exclude'), policy: 'exclude', signal, hasBranch: tip !== null },
      base: { commit: base, target: known.facts.target, isCheckoutHead: false },
    });
    return { ...created, how: howAgain(known) };
  } catch (error) {
    // What could not be brought back now may be another time.
    place.registry.put(known);
    throw error;
  }
}

/** Through the pool a tree goes to another agent, and its registration with it. What nobody has now nobody gets again. */
function isHandedOn({ registry }: WorktreePlace, { id, admin }: ManagedWorktree): boolean {
  return registry.list().some((row) => row.id !== id && row.admin === admin && row.state !== 'gone');
}

/** The old id with a new registration: the old one may still be being deleted. */
function reserveAgain(place: WorktreePlace, known: ManagedWorktree): ManagedWorktree {
  const others = place.registry.list().filter(({ id, state }) => id !== known.id && state !== 'gone');
  if (place.registry.find(known.id)?.state !== 'gone') throw inUse(known);
  if (existsSync(known.path) || others.some(({ path }) => path === known.path)) {
    throw new UserMistake(
      'worktree_taken',
      `${known.path} is needed again for its agent and is in use: move or remove what is there, then try again`,
    );
  }
  const slot = takeSlot(place.home, slotHolder(place, known.id), known.slot);
  const admin = `ramet-${known.id}-${place.now().toString(36)}`;
  const reserved: ManagedWorktree = { ...known, state: 'making', lease: thisProcess(), slot, admin };
  place.registry.put(reserved);
  return reserved;
}

export async function existingBranch(
  { repository, env }: WorktreePlace,
  branch: string,
): Promise<string | null> {
  const ref = `refs/heads/${branch}`;
  const read = readRef(repository.commonDirectory, ref);
  if (read !== null) return read;
  const { code, stdout } = await runGit(['rev-parse', '--verify', '--quiet', ref], {
    cwd: repository.root,
    env,
  });
  return code === 0 ? stdout.trim() : null;
}

function unknownWorktree(id: string): UserMistake {
  return new UserMistake('worktree_unknown', `no worktree ${id} is known here: see ramet worktree ls`);
}

function leftBehind({ path, state, name }: ManagedWorktree): UserMistake {
  return new UserMistake(
    'worktree_in_use',
    `${path} is still ${state}, and the process that was at it is gone: ramet worktree gc finishes that; then take ${name} again`,
  );
}

function inUse({ path, lease, state }: ManagedWorktree): UserMistake {
  const who = lease === null ? `it is ${state}` : `process ${lease.pid} has it`;
  return new UserMistake('worktree_in_use', `${path} cannot be taken: ${who}; wait for it or stop it`);
}
