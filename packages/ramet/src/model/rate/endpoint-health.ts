/**
 * Which failures of a provider pass by themselves, and how long a session waits for that (MODEL-2). Until an endpoint
 * has answered for the first time its address may be wrong: then nothing is waited for.
 */
import type { ModelError, ProviderAway } from '../../schema/errors.ts';
import { isRateLimit } from './rate-limit.ts';

/** What this machine remembers of an endpoint. */
export interface AnswerMemory {
  /** Whether it has answered anybody within the last day. */
  isRecent(): boolean;
  note(): void;
}

export interface EndpointHealthOptions {
  memory: AnswerMemory;
  /** Whether the session had an answer before this process. */
  hadAnswer: () => boolean;
  /** How long one outage is waited out. */
  patienceMs: number;
  /** An outage lasts longer than that: whoever waits is to be aborted. */
  onTooLong: (away: ProviderAway) => void;
}

/** `wait`: it passes. `interrupt`: only a person can help, and nothing is lost by waiting for one. */
export type OutageVerdict = 'wait' | 'interrupt' | null;

export class EndpointHealth {
  readonly #options: EndpointHealthOptions;
  #answered = false;

  constructor(options: EndpointHealthOptions) {
    this.#options = options;
  }

  get patienceMs(): number {
    return this.#options.patienceMs;
  }

  noteAnswer(): void {
    if (this.#answered) return;
    this.#answered = true;
    this.#options.memory.note();
  }

  verdict(error: ModelError): OutageVerdict {
    const { memory, hadAnswer } = this.#options;
    // A key that worked a moment ago works again; one that never worked in this process may be wrong.
    if (error.status === 401) return this.#answered ? 'wait' : hadAnswer() ? 'interrupt' : null;
    if (!isTransient(error)) return null;
    return this.#answered || hadAnswer() || memory.isRecent() ? 'wait' : null;
  }

  tooLong(away: ProviderAway): void {
    this.#options.onTooLong(away);
  }
}

/** A connection that broke, silence, a server in trouble. Not limits, and not what the model wrote wrongly. */
function isTransient(error: ModelError): boolean {
  return error.family === 'retryable' && !isRateLimit(error) && error.code !== 'stream_broken';
}
