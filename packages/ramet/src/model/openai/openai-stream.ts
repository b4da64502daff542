/** Reads a chat completion to its end: a stream of chunks, or one document from a server that does not stream. */
import type { IncomingMessage } from 'node:http';
import { ModelError } from '../../schema/errors.ts';
import { readText } from '../http-post.ts';
import { type EventProgress, type EventReading, readEvents, withUsage } from '../wire.ts';
import type { AssembledChat, ChatChunk, OpenaiAssembler } from './openai-assembler.ts';

/** A request that was accepted may succeed next time, unless the error says that the request is to blame. */
const TERMINAL = /invalid_request|authentication|permission|quota|content_filter|not_found|BadRequest/;

const CONTEXT_WINDOW = /context_length|exceed_context/;

const DOCUMENT_LIMIT = 64_000_000;

export function isStream(answer: IncomingMessage): boolean {
  return (answer.headers['content-type'] ?? '').includes('text/event-stream');
}

export interface ChunkReading extends Required<Omit<EventReading, 'take'>> {
  /** Called when there is content. */
  heard: () => void;
}

/** The whole message, or an error that says what was billed for the part that came. */
export async function readChatMessage(
  answer: IncomingMessage,
  assembler: OpenaiAssembler,
  reading: ChunkReading,
): Promise<AssembledChat> {
  try {
    await readChunks(answer, assembler, reading);
    return assembler.finish();
  } catch (error) {
    throw withUsage(error, assembler.usage);
  }
}

/** A server that does not stream answers with one document, which is read as a single chunk. */
async function readChunks(
  answer: IncomingMessage,
  assembler: OpenaiAssembler,
  { toError, lingerMs, heard }: ChunkReading,
): Promise<void> {
  if (!isStream(answer)) {
    const text = await readText(answer, DOCUMENT_LIMIT);
    heard();
    if (!answer.complete) throw toError(new Error('the answer was cut off'));
    assembler.take(parseChunk(text));
    return;
  }
  const take = (data: string): EventProgress => {
    heard();
    if (data.trim() === '[DONE]') return 'done';
    assembler.take(parseChunk(data));
    return assembler.finished ? 'enough' : 'more';
  };
  await readEvents(answer, { take, toError, lingerMs });
}

function parseChunk(data: string): ChatChunk {
  let chunk: unknown;
  try {
    chunk = JSON.parse(data);
  } catch {
    // Falls through to the one error below.
  }
  if (typeof chunk !== 'object' || chunk === null || Array.isArray(chunk)) {
    const excerpt = data.slice(0, 80);
    throw new ModelError('stream_broken', 'retryable', `a chunk of the stream is not valid: ${excerpt}`);
  }
  const error = chunkError(chunk);
  if (error !== null) throw error;
  return chunk; // the assembler checks every field it reads
}

/**
 * Errors that a server reports inside a stream it has begun with status 200: as an `error` object or text, or as a
 * chunk that is an error itself.
 */
interface ReportedError {
  message?: unknown;
  type?: unknown;
  code?: unknown;
}

function chunkError(chunk: object): ModelError | null {
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
