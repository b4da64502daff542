/** Server-sent events of an answer, one `data` at a time; what they mean is the caller's. */
import type { IncomingMessage } from 'node:http';
import { createParser } from 'eventsource-parser';
import { ModelError } from '../schema/errors.ts';
import type { Usage } from '../schema/usage.ts';

/** `enough`: the answer is whole, though more may be said about it. `done`: what follows does not matter. */
export type EventProgress = 'more' | 'enough' | 'done';

export interface EventReading {
  /** Throws when an event is not valid. */
  take: (data: string) => EventProgress;
  /** What a failure of the connection means. */
  toError: (error: unknown) => Error;
  /** How long more is waited for once there is enough; without it, as long as the connection lasts. */
  lingerMs?: number;
}

/** No response of a model is larger: 64k tokens of output are about 10 MB of events. */
const MOST_CHARACTERS = 64_000_000;

/** Resolves when an answer is done or its stream ended; rejects when it broke or an event was refused. */
export function readEvents(answer: IncomingMessage, reading: EventReading): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let progress: EventProgress = 'more';
  // Asked anew each time: what the parser's callback changes, the compiler does not see.
  const has = (reached: EventProgress): boolean => progress === reached;
  let linger: NodeJS.Timeout | undefined;
  let length = 0;
  const parser = createParser({
    onEvent: ({ data }) => {
      if (!has('done')) progress = reading.take(data);
    },
  });
  answer.setEncoding('utf8');
  answer.on('data', (chunk: string) => {
    // What follows the end is drained, so that the connection can be used again.
    if (has('done')) return;
    try {
      length += chunk.length;
      if (length > MOST_CHARACTERS) throw tooLarge();
      parser.feed(chunk);
    } catch (error) {
      answer.destroy();
      reject(error);
      return;
    }
    if (has('done')) resolve();
    if (has('enough') && reading.lingerMs !== undefined) {
      linger ??= setTimeout(() => {
        resolve();
        answer.destroy();
      }, reading.lingerMs);
    }
  });
  answer.once('error', (error) => reject(reading.toError(error)));
  answer.once('close', resolve);
  return promise.finally(() => clearTimeout(linger));
}

function tooLarge(): ModelError {
  const message = `the response was cut off at ${MOST_CHARACTERS / 1e6} MB: no model writes that much in one answer`;
  return new ModelError('response_too_large', 'terminal', message);
}

/** The same error, saying what was billed for the part of the answer that came. */
export function withUsage(error: unknown, usage: Usage | null): unknown {
  if (!(error instanceof ModelError) || usage === null) return error;
  const { code, family, message, status, retryAfterMs } = error;
  return new ModelError(code, family, message, { status, retryAfterMs, usage, cause: error });
}
