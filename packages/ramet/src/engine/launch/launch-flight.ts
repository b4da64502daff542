/**
 * One shared prefix while a request writes it, and the agents that wait for it (LAUNCH-1). The writer is a lead that
 * holds a pass, or a request that passed no gate (`lead` is null then).
 *
 * Invariants
 * 1. Followers go in the order they came, and all of one release within one synchronous step.
 * 2. When the writer fails the first follower leads and the others keep waiting.
 * 3. A follower that is aborted leaves at once. No timer and no listener outlives those who wait.
 */
import type { CacheMap } from '../../model/cache/cache-map.ts';
import type { Clock } from '../../schema/clock.ts';
import { Cancelled } from '../../schema/errors.ts';
import type { Digest } from '../../schema/events.ts';

export type LaunchTurn = 'lead' | 'released';

/** Called when a follower's turn has come, before it goes. */
export type ToldTurn = (turn: LaunchTurn, why: string) => void;

export interface FlightOptions {
  readonly prefix: Digest;
  readonly cacheMap: CacheMap;
  readonly clock: Clock;
  readonly patienceMs: () => number;
  /** Nobody writes the prefix any more, or all can read it. */
  readonly onOver: () => void;
}

interface Follower {
  go(turn: LaunchTurn, why: string, pass: Disposable | null): void;
}

export class LaunchFlight {
  readonly #options: FlightOptions;
  #lead: Disposable | null = null;
  #waiting: Follower[] = [];
  #over = false;
  #silent = false;
  #since: number;
  #timer: AbortController | null = null;
  #unwatch: () => void = () => undefined;

  constructor(options: FlightOptions) {
    this.#options = options;
    this.#since = options.clock.now();
    this.#watch();
  }

  /** The writer has shown no sign of life for too long: nobody waits for it any more. */
  get silent(): boolean {
    return this.#silent;
  }

  /** The pass of the agent that writes the prefix; it ends the lead, whatever came of it. */
  lead(): Disposable {
    const pass = { [Symbol.dispose]: () => this.#leadEnded(pass) };
    this.#lead = pass;
    this.#since = this.#options.clock.now();
    this.#silent = false;
    return pass;
  }

  /** Resolves when it may go: with a pass when it has become the lead. */
  follow(told: ToldTurn, signal: AbortSignal): Promise<Disposable | null> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(follower), 1);
        if (this.#waiting.length === 0) this.#stopTimer();
        reject(new Cancelled());
      };
      const follower: Follower = {
        go: (turn, why, pass) => {
          signal.removeEventListener('abort', leave);
          told(turn, why);
          resolve(pass);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(follower);
      this.#startTimer();
    });
  }

  #watch(): void {
    const { cacheMap, prefix } = this.#options;
    this.#unwatch = cacheMap.watch(prefix, (outcome) => {
      if (outcome === 'readable') this.#end('the shared prefix can be read now');
      else this.#passOn();
    });
  }

  #leadEnded(pass: Disposable): void {
    if (this.#over || this.#lead !== pass) return;
    const { cacheMap, prefix, clock } = this.#options;
    if (cacheMap.stateOf(prefix, clock.now()) === 'writing') this.#lead = null;
    else this.#passOn();
  }

  #passOn(): void {
    this.#unwatch();
    this.#stopTimer();
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#end('');
      return;
    }
    this.#watch();
    next.go('lead', 'the one that wrote the shared prefix failed', this.lead());
    if (this.#waiting.length > 0) this.#startTimer();
  }

  #end(why: string): void {
    this.#over = true;
    this.#unwatch();
    this.#options.onOver();
    this.#release(why);
  }

  #release(why: string): void {
    this.#stopTimer();
    for (const follower of this.#waiting.splice(0)) follower.go('released', why, null);
  }

  #startTimer(): void {
    if (this.#timer !== null) return;
    const { clock, patienceMs } = this.#options;
    const timer = new AbortController();
    this.#timer = timer;
    const patience = patienceMs();
    void clock.sleep(Math.max(0, this.#since + patience - clock.now()), timer.signal).then(() => {
      if (timer.signal.aborted) return;
      this.#silent = true;
      this.#release(`no sign of life from the lead for ${(patience / 1_000).toFixed(1)} s`);
    });
  }

  #stopTimer(): void {
    this.#timer?.abort();
    this.#timer = null;
  }
}
