/**
 * The `anthropic` provider: the Messages API over HTTP and server-sent events. It speaks the API version that
 * the official SDK's types describe; the SDK itself is not loaded (docs/decisions/004-own-transport.md).
 */
import type { IncomingMessage } from 'node:http';
import { ModelError } from '../../schema/errors.ts';
import type { WatchLimits } from '../connection-watch.ts';
import { errorFromAnswer } from '../http-errors.ts';
import {
  closeEndpoint,
  connectionError,
  type Endpoint,
  type EndpointNames,
  openEndpoint,
  post,
  readText,
} from '../http-post.ts';
import type { ModelProvider, ModelRequest, ModelResponse, SendOptions } from '../provider.ts';
import { rateHeaders } from '../rate/rate-headers.ts';
import {
  cutUsage,
  type EventProgress,
  type EventReading,
  readEvents,
  readUsage,
  type WireUsage,
  withUsage,
} from '../wire.ts';
import { type AssembledMessage, ResponseAssembler, type StreamEvent } from './response-assembler.ts';

const API_VERSION = '2026-10-21';
const ERROR_BODY_LIMIT = 64_000;
const WARM_BODY_LIMIT = 64_000;
const EVENT_STREAM = 'text/event-stream';
const NAMES: EndpointNames = {
  key: 'ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN',
  baseUrl: 'ANTHROPIC_BASE_URL',
};

export interface AnthropicConfig {
  baseUrl: URL;
  apiKey?: string | undefined;
  authToken?: string | undefined;
  env: NodeJS.ProcessEnv;
  watch?: Partial<WatchLimits> | undefined;
}

export function anthropicProvider(config: AnthropicConfig): ModelProvider {
  const endpoint = openEndpoint(messagesUrl(config.baseUrl), config.env, NAMES, config.watch);
  const headers = requestHeaders(config);
  return {
    name: 'anthropic',
    searchesWeb: true,
    origin: endpoint.url.origin,
    send: (request, options) => send(endpoint, headers, request, options),
    refresh: (request, options) => refresh(endpoint, headers, request, options.signal),
    close: () => closeEndpoint(endpoint),
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
  const { signal, onQuiet, onResend } = options;
  const pieces = piecesOf(request);
  const { answer, heard } = await post(endpoint, { headers, pieces, signal, onQuiet, onResend });
  await refuseUnless(EVENT_STREAM, answer, endpoint, request.model);
  const assembler = new ResponseAssembler((delta) => {
    if (delta.type === 'began') firstTokenMs = performance.now() - started;
    options.onDelta(delta);
  });
  const toError = (error: unknown): Error => connectionError(error, endpoint, signal);
  const { usage, ...message } = await readMessage(answer, assembler, { toError, heard });
  return {
    ...message,
    usage: readUsage(usage),
    rate: rateHeaders(answer.headers),
    firstTokenMs,
    durationMs: performance.now() - started,
  };
}

function piecesOf(request: ModelRequest): readonly Uint8Array[] {
  return request.pieces ?? [request.body];
}

/** A request without output cannot be streamed: the answer is one JSON document. */
async function refresh(
  endpoint: Endpoint,
  headers: Record<string, string>,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<ModelResponse> {
  const started = performance.now();
  const accepting = { ...headers, accept: 'application/json' };
  const { answer } = await post(endpoint, { headers: accepting, pieces: piecesOf(request), signal });
  await refuseUnless('application/json', answer, endpoint, request.model);
  const text = await readText(answer, WARM_BODY_LIMIT).catch((error) => {
    throw connectionError(error, endpoint, signal);
  });
  const { id, model, stop_reason: stopReason, usage } = parseObject(text);
  const durationMs = performance.now() - started;
  return {
    id: String(id),
    model: String(model),
    stopReason: String(stopReason),
    blocks: [],
    cutToolUse: false,
    // `readUsage` looks at every field it takes.
    usage: readUsage((usage ?? null) as WireUsage | null),
    rate: rateHeaders(answer.headers),
    firstTokenMs: durationMs,
    durationMs,
  };
}

async function refuseUnless(
  wanted: string,
  answer: IncomingMessage,
  endpoint: Endpoint,
  model: string,
): Promise<void> {
  const status = answer.statusCode ?? 0;
  const { names, url } = endpoint;
  const { origin } = url;
  if (status !== 200) {
    const body = await readText(answer, ERROR_BODY_LIMIT);
    throw errorFromAnswer({ status, headers: answer.headers, body }, { model, origin, names });
  }
  const contentType = answer.headers['content-type'] ?? 'nothing';
  if (contentType.includes(wanted)) return;
  answer.destroy();
  const expected = wanted === EVENT_STREAM ? 'an event stream' : wanted;
  const message = `${origin} answered with ${contentType} instead of ${expected}: is ${names.baseUrl} right?`;
  throw new ModelError('wrong_content_type', 'terminal', message, { status });
}

/** The whole message, or an error that says what was billed for the part that came. */
async function readMessage(
  answer: IncomingMessage,
  assembler: ResponseAssembler,
  { toError, heard }: Pick<EventReading, 'toError'> & { heard: () => void },
): Promise<AssembledMessage> {
  const take = (data: string): EventProgress => {
    const event = parseEvent(data);
    if (event.type !== 'ping') heard();
    assembler.take(event);
    return assembler.complete ? 'done' : 'more';
  };
  try {
    await readEvents(answer, { take, toError });
    return assembler.finish();
  } catch (error) {
    const { uncounted } = assembler;
    const usage = readUsage(assembler.usage);
    throw withUsage(error, uncounted === null ? usage : cutUsage(usage, uncounted));
  }
}

function parseEvent(data: string): StreamEvent {
  const event = parseObject(data);
  // The assembler checks every field it reads.
  if ('type' in event) return event as unknown as StreamEvent;
  throw notValid(data);
}

function parseObject(data: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(data);
    // Any object can be read field by field.
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Falls through to the one error below.
  }
  throw notValid(data);
}

function notValid(data: string): ModelError {
  const excerpt = data.slice(0, 80);
  return new ModelError('stream_broken', 'retryable', `an event of the stream is not valid: ${excerpt}`);
}
