/**
 * One HTTP request and its response. Owns reading the body, noticing that the client has left, and sending what was
 * decided elsewhere. A client that leaves ends the exchange quietly, wherever it stands.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../schema/clock.ts';
import {
  type ApiError,
  apiErrorBody,
  apiErrorType,
  badRequest,
  CHAT_PATH,
  chatErrorBody,
} from './api-error.ts';
import type { ResponseStep, StatusFault } from './fault.ts';
import type { RequestRecord } from './request-record.ts';

export interface Exchange {
  record: RequestRecord;
  /** As they came, secrets included. */
  headers: Readonly<Record<string, string>>;
  /** The query of the request, from `?` on. */
  search: string;
  response: ServerResponse;
  requestId: string;
  /** Aborts when the client leaves or the emulator closes. */
  gone: AbortSignal;
}

/** The whole body, or undefined when the client left while sending it. Too long a body is read to its end. */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer | 'too large' | undefined> {
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) chunks.push(chunk);
      else chunks = [];
    });
    request.on('end', () => resolve(length > limit ? 'too large' : Buffer.concat(chunks)));
    request.on('error', () => resolve(undefined));
    request.on('close', () => resolve(undefined));
  });
}

export function decodeBody(body: Buffer): string {
  if (!isUtf8(body)) throw badRequest('The request body is not valid UTF-8.');
  return body.toString('utf8');
}

export function sendJson(
  exchange: Exchange,
  status: number,
  value: unknown,
  headers: HeaderFields = {},
): void {
  openResponse(exchange, status, 'application/json', headers);
  exchange.response.end(JSON.stringify(value));
}

export type HeaderFields = Readonly<Record<string, string>>;

export function openResponse(
  { response, requestId, record }: Exchange,
  status: number,
  contentType: string,
  headers: HeaderFields = {},
): void {
  record.status = status;
  response.writeHead(status, { 'content-type': contentType, 'request-id': requestId, ...headers });
}

export function sendError(exchange: Exchange, error: ApiError): void {
  sendJson(exchange, error.status, errorBody(exchange, error.status, error.message));
}

export function sendStatusFault(exchange: Exchange, fault: StatusFault, headers: HeaderFields): void {
  const { status, spendLimit = false } = fault;
  const retry = fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) };
  const body = errorBody(exchange, status, fault.message ?? apiErrorType(status), spendLimit);
  sendJson(exchange, status, body, { ...retry, ...headers });
}

/** An error in the form of the API that was asked. */
function errorBody(
  { record, requestId }: Exchange,
  status: number,
  message: string,
  spendLimit = false,
): unknown {
  if (record.path === CHAT_PATH) return chatErrorBody(status, message, spendLimit);
  const details = spendLimit ? { error_code: 'enforced_spend_limit_reached' } : undefined;
  return apiErrorBody(apiErrorType(status), message, requestId, details);
}

/** A timer takes no less. */
const SHORTEST_PAUSE_MS = 1;

/**
 * Carries out the steps of a response that is already open. What needs no pause between goes out in one write.
 * `pauseAfter` says how many milliseconds the given number of tokens takes. Pauses that are too short for a timer are added
 * up.
 */
export async function playSteps(
  { response, gone }: Exchange,
  steps: readonly ResponseStep[],
  clock: Clock,
  pauseAfter: (tokens: number) => number,
): Promise<void> {
  let pending = '';
  let owedMs = 0;
  const flush = async (): Promise<void> => {
    await writeOut(response, pending, gone);
    pending = '';
  };
  for (const step of steps) {
    if (gone.aborted) return;
    if (step.kind === 'write') {
      pending += step.text;
      owedMs += pauseAfter(step.tokens);
      if (owedMs < SHORTEST_PAUSE_MS) continue;
      await flush();
      await clock.sleep(owedMs, gone);
      owedMs = 0;
    } else if (step.kind === 'stall') {
      await flush();
      await stall(step.ms, clock, gone);
    } else {
      await flush();
      response.destroy();
      return;
    }
  }
  if (!gone.aborted) response.end(pending);
}

/** Without `ms` it lasts until the client gives up. */
export function stall(ms: number | undefined, clock: Clock, gone: AbortSignal): Promise<void> {
  return ms === undefined ? untilAborted(gone) : clock.sleep(ms, gone);
}

function writeOut(response: ServerResponse, text: string, gone: AbortSignal): Promise<void> {
  response.flushHeaders();
  if (text === '') return Promise.resolve();
  return new Promise<void>((resolve) => {
    const done = (): void => {
      gone.removeEventListener('abort', done);
      resolve();
    };
    if (gone.aborted) return resolve();
    gone.addEventListener('abort', done);
    response.write(text, done);
  });
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
