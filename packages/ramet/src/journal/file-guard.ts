/**
 * Sees that a session's file and its WAL are still those that were opened. SQLite goes on writing to a file without a
 * name; that would be acknowledging into the void. Whoever acts on what it wrote has it synced first, and looks.
 */
import { statSync } from 'node:fs';
import { removedWhileWriting } from './sqlite-failure.ts';

export class FileGuard {
  readonly #file: string;
  readonly #wal: string;
  readonly #inode: number;
  readonly #walInode: number;

  /** The WAL is there: whoever opened the file has written its lease. */
  constructor(file: string) {
    this.#file = file;
    this.#wal = `${file}-wal`;
    this.#inode = inodeOf(file);
    this.#walInode = inodeOf(this.#wal);
  }

  look(): void {
    if (inodeOf(this.#file) !== this.#inode) throw removedWhileWriting(this.#file);
    if (inodeOf(this.#wal) !== this.#walInode) throw removedWhileWriting(this.#wal);
  }

  walSize(): number {
    return statSync(this.#wal, { throwIfNoEntry: false })?.size ?? 0;
  }
}

function inodeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? -1;
}
