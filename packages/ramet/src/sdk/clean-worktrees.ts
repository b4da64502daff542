/**
 * Worktrees that nobody came back for go while a session runs anyway (WORK-3): some seconds after it has begun, beside
 * everything else, and only where there are any. What goes wrong is found again by the next one, or by
 * `ramet worktree gc`, which says it.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ResolvedOptions } from './options.ts';
import type { Place } from './place.ts';

const AFTER_MS = 3_000;

/** Returns the way out, for a session that ends before. */
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
  await collectGarbage(place, { cleanupPeriodDays: settings.cleanupPeriodDays });
}
