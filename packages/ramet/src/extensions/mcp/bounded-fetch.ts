/** Requests to servers and to where they send a person to log in: no answer is held that is too large. */
import { LARGEST_MESSAGE, tooLarge } from './stdio-line.ts';

const sentTokens = new WeakMap<Response, string>();

/** The bearer token of the request that this answers. */
export function tokenSentWith(response: Response): string | undefined {
  return sentTokens.get(response);
}

/** `onTooLarge` is told why a stream is given up, whose reader learns only that it broke. */
export async function boundedFetch(
  url: string | URL,
  init?: RequestInit,
  onTooLarge?: (reason: string) => void,
): Promise<Response> {
  const response = withinBounds(await fetch(url, init), onTooLarge);
  const token = /^Bearer (.+)$/i.exec(new Headers(init?.headers).get('authorization') ?? '')?.[1];
  if (token !== undefined) sentTokens.set(response, token);
  return response;
}

function withinBounds(response: Response, onTooLarge?: (reason: string) => void): Response {
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  const size = headers.has('content-encoding') ? 0 : Number(headers.get('content-length'));
  const body = response.body.pipeThrough(bounded(isStream, size, onTooLarge));
  const copy = new Response(body, { status, statusText, headers });
  // A copy does not know where it came from, and the SDK looks at that.
  Object.defineProperties(copy, { url: { value: response.url }, type: { value: response.type } });
  return copy;
}

/** Fails a body that is too large; of a stream, an event that is: a blank line ends an event. */
function bounded(
  isStream: boolean,
  size: number,
  onTooLarge?: (reason: string) => void,
): TransformStream<Uint8Array, Uint8Array> {
  let held = 0;
  let isLineOver = false;
  return new TransformStream({
    transform(chunk, controller) {
      held += chunk.length;
      if (isStream)
        for (let index = 0; index < chunk.length; index += 1) {
          const byte = chunk[index];
          const isEnd = byte === 0x0a || byte === 0x0d;
          if (isEnd && isLineOver) held = chunk.length - index - 1;
          // A carriage return and the line feed after it are one end of a line.
          if (byte !== 0x0d) isLineOver = isEnd;
        }
      if (held <= LARGEST_MESSAGE) {
        controller.enqueue(chunk);
        return;
      }
      const reason = `the answer has ${tooLarge(size)}: ask for less`;
      if (isStream) onTooLarge?.(reason);
      controller.error(new Error(reason));
    },
  });
}
