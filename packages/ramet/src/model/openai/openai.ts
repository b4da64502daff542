/**
 * The `openai` provider: chat completions over HTTP, of OpenAI or of any server that speaks the same (Ollama, vLLM,
 * llama.cpp). Owns sending and reading; what a body becomes is `openai-request.ts`, what chunks become is
 * `openai-assembler.ts`. The official SDK's types are held against ours in a test; the SDK is not loaded.
 */
import { ModelError } from '../../schema/errors.ts';
import type { WatchLimits } from '../connection-watch.ts';
import { errorFromAnswer } from '../http-errors.ts';
import {
  closeEndpoint,
  connectionError,
  type Endpoint,
  type EndpointNames,
  openEndpoint,
  type PostedAnswer,
  post,
  readText,
} from '../http-post.ts';
import type { ModelProvider, ModelRequest, ModelResponse, SendOptions } from '../provider.ts';
import { rateHeaders } from '../rate/rate-headers.ts';
import { OpenaiAssembler } from './openai-assembler.ts';
import { dialectAfter, firstDialect, inDialect, type OpenaiDialect } from './openai-dialect.ts';
import { chatRequest, type TranslatableBody } from './openai-request.ts';
import { isStream, readChatMessage } from './openai-stream.ts';

const ERROR_BODY_LIMIT = 64_000;
/** For servers that forget both `[DONE]` and the end of the connection; usage comes right behind the finish reason. */
const LINGER_MS = 5_000;
const NAMES: EndpointNames = { key: 'OPENAI_API_KEY', baseUrl: 'OPENAI_BASE_URL' };

export interface OpenaiConfig {
  /** With its version path: `https://api.openai.com/v1`. */
  baseUrl: URL;
  apiKey?: string | undefined;
  env: NodeJS.ProcessEnv;
  /** How long `[DONE]` is waited for after the finish reason. */
  lingerMs?: number | undefined;
  watch?: Partial<WatchLimits> | undefined;
}

interface Connection {
  endpoint: Endpoint;
  lingerMs: number;
  headers: Record<string, string>;
  firstDialect: OpenaiDialect;
  /** Learnt from refusals, kept for the requests that follow: models of one server differ, so by model. */
  dialects: Map<string, OpenaiDialect>;
}

export function openaiProvider(config: OpenaiConfig): ModelProvider {
  const endpoint = openEndpoint(completionsUrl(config.baseUrl), config.env, NAMES, config.watch);
  const connection = {
    endpoint,
    headers: requestHeaders(config),
    firstDialect: firstDialect(config.baseUrl),
    dialects: new Map<string, OpenaiDialect>(),
    lingerMs: config.lingerMs ?? LINGER_MS,
  };
  return {
    name: 'openai',
    effortOnly: true,
    origin: endpoint.url.origin,
    send: (request, options) => send(connection, request, options),
    close: () => closeEndpoint(endpoint),
  };
}

function completionsUrl(base: URL): URL {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/chat/completions`;
  return url;
}

function requestHeaders({ apiKey }: OpenaiConfig): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'user-agent': 'ramet',
    ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
  };
}

async function send(
  connection: Connection,
  request: ModelRequest,
  options: SendOptions,
): Promise<ModelResponse> {
  const started = performance.now();
  let firstTokenMs = 0;
  // The engine built this body, in the form that `conversation/request.ts` writes.
  const body = JSON.parse(Buffer.from(request.body).toString()) as TranslatableBody;
  const { answer, heard } = await ask(connection, body, options);
  const assembler = new OpenaiAssembler(toolIds(body), (delta) => {
    if (delta.type === 'began') firstTokenMs = performance.now() - started;
    options.onDelta(delta);
  });
  const message = await readChatMessage(answer, assembler, {
    toError: (error) => connectionError(error, connection.endpoint, options.signal),
    lingerMs: connection.lingerMs,
    heard,
  });
  return {
    ...message,
    model: message.model || request.model,
    rate: rateHeaders(answer.headers),
    firstTokenMs,
    durationMs: performance.now() - started,
  };
}

/** Posts until the server takes the dialect; each refusal teaches something, so this ends. */
async function ask(
  connection: Connection,
  body: TranslatableBody,
  { signal, onQuiet, onResend, onUnused }: SendOptions,
): Promise<PostedAnswer> {
  const { endpoint, headers, dialects } = connection;
  const { model } = body;
  const request = chatRequest(body);
  for (;;) {
    const dialect = dialects.get(model) ?? connection.firstDialect;
    const bytes = Buffer.from(JSON.stringify(inDialect(request, dialect)));
    const posted = await post(endpoint, { headers, pieces: [bytes], signal, onQuiet, onResend });
    const { answer } = posted;
    const status = answer.statusCode ?? 0;
    if (status === 200) return refuseOtherContent(posted, endpoint);
    const refusal = { status, headers: answer.headers, body: await readText(answer, ERROR_BODY_LIMIT) };
    const next = dialectAfter(dialect, refusal);
    const { names, url } = endpoint;
    if (next === null) throw errorFromAnswer(refusal, { model, origin: url.origin, names });
    dialects.set(model, next);
    if (dialect.reasons && !next.reasons) onUnused?.(unusedThinking(model));
  }
}

function unusedThinking(model: string): string {
  return `the model ${model} is served without reasoning_effort: effort and thinking have no effect on it`;
}

function refuseOtherContent(posted: PostedAnswer, { url, names }: Endpoint): PostedAnswer {
  const { answer } = posted;
  const contentType = answer.headers['content-type'] ?? 'nothing';
  if (isStream(answer) || contentType.includes('application/json')) return posted;
  answer.destroy();
  const message = `${url.origin} answered with ${contentType} instead of an event stream: is ${names.baseUrl} right?`;
  throw new ModelError('wrong_content_type', 'terminal', message, { status: 200 });
}

/** Ids that the conversation has used. */
function toolIds({ messages }: TranslatableBody): string[] {
  return messages.flatMap(({ content }) =>
    Array.isArray(content) ? content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])) : [],
  );
}
