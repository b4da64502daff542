/**
 * Sees that a session's file and its WAL are still those that were opened. SQLite goes on writing to a file without a
 * name; that would be acknowledging into the void. Whoever acts on what it wrote has it synced first, and looks.
 *
 * A name that is removed or replaced changes the time of its directory: while that stays, one look at the directory is
 * enough. A time that is young proves nothing, since a second change may bear the same one.
 */
import { type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { removedWhileWriting, walRemovedWhileWriting } from '../system/sqlite/sqlite-failure.ts';

/** Far longer than the steps in which kernels write times; some file systems write whole seconds. */
const YOUNG_MS = 100;
const YOUNG_WHOLE_SECONDS_MS = 2_500;

export class FileGuard {
  readonly #file: string;
  readonly #wal: string;
  readonly #directory: string;
  readonly #inode: number;
  readonly #walInode: number;
  /** Of the directory, when both names were last seen to be right. */
  #seen: { inode: number; changed: number } | null = null;

  /** The WAL is there: whoever opened the file has written its lease. */
  constructor(file: string) {
    this.#file = file;
    this.#wal = `${file}-wal`;
    this.#directory = dirname(file);
    this.#inode = inodeOf(file);
    this.#walInode = inodeOf(this.#wal);
  }

  look(now: number): void {
    // Taken before the names are looked at: a change in between shows the next time.
    const directory = statOf(this.#directory);
    if (directory !== undefined && this.#isSeen(directory)) return;
    if (inodeOf(this.#file) !== this.#inode) throw removedWhileWriting(this.#file);
    if (inodeOf(this.#wal) !== this.#walInode) throw walRemovedWhileWriting(this.#wal);
    this.#seen = directory === undefined || isYoung(directory, now) ? null : seenOf(directory);
  }

  walSize(): number {
    return statOf(this.#wal)?.size ?? 0;
  }

  #isSeen({ ino, mtimeMs }: Stats): boolean {
    return this.#seen?.changed === mtimeMs && this.#seen.inode === ino;
  }
}

function seenOf({ ino, mtimeMs }: Stats): { inode: number; changed: number } {
  return { inode: ino, changed: mtimeMs };
}

/** A time to come is young too: somebody has set the clock. */
function isYoung({ mtimeMs }: Stats, now: number): boolean {
  return now - mtimeMs < (mtimeMs % 1_000 === 0 ? YOUNG_WHOLE_SECONDS_MS : YOUNG_MS);
}

function inodeOf(path: string): number {
  return statOf(path)?.ino ?? -1;
}

function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}
