/**
 * What git says about a working tree, for the agent's first message. It asks once, takes no lock, runs nothing the
 * repository configures, and gives up in a second: what could not be learned is unknown, never clean.
 */
import { describeError, RametError } from '../schema/errors.ts';
import { runGit } from './run-git.ts';

/**
 * The state of git as agents that start together are told it. Asking git takes a process: those of one message ask
 * within milliseconds, and a session's first agents right after the session itself has asked.
 *
 * Invariant: nobody is told what was read before a program that this session started began or ended, or a file was
 * written through it.
 *
 * Others change the tree too: nothing older is told.
 */
const RECENT_MS = 1_000;

export class RecentGitState {
  readonly #read: (directory: string) => Promise<GitState>;
  readonly #now: () => number;
  #last: { directory: string; at: number; state: Promise<GitState> } | null = null;

  constructor(read: (directory: string) => Promise<GitState>, now: () => number = () => performance.now()) {
    this.#read = read;
    this.#now = now;
  }

  of(directory: string): Promise<GitState> {
    const known = this.#last;
    if (known?.directory === directory && this.#now() - known.at <= RECENT_MS) return known.state;
    return this.note(directory, this.#read(directory));
  }

  /** Takes what another caller is reading, or has just read. */
  note(directory: string, state: Promise<GitState>): Promise<GitState> {
    this.#last = { directory, at: this.#now(), state };
    return state;
  }

  /** Something may have changed it. */
  forget(): void {
    this.#last = null;
  }
}

export type GitState =
  | {
      known: true;
      /** Null when HEAD is detached. */
      branch: string | null;
      /** Commit id; null before the first commit. */
      head: string | null;
      /** `XY path`, in git's order, at most `maxLines`. */
      changes: string[];
      /** How many changes are not listed. */
      more: number;
    }
  | { known: false; reason: string };

export interface GitStateOptions {
  directory: string;
  env: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
  maxLines?: number;
  timeoutMs?: number;
}

/** Submodules are not entered: their own configuration would count there. */
const STATUS = ['status', '--porcelain=v2', '--branch', '--ignore-submodules=dirty'];

/** What git prints in the time that it has is less. */
const MOST_BYTES = 64 << 20;

export async function gitState(options: GitStateOptions): Promise<GitState> {
  const collector = createCollector(options.maxLines ?? 20);
  const { directory: cwd, env, signal, timeoutMs = 1_000 } = options;
  try {
    const call = { cwd, env, signal, timeoutMs, looksUp: true, lenient: true, mostBytes: MOST_BYTES };
    const { code, stdout, stderr } = await runGit(STATUS, call);
    if (code !== 0) return { known: false, reason: firstLine(stderr) || `git exited with ${code}` };
    for (const line of stdout.split('\n')) collector.take(line);
    return collector.state();
  } catch (error) {
    const isLate = error instanceof RametError && error.code === 'git_slow';
    return { known: false, reason: isLate ? 'git did not answer in time' : describeError(error) };
  }
}

function createCollector(maxLines: number): { take(line: string): void; state(): GitState } {
  const changes: string[] = [];
  const header = new Map<string, string>();
  let total = 0;
  return {
    take(line) {
      const named = /^# branch\.(\w+) (.*)$/.exec(line);
      if (named?.[1] !== undefined && named[2] !== undefined) header.set(named[1], named[2]);
      const change = shortChange(line);
      if (change === null) return;
      total++;
      if (changes.length < maxLines) changes.push(change);
    },
    state() {
      const head = header.get('oid');
      const branch = header.get('head');
      if (head === undefined || branch === undefined)
        return { known: false, reason: 'git printed no branch' };
      return {
        known: true,
        branch: branch === '(detached)' ? null : branch,
        head: head === '(initial)' ? null : head,
        changes,
        more: total - changes.length,
      };
    },
  };
}

/** How many fields stand before the path, by kind of line: ordinary, renamed, unmerged. */
const FIELDS_BEFORE_PATH: Readonly<Record<string, number>> = { '1': 8, '2': 9, u: 10 };

function shortChange(line: string): string | null {
  const kind = line.charAt(0);
  if (kind === '?') return `?? ${line.slice(2)}`;
  const count = FIELDS_BEFORE_PATH[kind];
  if (count === undefined) return null;
  const fields = line.split(' ');
  const [path = '', from] = fields.slice(count).join(' ').split('\t');
  return `${fields[1] ?? '..'} ${from === undefined ? path : `${from} -> ${path}`}`;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
