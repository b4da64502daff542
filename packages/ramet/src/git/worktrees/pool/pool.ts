/**
 * Clean worktrees kept ready (WORK-4). One that was judged to hold nothing is taken off its branch, moved aside,
 * brought to the commit that is wanted now, emptied of everything else and verified; a claim then needs a rename and a
 * branch. All of it happens when a worktree is given back, in the background.
 *
 * Invariants
 * 1. What is `ready` has an empty status and stands at its base: verified after the last change to it.
 * 2. Nothing of the tenant before remains: its branch, its notes in the registration, its files.
 * 3. A tree that fails a step is removed, never handed out.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { newSessionId } from '../../../schema/ids.ts';
import { thisProcess } from '../../../system/processes/process-identity.ts';
import { readHead } from '../../read-refs.ts';
import { gitText } from '../../run-git.ts';
import type { WorktreeTips } from '../changes/held-commits.ts';
import { heldWork } from '../changes/held-files.ts';
import { cameSince } from '../changes/verdict.ts';
import { checkOut } from '../check-out.ts';
import {
  bringDependencies,
  prepareDependencies,
  verifyDependencies,
} from '../dependencies/bring-dependencies.ts';
import { findBase } from '../find-base.ts';
import { proveWorktree } from '../prove-worktree.ts';
import { headText, replaceAdminFile } from '../register-worktree.ts';
import { processesInside, unlinkOurs } from '../removal/delete-directory.ts';
import { deleteSafeBranch } from '../removal/safe-branch.ts';
import { freshFacts, slotHolder } from '../reserve-worktree.ts';
import { runSetup } from '../run-setup.ts';
import { isSamePart, sparsePatternsOf } from '../sparse-checkout.ts';
import { directoriesOf, trustedGit } from '../trusted-git.ts';
import { undoWorktree } from '../undo-worktree.ts';
import type { ManagedWorktree } from '../worktree.ts';
import { excludeSettings, writeExcludes } from '../worktree-environment.ts';
import { adminDirectory, type WorktreePlace, worktreesDirectory } from '../worktree-place.ts';
import { knownBytes, poolBytes, treeBytes, wantedPool } from './pool-size.ts';
import { passSlot } from './slots.ts';

/** Null when there is no room, or it is needed after all: it is still where it was then. `tips`: what it was judged at. */
export async function fillPool(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  tips: WorktreeTips | null,
): Promise<'pooled' | 'removed' | null> {
  const base = await findBase(place, place.settings.base).catch(() => null);
  const pooled = base === null ? null : enterPool(place, worktree, base.commit);
  if (pooled === null) return null;
  try {
    if (!(await takeIn(place, { worktree, pooled, tips }))) return null;
    await resetTree(place, worktree, pooled);
    place.registry.change(pooled.id, ['resetting'], { state: 'ready', lease: null, changed: place.now() });
    return 'pooled';
  } catch {
    // The tree held nothing, and nobody else has it: whatever went wrong, it can go.
    await undoWorktree(place, pooled);
    return 'removed';
  }
}

/** The tenant becomes a memory, and the tree a new row, in one transaction. */
function enterPool(place: WorktreePlace, worktree: ManagedWorktree, base: string): ManagedWorktree | null {
  const { registry, settings } = place;
  if (worktree.facts.sparse.length > 0 || (settings.sparsePaths ?? []).length > 0) return null;
  // Files that a sparse tree left out do not come back by themselves.
  if (!isSamePart(worktree.facts.patterns, sparsePatternsOf(place.repository))) return null;
  return registry.transact(() => {
    const rows = registry.list();
    const ready = rows.filter(({ state }) => state === 'ready' || state === 'resetting').length;
    const current = rows.find(({ id }) => id === worktree.id);
    if (ready >= wantedPool(place) || current === undefined) return null;
    if (current.state !== 'released' || current.changed !== worktree.changed) return null;
    const id = newSessionId();
    const path = join(worktreesDirectory(place), '.pool', id);
    const now = place.now();
    const pooled: ManagedWorktree = {
      ...{ id, name: `.pool/${id}`, path, branch: null, base, state: 'resetting', owner: null },
      ...{ lease: thisProcess(), slot: worktree.slot, admin: worktree.admin, created: now, changed: now },
      facts: {
        ...freshFacts(place, null),
        elsewhere: worktree.path,
        ...{ formerBranch: worktree.branch ?? undefined, formerBase: worktree.base },
        dependencies: worktree.facts.dependencies,
      },
    };
    registry.put(pooled);
    registry.put({ ...current, state: 'gone', lease: null, changed: now });
    passSlot(place.home, worktree.slot, slotHolder(place, id));
    return pooled;
  });
}

/** Moves it aside and looks once more; what was written meanwhile takes it back to its place. */
async function takeIn(
  place: WorktreePlace,
  {
    worktree,
    pooled,
    tips,
  }: { worktree: ManagedWorktree; pooled: ManagedWorktree; tips: WorktreeTips | null },
): Promise<boolean> {
  place.onStep('entered the pool');
  unlinkOurs(worktree.path, worktree.facts.links);
  mkdirSync(join(pooled.path, '..'), { recursive: true, mode: 0o700 });
  renameSync(worktree.path, pooled.path);
  place.onStep('moved to the pool');
  const late = await cameSince(place, worktree, { directory: pooled.path, tips });
  if (late.length === 0 && processesInside(pooled.path)?.length === 0) return true;
  giveBack(place, worktree, pooled);
  return false;
}

function giveBack(place: WorktreePlace, worktree: ManagedWorktree, pooled: ManagedWorktree): void {
  if (existsSync(pooled.path)) renameSync(pooled.path, worktree.path);
  place.registry.transact(() => {
    place.registry.put({ ...worktree, state: 'released', lease: null });
    place.registry.forget(pooled.id);
  });
  passSlot(place.home, worktree.slot, slotHolder(place, worktree.id));
}

/**
 * What a process that was killed while it took a tree in has left is removed, unless something was written before the
 * second look. While it is on its tenant's branch nothing of it was touched; afterwards there is nothing to lose.
 */
export async function undoReset(place: WorktreePlace, pooled: ManagedWorktree): Promise<'undo' | 'keep'> {
  const tenant = place.registry
    .list()
    .findLast(({ state, admin }) => state === 'gone' && admin === pooled.admin);
  const head = readHead(adminDirectory(place, pooled), place.repository.commonDirectory);
  const isUntouched = head?.ref === `refs/heads/${pooled.facts.formerBranch}`;
  const path = existsSync(pooled.path) ? pooled.path : pooled.facts.elsewhere;
  if (tenant !== undefined && isUntouched && path !== undefined) {
    const held = await heldWork(place, { ...tenant, path });
    if (held.length > 0) {
      giveBack(place, tenant, pooled);
      return 'keep';
    }
  }
  await undoWorktree(place, pooled);
  return 'undo';
}

async function resetTree(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  pooled: ManagedWorktree,
): Promise<void> {
  replaceAdminFile(place, pooled, 'HEAD', headText(pooled));
  replaceAdminFile(place, pooled, 'gitdir', `${join(pooled.path, '.git')}\n`);
  forgetTenant(place, pooled);
  place.onStep('taken off its branch');
  if (worktree.branch !== null) await deleteSafeBranch(place, worktree.branch, worktree.base);
  const call = await trustedGit(place, pooled);
  await checkOut(place, pooled);
  const intact = await verifyDependencies(place, pooled);
  const kept = { ...pooled, facts: { ...pooled.facts, dependencies: intact } };
  await gitText(['clean', '-ffdxq', ...keptFolders(kept)], call);
  place.onStep('reset');
  const { dependencies } = await bringDependencies(place, kept);
  await writeExcludes(
    place,
    pooled,
    dependencies.map(({ directory }) => directory),
  );
  const setup = await runSetup(place, pooled);
  if (setup !== null && setup.code !== 0) throw new Error(`setup failed: ${setup.output}`);
  // What the setup command has just installed: no agent has been here yet.
  if (setup !== null && dependencies.length === 0) await prepareDependencies(place, pooled.path);
  await verify(place, pooled, setup !== null || dependencies.length > 0);
  const { elsewhere: _, formerBranch: __, formerBase: ___, ...facts } = pooled.facts;
  const bytes = await roomFor(place, { ...pooled, facts: { ...facts, dependencies } }, setup);
  place.registry.change(pooled.id, ['resetting'], {
    facts: { ...facts, dependencies, setup: setup?.command, bytes },
  });
}

/** What it takes; throws when the pool would take more than it may. */
async function roomFor(
  place: WorktreePlace,
  pooled: ManagedWorktree,
  setup: unknown,
): Promise<number | undefined> {
  // Of a tree that was emptied the index says it all, unless something was put into it since.
  const isPlain = setup === null && pooled.facts.dependencies.length === 0;
  const known = isPlain ? knownBytes(place, pooled) : null;
  const bytes = known ?? (await treeBytes(pooled)) ?? undefined;
  const ready = place.registry.list().filter(({ state }) => state === 'ready');
  const taken = ready.reduce((sum, { facts }) => sum + (facts.bytes ?? 0), 0);
  if (taken + (bytes ?? 0) > poolBytes(place)) throw new Error('the pool has no room for it');
  return bytes;
}

/** What git keeps of a tenant beside HEAD and the index. */
function forgetTenant(place: WorktreePlace, pooled: ManagedWorktree): void {
  const admin = adminDirectory(place, pooled);
  const kept = new Set(['HEAD', 'commondir', 'gitdir', 'index', 'locked']);
  for (const name of readdirSync(admin)) {
    if (!kept.has(name)) rmSync(join(admin, name), { recursive: true, force: true });
  }
}

function keptFolders({ facts }: ManagedWorktree): string[] {
  return facts.dependencies.flatMap(({ directory }) => ['-e', `/${directory}`]);
}

/** Throws unless it is at its base, unchanged, and nobody is in it. */
async function verify(place: WorktreePlace, pooled: ManagedWorktree, mayIgnore: boolean): Promise<void> {
  const call = { cwd: pooled.path, env: place.env, checkout: directoriesOf(place, pooled) };
  const ignored = mayIgnore ? 'no' : 'matching';
  const excludes = excludeSettings(place, pooled).flatMap((setting) => ['-c', setting]);
  const look = ['status', '--porcelain', '--untracked-files=all', `--ignored=${ignored}`];
  const status = await gitText([...excludes, ...look], call);
  // Asked here, so that a claim needs no process to be sure.
  await proveWorktree(place.repository, pooled, place.env);
  const processes = processesInside(pooled.path);
  if (status !== '' || processes === null || processes.length > 0) {
    throw new Error(`${pooled.path} is not clean: ${status}`);
  }
}
