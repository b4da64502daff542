/**
 * Errors that say what happens next. One base class, a stable code, four families:
 * - `mistake`: the user must change something (exit code 2);
 * - `terminal`: this run is over (exit code 1);
 * - `retryable`: the same call may succeed later; the retry policy decides;
 * - `cancelled`: the end was asked for.
 * The message is one line: what was wrong, where, and what to do.
 */
import { localSecond } from './local-time.ts';
import type { Usage } from './usage.ts';

export type ErrorFamily = 'mistake' | 'terminal' | 'retryable' | 'cancelled';

export class RametError extends Error {
  readonly code: string;
  readonly family: ErrorFamily;

  constructor(code: string, family: ErrorFamily, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'RametError';
    this.code = code;
    this.family = family;
  }
}

export class UserMistake extends RametError {
  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(code, 'mistake', message, options);
    this.name = 'UserMistake';
  }
}

/** What went wrong between us and a model provider. `status` is absent when no answer came. */
export class ModelError extends RametError {
  declare readonly family: 'terminal' | 'retryable';
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  /** What the provider had counted when it went wrong: billed, though nothing came of it. */
  readonly usage: Usage | undefined;
  /** What a refusal says about rate limits, as in `ModelResponse.rate`. */
  readonly rate: Readonly<Record<string, string>> | undefined;
  /** The model that was asked, where the provider refused it. */
  readonly model: string | undefined;

  constructor(
    code: string,
    family: 'terminal' | 'retryable',
    message: string,
    details: {
      status?: number | undefined;
      retryAfterMs?: number | undefined;
      usage?: Usage | undefined;
      rate?: Readonly<Record<string, string>> | undefined;
      model?: string | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(code, family, message, { cause: details.cause });
    this.name = 'ModelError';
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.usage = details.usage;
    this.rate = details.rate;
    this.model = details.model;
  }
}

/** Why a run is interrupted that can be resumed: the cause with which its agents end. */
export type InterruptionCause = 'limit' | typeof PROVIDER_CAUSE;

export const PROVIDER_CAUSE = 'provider';

export function isInterruptionCause(reason: unknown): reason is InterruptionCause {
  return reason === 'limit' || reason === 'provider';
}

/** A provider lets nobody send for longer than this request is to wait. Nothing of it was sent. */
export class LimitReached extends RametError {
  readonly until: number;

  constructor(model: string, until: number) {
    super('usage_limit', 'retryable', `the limit of ${model} lasts until ${localSecond(until)}`);
    this.name = 'LimitReached';
    this.until = until;
  }
}

/** A provider was away, or refused every request, for longer than this run waits. The work can be resumed. */
export class ProviderAway extends RametError {
  declare readonly code: InterruptionCause;

  constructor(message: string, options: { cause?: unknown; code?: InterruptionCause } = {}) {
    super(options.code ?? PROVIDER_CAUSE, 'retryable', message, options);
    this.name = 'ProviderAway';
  }
}

export class JournalError extends RametError {
  constructor(code: string, family: 'terminal' | 'mistake', message: string, options?: { cause?: unknown }) {
    super(code, family, message, options);
    this.name = 'JournalError';
  }
}

export class Cancelled extends RametError {
  /** As in `ModelError`. */
  readonly usage: Usage | undefined;

  constructor(message = 'interrupted', options: { cause?: unknown; usage?: Usage | undefined } = {}) {
    super('cancelled', 'cancelled', message, { cause: options.cause });
    this.name = 'Cancelled';
    this.usage = options.usage;
  }
}

/** What went wrong first: an error in the release of something is thrown around the one that led to it. */
export function firstError(thrown: unknown): unknown {
  let error = thrown;
  // By its name: not every browser knows the class.
  while (error instanceof Error && error.name === 'SuppressedError' && 'suppressed' in error)
    error = error.suppressed;
  return error;
}

/** One line of any thrown value, for people. */
export function describeError(thrown: unknown): string {
  try {
    const error = firstError(thrown);
    const text = error instanceof Error ? String(error.message) : textOf(error);
    return text.replace(/\s*\n\s*/g, ' ').trim();
  } catch {
    // Not every value has a text: Object.create(null) has none.
    return 'a value without a text was thrown';
  }
}

function textOf(thrown: unknown): string {
  try {
    const json = typeof thrown === 'object' && thrown !== null ? JSON.stringify(thrown) : '{}';
    if (json !== '{}') return json;
  } catch {
    // A circle has no JSON.
  }
  return String(thrown);
}

/** The `code` of a system error such as ENOENT. */
export function systemCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
