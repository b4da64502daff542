/** Server-sent events of an answer, one `data` at a time; what they mean is the caller's. */
import type { IncomingMessage } from 'node:http';
import { createParser } from 'eventsource-parser';
import { ModelError } from '../schema/errors.ts';
import type { Usage } from '../schema/usage.ts';

export interface EventReading {
  /** True when this was the last event that matters; what follows is drained. Throws when an event is not valid. */
  take: (data: string) => boolean;
  /** What a failure of the connection means. */
  toError: (error: unknown) => Error;
}

/** Resolves when the last event was taken or the stream ended; rejects when it broke or an event was refused. */
export function readEvents(answer: IncomingMessage, { take, toError }: EventReading): Promise<void> {
  return new Promise((resolve, reject) => {
    let complete = false;
    const parser = createParser({
      onEvent: ({ data }) => {
        if (!complete) complete = take(data);
      },
    });
    answer.setEncoding('utf8');
    answer.on('data', (chunk: string) => {
      if (complete) return;
      try {
        parser.feed(chunk);
      } catch (error) {
        answer.destroy();
        reject(error);
        return;
      }
      if (complete) resolve();
    });
    answer.once('error', (error) => reject(toError(error)));
    answer.once('close', resolve);
  });
}

/** The same error, saying what was billed for the part of the answer that came. */
export function withUsage(error: unknown, usage: Usage | null): unknown {
  if (!(error instanceof ModelError) || usage === null) return error;
  const { code, family, message, status, retryAfterMs } = error;
  return new ModelError(code, family, message, { status, retryAfterMs, usage, cause: error });
}
