/**
 * What directories hold, kept for folders that count whole and are checked twice for each hook. Only the lists are kept: each file is
 * checked each time.
 *
 * Invariant: a list holds as long as the directory is the same one with the same times. What adds, removes, renames or replaces a name
 * in it changes its `ctime`, which no program can set. A list is kept only if the directory had rested for longer than any clock of a
 * file system ticks, and was the same before and after it was read.
 */
import { type BigIntStats, lstatSync } from 'node:fs';
import { type DirectoryList, type Language, listDirectory } from './repository-look.ts';

interface KnownList {
  readonly list: DirectoryList;
  readonly stats: BigIntStats;
}

/** That of FAT ticks every two seconds. */
const RESTED_NS = 3_000_000_000n;

export class KnownLists {
  readonly #known: Readonly<Record<Language, Map<string, KnownList>>> = {
    any: new Map(),
    python: new Map(),
  };

  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  list(directory: string, language: Language): DirectoryList {
    const stats = statsOf(directory);
    const known = this.#known[language];
    const kept = known.get(directory);
    if (kept !== undefined && stats !== null && isSameState(kept.stats, stats)) return kept.list;
    const list = listDirectory(directory, language);
    const after = statsOf(directory);
    const isSame = stats !== null && after !== null && isSameState(stats, after);
    if (isSame && list.isRead && stats.isDirectory() && isRested(stats, this.#now()))
      known.set(directory, { list, stats });
    else known.delete(directory);
    return list;
  }
}

/** The same file or directory, and nobody has written to it since. */
export function isSameState(one: FileState, other: FileState): boolean {
  return (
    one.ctimeNs === other.ctimeNs &&
    one.mtimeNs === other.mtimeNs &&
    one.ino === other.ino &&
    one.size === other.size &&
    one.dev === other.dev
  );
}

export type FileState = Pick<BigIntStats, 'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>;

/** Also a clock that was set back does not make it rest. */
function isRested({ ctimeNs, mtimeNs }: BigIntStats, nowMs: number): boolean {
  const now = BigInt(nowMs) * 1_000_000n;
  return now - ctimeNs > RESTED_NS && now - mtimeNs > RESTED_NS;
}

function statsOf(directory: string): BigIntStats | null {
  try {
    return lstatSync(directory, { bigint: true, throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}
