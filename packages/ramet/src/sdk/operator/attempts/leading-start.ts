/**
 * Lets the first agent of a run start alone. The others wait for its first response anyway, if the prompt that all share is not
 * in the cache yet (`engine/launch/launch.ts`), and eight starts at once are slow for each.
 */
import { setTimeout as wait } from 'node:timers/promises';

/** One that needs longer, such as for a set-up command, holds nobody. */
const LONGEST_MS = 250;

export class LeadingStart {
  readonly #longest: () => Promise<unknown>;
  #led: Promise<unknown> | null = null;

  constructor(longest: () => Promise<unknown> = () => wait(LONGEST_MS, undefined, { ref: false })) {
    this.#longest = longest;
  }

  async run<Result>(start: () => Promise<Result>): Promise<Result> {
    if (this.#led === null) {
      const started = start();
      // Its request is on its way when the next begins.
      const sent = started.then(
        () => new Promise((next) => setImmediate(next)),
        () => {},
      );
      this.#led = Promise.race([sent, this.#longest()]);
      return started;
    }
    await this.#led;
    return start();
  }
}
