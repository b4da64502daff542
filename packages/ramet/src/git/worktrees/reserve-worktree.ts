/** Enters a worktree before anything of it is on disk: its name, path, branch and slot are its own from here on. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { UserMistake } from '../../schema/errors.ts';
import { newSessionId } from '../../schema/ids.ts';
import { thisProcess } from '../../system/processes/process-identity.ts';
import { readHead, readRef } from '../read-refs.ts';
import type { WorktreeBase } from './find-base.ts';
import { takeSlot } from './pool/slots.ts';
import { isTreeOf } from './register-worktree.ts';
import { isSamePart, sparsePatternsOf } from './sparse-checkout.ts';
import type { ManagedWorktree, SparsePatterns, WorktreeFacts, WorktreeOwner } from './worktree.ts';
import { BRANCH_PREFIX, freeName, nameKey, worktreeName } from './worktree-name.ts';
import { adminDirectory, type WorktreePlace, worktreesDirectory } from './worktree-place.ts';

interface Reservation {
  name: string;
  owner: WorktreeOwner | null;
  numbered?: boolean | undefined;
  throwaway?: true | undefined;
}

export interface ReservedWorktree {
  worktree: ManagedWorktree;
  /** The tree of the pool that it is to have; null when none is ready. Its row has become this one's, slot and all. */
  ready: ManagedWorktree | null;
}

export function reserveWorktree(
  place: WorktreePlace,
  { name: wanted, owner, numbered = false, throwaway }: Reservation,
  base: WorktreeBase,
): ReservedWorktree {
  const plain = worktreeName(wanted);
  return place.registry.transact(() => {
    const rows = place.registry.list();
    const isTaken = takenNames(place, rows);
    if (!numbered && isTaken(plain)) throw nameTaken(place, plain);
    const name = freeName(plain, isTaken);
    const facts = freshFacts(place, base.target);
    const found = facts.sparse.length > 0 ? null : findReady(rows, base.commit, facts.patterns);
    // A worktree that was changed in the pool is removed by the claim, not here.
    const ready = found !== null && isAsRecorded(place, found) ? found : null;
    const fields = { ...place, name, base, owner };
    const made = ready === null ? newWorktree(fields, facts) : claimingWorktree(fields, ready);
    const worktree = throwaway === true ? { ...made, facts: { ...made.facts, throwaway } } : made;
    place.registry.put(worktree);
    return { worktree, ready };
  });
}

/** What a slot's file says about its holder; see `freeLostSlots`. */
export function slotHolder({ project }: Pick<WorktreePlace, 'project'>, id: string): string {
  return `${project}\n${id}`;
}

interface Fields extends WorktreePlace {
  name: string;
  base: WorktreeBase;
  owner: WorktreeOwner | null;
}

function newWorktree(fields: Fields, facts: WorktreeFacts): ManagedWorktree {
  const id = newSessionId();
  const slot = takeSlot(fields.home, slotHolder(fields, id));
  return { ...commonParts(fields), id, slot, admin: `ramet-${id}`, state: 'making', facts };
}

/** A tree of the pool has had an id, a registration and a slot since it was taken in; nobody else has had them. */
function claimingWorktree(fields: Fields, ready: ManagedWorktree): ManagedWorktree {
  const { id, slot, admin } = ready;
  const facts = claimedFacts(fields, fields.base.target, ready);
  return { ...commonParts(fields), id, slot, admin, state: 'claiming', facts };
}

type CommonParts = Omit<ManagedWorktree, 'id' | 'slot' | 'admin' | 'state' | 'facts'>;

function commonParts({ name, base, owner, ...place }: Fields): CommonParts {
  const now = place.now();
  const path = join(worktreesDirectory(place), name);
  const branch = `${BRANCH_PREFIX}${name}`;
  return {
    ...{ name, path, branch, base: base.commit, owner },
    lease: thisProcess(),
    created: now,
    changed: now,
  };
}

/** Until it is at its place it is where the pool had it. */
export function claimedFacts(
  place: WorktreePlace,
  target: string | null,
  { path, facts }: ManagedWorktree,
): WorktreeFacts {
  return { ...freshFacts(place, target), elsewhere: path, dependencies: facts.dependencies };
}

export function freshFacts({ settings, repository }: WorktreePlace, target: string | null): WorktreeFacts {
  const sparse = settings.sparsePaths ?? [];
  const patterns = sparse.length === 0 ? sparsePatternsOf(repository) : undefined;
  return { target, copied: {}, links: [], dependencies: [], sparse, patterns };
}

/** A name is taken by a living worktree, by a directory, and by a branch: those may belong to a person. */
function takenNames(place: WorktreePlace, rows: readonly ManagedWorktree[]): (name: string) => boolean {
  const living = rows.filter(({ state }) => state !== 'gone');
  const names = new Set(living.map(({ name }) => nameKey(name)));
  const directory = worktreesDirectory(place);
  return (name) =>
    names.has(nameKey(name)) ||
    existsSync(join(directory, name)) ||
    readRef(place.repository.commonDirectory, `refs/heads/${BRANCH_PREFIX}${name}`) !== null;
}

function nameTaken(place: WorktreePlace, name: string): UserMistake {
  return new UserMistake(
    'worktree_taken',
    `a worktree, directory or branch ${BRANCH_PREFIX}${name} exists already (${worktreesDirectory(place)}): choose another name, or remove it with ramet worktree rm`,
  );
}

/**
 * Finds a ready worktree of the pool; the caller takes it, in one transaction.
 *
 * One with the same part of the files: at the wanted commit, else any.
 */
export function findReady(
  rows: readonly ManagedWorktree[],
  commit: string,
  patterns: SparsePatterns | undefined,
): ManagedWorktree | null {
  const ready = rows.filter(({ state, facts }) => state === 'ready' && isSamePart(facts.patterns, patterns));
  return ready.find(({ base }) => base === commit) ?? ready[0] ?? null;
}

/** Whether it is where the registry says, as it was verified. */
export function isAsRecorded(place: WorktreePlace, ready: ManagedWorktree): boolean {
  const head = readHead(adminDirectory(place, ready), place.repository.commonDirectory);
  return head?.ref === null && head.commit === ready.base && isTreeOf(ready.path, ready);
}
