/**
 * Sessions keep the team memory of their repository in sync (TEAM-6) where the environment names a server and has a token:
 * when they begin, after a change, and when they end. Nothing that a repository contains can name a server.
 *
 * Invariants
 * 1. A session begins with what is here once a bounded wait is over; the sync goes on.
 * 2. One sync at a time. A change during one is followed by another.
 * 3. A server that is away costs one line, and no sync is tried again before the next change.
 */
import type { Clock } from '../../schema/clock.ts';
import { describeError } from '../../schema/errors.ts';
import type { CallOptions } from '../calls/caller.ts';
import type { ResolvedOptions } from '../options.ts';
import type { Place } from '../place.ts';
import type { SyncedMemory } from './sync-memory.ts';

/** How long the first prompt of a session waits at most. */
const BEGIN_MS = 1_000;
/** How long a session that ends waits at most. */
const END_MS = 5_000;
/** Changes that come together are sent together. */
const SOON_MS = 500;

interface TeamSyncParts {
  clock: Clock;
  sync(signal: AbortSignal): Promise<SyncedMemory>;
}

export class TeamSync {
  readonly #parts: TeamSyncParts;
  readonly #ending = new AbortController();
  #running: Promise<void> | null = null;
  #isDue = false;
  #problem: string | null = null;
  /** The beginning is over: what goes wrong is told when it does. */
  #tellsAtOnce = false;
  #lastTold: string | null = null;
  /** Learns of what a person should know after the beginning, one line each. */
  warn: (message: string) => void = () => {};

  constructor(parts: TeamSyncParts) {
    this.#parts = parts;
  }

  /** Null where none is configured. */
  static of({ env, settings, clock }: ResolvedOptions, { cwd }: Place): TeamSync | null {
    if (!env.RAMET_MEMORY_SERVER || settings.memory?.enabled === false || settings.memory?.sync === false)
      return null;
    const sync = async (signal: AbortSignal): Promise<SyncedMemory> => {
      const { syncMemory } = await import('./sync-memory.ts');
      const call: CallOptions = { cwd, env, signal };
      return syncMemory({}, call);
    };
    return new TeamSync({ clock, sync });
  }

  /** Begins at once, and returns at once. */
  start(): void {
    this.#isDue = true;
    this.#running ??= this.#run(0);
  }

  /** Waits for the first sync, and no longer than it may take; what a person should know, a line each. */
  async begun(): Promise<string[]> {
    const isDone = this.#running === null || (await this.#within(this.#running, BEGIN_MS));
    this.#tellsAtOnce = true;
    if (isDone) return this.#told();
    return ['team memory: the server has not answered yet: the session begins with the notes that are here'];
  }

  /** A session that is resumed waits for nothing: what a person should know by now. */
  begunBefore(): string[] {
    this.#tellsAtOnce = true;
    return this.#told();
  }

  /** A note of the team was changed here. */
  changed(): void {
    if (this.#ending.signal.aborted) return;
    this.#isDue = true;
    this.#running ??= this.#run(SOON_MS);
  }

  /** A last sync, for what other programs have changed too. */
  async close({ isHurried = false }: { isHurried?: boolean } = {}): Promise<void> {
    if (isHurried) this.#ending.abort();
    else this.start();
    if (this.#running !== null && !(await this.#within(this.#running, END_MS))) {
      this.#ending.abort();
      await this.#running;
      this.#problem = 'the server has not answered in time';
    }
    this.#ending.abort();
    this.#warn();
  }

  #warn(): void {
    for (const line of this.#told()) this.warn(line);
  }

  /** The same once, until it was well again. */
  #told(): string[] {
    const problem = this.#problem;
    this.#problem = null;
    if (problem === null || problem === this.#lastTold) return [];
    this.#lastTold = problem;
    return [`team memory was not synchronised: ${problem}`];
  }

  async #run(afterMs: number): Promise<void> {
    const { clock, sync } = this.#parts;
    const { signal } = this.#ending;
    if (afterMs > 0) await clock.sleep(afterMs, signal, { keepsAlive: false });
    while (this.#isDue && !signal.aborted) {
      this.#isDue = false;
      try {
        const { skipped } = await sync(signal);
        this.#problem = skipped.length === 0 ? null : skippedText(skipped.length);
        if (skipped.length === 0) this.#lastTold = null;
      } catch (error) {
        if (!signal.aborted) this.#problem = describeError(error);
      }
      if (this.#tellsAtOnce) this.#warn();
    }
    this.#running = null;
  }

  /** Whether it was over in time. */
  async #within(work: Promise<void>, ms: number): Promise<boolean> {
    const { clock } = this.#parts;
    const over = new AbortController();
    await Promise.race([work.then(() => over.abort()), clock.sleep(ms, over.signal)]);
    return over.signal.aborted;
  }
}

function skippedText(count: number): string {
  return `${count} ${count === 1 ? 'file was' : 'files were'} left out: ramet memory sync says why`;
}
