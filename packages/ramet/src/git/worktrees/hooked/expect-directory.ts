/**
 * While a `WorktreeCreate` hook runs: it may prepare the worktree that is there, or make another directory in its place. What was
 * there before it is noted in the row, so that what a hook leaves without an agent, also by a kill, can be named. It is never removed.
 */

import { basename } from 'node:path';
import type { CreatedWorktree } from '../create-worktree.ts';
import { isHeld, isHookAtWork } from '../half-made.ts';
import type { AgentWorkspace, ExpectedDirectory } from '../workspace/agent-workspace.ts';
import type { ManagedWorktree } from '../worktree.ts';
import type { WorktreePlace } from '../worktree-place.ts';
import { type AdoptedDirectory, adoptDirectory } from './adopt-directory.ts';
import { judgeDirectory, knownBefore, registeredWorktrees } from './judge-directory.ts';

export async function expectDirectory(
  place: WorktreePlace,
  { worktree, dirty }: Pick<CreatedWorktree, 'worktree' | 'dirty'>,
  hold: (adopted: AdoptedDirectory) => Promise<AgentWorkspace>,
): Promise<ExpectedDirectory> {
  const { registry } = place;
  const { id } = worktree;
  const before = await knownBefore(place);
  const note = (hookRun: ManagedWorktree['facts']['hookRun']): ManagedWorktree => {
    const row = registry.find(id) ?? worktree;
    return registry.change(id, ['leased'], { facts: { ...row.facts, hookRun } }) ?? row;
  };
  note({ known: before.admins });
  place.onStep('hook begun');
  return {
    none: () => void note(undefined),
    async take(given) {
      place.onStep('hook ended');
      const own = registry.find(id) ?? worktree;
      const found = await judgeDirectory(place, given, { before, own });
      return hold(await adoptDirectory(place, own, found, dirty));
    },
    async left() {
      const all = (await newWorktrees(place, before.admins)).map(({ path }) => path);
      // While others are at work too, only its name tells whose one is.
      const paths = isAlone(place, id) ? all : all.filter((path) => basename(path) === worktree.name);
      note(paths.length === 0 ? undefined : { known: before.admins, left: paths });
      return paths;
    },
  };
}

function isAlone(place: WorktreePlace, id: string): boolean {
  return !place.registry.list().some((row) => row.id !== id && isHookAtWork(place, row));
}

/** Those that came since, and that no agent has. */
async function newWorktrees(
  place: WorktreePlace,
  known: readonly string[],
): Promise<{ path: string; admin: string }[]> {
  const taken = new Set([
    ...known,
    ...place.registry.list().flatMap(({ state, admin }) => (state === 'gone' ? [] : [admin])),
  ]);
  const all = await registeredWorktrees(place);
  return all.flatMap(({ path, admin }) => (admin === null || taken.has(admin) ? [] : [{ path, admin }]));
}

export interface LeftDirectory {
  /** Of the worktree that a hook ran for. */
  name: string;
  path: string;
}

/** What hooks have made and no agent has: their process was killed, or what they made was refused. */
export async function leftByHooks(place: WorktreePlace): Promise<LeftDirectory[]> {
  const rows = place.registry
    .list()
    .filter((row) => row.facts.hookRun !== undefined && !isHeld(place.project, row));
  const found = new Map<string, LeftDirectory>();
  for (const { name, facts } of rows) {
    const { known = [], left } = facts.hookRun ?? {};
    for (const { path } of await newWorktrees(place, known))
      if (left?.includes(path) !== false) found.set(path, { name, path });
  }
  return [...found.values()];
}
