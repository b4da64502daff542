/** The port through which time enters: tests drive it by hand (`testing/simulated-clock.ts`). */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds of a clock that nobody sets; only differences mean something. Where it is absent `now` is taken. */
  elapsed?(): number;
  /** What the machine's clock says, where `now` is another one's. Where it is absent `now` is taken. */
  wall?(): number;
  /** Resolves after `ms`, or at once when `signal` aborts: the caller looks at the signal. */
  sleep(ms: number, signal?: AbortSignal, options?: SleepOptions): Promise<void>;
}

export interface SleepOptions {
  /** Whether the process stays for it; it does unless this is false. */
  keepsAlive?: boolean;
}

/** More than this is no time for a timer of Node: it would fire at once. */
export const LONGEST_TIMER_MS: number = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (ms, signal, { keepsAlive = true } = {}) =>
    new Promise((resolve) => {
      if (signal?.aborted) {
        resolve();
        return;
      }
      const finish = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', finish);
        resolve();
      };
      let timer: ReturnType<typeof setTimeout>;
      const wait = (left: number): void => {
        const rest = left - LONGEST_TIMER_MS;
        timer = rest > 0 ? setTimeout(() => wait(rest), LONGEST_TIMER_MS) : setTimeout(finish, left);
        // Where there is no such method (a browser) nothing is kept alive by a timer.
        if (!keepsAlive && typeof timer === 'object') timer.unref();
      };
      // Node warns of a time below zero, wherever the cursor stands.
      wait(Math.max(0, ms));
      signal?.addEventListener('abort', finish);
    }),
};

/** For how long something took: the difference of two is never negative, even if the clock was set meanwhile. */
export function elapsedOf(clock: Clock): number {
  return clock.elapsed?.() ?? clock.now();
}

/**
 * The same clock for whatever waits: `now` never runs backwards. A clock that is set back lengthens no wait, and after
 * a sleep of the machine, or when the clock is set forward, what was due meanwhile is due.
 */
export function steadyClock(clock: Clock): Clock {
  const elapsed = clock.elapsed?.bind(clock);
  if (elapsed === undefined) return clock;
  let ahead = clock.now() - elapsed();
  return {
    elapsed,
    wall: () => clock.now(),
    sleep: clock.sleep.bind(clock),
    now() {
      const passed = elapsed();
      ahead = Math.max(ahead, clock.now() - passed);
      return passed + ahead;
    },
  };
}

/** For people and for the record: `now` of a steady clock may be ahead of the time that they read. */
export function wallOf(clock: Clock): number {
  return clock.wall?.() ?? clock.now();
}

/** A wait until a time of `clock`, as the record has it: its end on the machine's clock, and how long it is. */
export function waitUntil(until: number, clock: Clock): { until: number; leftMs: number } {
  const leftMs = Math.max(0, Math.ceil(until - clock.now()));
  return { until: Math.ceil(wallOf(clock)) + leftMs, leftMs };
}

/** Says how much is left of a wait that lasts for `ms` from now, even if the machine's clock is set meanwhile. */
export function timeLeft(ms: number, clock: Clock = systemClock): () => number {
  const steady = steadyClock(clock);
  const end = steady.now() + ms;
  return () => Math.max(0, end - steady.now());
}

/** How often a long sleeper looks at the clock: timers stand still while a machine sleeps, and are late by that. */
export const LOOK_AGAIN_MS = 5_000;

/** Sleeps until `now` has come that far, also when that is sooner than the timer knows. Ends at once on abort. */
export async function sleepThrough(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  const end = clock.now() + ms;
  for (let left = ms; left > 0 && !signal.aborted; left = end - clock.now()) {
    await clock.sleep(Math.min(left, LOOK_AGAIN_MS), signal);
  }
}
