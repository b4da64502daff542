/**
 * The state of git as agents that start together are told it. Asking git takes a process: those of one message ask
 * within milliseconds, and a session's first agents right after the session itself has asked.
 *
 * Invariant: nobody is told what was read before a program that this session started began or ended, or a file was
 * written through it.
 */
import type { GitState } from './git-state.ts';

/** Others change the tree too: nothing older is told. */
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

  /** Takes what somebody is reading, or has just read. */
  note(directory: string, state: Promise<GitState>): Promise<GitState> {
    this.#last = { directory, at: this.#now(), state };
    return state;
  }

  /** Something may have changed it. */
  forget(): void {
    this.#last = null;
  }
}
