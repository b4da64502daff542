/** What is cleared up beside a session: abandoned worktrees (WORK-3), running programs (RES-8) and what is old where a setting says so. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentRuntime } from '../engine/shapes.ts';
import type { Journal } from '../journal/journal.ts';
import { adoptingSessions } from '../system/home.ts';
import {
  processDirectory,
  type RunningGroup,
  reapOrphans,
  withOrphans,
} from '../system/processes/process-register.ts';
import type { ResolvedOptions } from './options.ts';
import type { Place } from './place.ts';

const AFTER_MS = 3_000;

/**
 * Removes abandoned worktrees, if any, some seconds after a session has begun and beside its work, and ends programs that
 * killed sessions of other repositories left. The next session tries again after a failure, and `ramet worktree gc` and
 * `ramet doctor` report it. The result cancels the timer.
 */
export function cleanLater(
  settings: ResolvedOptions,
  place: Place,
  { childEnvironment, journal }: Pick<AgentRuntime, 'childEnvironment' | 'journal'>,
): Disposable {
  const clean = (): void => {
    void cleanWorktrees(settings, place, childEnvironment).catch(() => {});
    void endOrphansElsewhere(place)
      .then((ended) => recordEndedOrphans(journal, ended))
      .catch(() => {});
  };
  const timer = setTimeout(clean, AFTER_MS).unref();
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
  const { cleanupPeriodDays } = settings;
  await collectGarbage(place, { cleanupPeriodDays, pools: true, leavesLiving: true });
}

/** Ends programs that a killed process left running. */
export function endOrphans({ project }: Pick<Place, 'project'>): Promise<RunningGroup[]> {
  return reapOrphans(processDirectory(project));
}

/**
 * The same for all other repositories of the home. A look at each takes time, so no start waits for it. Several machines or
 * containers may share a home: where nothing is proved to be left on this one, nothing is touched.
 */
export async function endOrphansElsewhere({
  home,
  project,
}: Pick<Place, 'home' | 'project'>): Promise<RunningGroup[]> {
  const projects = join(home, 'projects');
  const noted: string[] = [];
  for (const name of await readdir(projects).catch(() => [])) {
    const directory = processDirectory(join(projects, name));
    const notes = await readdir(directory).catch(() => []);
    if (notes.length > 0 && directory !== processDirectory(project)) noted.push(directory);
  }
  const ended = withOrphans(noted).map((directory) => reapOrphans(directory));
  return (await Promise.all(ended)).flat();
}

export function recordEndedOrphans(journal: Journal, ended: readonly RunningGroup[]): void {
  if (ended.length === 0) return;
  const groups = ended.map(({ leader, agent }) => `${leader.pid} of agent ${agent}`).join(', ');
  const message = `ended process groups that a killed ramet had left running: ${groups}`;
  journal.append(null, { type: 'warning.raised', code: 'orphans_ended', message });
}

/** Finishes what killed sessions were adopting. `except` does it itself. A line for each that had files to move in. */
export async function finishAdoptions(
  { project }: Pick<Place, 'project'>,
  except: string | null = null,
): Promise<string[]> {
  const left = adoptingSessions(project).filter((session) => session !== except);
  if (left.length === 0) return [];
  return (await import('./background/finish-left-work.ts')).finishLeftWork(project, left);
}

/**
 * Clears up what is old some seconds into a session, where a setting says so.
 *
 * Automatic retention (`retention.days`, off unless it is set): some seconds into a session, what is older goes, by the
 * rules of `ramet gc`. Beside everything else; what goes wrong is found again by the next one, or by `ramet gc`.
 *
 * Returns the function that cancels it, for a session that ends before.
 */
export function retainLater(settings: ResolvedOptions, place: Place): Disposable {
  const days = settings.settings.retention?.days;
  if (days === undefined) return { [Symbol.dispose]() {} };
  const work = (): Promise<unknown> => retain({ place, days, now: settings.clock.now() });
  const timer = setTimeout(() => void work().catch(() => {}), AFTER_MS).unref();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

/** The sessions that went. */
export async function retain(order: { place: Place; days: number; now: number }): Promise<string[]> {
  const { place, days, now } = order;
  const { sessionHoldings } = await import('./retention/session-holdings.ts');
  const { removeSession } = await import('./retention/remove-session.ts');
  const { sessionsWithWorktrees } = await import('./retention/session-holdings.ts');
  const withWorktrees = sessionsWithWorktrees(place);
  return sessionHoldings(place.project, { now, days, withWorktrees })
    .filter(({ keep }) => keep === null)
    .filter(({ session, written }) => removeSession(place.project, session, written) === 'removed')
    .map(({ session }) => session);
}
