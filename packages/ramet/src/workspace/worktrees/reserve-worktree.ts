/** Enters a worktree before anything of it is on disk: its name, path, branch and slot are its own from here on. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { thisProcess } from '../../journal/process-identity.ts';
import { UserMistake } from '../../schema/errors.ts';
import { newSessionId } from '../../schema/ids.ts';
import { readRef } from '../git/read-refs.ts';
import type { WorktreeBase } from './find-base.ts';
import { takeSlot } from './slots.ts';
import { sparsePatternsOf } from './sparse-checkout.ts';
import type { ManagedWorktree, WorktreeFacts, WorktreeOwner } from './worktree.ts';
import { BRANCH_PREFIX, freeName, nameKey, worktreeName } from './worktree-name.ts';
import { type WorktreePlace, worktreesDirectory } from './worktree-place.ts';

interface Reservation {
  name: string;
  owner: WorktreeOwner | null;
  numbered?: boolean | undefined;
}

export function reserveWorktree(
  place: WorktreePlace,
  { name: wanted, owner, numbered = false }: Reservation,
  base: WorktreeBase,
): ManagedWorktree {
  const plain = worktreeName(wanted);
  return place.registry.transact(() => {
    const isTaken = takenNames(place);
    if (!numbered && isTaken(plain)) throw nameTaken(place, plain);
    const name = freeName(plain, isTaken);
    const id = newSessionId();
    const slot = takeSlot(place.home, slotHolder(place, id));
    const worktree = newWorktree(place, { id, name, slot, base, owner });
    place.registry.put(worktree);
    return worktree;
  });
}

/** What a slot's file says of its holder; see `freeLostSlots`. */
export function slotHolder({ project }: WorktreePlace, id: string): string {
  return `${project}\n${id}`;
}

interface Fields {
  id: string;
  name: string;
  slot: number;
  base: WorktreeBase;
  owner: WorktreeOwner | null;
}

function newWorktree(place: WorktreePlace, { id, name, slot, base, owner }: Fields): ManagedWorktree {
  const now = place.now();
  const path = join(worktreesDirectory(place), name);
  return {
    ...{ id, name, path, branch: `${BRANCH_PREFIX}${name}`, base: base.commit, state: 'making', owner },
    ...{ lease: thisProcess(), slot, admin: `ramet-${id}`, created: now, changed: now },
    facts: freshFacts(place, base.target),
  };
}

export function freshFacts({ settings, repository }: WorktreePlace, target: string | null): WorktreeFacts {
  const sparse = settings.sparsePaths ?? [];
  const patterns = sparse.length === 0 ? sparsePatternsOf(repository) : undefined;
  return { target, copied: {}, links: [], dependencies: [], sparse, patterns };
}

/** A name is taken by a living worktree, by a directory, and by a branch: those are somebody's too. */
function takenNames(place: WorktreePlace): (name: string) => boolean {
  const living = place.registry.list().filter(({ state }) => state !== 'gone');
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
