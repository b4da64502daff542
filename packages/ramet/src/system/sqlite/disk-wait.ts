/**
 * Waits until the log of a database (WAL) is on disk, in the pool of threads instead of inside a commit: a commit that syncs
 * stops the whole process for as long as the disk takes.
 *
 * A commit without a sync has written its frames to the log. A sync of that file by any descriptor makes them last: it is
 * what SQLite itself does in a commit with `synchronous = FULL`. Before SQLite begins the log again, it syncs the log and
 * the database. The log stays one file while a connection is open, and it bears no locks, so closing our
 * descriptor drops none.
 */
import { closeSync, fdatasync, openSync } from 'node:fs';

export class DiskWait implements Disposable {
  readonly #descriptor: number;
  /** A sync is under way: its descriptor must not be closed, or become the one of another file. */
  #isRunning = false;
  /** Those who came while one was under way share the next: what they wrote may be too late for it. */
  #next: PromiseWithResolvers<void> | null = null;
  #isClosed = false;

  constructor(file: string) {
    this.#descriptor = openSync(file, 'r');
  }

  wait(): Promise<void> {
    this.#next ??= Promise.withResolvers();
    const { promise } = this.#next;
    if (!this.#isRunning) this.#start();
    return promise;
  }

  #start(): void {
    const waiting = this.#next;
    if (waiting === null) {
      this.#closeIfDone();
      return;
    }
    this.#next = null;
    this.#isRunning = true;
    fdatasync(this.#descriptor, (error) => {
      this.#isRunning = false;
      if (error === null) waiting.resolve();
      else waiting.reject(error);
      this.#start();
    });
  }

  #closeIfDone(): void {
    if (this.#isClosed && !this.#isRunning) closeSync(this.#descriptor);
  }

  /** Those who wait are answered first. */
  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#closeIfDone();
  }
}
