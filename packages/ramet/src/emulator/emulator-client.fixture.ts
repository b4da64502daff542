/** For the emulator's own tests: bare requests with valid defaults, and the events of a stream. */
import type { Emulator } from './server.ts';

export type Fields = Record<string, unknown>;

export interface StreamedEvent {
  type: string;
  [field: string]: unknown;
}

const HEADERS = { 'x-api-key': 'key', 'anthropic-version': '2026-10-21', 'content-type': 'application/json' };

export function post(
  emulator: Emulator,
  fields: Fields,
  options: { headers?: Record<string, string>; signal?: AbortSignal; path?: string } = {},
): Promise<Response> {
  const defaults = {
    model: 'claude-sonnet-5',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'hello' }],
  };
  return fetch(`${emulator.url}${options.path ?? '/v1/messages'}`, {
    method: 'POST',
    headers: { ...HEADERS, ...options.headers },
    body: JSON.stringify({ ...defaults, ...fields }),
    signal: options.signal ?? null,
  });
}

/** The parsed body, of which tests pick what they need. */
export async function bodyOf(response: Response): Promise<Fields> {
  return (await response.json()) as Fields; // the API answers with objects only
}

export function parseEvents(text: string): StreamedEvent[] {
  return text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => JSON.parse(frame.slice(frame.indexOf('data: ') + 6)));
}

/** Reads to the end or to where the connection breaks. */
export async function readAll(response: Response): Promise<{ text: string; broken: boolean }> {
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
    return { text, broken: false };
  } catch {
    return { text, broken: true };
  }
}
