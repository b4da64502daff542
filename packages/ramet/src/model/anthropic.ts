/**
 * The `anthropic` provider: the Messages API over HTTP and server-sent events. It speaks the API version that
 * the official SDK's types describe; the SDK itself is not loaded (docs/decisions/004-transport.md).
 */
import type { IncomingMessage } from 'node:http';
import { createParser } from 'eventsource-parser';
import { ModelError } from '../schema/errors.ts';
import { errorFromAnswer, rateHeaders } from './http-errors.ts';
import { connectionError, type Endpoint, openEndpoint, post, readText } from './http-post.ts';
import type { ModelProvider, ModelRequest, ModelResponse, SendOptions } from './provider.ts';
import { type AssembledMessage, ResponseAssembler, type StreamEvent } from './response-assembler.ts';
import { readUsage } from './wire-usage.ts';

const API_VERSION = '2026-10-21';
const ERROR_BODY_LIMIT = 64_000;

export interface AnthropicConfig {
  baseUrl: URL;
  apiKey?: string | undefined;
  authToken?: string | undefined;
  env: NodeJS.ProcessEnv;
}

export function anthropicProvider(config: AnthropicConfig): ModelProvider {
  const endpoint = openEndpoint(messagesUrl(config.baseUrl), config.env);
  const headers = requestHeaders(config);
  return {
    name: 'anthropic',
    send: (request, options) => send(endpoint, headers, request, options),
    close: () => endpoint.agent.destroy(),
  };
}

function messagesUrl(base: URL): URL {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/messages`;
  return url;
}

function requestHeaders({ apiKey, authToken }: AnthropicConfig): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'anthropic-version': API_VERSION,
    'user-agent': 'ramet',
    ...(apiKey ? { 'x-api-key': apiKey } : {}),
    ...(authToken ? { authorization: `Bearer ${authToken}` } : {}),
  };
}

async function send(
  endpoint: Endpoint,
  headers: Record<string, string>,
  request: ModelRequest,
  options: SendOptions,
): Promise<ModelResponse> {
  const started = performance.now();
  let firstTokenMs = 0;
  const answer = await post(endpoint, { headers, body: request.body, signal: options.signal });
  await refuseUnlessStream(answer, endpoint, request.model);
  const assembler = new ResponseAssembler((delta) => {
    if (delta.type === 'began') firstTokenMs = performance.now() - started;
    options.onDelta(delta);
  });
  const { usage, ...message } = await readMessage(answer, assembler, (error) =>
    connectionError(error, endpoint, options.signal),
  );
  return {
    ...message,
    usage: readUsage(usage),
    rate: rateHeaders(answer.headers),
    firstTokenMs,
    durationMs: performance.now() - started,
  };
}

async function refuseUnlessStream(answer: IncomingMessage, endpoint: Endpoint, model: string): Promise<void> {
  const status = answer.statusCode ?? 0;
  const { origin } = endpoint.url;
  if (status !== 200) {
    const body = await readText(answer, ERROR_BODY_LIMIT);
    throw errorFromAnswer({ status, headers: answer.headers, body }, { model, origin });
  }
  const contentType = answer.headers['content-type'] ?? 'nothing';
  if (contentType.includes('text/event-stream')) return;
  answer.destroy();
  const message = `${origin} answered with ${contentType} instead of an event stream: is ANTHROPIC_BASE_URL right?`;
  throw new ModelError('wrong_content_type', 'terminal', message, { status });
}

/** The whole message, or an error that says what was billed for the part that came. */
async function readMessage(
  answer: IncomingMessage,
  assembler: ResponseAssembler,
  toError: (error: unknown) => Error,
): Promise<AssembledMessage> {
  try {
    await readEvents(answer, assembler, toError);
    return assembler.finish();
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    const { code, family, message, status } = error;
    const usage = readUsage(assembler.usage) ?? undefined;
    throw new ModelError(code, family, message, { status, usage, cause: error });
  }
}

/** Feeds the stream's events to the assembler until the message is whole or the stream ends or breaks. */
function readEvents(
  answer: IncomingMessage,
  assembler: ResponseAssembler,
  toError: (error: unknown) => Error,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const parser = createParser({ onEvent: ({ data }) => assembler.take(parseEvent(data)) });
    answer.setEncoding('utf8');
    answer.on('data', (chunk: string) => {
      if (assembler.complete) return;
      try {
        parser.feed(chunk);
      } catch (error) {
        answer.destroy();
        reject(error);
        return;
      }
      // What follows message_stop is drained so that the connection can be used again.
      if (assembler.complete) resolve();
    });
    answer.once('error', (error) => reject(toError(error)));
    answer.once('close', resolve);
  });
}

function parseEvent(data: string): StreamEvent {
  try {
    const event: unknown = JSON.parse(data);
    if (typeof event === 'object' && event !== null && 'type' in event) {
      // The assembler checks every field it reads.
      return event as StreamEvent;
    }
  } catch {
    // Falls through to the one error below.
  }
  const excerpt = data.slice(0, 80);
  throw new ModelError('stream_broken', 'retryable', `an event of the stream is not valid: ${excerpt}`);
}
