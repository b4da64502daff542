/**
 * Errors that a server reports inside a stream it has begun with status 200: as an `error` object or text, or as a
 * chunk that is an error itself.
 */
import { ModelError } from '../../schema/errors.ts';

interface ReportedError {
  message?: unknown;
  type?: unknown;
  code?: unknown;
}

/** A request that was accepted may succeed next time, unless the error says that the request is to blame. */
const TERMINAL = /invalid_request|authentication|permission|quota|content_filter|not_found|BadRequest/;
const CONTEXT_WINDOW = /context_length|exceed_context/;

export function chunkError(chunk: object): ModelError | null {
  const reported = reportedError(chunk);
  if (reported === null) return null;
  const code = codeOf(reported);
  const told = typeof reported.message === 'string' && reported.message !== '' ? reported.message : code;
  const message = `the provider ended the stream: ${told.replace(/\s+/g, ' ').slice(0, 500)}`;
  return new ModelError(code, isToBlame(reported) ? 'terminal' : 'retryable', message);
}

function reportedError(chunk: ReportedError & { error?: unknown; object?: unknown }): ReportedError | null {
  const { error } = chunk;
  if (typeof error === 'object' && error !== null) return error;
  if (error !== null && error !== undefined) return { message: String(error) };
  return chunk.object === 'error' ? chunk : null;
}

function codeOf({ type, code }: ReportedError): string {
  if (CONTEXT_WINDOW.test(`${type} ${code}`)) return 'context_window';
  return typeof type === 'string' && type !== '' ? type : 'stream_error';
}

function isToBlame({ type, code }: ReportedError): boolean {
  const status = Number(code);
  const refused = status >= 400 && status < 500 && status !== 408 && status !== 409 && status !== 429;
  return refused || TERMINAL.test(`${type} ${code}`) || CONTEXT_WINDOW.test(`${type} ${code}`);
}
