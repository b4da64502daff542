/**
 * Writes to a terminal that may stop reading: a link that hangs, a program that shows it and is stopped. Node waits for such a
 * terminal with every write, and all agents would wait with it. Here what it does not take is kept and offered again.
 *
 * Invariants
 * 1. All bytes arrive, in order; a write never waits.
 * 2. While something is kept the terminal is behind: a view should not draw, so that only what was begun is kept.
 */
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { type Clock, systemClock } from '../../../schema/clock.ts';
import { systemCode } from '../../../schema/errors.ts';

/** Takes as many of the bytes as it can now, and says how many; throws when the terminal is gone. */
type TakeBytes = (bytes: Buffer) => number;

export interface TerminalOutput extends Disposable {
  write(text: string): void;
  readonly isBehind: boolean;
  /** Offers what is kept until it has been taken, for a moment; the program waits meanwhile. */
  flush(): void;
}

/** A terminal that takes nothing is asked again no more often than this. */
const AGAIN_MS = 50;
/** Who leaves waits so long for a terminal that does not read. */
const FLUSH_MS = 1_000;

export function createTerminalOutput(
  take: TakeBytes,
  onGone: () => void,
  clock: Clock = systemClock,
): TerminalOutput {
  let kept: Buffer[] = [];
  let isWaiting = false;
  const closed = new AbortController();

  /** Whether anything was taken. */
  function offer(): boolean {
    let isTaken = false;
    for (let first = kept[0]; first !== undefined; first = kept[0]) {
      const taken = takeSafely(first);
      if (taken === null) kept = [];
      else if (taken < first.length) {
        kept[0] = first.subarray(taken);
        return isTaken || taken > 0;
      } else kept.shift();
      isTaken = true;
    }
    return isTaken;
  }

  function takeSafely(bytes: Buffer): number | null {
    try {
      return take(bytes);
    } catch {
      onGone();
      return null;
    }
  }

  async function offerLater(): Promise<void> {
    if (isWaiting) return;
    isWaiting = true;
    let waitMs = 1;
    while (kept.length > 0 && !closed.signal.aborted) {
      await clock.sleep(waitMs, closed.signal);
      // A long frame is taken in many pieces.
      waitMs = offer() ? 1 : Math.min(AGAIN_MS, waitMs * 2);
    }
    isWaiting = false;
  }

  return {
    write(text) {
      if (text === '') return;
      kept.push(Buffer.from(text));
      if (kept.length === 1) offer();
      if (kept.length > 0) void offerLater();
    },
    get isBehind() {
      return kept.length > 0;
    },
    flush() {
      const still = new Int32Array(new SharedArrayBuffer(4));
      for (let ms = 0; kept.length > 0 && ms < FLUSH_MS; ms += AGAIN_MS) {
        offer();
        if (kept.length > 0) Atomics.wait(still, 0, 0, AGAIN_MS);
      }
    },
    [Symbol.dispose]() {
      closed.abort();
    },
  };
}

/** The terminal of standard output without waiting, where the system can open it a second time; null elsewhere. */
export function unwaitingStdout(): { take: TakeBytes; close(): void } | null {
  if (process.platform !== 'linux') return null;
  try {
    const file = openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    return { take: (bytes) => takeNow(file, bytes), close: () => closeSync(file) };
  } catch {
    return null;
  }
}

function takeNow(file: number, bytes: Buffer): number {
  try {
    return writeSync(file, bytes);
  } catch (error) {
    if (systemCode(error) === 'EAGAIN') return 0;
    throw error;
  }
}
