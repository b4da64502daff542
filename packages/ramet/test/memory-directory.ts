/**
 * Tests make and delete thousands of small files, and a disk takes a fifth of their time for it, of those of git a third. So
 * where the system has room in memory, temporary folders lie there. The folder is this run's own and goes when the run
 * ends; what a killed run left goes a day later.
 */
import { lstatSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const PREFIX = 'ramet-tests-';
const VARIABLE = 'TEST_MEMORY_DIRECTORY';
/** A whole run needs less than a tenth of it. */
const ROOM_BYTES = 2 ** 30;
const DAY_MS = 86_400_000;

/**
 * Commands are judged on the disk: below `/dev` nothing passes without a question, and a test that expects a refusal would
 * pass whatever the rules are. So are walls around processes, and what other users read.
 */
const ON_DISK =
  /\/src\/(?:permission|sandbox|tools|engine\/coordinator|sdk\/retention|journal\/sessions)[./]/;

/** Tests of the command whose agents may do everything or call no command. */
const IN_MEMORY = [
  /\/test\/(?:crash\/|contract\/executor(?:-equal|-lost)?\.)/,
  /\/test\/e2e\/operate-(?:conflicts|goal|life|moved-target|patterns|policies|resume|review|submodules|team)\./,
  /\/test\/e2e\/(?:agents-resume|merge|outage|package|resume|team-memory|undo|usage-limits|views)\./,
  /\/test\/e2e\/(?:all-views|completion|gc|guide|launcher|provider-failures|stop)\./,
];

/** For `TMPDIR` while the tests of a file run; undefined leaves them the system's. */
export function memoryDirectoryFor(testFile: string): string | undefined {
  const isSource = /\/packages\/[^/]+\/src\//.test(testFile) && !ON_DISK.test(testFile);
  return isSource || IN_MEMORY.some((files) => files.test(testFile)) ? process.env[VARIABLE] : undefined;
}

/** Variables for workers: none if no memory is available. */
export function memoryVariables(): Record<string, string> {
  return hasRoom() ? { [VARIABLE]: ownDirectory() } : {};
}

/** Vitest calls it once for each project; the process is the same. */
export default function makeMemoryDirectory(): () => void {
  if (!hasRoom()) return () => {};
  removeOld();
  mkdirSync(ownDirectory(), { recursive: true, mode: 0o700 });
  if (!isOwn(ownDirectory())) throw new Error(`${ownDirectory()} belongs to another user: remove it`);
  return () => rmSync(ownDirectory(), { recursive: true, force: true, maxRetries: 3 });
}

function ownDirectory(): string {
  return join(MEMORY, `${PREFIX}${process.pid}`);
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    return false;
  }
}

function isOwn(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid?.();
}

function removeOld(): void {
  for (const name of readdirSync(MEMORY)) {
    const path = join(MEMORY, name);
    if (!name.startsWith(PREFIX) || !isOwn(path) || lstatSync(path).mtimeMs > Date.now() - DAY_MS) continue;
    rmSync(path, { recursive: true, force: true });
  }
}
