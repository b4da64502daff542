/**
 * Notices a git that waits at a FIFO of an agent. It sleeps and uses no time of the processor; then special files are looked for and
 * removed, which lets it continue. One that still waits is ended, and its caller starts it again.
 *
 * Invariants
 * 1. Nothing is looked for while git works: a large repository costs a look at /proc now and then.
 * 2. A git that waits for something else, such as a filter or a lock, is left alone.
 * 3. When this process ends, no git stays behind that waits.
 */
import { readFileSync } from 'node:fs';
import { type GitSurroundings, removeSpecialFiles } from './special-files.ts';

const LOOK_MS = 400;
const LONGEST_MS = 30_000;

export interface GitWatch {
  began(pid: number | undefined): void;
  /** Whether it met something that was removed. */
  stop(): Promise<boolean>;
}

interface WatchedGit {
  readonly pid: number;
  /** At the last look; null while it works. */
  pulse: string | null;
}

/** Of the process, not of a session: it has one end, at which none of them may stay behind. */
const watched = new Set<WatchedGit>();
let isAtExit = false;

export function watchGit(place: GitSurroundings): GitWatch {
  let timer: NodeJS.Timeout | undefined;
  let git: WatchedGit | null = null;
  let hasRemoved = false;
  let wait = LOOK_MS;
  let looking: Promise<unknown> = Promise.resolve();
  const look = async (): Promise<void> => {
    if (git === null) return;
    const pulse = sleepingPulse(git.pid);
    const isWaiting = pulse !== null && pulse === git.pulse;
    git.pulse = pulse;
    if (isWaiting) {
      const found = await removeSpecialFiles(place).catch((): string[] => []);
      if (found.length > 0) [hasRemoved, wait] = [true, LOOK_MS];
      else if (hasRemoved) endGit(git);
      else wait = Math.min(wait * 2, LONGEST_MS);
    }
    if (git !== null) timer = setTimeout(begin, wait);
  };
  const begin = (): void => {
    looking = look();
  };
  return {
    began(pid) {
      if (pid === undefined) return;
      git = { pid, pulse: null };
      watched.add(git);
      if (!isAtExit) process.once('exit', endWaiting);
      isAtExit = true;
      timer = setTimeout(begin, LOOK_MS);
    },
    async stop() {
      clearTimeout(timer);
      if (git !== null) watched.delete(git);
      git = null;
      // It may have continued while the look that let it go is still under way.
      await looking;
      return hasRemoved;
    },
  };
}

function endWaiting(): void {
  for (const git of watched) if (git.pulse !== null && git.pulse === sleepingPulse(git.pid)) endGit(git);
}

/** Someone else holds the other end. Asked to end, git removes its locks. */
function endGit({ pid }: WatchedGit): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // It has ended.
  }
}

/** Changes whenever it was given time; null while it runs or waits for a disk. Without /proc nobody knows: it may be waiting. */
function sleepingPulse(pid: number): string | null {
  if (process.platform !== 'linux') return 'unknown';
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command's name, in brackets, may itself hold spaces and brackets.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'S' ? fields.slice(10, 12).join(' ') : null;
  } catch {
    return null;
  }
}
