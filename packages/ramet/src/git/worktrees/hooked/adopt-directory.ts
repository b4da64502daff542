/**
 * A worktree that a hook of the user made takes the place of one of ours. The row stays: its name, branch and slot, its fence and its
 * end are those of every worktree. Only its directory and registration are the hook's.
 *
 * Invariants
 * 1. Nothing of the hook's is ours before a row says so, in one transaction with what had the row before.
 * 2. Its agent works on our branch, at the commit that the hook chose: in a sandbox no other branch can be written. The hook's branch
 *    stays where it began.
 * 3. What the hook left uncommitted, and files that it copied, are not work of the agent while they stay as they are.
 */
import { lstatSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserMistake } from '../../../schema/errors.ts';
import { newSessionId } from '../../../schema/ids.ts';
import { gitText, runGit } from '../../run-git.ts';
import { carryDirtyWork, checkoutTrees } from '../changes/dirty-work.ts';
import { type HeldPaths, heldPaths } from '../changes/held-files.ts';
import type { CreatedWorktree } from '../create-worktree.ts';
import { fileDigest } from '../dependencies/bring-files.ts';
import { type MissingPackages, missingPackages } from '../dependencies/missing-packages.ts';
import { freeSlot, takeSlot } from '../pool/slots.ts';
import { proveWorktree, type WorktreeProof } from '../prove-worktree.ts';
import { isLockOurs, leadsBack, lockText, replaceAdminFile } from '../register-worktree.ts';
import { freshFacts, slotHolder } from '../reserve-worktree.ts';
import { directoriesOf, type TrustedCall } from '../trusted-git.ts';
import type { ManagedWorktree, WorktreeFacts } from '../worktree.ts';
import { excludeSettings, worktreeEnvironment, writeExcludes } from '../worktree-environment.ts';
import { adminDirectory, type WorktreePlace } from '../worktree-place.ts';
import { type FoundDirectory, holderOf } from './judge-directory.ts';

export interface AdoptedDirectory {
  created: CreatedWorktree;
  /** What had the row before, with a row of its own: nobody has worked in it. */
  left: ManagedWorktree;
}

export async function adoptDirectory(
  place: WorktreePlace,
  own: ManagedWorktree,
  found: FoundDirectory,
  dirty: CreatedWorktree['dirty'],
): Promise<AdoptedDirectory> {
  const { path, admin, head } = found;
  const bare: ManagedWorktree = {
    ...own,
    ...{ path, admin, base: head },
    facts: { ...freshFacts(place, own.facts.target), hook: hookFacts(place, found) },
  };
  const { facts, notes, carries } = await asLeft(place, bare, own);
  const worktree = { ...bare, facts };
  // By another spelling of its path, for git too.
  if (!leadsBack(adminDirectory(place, worktree), path))
    replaceAdminFile(place, worktree, 'gitdir', `${join(path, '.git')}\n`);
  const { left, proof } = await takeOver(place, own, worktree).catch(async (error: unknown) => {
    await giveUp(place, own, found);
    throw error;
  });
  const reported = carries ? dirty : dirty.then((report) => ({ ...report, policy: 'exclude' as const }));
  const created: CreatedWorktree = {
    ...{ worktree, how: 'hook', proof, dirty: reported, setup: null },
    notes: [branchNote(found, worktree), ...notes].filter((note) => note !== null),
    missing: missingIn(place, path),
    env: worktreeEnvironment(place, worktree),
  };
  return { created, left };
}

async function takeOver(
  place: WorktreePlace,
  own: ManagedWorktree,
  worktree: ManagedWorktree,
): Promise<{ left: ManagedWorktree; proof: WorktreeProof }> {
  await moveBranch(place, own, worktree);
  place.onStep('branch given up');
  const left = swap(place, own, worktree);
  place.onStep('adopted');
  const call = callIn(place, worktree);
  await gitText(['symbolic-ref', '-m', 'ramet: an agent begins', 'HEAD', refOf(worktree)], call);
  place.onStep('put on its branch');
  lock(place, worktree);
  return { left, proof: await proveWorktree(place.repository, worktree, place.env) };
}

/** As it was: the hook's directory on its own branch, and ours with its row. What fails here, a clean-up judges. */
async function giveUp(place: WorktreePlace, own: ManagedWorktree, found: FoundDirectory): Promise<void> {
  const { registry, home, repository, env } = place;
  const there = callIn(place, { ...own, path: found.path, admin: found.admin });
  const back =
    found.branch === null
      ? ['update-ref', '--no-deref', 'HEAD', found.head]
      : ['symbolic-ref', 'HEAD', `refs/heads/${found.branch}`];
  const isTaken = registry.find(own.id)?.path === found.path;
  if (isTaken) {
    await runGit(back, there);
    if (isLockOurs(place, found) === true) rmSync(join(adminDirectory(place, found), 'locked'));
  }
  await runGit(['update-ref', refOf(own), own.base], { cwd: repository.root, env });
  await runGit(['symbolic-ref', 'HEAD', refOf(own)], callIn(place, own));
  if (!isTaken) return;
  registry.transact(() => {
    const left = registry.list().find(({ admin, id }) => admin === own.admin && id !== own.id);
    if (left !== undefined) registry.forget(left.id);
    if (left !== undefined) freeSlot(home, left.slot, slotHolder(place, left.id));
    registry.put(own);
  });
}

function callIn(place: WorktreePlace, worktree: Pick<ManagedWorktree, 'path' | 'admin'>): TrustedCall {
  return { cwd: worktree.path, env: place.env, checkout: directoriesOf(place, worktree) };
}

function refOf({ branch }: Pick<ManagedWorktree, 'branch'>): string {
  return `refs/heads/${branch}`;
}

function hookFacts(place: WorktreePlace, found: FoundDirectory): NonNullable<WorktreeFacts['hook']> {
  const { branch, isNewBranch } = found;
  const log = statSync(join(adminDirectory(place, found), 'logs', 'HEAD'), { throwIfNoEntry: false });
  return { branch, isNewBranch, logBytes: log?.size ?? 0 };
}

const MOST_NAMED = 5;

/** What the hook has put there. A person who wants uncommitted work carried over gets that where it fits. */
async function asLeft(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  own: ManagedWorktree,
): Promise<{ facts: WorktreeFacts; notes: string[]; carries: boolean }> {
  const { copied, links } = await keepApart(place, worktree);
  const held = await heldPaths(place, worktree);
  for (const name of held.precious) copied[name] ??= fileDigest(join(worktree.path, name));
  const shown = namesOf(held);
  const isWanted = own.facts.carried !== undefined;
  const carries = isWanted && shown.length === 0 && worktree.base === own.base;
  const settings = excludeSettings(place, worktree);
  const carried = carries
    ? await carryDirtyWork(place, worktree)
    : shown.length === 0
      ? undefined
      : await checkoutTrees(callIn(place, worktree), { scratch: adminDirectory(place, worktree), settings });
  const notes = [
    ...(shown.length === 0 ? [] : [`uncommitted, from the hook and not your work: ${listed(shown)}`]),
    ...(isWanted && !carries ? [NOT_CARRIED] : []),
  ];
  return { facts: { ...worktree.facts, copied, links, carried }, notes, carries };
}

/** More than this is no list of a few files that a project needs: they count as uncommitted then. */
const MOST_APART = 200;

/** New files that git does not ignore, such as `.env` in many repositories: like copies of ours, the agent never commits them. */
async function keepApart(
  place: WorktreePlace,
  worktree: ManagedWorktree,
): Promise<{ copied: Record<string, string>; links: string[] }> {
  const others = ['ls-files', '--others', '--exclude-standard', '-z'];
  const found = (await gitText(others, callIn(place, worktree))).split('\0');
  const names = found.filter((name) => name !== '' && !name.endsWith('/'));
  const copied: Record<string, string> = {};
  if (names.length > MOST_APART) return { copied, links: [] };
  const isLink = (name: string): boolean => lstatSync(join(worktree.path, name)).isSymbolicLink();
  const links = names.filter(isLink);
  for (const name of names) if (!isLink(name)) copied[name] = fileDigest(join(worktree.path, name));
  await writeExcludes(place, worktree, names);
  return { copied, links };
}

const NOT_CARRIED =
  'the user wants uncommitted files carried over (worktree.dirty), which is not possible into what the hook made: it has another commit, or files of its own';

function namesOf({ staged, changed, untracked }: HeldPaths): string[] {
  return [...new Set([...staged, ...changed, ...untracked])];
}

function listed(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return `${names.slice(0, MOST_NAMED).join(', ')}${more}`;
}

function branchNote({ branch }: FoundDirectory, worktree: ManagedWorktree): string | null {
  return branch === null
    ? null
    : `the hook's branch ${branch} stays where it is: commit on ${worktree.branch}`;
}

/** Ours is taken off the branch first: no branch is ever in two checkouts. */
async function moveBranch(
  place: WorktreePlace,
  own: ManagedWorktree,
  { base }: ManagedWorktree,
): Promise<void> {
  await gitText(['update-ref', '--no-deref', 'HEAD', own.base], callIn(place, own));
  if (base === own.base) return;
  const call = { cwd: place.repository.root, env: place.env };
  await gitText(['update-ref', refOf(own), base, own.base], call);
}

function swap(place: WorktreePlace, own: ManagedWorktree, worktree: ManagedWorktree): ManagedWorktree {
  const { registry, home, now } = place;
  return registry.transact(() => {
    const holder = holderOf(place, worktree, own);
    if (holder !== null)
      throw new UserMistake(
        'hook_directory',
        `it gave ${worktree.path}, which ${holder} has: make one for each agent`,
      );
    const current = registry.find(own.id);
    if (current?.state !== 'leased' || current.path !== own.path)
      throw new UserMistake('worktree_lost', `${own.path} was taken by another process meanwhile`);
    const id = newSessionId();
    const { hookRun: _, ...facts } = own.facts;
    const left: ManagedWorktree = {
      ...{
        ...own,
        id,
        name: `${own.name}-unused`,
        branch: null,
        state: 'released',
        owner: null,
        lease: null,
      },
      ...{ slot: takeSlot(home, slotHolder(place, id)), changed: now(), facts },
    };
    registry.put(left);
    registry.put({ ...worktree, owner: current.owner, lease: current.lease });
    return left;
  });
}

/** Nobody's `git worktree prune` takes it then. A lock of the hook's stays. */
function lock(place: WorktreePlace, worktree: ManagedWorktree): void {
  if (isLockOurs(place, worktree) !== null) return;
  writeFileSync(join(adminDirectory(place, worktree), 'locked'), lockText(worktree), { flag: 'wx' });
}

function missingIn(place: WorktreePlace, path: string): MissingPackages[] {
  const reasons = { get: () => 'the hook did not install it' };
  return missingPackages(place, path, reasons).map(({ forAgent }) => ({
    forAgent,
    forUser: `the worktree of a WorktreeCreate hook is not complete: ${forAgent}`,
  }));
}
