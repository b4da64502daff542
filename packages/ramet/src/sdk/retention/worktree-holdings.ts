/** Worktrees of agents and those kept ready. What may go is what `ramet worktree gc` says; that is also what does it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { collectGarbage, knownBytes, openWorktreePlace } from '../../git/managed-worktrees.ts';
import type { GarbageEntry } from '../../git/shapes.ts';
import type { Holding, HoldingOptions } from './holding.ts';

export async function worktreeHoldings(options: HoldingOptions): Promise<Holding[]> {
  const { repository } = options.place;
  if (repository === null || !existsSync(join(repository.commonDirectory, 'ramet'))) return [];
  const judged = await collected(options, true);
  // One run of it takes all of them away.
  let done: Promise<SizedEntry[]> | undefined;
  const collectAll = (): Promise<SizedEntry[]> => {
    done ??= collected(options, false);
    return done;
  };
  return judged
    .filter(({ worktree }) => worktree.state !== 'gone')
    .map((entry) => ({
      kind: 'worktree',
      name: entry.worktree.name,
      usedAt: entry.worktree.changed,
      bytes: entry.bytes,
      parts: null,
      keep: entry.action === 'keep' ? entry.reasons.join('; ') : null,
      young: false,
      async remove() {
        const now = (await collectAll()).find(({ worktree }) => worktree.id === entry.worktree.id);
        return now?.action === 'keep' ? now.reasons.join('; ') : null;
      },
    }));
}

interface SizedEntry extends GarbageEntry {
  bytes: number;
}

async function collected(
  { place, env, days, now, worktree }: HoldingOptions,
  dryRun: boolean,
): Promise<SizedEntry[]> {
  using opened = openWorktreePlace({
    home: place.home,
    directory: place.cwd,
    env,
    settings: worktree,
    now: () => now,
  });
  const entries = await collectGarbage(opened, { dryRun, cleanupPeriodDays: days });
  return entries.map((entry) => ({ ...entry, bytes: knownBytes(opened, entry.worktree) ?? 0 }));
}
