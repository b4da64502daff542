/**
 * Which failures of a provider pass by themselves, and how long a session waits for that (MODEL-2). Until an endpoint
 * has answered for the first time its address may be wrong: then nothing is waited for.
 */

import { createHash } from 'node:crypto';
import { closeSync, openSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../schema/clock.ts';
import type { ModelError, ProviderAway } from '../../schema/errors.ts';
import { makePrivateDirectory } from '../../system/home.ts';
import { isRateLimit } from './rate-bucket.ts';

const RECENT_MS = 86_400_000;

/** A time that is this fresh is not written again. */
const FRESH_MS = 3_600_000;

/** A time ahead of the clock by more is of a clock that was wrong. */
const AHEAD_MS = 60_000;

export class AnsweredEndpoint {
  readonly #options: AnsweredEndpointOptions;
  readonly #file: string;

  constructor(options: AnsweredEndpointOptions) {
    this.#options = options;
    const name = createHash('sha256').update(options.endpoint).digest('hex').slice(0, 24);
    this.#file = join(options.home, 'endpoints', name);
  }

  isRecent(): boolean {
    return this.#isWithin(RECENT_MS);
  }

  /** Without the file nothing is remembered, and nothing else is lost. */
  note(): void {
    if (this.#isWithin(FRESH_MS)) return;
    try {
      makePrivateDirectory(join(this.#options.home, 'endpoints'));
      closeSync(openSync(this.#file, 'a', 0o600));
      const time = this.#options.clock.now() / 1_000;
      utimesSync(this.#file, time, time);
    } catch {
      // Code that needs the disk reports that it is full or read-only.
    }
  }

  #isWithin(ms: number): boolean {
    try {
      const age = this.#options.clock.now() - (statSync(this.#file).mtimeMs ?? 0);
      return age < ms && age > -AHEAD_MS;
    } catch {
      return false;
    }
  }
}

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
  /** How long refusals in a row are waited out, where the user says so. */
  limitMs?: number | undefined;
  /** An outage or a limit lasts longer than that: the waiting requests are to be aborted. */
  onTooLong: (away: ProviderAway) => void;
}

/** The first answer may have asked for agents: their requests go first. */
const NOTE_AFTER_MS = 200;

/** `wait`: it passes. `interrupt`: only a person can help, and nothing is lost by waiting for one. */
export type OutageVerdict = 'wait' | 'interrupt' | null;

export class EndpointHealth {
  readonly #options: EndpointHealthOptions;
  #answered = false;
  #noting: NodeJS.Timeout | null = null;
  /** Those that answered in this process. */
  readonly #models: Set<string> = new Set();

  constructor(options: EndpointHealthOptions) {
    this.#options = options;
  }

  get patienceMs(): number {
    return this.#options.patienceMs;
  }

  get limitMs(): number | undefined {
    return this.#options.limitMs;
  }

  /** Whether it has answered this session, or anybody on this machine of late. */
  get hasAnswered(): boolean {
    const { memory, hadAnswer } = this.#options;
    return this.#answered || hadAnswer() || memory.isRecent();
  }

  noteAnswer(model: string): void {
    this.#models.add(model);
    if (this.#answered) return;
    this.#answered = true;
    this.#noting = setTimeout(() => this.close(), NOTE_AFTER_MS).unref();
  }

  /** Notes now what is still to be noted. */
  close(): void {
    if (this.#noting === null) return;
    clearTimeout(this.#noting);
    this.#noting = null;
    this.#options.memory.note();
  }

  verdict(error: ModelError): OutageVerdict {
    if (error.status === 401 || error.status === 403) return this.#afterDenial(error);
    if (!isTransient(error)) return null;
    return this.hasAnswered ? 'wait' : null;
  }

  /** What worked a moment ago works again; a key, or a model, that never worked in this process may be wrong. */
  #afterDenial({ status, model = '' }: ModelError): OutageVerdict {
    if (!this.#answered) return this.#options.hadAnswer() ? 'interrupt' : null;
    return status === 401 || this.#models.has(model) ? 'wait' : null;
  }

  tooLong(away: ProviderAway): void {
    this.#options.onTooLong(away);
  }
}

/** A connection that broke, silence, a server in trouble. Not limits, and not what the model wrote wrongly. */
function isTransient(error: ModelError): boolean {
  return isOfAnother(error) || isPassing(error);
}

/** Something on the way answers instead of the provider, such as the login page of a network. */
function isOfAnother({ code, status = 0 }: ModelError): boolean {
  return code === 'wrong_content_type' || (status >= 300 && status < 400);
}

function isPassing(error: ModelError): boolean {
  return error.family === 'retryable' && !isRateLimit(error) && error.code !== 'stream_broken';
}

/**
 * Remembers for this machine when a provider's endpoint answered last: an empty file for each in
 * `$RAMET_HOME/endpoints`, whose time is that of the answer. Its name is a digest of the address; no key is in it.
 */
interface AnsweredEndpointOptions {
  home: string;
  /** The provider's name and the address it sends to. */
  endpoint: string;
  clock: Clock;
}
