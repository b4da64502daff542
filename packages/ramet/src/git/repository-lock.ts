/**
 * One at a time, per repository and purpose, over all processes and whatever their `$RAMET_HOME` is. The lock is one
 * that the kernel keeps on a file in the shared git directory (SQLite takes it for us), so it ends with its holder,
 * however that ends: nothing stale can be left, and nothing has to be guessed from process ids.
 *
 * Invariants
 * 1. Never two holders of one name: inside a process by a queue, between processes by the kernel.
 * 2. Waiting does not block the event loop.
 * 3. The file stays, empty; removing it while a process holds it would make two locks of one.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError, RametError } from '../schema/errors.ts';

export interface RepositoryLockOptions {
  signal?: AbortSignal | undefined;
  /** After this long it is told who holds the lock. */
  timeoutMs?: number | undefined;
}

const SQLITE_BUSY = 5;
const DEFAULT_TIMEOUT_MS = 120_000;
const SHORTEST_WAIT_MS = 1;
const LONGEST_WAIT_MS = 16;

/** The last of those that wait in this process, by file. */
const queues = new Map<string, Promise<unknown>>();

/** `name` is the purpose, a file name: work under different names does not wait for each other. */
export async function withRepositoryLock<Result>(
  repository: { readonly commonDirectory: string },
  name: string,
  work: () => Promise<Result> | Result,
  options: RepositoryLockOptions = {},
): Promise<Result> {
  const file = join(repository.commonDirectory, 'ramet', 'locks', name);
  const before = queues.get(file) ?? Promise.resolve();
  const turn = before.then(() => holding(file, work, options));
  // The next caller waits for the end, not for success.
  const over = turn.then(
    () => {},
    () => {},
  );
  queues.set(file, over);
  try {
    return await turn;
  } finally {
    if (queues.get(file) === over) queues.delete(file);
  }
}

async function holding<Result>(
  file: string,
  work: () => Promise<Result> | Result,
  options: RepositoryLockOptions,
): Promise<Result> {
  options.signal?.throwIfAborted();
  using lock = openLock(file);
  await acquire(lock, file, options);
  noteHolder(file);
  return await work();
}

function openLock(file: string): DatabaseSync {
  try {
    mkdirSync(join(file, '..'), { recursive: true });
    return new DatabaseSync(file, { timeout: 0 });
  } catch (error) {
    throw unusable(file, error);
  }
}

async function acquire(lock: DatabaseSync, file: string, options: RepositoryLockOptions): Promise<void> {
  const limit = performance.now() + (options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  for (let wait = SHORTEST_WAIT_MS; !tryLock(lock, file); wait = Math.min(LONGEST_WAIT_MS, wait * 2)) {
    if (performance.now() > limit) throw stillHeld(file);
    // Uneven, so that those who wait do not meet again and again.
    await sleep(wait * (0.5 + Math.random()), undefined, { signal: options.signal });
  }
}

function tryLock(lock: DatabaseSync, file: string): boolean {
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    // node:sqlite tells SQLite's own code in this field of the error.
    const { errcode } = error as { errcode?: unknown };
    if (typeof errcode === 'number' && (errcode & 0xff) === SQLITE_BUSY) return false;
    throw unusable(file, error);
  }
}

function noteHolder(file: string): void {
  try {
    writeFileSync(`${file}.holder`, String(process.pid));
  } catch {
    // It only serves the message below.
  }
}

function stillHeld(file: string): RametError {
  let holder = 'another process';
  try {
    holder = `process ${readFileSync(`${file}.holder`, 'utf8')}`;
  } catch {}
  return new RametError(
    'repository_busy',
    'retryable',
    `${holder} has held ${file} for long: wait for it or stop it, then try again`,
  );
}

function unusable(file: string, error: unknown): RametError {
  return new RametError(
    'lock_unusable',
    'terminal',
    `cannot lock ${file}: ${describeError(error)}; the git directory must be on a disk you can write to`,
    { cause: error },
  );
}
