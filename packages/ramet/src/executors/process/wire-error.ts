/** Errors on their way between two processes: what the receiver decides by survives, causes and stacks do not. */
import {
  Cancelled,
  describeError,
  type ErrorFamily,
  JournalError,
  ModelError,
  ProviderAway,
  RametError,
  UserMistake,
} from '../../schema/errors.ts';
import type { Usage } from '../../schema/usage.ts';

export interface WireError {
  name: string;
  message: string;
  code: string;
  family: ErrorFamily;
  status?: number | undefined;
  retryAfterMs?: number | undefined;
  usage?: Usage | undefined;
}

export function wireError(error: unknown): WireError {
  if (!(error instanceof RametError)) {
    return { name: 'Error', message: describeError(error), code: 'internal', family: 'terminal' };
  }
  const { name, message, code, family } = error;
  if (!(error instanceof ModelError)) return { name, message, code, family };
  const { status, retryAfterMs, usage } = error;
  return { name, message, code, family, status, retryAfterMs, usage };
}

export function errorFromWire({ name, message, code, family, ...details }: WireError): Error {
  if (name === 'Cancelled') return new Cancelled(message);
  if (name === 'ProviderAway')
    return new ProviderAway(message, { code: code === 'limit' ? code : 'provider' });
  // A fallback model takes over from a limit as it does from other failures.
  if (name === 'LimitReached') return new ModelError(code, 'retryable', message);
  if (name === 'UserMistake') return new UserMistake(code, message);
  if (name === 'ModelError') {
    return new ModelError(code, family === 'retryable' ? 'retryable' : 'terminal', message, details);
  }
  if (name === 'JournalError') {
    return new JournalError(code, family === 'mistake' ? 'mistake' : 'terminal', message);
  }
  return name === 'RametError' ? new RametError(code, family, message) : new Error(message);
}
