/**
 * Keeps a session's entry in the index in step with its life. The index is never worth a failed run: what goes
 * wrong with it becomes a warning.
 */
import { describeError } from '../schema/errors.ts';
import type { WriterLease } from './lease.ts';
import { type IndexedSession, registerSession, unregisterSession } from './session-index.ts';

/** A new session enters the index this long after it was made: its first request must not wait for it. */
const REGISTER_AFTER_MS = 200;

export interface RegistrationOptions {
  project: string;
  entry: IndexedSession;
  lease: WriterLease;
  warn(message: string): void;
}

export class Registration {
  readonly #options: RegistrationOptions;
  #timer: NodeJS.Timeout | undefined;
  #registered = false;

  constructor(options: RegistrationOptions) {
    this.#options = options;
  }

  /** A process that ends before that leaves a file that lists find all the same. */
  registerLater(): void {
    this.#timer = setTimeout(() => this.register(), REGISTER_AFTER_MS).unref();
  }

  register(): void {
    const { project, entry, lease } = this.#options;
    clearTimeout(this.#timer);
    if (this.#registered) return;
    this.#registered = true;
    this.#warning(() => registerSession(project, entry, lease));
  }

  end(time: number): void {
    const { project, entry, lease } = this.#options;
    this.register();
    this.#warning(() => unregisterSession(project, entry.session, lease, time));
  }

  #warning(change: () => void): void {
    try {
      change();
    } catch (error) {
      this.#options.warn(describeError(error));
    }
  }
}
