/**
 * Remembers for this machine when a provider's endpoint answered last: an empty file for each in `$RAMET_HOME/endpoints`,
 * whose time is that of the answer. Its name is a digest of the address; no key is in it.
 */
import { createHash } from 'node:crypto';
import { closeSync, openSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../schema/clock.ts';
import { makePrivateDirectory } from '../../system/home.ts';

export interface AnsweredEndpointOptions {
  home: string;
  /** The provider's name and the address it sends to. */
  endpoint: string;
  clock: Clock;
}

const RECENT_MS = 86_400_000;
/** A time that is this fresh is not written again. */
const FRESH_MS = 3_600_000;
/** A time ahead of the clock by more is of a clock that was wrong. */
const AHEAD_MS = 60_000;

export class AnsweredEndpoint {
  readonly #options: AnsweredEndpointOptions;
  readonly #file: string;

  constructor(options: AnsweredEndpointOptions) {
    this.#options = options;
    const name = createHash('sha256').update(options.endpoint).digest('hex').slice(0, 24);
    this.#file = join(options.home, 'endpoints', name);
  }

  isRecent(): boolean {
    return this.#isWithin(RECENT_MS);
  }

  /** Without the file nothing is remembered, and nothing else is lost. */
  note(): void {
    if (this.#isWithin(FRESH_MS)) return;
    try {
      makePrivateDirectory(join(this.#options.home, 'endpoints'));
      closeSync(openSync(this.#file, 'a', 0o600));
      const time = this.#options.clock.now() / 1_000;
      utimesSync(this.#file, time, time);
    } catch {
      // A full or read-only disk is told of by whoever needs it.
    }
  }

  #isWithin(ms: number): boolean {
    try {
      const age = this.#options.clock.now() - (statSync(this.#file).mtimeMs ?? 0);
      return age < ms && age > -AHEAD_MS;
    } catch {
      return false;
    }
  }
}
