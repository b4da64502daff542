/**
 * Sees that a session's file and its WAL are still those that were opened. SQLite goes on writing to a file without a
 * name; that would be acknowledging into the void. Removal is seen at every commit (`glance`), replacement at every
 * synced one (`look`).
 */
import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { removedWhileWriting } from './sqlite-failure.ts';

export class FileGuard {
  readonly #file: string;
  readonly #wal: string;
  readonly #inode: number;
  readonly #walInode: number;
  /** The WAL carries no locks, so a descriptor of our own does no harm there (compare `session-file.ts`). */
  readonly #descriptor: number;

  /** The WAL is there: whoever opened the file has written its lease. */
  constructor(file: string) {
    this.#file = file;
    this.#wal = `${file}-wal`;
    this.#inode = inodeOf(file);
    this.#descriptor = openSync(this.#wal, 'r');
    this.#walInode = fstatSync(this.#descriptor).ino;
  }

  glance(): void {
    if (fstatSync(this.#descriptor).nlink === 0) throw removedWhileWriting(this.#whichIsGone());
  }

  look(): void {
    if (inodeOf(this.#file) !== this.#inode) throw removedWhileWriting(this.#file);
    if (inodeOf(this.#wal) !== this.#walInode) throw removedWhileWriting(this.#wal);
  }

  walSize(): number {
    return fstatSync(this.#descriptor).size;
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #whichIsGone(): string {
    return inodeOf(this.#file) === this.#inode ? this.#wal : this.#file;
  }
}

function inodeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? -1;
}
