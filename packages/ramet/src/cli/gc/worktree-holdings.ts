/** Worktrees of agents and those kept ready. What may go is what `ramet worktree gc` says; that is also what does it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow } from '../../sdk/retention/session-holdings.ts';
import { collectGarbage, type GarbageEntry } from '../../workspace/worktrees/collect-garbage.ts';
import { openWorktreePlace } from '../../workspace/worktrees/worktree-place.ts';
import type { Holding, HoldingOptions } from './holding.ts';

export async function worktreeHoldings(options: HoldingOptions): Promise<Holding[]> {
  const { repository } = options.place;
  if (repository === null || !existsSync(join(repository.commonDirectory, 'ramet'))) return [];
  const judged = await collected(options, true);
  // One run of it takes all of them away.
  let done: Promise<GarbageEntry[]> | undefined;
  const collectAll = (): Promise<GarbageEntry[]> => {
    done ??= collected(options, false);
    return done;
  };
  return judged
    .filter(({ worktree }) => worktree.state !== 'gone')
    .map((entry) => ({
      kind: 'worktree',
      name: entry.worktree.name,
      usedAt: entry.worktree.changed,
      bytes: filesBelow(entry.worktree.path).reduce((sum, { size }) => sum + size, 0),
      parts: null,
      keep: entry.action === 'keep' ? entry.reasons.join('; ') : null,
      young: false,
      async remove() {
        const now = (await collectAll()).find(({ worktree }) => worktree.id === entry.worktree.id);
        return now?.action === 'keep' ? now.reasons.join('; ') : null;
      },
    }));
}

async function collected(
  { place, env, days, now, worktree }: HoldingOptions,
  dryRun: boolean,
): Promise<GarbageEntry[]> {
  using opened = openWorktreePlace({
    home: place.home,
    directory: place.cwd,
    env,
    settings: worktree,
    now: () => now,
  });
  return await collectGarbage(opened, { dryRun, cleanupPeriodDays: days });
}
