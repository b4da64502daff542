/**
 * Who last changed which file, and the turnstile in front of each. One per process; paths are real paths. Inside the
 * process agents queue by path; across processes `SharedWrites` is the lock, one for the whole repository, since a
 * change holds it for a millisecond (WORK-1).
 */
import { type Clock, systemClock } from '../schema/clock.ts';
import { describeError, RametError } from '../schema/errors.ts';
import { FileReaders } from './file-readers.ts';
import type { SharedWrite, SharedWrites } from './shared-writes.ts';

const LARGEST_FILE = 256 << 10;

const MOST_BYTES = 16 << 20;

export type LastWrite = Omit<SharedWrite, 'path'>;
export type WriteRecord = Omit<SharedWrite, 'time'>;

export interface FileLedger {
  /** Known of other processes' agents too, inside `exclusive`. */
  lastWrite(path: string): LastWrite | undefined;
  /** Inside `exclusive`: others know of it when that ends. */
  recordWrite(write: WriteRecord): void;
  /** Runs `work` when nobody else works on `path`, in the order of the calls. */
  exclusive<T>(path: string, work: () => Promise<T>): Promise<T>;
  /** What agents have seen of files, for as long as there is room. */
  readonly versions: KeptVersions;
  /** Which agents of this process have read what. */
  readonly readers: FileReaders;
  now(): number;
  close(): void;
}

/** Of the process that has the turnstiles: others ask it for one path at a time. */
export interface SessionLedger extends FileLedger {
  /** `exclusive` for several paths at once. */
  exclusiveAll<T>(paths: readonly string[], work: () => Promise<T>): Promise<T>;
}

export interface FileLedgerOptions {
  clock?: Clock;
  /** Opens what the processes of a repository share; asked for with the first change. Absent: this process alone. */
  openShared?: () => SharedWrites | Promise<SharedWrites>;
  /** Told once, when it cannot be opened: the other processes are then not known of. */
  warn?: (message: string) => void;
}

/** A forgotten writer is reported as "outside Ramet": a poorer message, never a wrong decision. */
const REMEMBERED_WRITES = 100_000;
const LONGEST_WAIT_MS = 15_000;

export function createFileLedger({
  clock = systemClock,
  openShared,
  warn,
}: FileLedgerOptions = {}): SessionLedger {
  const writes = new Map<string, LastWrite>();
  const queues = createQueues();
  const shared = createSharedLock(clock, openShared ?? null, warn);
  const remember = (path: string, write: LastWrite): void => {
    writes.delete(path);
    writes.set(path, write);
    const oldest = writes.size > REMEMBERED_WRITES ? writes.keys().next().value : undefined;
    if (oldest !== undefined) writes.delete(oldest);
  };
  const exclusiveAll = <T>([path, ...rest]: readonly string[], work: () => Promise<T>): Promise<T> => {
    if (path !== undefined) return queues.inTurn(path, () => exclusiveAll(rest, work));
    return openShared === undefined ? work() : queues.inTurn('', () => shared.hold(work));
  };
  return {
    versions: createKeptVersions(),
    readers: new FileReaders(),
    now: () => clock.now(),
    lastWrite: (path) => shared.store()?.latest(path) ?? writes.get(path),
    recordWrite(write) {
      const timed = { ...write, time: clock.now() };
      remember(write.path, timed);
      shared.store()?.record(timed);
    },
    exclusive: (path, work) => exclusiveAll([path], work),
    // Always in the same order: two who want the same paths do not wait for each other.
    exclusiveAll: (paths, work) => exclusiveAll([...new Set(paths)].sort(), work),
    close: () => shared.close(),
  };
}

interface SharedLock {
  store(): SharedWrites | null;
  hold<T>(work: () => Promise<T>): Promise<T>;
  close(): void;
}

function createSharedLock(
  clock: Clock,
  open: FileLedgerOptions['openShared'] | null,
  warn: ((message: string) => void) | undefined,
): SharedLock {
  let store: SharedWrites | null = null;
  let unusable = false;
  // One at a time: the caller is at the head of the queue.
  const connect = async (): Promise<SharedWrites | null> => {
    if (store !== null || open == null || unusable) return store;
    try {
      store = await open();
    } catch (error) {
      unusable = true;
      warn?.(`files are not guarded against other Ramet processes: ${describeError(error)}`);
    }
    return store;
  };
  return {
    store: () => store,
    async hold(work) {
      const held = await connect();
      if (held === null) return work();
      await acquire(held, clock);
      try {
        return await work();
      } finally {
        held.release();
      }
    },
    close() {
      store?.[Symbol.dispose]();
      store = null;
      unusable = true;
    },
  };
}

/** Polls: a holder has it for about a millisecond, and being woken would take a thread. */
async function acquire(store: SharedWrites, clock: Clock): Promise<void> {
  const since = clock.now();
  for (let pause = 1; !store.tryAcquire(); pause = Math.min(pause * 1.5, 20)) {
    if (clock.now() - since > LONGEST_WAIT_MS) throw heldTooLong();
    await clock.sleep(pause * (0.5 + Math.random()));
  }
}

function heldTooLong(): RametError {
  return new RametError(
    'files_locked',
    'retryable',
    `another Ramet process has been changing files of this repository for ${LONGEST_WAIT_MS / 1_000} s, or was suspended while it did; nothing was written: try again`,
  );
}

interface Queues {
  inTurn<T>(name: string, work: () => Promise<T>): Promise<T>;
}

function createQueues(): Queues {
  const tails = new Map<string, Promise<void>>();
  return {
    async inTurn(name, work) {
      const previous = tails.get(name);
      const turn = Promise.withResolvers<void>();
      tails.set(name, turn.promise);
      try {
        await previous;
        return await work();
      } finally {
        if (tails.get(name) === turn.promise) tails.delete(name);
        turn.resolve();
      }
    },
  };
}

/**
 * What agents have seen of files, by version, so that a refusal can show what changed since. Bounded, the least
 * recently used go first: without it the refusal is shorter, not wrong.
 */
interface KeptVersions {
  keep(version: string, bytes: Uint8Array): void;
  find(version: string): Uint8Array | null;
}

export function createKeptVersions(mostBytes: number = MOST_BYTES): KeptVersions {
  const kept = new Map<string, Uint8Array>();
  let total = 0;
  return {
    keep(version, bytes) {
      const present = kept.get(version);
      if (present !== undefined) {
        kept.delete(version);
        kept.set(version, present);
        return;
      }
      if (bytes.byteLength > LARGEST_FILE) return;
      // A copy: the buffer that a file is read into may be a slice of a larger one.
      kept.set(version, Uint8Array.from(bytes));
      total += bytes.byteLength;
      for (const [oldest, { byteLength }] of kept) {
        if (total <= mostBytes) break;
        kept.delete(oldest);
        total -= byteLength;
      }
    },
    find: (version) => kept.get(version) ?? null,
  };
}
