/** What earlier processes left behind in a repository: abandoned worktrees (WORK-3) and running programs (RES-8). */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Journal } from '../journal/journal.ts';
import { processDirectory, type RunningGroup, reapOrphans } from '../system/processes/process-register.ts';
import type { ResolvedOptions } from './options.ts';
import type { Place } from './place.ts';

const AFTER_MS = 3_000;

/**
 * Removes abandoned worktrees, if any, some seconds after a session has begun and beside its work. The next session
 * tries again after a failure, and `ramet worktree gc` reports it. The result cancels the timer.
 */
export function cleanWorktreesLater(
  settings: ResolvedOptions,
  place: Place,
  env: Readonly<Record<string, string>>,
): Disposable {
  const timer = setTimeout(() => void cleanWorktrees(settings, place, env).catch(() => {}), AFTER_MS).unref();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

export async function cleanWorktrees(
  { settings, clock }: Pick<ResolvedOptions, 'settings' | 'clock'>,
  { home, cwd, repository }: Place,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  if (repository === null || !existsSync(join(repository.commonDirectory, 'ramet'))) return;
  const { openWorktreePlace } = await import('../git/managed-worktrees.ts');
  const { collectGarbage } = await import('../git/managed-worktrees.ts');
  const now = (): number => clock.now();
  using place = openWorktreePlace({ home, directory: cwd, env, settings: settings.worktree, now });
  await collectGarbage(place, { cleanupPeriodDays: settings.cleanupPeriodDays, pools: true });
}

/** Ends programs that a killed process left running. */
export function endOrphans({ project }: Pick<Place, 'project'>): Promise<RunningGroup[]> {
  return reapOrphans(processDirectory(project));
}

export function recordEndedOrphans(journal: Journal, ended: readonly RunningGroup[]): void {
  if (ended.length === 0) return;
  const groups = ended.map(({ leader, agent }) => `${leader.pid} of agent ${agent}`).join(', ');
  const message = `ended process groups that a killed ramet had left running: ${groups}`;
  journal.append(null, { type: 'warning.raised', code: 'orphans_ended', message });
}
