/** Tells when something in a set of directories changes. It never keeps the process alive, and may miss a change. */
import { type FSWatcher, watch } from 'node:fs';

/** Editors write in several steps; a glance in between would find half a file. */
const SETTLE_MS = 30;
const MOST_DIRECTORIES = 256;

export class DefinitionWatch implements Disposable {
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #onChange: () => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Watches these directories and no others. */
  follow(directories: readonly string[]): void {
    const wanted = new Set(directories.slice(0, MOST_DIRECTORIES));
    for (const path of this.#watchers.keys()) if (!wanted.has(path)) this.#drop(path);
    const added = [...wanted].filter((path) => !this.#watchers.has(path));
    const later = this.#watchers.size > 0;
    for (const path of added) this.#take(path);
    // Something may have been written into a new directory before it was watched.
    if (later && added.length > 0) this.#changed();
  }

  [Symbol.dispose](): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const path of [...this.#watchers.keys()]) this.#drop(path);
  }

  #take(path: string): void {
    try {
      const watcher = watch(path, { persistent: false }, () => this.#changed());
      watcher.on('error', () => this.#drop(path));
      this.#watchers.set(path, watcher);
    } catch {
      // No watchers left on this machine, or the directory is gone: each use of definitions checks for itself.
    }
  }

  #drop(path: string): void {
    this.#watchers.get(path)?.close();
    this.#watchers.delete(path);
  }

  #changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#onChange();
    }, SETTLE_MS).unref();
  }
}
