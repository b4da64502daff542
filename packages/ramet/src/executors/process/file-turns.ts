/** Turns at files that an agent's process has taken of the host's ledger; all are given back when it is gone. */
import type { FileLedger } from '../../files/file-ledger.ts';
import type { LockAnswer } from './messages.ts';

export class FileTurns implements Disposable {
  readonly #files: FileLedger;
  readonly #taken = new Map<number, () => void>();
  #last = 0;
  #over = false;

  constructor(files: FileLedger) {
    this.#files = files;
  }

  /** Resolves when nobody else works on the file. */
  async take(path: string): Promise<LockAnswer> {
    const granted = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const lock = ++this.#last;
    this.#taken.set(lock, release.resolve);
    if (this.#over) release.resolve();
    void this.#files.exclusive(path, () => {
      granted.resolve();
      return release.promise;
    });
    await granted.promise;
    return { lock, last: this.#files.lastWrite(path) };
  }

  giveBack(lock: number): void {
    this.#taken.get(lock)?.();
    this.#taken.delete(lock);
  }

  [Symbol.dispose](): void {
    this.#over = true;
    for (const release of this.#taken.values()) release();
  }
}
