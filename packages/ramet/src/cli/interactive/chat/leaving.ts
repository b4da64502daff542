/**
 * The ways out of a conversation on a terminal: Ctrl-C, Ctrl-D, Esc and the end of all agents.
 *
 * Invariants
 * 1. Ctrl-C stops the turn and nothing else; only a second one, with no other key between, leaves.
 * 2. Leaving waits for the turn and all agents to end, so that it is recorded; another Ctrl-C does not wait.
 */
import { EXIT } from '../../io.ts';
import type { KeyName } from '../editor/key-parser.ts';
import type { LiveState } from '../screen/live-rows.ts';
import { agentsAtWork, stopAll, waitedFor } from './agents/agent-commands.ts';
import type { Chat } from './chat.ts';
import type { ChatWorker } from './chat-worker.ts';
import { isWaitingForProvider } from './event-text.ts';

export interface LeavingParts {
  readonly chat: Chat;
  readonly worker: () => ChatWorker;
  /** Ends the process without waiting for anything. */
  readonly exitNow: (code: number) => void;
  isInputEmpty(): boolean;
  clearInput(): void;
  say(line: string): void;
  warn(line: string): void;
  /** The end of agents began, or an agent has ended. */
  changed(): void;
}

/** Why what was under way ended: nobody sent a signal. */
const BY_USER = 'user_interrupt';

export class Leaving {
  readonly #parts: LeavingParts;
  readonly #left: PromiseWithResolvers<number> = Promise.withResolvers();
  /** The last key was Ctrl-C. */
  #interrupted = false;
  /** The last key was Ctrl-D, and would have stopped agents. */
  #warned = false;
  /** The last key was Esc, and stopped nothing. */
  #escaped = false;
  #exitCode: number | null = null;
  #endingSince: number | null = null;

  constructor(parts: LeavingParts) {
    this.#parts = parts;
  }

  /** The exit code, once everything has ended. */
  get left(): Promise<number> {
    return this.#left.promise;
  }

  /** When the end of all agents began to be waited for. */
  get endingSince(): number | null {
    return this.#endingSince;
  }

  /** Whether what is under way is being stopped. */
  get isStopping(): boolean {
    return this.#interrupted || this.#exitCode !== null;
  }

  /** What the next key would do. */
  get hint(): string | null {
    if (this.#warned) return 'Ctrl-D again to stop them and leave';
    return this.#interrupted && this.#isIdle ? 'Ctrl-C again to leave' : null;
  }

  /** Another key than Ctrl-C was pressed: what a repetition would have meant is forgotten. */
  pressed(name: KeyName | null): void {
    this.#interrupted = false;
    if (name !== 'end-of-input') this.#warned = false;
    if (name !== 'escape') this.#escaped = false;
  }

  interrupt(): void {
    const { worker, exitNow, clearInput } = this.#parts;
    const again = this.#interrupted;
    const busy = !this.#isIdle || this.#endingSince !== null;
    this.#interrupted = true;
    if (again && busy) exitNow(EXIT.interrupted);
    else if (again) this.leave(EXIT.interrupted, 'SIGINT');
    else if (busy) worker().stop(BY_USER);
    else clearInput();
  }

  /** Stops the turn; the second time, with nothing to stop, it goes back to an earlier prompt. */
  escape(): void {
    const worker = this.#parts.worker();
    if (!this.#isIdle) worker.stop(BY_USER);
    else if (this.#escaped && this.#parts.isInputEmpty()) worker.submit('/rewind');
    this.#escaped = !this.#escaped && this.#isIdle;
  }

  /** Agents would end with the session: the user is told once. */
  leaveOrWarn(): void {
    const still = this.#warned ? null : agentsAtWork(this.#parts.chat);
    this.#warned = still !== null;
    if (still === null) this.leave(EXIT.done, 'the user left');
    else this.#parts.warn(still);
  }

  /** Ends as soon as what is being done has been stopped and recorded. */
  leave(code: number, why: string): void {
    this.#exitCode ??= code;
    this.#parts.worker().close(why);
    this.workChanged();
  }

  /** Work began, or all of it is done. */
  workChanged(): void {
    if (this.#exitCode !== null && this.#isIdle) void this.#endAgents();
  }

  get #isIdle(): boolean {
    return this.#parts.worker().current === null;
  }

  async #endAgents(): Promise<void> {
    if (this.#endingSince !== null) return;
    this.#endingSince = performance.now();
    await stopAll(this.#parts.chat, (line) => {
      this.#parts.say(line);
      this.#parts.changed();
    });
    this.#left.resolve(this.#exitCode ?? EXIT.done);
  }
}

export interface WorkUnderWay {
  readonly chat: Chat;
  readonly worker: ChatWorker;
  readonly leaving: Leaving;
}

/** What is under way, in a few words. */
export function activityUnderWay({ chat, worker, leaving }: WorkUnderWay): LiveState['activity'] {
  const work = worker.current;
  const since = work?.since ?? leaving.endingSince;
  if (since === null) return null;
  const stopping = leaving.isStopping;
  const text = stopping ? 'stopping (Ctrl-C: leave at once)' : (work?.activity ?? '');
  const hint = !stopping && waitedFor(chat).length > 0 ? 'Ctrl-B: continue without waiting · ' : '';
  const key = !stopping && isWaitingForProvider(text) ? ' · Enter: try now' : '';
  return { text: hint + text + key, forMs: performance.now() - since };
}

/** What the next key would do. */
export function nextKeyHint({ chat, worker, leaving }: WorkUnderWay): string | null {
  const { hint } = leaving;
  if (hint !== null || worker.current !== null) return hint;
  return chat.openWork.length > 0 ? 'Enter: continue what was interrupted' : null;
}
