/** The worktrees of the repository around the current directory, and one of them by what a person calls it. */
import {
  isHalfMade,
  isHeld,
  openWorktreePlace,
  settleWorktree,
  undoHalfMade,
} from '../../git/managed-worktrees.ts';
import type { ManagedWorktree, WorktreePlace } from '../../git/shapes.ts';
import { UserMistake } from '../../schema/errors.ts';
import { childEnvironment, withoutOwnPrograms } from '../../system/child-environment.ts';
import { rametHome } from '../../system/home.ts';
import type { Caller } from '../calls/caller.ts';
import { sessionSettings } from '../session/setup/session-settings.ts';

export interface CommandPlace extends Disposable {
  place: WorktreePlace;
  cleanupPeriodDays: number | undefined;
}

export async function openPlace({ cwd, env }: Pick<Caller, 'cwd' | 'env'>): Promise<CommandPlace> {
  const { settings } = await sessionSettings({ cwd, env });
  const place = openWorktreePlace({
    home: rametHome(env),
    directory: cwd,
    env: withoutOwnPrograms(childEnvironment(env, settings.env?.childVariables), cwd),
    settings: settings.worktree,
  });
  const { cleanupPeriodDays } = settings;
  return { place, cleanupPeriodDays, [Symbol.dispose]: () => place[Symbol.dispose]() };
}

/** Those that a user could look for: not what is kept ready, nor, unless asked for, what is gone. */
export function listed({ registry, project }: WorktreePlace, all = false): ManagedWorktree[] {
  const hidden = new Set(all ? [] : ['gone', 'ready', 'resetting', 'claiming']);
  return registry.list().filter((row) => !hidden.has(row.state) || isHalfMade(project, row));
}

/** By name, path, branch, id, or the agent whose it is. */
export function findWorktree(place: WorktreePlace, wanted: string): ManagedWorktree {
  const known = listed(place, true);
  const found = known.findLast(({ id, name, path, branch, owner }) =>
    [id, name, path, branch, owner?.agent].includes(wanted),
  );
  if (found !== undefined) return found;
  const names = listed(place).map(({ name }) => name);
  throw new UserMistake(
    'worktree_unknown',
    `there is no worktree "${wanted}" here: ${names.length === 0 ? 'agents of this repository have none' : `there are ${names.join(', ')} (ramet worktree ls)`}`,
  );
}

/** Gives worktrees back whose agents do not work any more: one without work is removed, and the others stay. */
export async function settleWorktreesOf(place: WorktreePlace, agents: ReadonlySet<string>): Promise<void> {
  for (const row of place.registry.list()) {
    const isTheirs = row.owner !== null && agents.has(row.owner.agent);
    if (!isTheirs || (row.state !== 'leased' && row.state !== 'released')) continue;
    if (!isHeld(place.project, row)) await settleWorktree(place, row, { pools: false });
  }
}

/** Of agents whose process was killed before they began: nothing else knows of their worktrees. */
export async function clearUnbegun(
  caller: Pick<Caller, 'cwd' | 'env'>,
  agents: ReadonlySet<string>,
): Promise<void> {
  using opened = await openPlace(caller);
  await undoHalfMade(opened.place);
  await settleWorktreesOf(opened.place, agents);
}
