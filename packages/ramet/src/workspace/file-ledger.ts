import { type Clock, systemClock } from '../schema/clock.ts';

export interface LastWrite {
  agent: string;
  version: string;
  /** Milliseconds since the epoch. */
  time: number;
}

/** Who last wrote which file, and the turnstile in front of each. One per process; paths are real paths. */
export interface FileLedger {
  lastWrite(path: string): LastWrite | undefined;
  recordWrite(path: string, agent: string, version: string): void;
  /** Runs `work` when nobody else works on `path`, in the order of the calls. */
  exclusive<T>(path: string, work: () => Promise<T>): Promise<T>;
}

/** A forgotten writer is reported as "outside Ramet": a poorer message, never a wrong decision. */
const REMEMBERED_WRITES = 100_000;

export function createFileLedger(clock: Clock = systemClock): FileLedger {
  const writes = new Map<string, LastWrite>();
  const tails = new Map<string, Promise<void>>();
  return {
    lastWrite: (path) => writes.get(path),
    recordWrite(path, agent, version) {
      writes.delete(path);
      writes.set(path, { agent, version, time: clock.now() });
      const oldest = writes.size > REMEMBERED_WRITES ? writes.keys().next().value : undefined;
      if (oldest !== undefined) writes.delete(oldest);
    },
    async exclusive(path, work) {
      const previous = tails.get(path);
      const turn = Promise.withResolvers<void>();
      tails.set(path, turn.promise);
      try {
        await previous;
        return await work();
      } finally {
        if (tails.get(path) === turn.promise) tails.delete(path);
        turn.resolve();
      }
    },
  };
}
