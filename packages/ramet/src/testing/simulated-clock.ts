/**
 * A clock that moves only by hand, for tests of whatever waits.
 *
 * Invariants
 * 1. Time never runs backwards and never by itself.
 * 2. Sleepers wake in the order they are due, those due together in the order they fell asleep, each at exactly
 *    its own time, and what one does on waking happens before the next wakes.
 * 3. An aborted sleep ends at once and leaves nothing behind.
 */
import type { Clock } from '../schema/clock.ts';

export interface SimulatedClock extends Clock {
  /** Moves time on, waking who is due on the way, also who falls asleep again within the span. */
  advance(ms: number): Promise<void>;
  /** Changes what `now` says, and nothing else: the clock was set, or the machine slept. */
  set(ms: number): void;
  /** When each sleeper is due, in the order they will wake. */
  due(): number[];
  /** Resolves once at least `count` sleep: the moment to advance when real I/O comes before the sleep. */
  whenSleeping(count?: number): Promise<void>;
}

interface Sleeper {
  due: number;
  wake(): void;
}

export function simulatedClock(start = 0): SimulatedClock {
  refuseOther(start, 'start at');
  let time = start;
  let ahead = 0;
  const sleepers: Sleeper[] = [];
  const watchers = new Set<() => void>();

  const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    if (ms <= 0 || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        sleepers.splice(sleepers.indexOf(sleeper), 1);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper = { due: time + ms, wake };
      signal?.addEventListener('abort', wake);
      const later = sleepers.findIndex((other) => other.due > sleeper.due);
      sleepers.splice(later === -1 ? sleepers.length : later, 0, sleeper);
      for (const look of watchers) look();
    });
  };

  const advance = async (ms: number): Promise<void> => {
    refuseOther(ms, 'advance by');
    if (ms < 0) throw new RangeError(`a clock cannot advance by ${ms} ms`);
    const end = time + ms;
    for (let next = sleepers[0]; next !== undefined && next.due <= end; next = sleepers[0]) {
      time = next.due;
      next.wake();
      await settled();
    }
    time = end;
  };

  const whenSleeping = (count = 1): Promise<void> => {
    if (!Number.isFinite(count)) throw new RangeError(`a clock cannot have ${String(count)} sleepers`);
    return new Promise((resolve) => {
      const look = (): void => {
        if (sleepers.length < count) return;
        watchers.delete(look);
        resolve();
      };
      watchers.add(look);
      look();
    });
  };

  return {
    now: () => time + ahead,
    elapsed: () => time,
    sleep,
    advance,
    set(ms) {
      refuseOther(ms, 'be set by');
      ahead += ms;
    },
    due: () => sleepers.map(({ due }) => due),
    whenSleeping,
  };
}

/** For callers that no compiler checks. */
function refuseOther(ms: unknown, what: string): void {
  if (!Number.isFinite(ms)) throw new RangeError(`a clock cannot ${what} ${String(ms)} ms`);
}

/** Resolves after every promise that needs no I/O has continued. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
