/** The port through which time enters: tests drive it by hand (`testing/simulated-clock.ts`). */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`, or at once when `signal` aborts: the caller looks at the signal. */
  sleep(ms: number, signal?: AbortSignal, options?: SleepOptions): Promise<void>;
}

export interface SleepOptions {
  /** Whether the process stays for it; it does unless this is false. */
  keepsAlive?: boolean;
}

export const systemClock: Clock = {
  now: () => Date.now(),
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
      const timer = setTimeout(finish, ms);
      // Where there is no such method (a browser) nothing is kept alive by a timer.
      if (!keepsAlive && typeof timer === 'object') timer.unref();
      signal?.addEventListener('abort', finish);
    }),
};
