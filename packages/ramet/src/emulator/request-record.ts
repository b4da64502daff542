/** What the emulator remembers of a request, and the file it can append each one to. */
import { closeSync, openSync, writeSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { describeError, UserMistake } from '../schema/errors.ts';
import type { MessageUsage } from './answer.ts';
import type { WireRequest } from './messages/message-request.ts';

/**
 * `open` until the response is over; `refused` is a 4xx the client earned; `fault` came from the scenario;
 * `unmatched` found no rule; `disconnected` means the client left first.
 */
export type RequestOutcome = 'open' | 'answered' | 'refused' | 'fault' | 'unmatched' | 'disconnected';

export interface RequestRecord {
  /** Milliseconds since the epoch, when the body was complete. */
  time: number;
  method: string;
  path: string;
  /** Keys and tokens are masked. */
  headers: Record<string, string>;
  /** The exact text that came. */
  body: string;
  /** Absent when the body was no valid request. */
  request: WireRequest | undefined;
  /** 0 until a status was sent. */
  status: number;
  usage: MessageUsage | undefined;
  outcome: RequestOutcome;
  /** Number of the scenario's rule that answered, from 1. */
  rule: number | undefined;
}

const SECRET = new Set(['x-api-key', 'authorization', 'proxy-authorization', 'cookie']);

export function plainHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) plain[name] = String(value);
  return plain;
}

export function maskSecrets(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, SECRET.has(name) ? '***' : value]),
  );
}

export interface RequestLog {
  append(record: RequestRecord): void;
  close(): void;
}

/** One JSON line a request. Written at once, so the file can be read while the emulator runs. */
export function openRequestLog(file: string): RequestLog {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'a');
  } catch (error) {
    throw new UserMistake('log_unwritable', `log ${file} cannot be written: ${describeError(error)}`, {
      cause: error,
    });
  }
  return {
    append({ time, path, status, usage, body }) {
      writeSync(descriptor, `${JSON.stringify({ time, path, status, usage: usage ?? null, body })}\n`);
    },
    close: () => closeSync(descriptor),
  };
}
