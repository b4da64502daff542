/**
 * The files of an open session: `FileGuard` checks that they are still there, `Checkpointer` moves the WAL into the
 * database.
 *
 * SQLite keeps writing to a file whose name was removed, and everything acknowledged then would be lost. So the writer
 * syncs before others act on what it wrote, and checks the names. Removing or replacing a name changes the time of its
 * directory: while that time stays, one look at the directory is enough. A recent time proves nothing, since a second
 * change may have the same one.
 */
import { type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Worker } from 'node:worker_threads';
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

  /** The WAL exists: opening the file wrote the lease. */
  constructor(file: string) {
    this.#file = file;
    this.#wal = `${file}-wal`;
    this.#directory = dirname(file);
    this.#inode = inodeOf(file);
    this.#walInode = inodeOf(this.#wal);
  }

  look(now: number): void {
    // Read before the names are checked: a change in between shows the next time.
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

/** A time in the future is recent too: the clock was set back. */
function isYoung({ mtimeMs }: Stats, now: number): boolean {
  return now - mtimeMs < (mtimeMs % 1_000 === 0 ? YOUNG_WHOLE_SECONDS_MS : YOUNG_MS);
}

function inodeOf(path: string): number {
  return statOf(path)?.ino ?? -1;
}

function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/** Plain JavaScript in a string, so that it is found in a bundle and in the sources alike. */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
const { DatabaseSync } = require('node:sqlite');
const db = new DatabaseSync(workerData.file, { timeout: 0 });
const pause = new Int32Array(new SharedArrayBuffer(4));
function truncate() {
  for (let attempt = 0; attempt < 5; attempt++) {
    if (db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get().busy === 0) return;
    Atomics.wait(pause, 0, 0, 5);
  }
}
parentPort.on('message', (message) => {
  if (message === 'stop') {
    db.close();
    parentPort.close();
    return;
  }
  let failure = null;
  try {
    db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    truncate();
  } catch (error) {
    failure = String(error.message);
  }
  parentPort.postMessage(failure);
});
`;

/**
 * Moves the WAL into the database off the event loop: a checkpoint waits for the disk. The thread is started
 * the first time there is something worth moving, which most sessions never have.
 *
 * It first copies what there is while the writer continues (PASSIVE), then takes the write lock for the little
 * that came meanwhile (TRUNCATE), so that the WAL starts again from nothing. It never waits while it holds that
 * lock: with a reader or the writer in the way it gives up and is asked again later.
 */
export class Checkpointer {
  readonly #file: string;
  readonly #onFailure: (reason: string) => void;
  #thread: Worker | null = null;
  #running = false;
  #gone: Promise<void> = Promise.resolve();

  constructor(file: string, onFailure: (reason: string) => void) {
    this.#file = file;
    this.#onFailure = onFailure;
  }

  /** Asks for a checkpoint; does nothing while one runs. */
  request(): void {
    if (this.#running) return;
    this.#running = true;
    this.#thread ??= this.#start();
    this.#thread.postMessage('checkpoint');
  }

  /** Lets a running checkpoint finish and ends the thread. */
  async stop(): Promise<void> {
    // Now it must keep the process alive, or the process would end in the middle of this.
    this.#thread?.ref();
    this.#thread?.postMessage('stop');
    await this.#gone;
  }

  #start(): Worker {
    // Loaded here because loading it costs 2 ms, which every start would pay.
    const threads = process.getBuiltinModule('node:worker_threads');
    const thread = new threads.Worker(THREAD, { eval: true, workerData: { file: this.#file } });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gone = promise;
    // A session that is never closed must not keep the process alive for its checkpoints.
    thread.unref();
    thread.on('message', (failure: string | null) => {
      this.#running = false;
      if (failure !== null) this.#onFailure(failure);
    });
    thread.on('error', (error: Error) => this.#onFailure(error.message));
    thread.on('exit', () => {
      this.#thread = null;
      this.#running = false;
      resolve();
    });
    return thread;
  }
}
