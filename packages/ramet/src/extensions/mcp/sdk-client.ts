/**
 * The only file that loads the SDK of the protocol; it is imported when a server is first needed. What the client says
 * it can do: it knows the directory (roots) and passes questions on (elicitation). It samples nothing: a server that asks
 * for a model's answer gets a polite refusal.
 */
import { pathToFileURL } from 'node:url';
import {
  type AuthProvider,
  Client,
  InsufficientScopeError,
  type JSONRPCMessage,
  type OAuthClientProvider,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  specTypeSchemas,
  type Transport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/client/validators/cf-worker';
import type { ElicitedAnswer, ElicitedQuestion } from '../../permission/broker.ts';
import { systemCode } from '../../schema/errors.ts';
import type { HttpServer } from './server-config.ts';
import { type LeftOutItem, LoginNeeded, RenewalFailed } from './server-failure.ts';
import { LARGEST_MESSAGE } from './stdio-line.ts';

export type { Client, Transport } from '@modelcontextprotocol/client';

/** A program that never answers what it does not know is asked the older way after this. Over HTTP a start would just fail. */
const PROBE_MS = 3_000;
const NO_LIMIT_MS = 2 ** 31 - 1;
/** The time for a start ends a list before that, and so does the number of its items. */
const MOST_PAGES = 2_000;

export interface ClientParts {
  readonly server: string;
  readonly version: string;
  readonly cwd: string;
  readonly isHttp: boolean;
  elicit(question: ElicitedQuestion, signal: AbortSignal): Promise<ElicitedAnswer>;
  onToolsChanged(): void;
}

export function createClient(parts: ClientParts): Client {
  const { server, version, cwd, isHttp } = parts;
  const changed = { autoRefresh: false, debounceMs: 0, onChanged: () => parts.onToolsChanged() };
  const client = new Client(
    { name: 'ramet', title: 'Ramet', version },
    {
      capabilities: { roots: {}, elicitation: { form: {}, url: {} } },
      jsonSchemaValidator: new CfWorkerJsonSchemaValidator(),
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: isHttp ? NO_LIMIT_MS : PROBE_MS } },
      listChanged: { tools: changed, prompts: changed, resources: changed },
      listMaxPages: MOST_PAGES,
    },
  );
  client.setRequestHandler('roots/list', () => ({
    roots: [{ uri: pathToFileURL(cwd).href, name: 'project' }],
  }));
  client.setRequestHandler('elicitation/create', async ({ params }, context) => {
    const question = {
      server,
      message: params.message,
      ...('requestedSchema' in params && { schema: { ...params.requestedSchema } }),
      ...('url' in params && { url: params.url }),
    };
    return parts.elicit(question, context.mcpReq.signal);
  });
  return client;
}

const LIST_SHAPES = {
  tools: specTypeSchemas.Tool,
  resources: specTypeSchemas.Resource,
  resourceTemplates: specTypeSchemas.ResourceTemplate,
  prompts: specTypeSchemas.Prompt,
};

/** Why something in a list does not have the shape of the protocol; null when it has. */
export function listProblem(field: LeftOutItem['field'], item: unknown): string | null {
  const [issue] = LIST_SHAPES[field]['~standard'].validate(item).issues ?? [];
  if (issue === undefined) return null;
  const path = (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part));
  return `its ${path.join('.') || 'shape'} is wrong: ${issue.message}`;
}

/** Whether a part of what a call answers has the shape of the protocol. */
export function isContent(part: unknown): boolean {
  return specTypeSchemas.ContentBlock['~standard'].validate(part).issues === undefined;
}

/** Redirects to another origin are not followed: headers with tokens would go there. */
export function httpTransport(
  { type, url, headers }: HttpServer,
  authProvider: OAuthClientProvider | AuthProvider | undefined,
  fetchFn: typeof boundedFetch = boundedFetch,
): Transport {
  const options = {
    fetch: fetchWith(headers, new URL(url).origin, fetchFn),
    redirectPolicy: 'same-origin' as const,
    ...(authProvider !== undefined && { authProvider }),
  };
  if (type === 'sse') return new SSEClientTransport(new URL(url), options);
  const transport = new StreamableHTTPClientTransport(new URL(url), options);
  const send = transport.send.bind(transport);
  // A stream that breaks before the answer would leave its request open until the time is over.
  transport.send = async (message: JSONRPCMessage | JSONRPCMessage[], own?: Parameters<typeof send>[1]) =>
    send(message, {
      ...own,
      onRequestStreamEnd() {
        own?.onRequestStreamEnd?.();
        for (const one of [message].flat())
          if ('id' in one && 'method' in one)
            transport.onmessage?.({
              jsonrpc: '2.0',
              id: one.id,
              error: { code: STREAM_LOST, message: LOST },
            });
      },
    });
  return transport;
}

/** Gives the browser's answer to the transport that had asked for a login. */
export async function finishLogin(transport: Transport, answer: URLSearchParams): Promise<void> {
  const isOurs =
    transport instanceof StreamableHTTPClientTransport || transport instanceof SSEClientTransport;
  if (isOurs) await transport.finishAuth(answer);
}

/** Of those that are free for implementations; no server sends it. */
const STREAM_LOST = -31_900;
const LOST = 'the connection broke before the answer came';
const END_SESSION_MS = 1_000;

/** Tells a server that keeps sessions that this one is over; one that does not answer soon is left. */
export async function endSession(transport: Transport): Promise<void> {
  if (!(transport instanceof StreamableHTTPClientTransport) || transport.sessionId === undefined) return;
  const waiting = Promise.withResolvers<void>();
  const timer = setTimeout(waiting.resolve, END_SESSION_MS);
  await Promise.race([transport.terminateSession().catch(() => {}), waiting.promise]);
  clearTimeout(timer);
}

/** Whether a person has to log in, or a token is not taken. */
export function isLoginRefused(error: unknown): boolean {
  const causes = [error, error instanceof Error ? error.cause : null];
  return causes.some(
    (one) =>
      one instanceof UnauthorizedError ||
      one instanceof InsufficientScopeError ||
      one instanceof LoginNeeded ||
      (one instanceof SdkHttpError && one.status === 401),
  );
}

/**
 * `refused`: the server has answered, and the connection is good. `forgotten`: it no longer knows the session, and has
 * done nothing. `unreached`: nothing came to it. `lost`: nobody knows how far it came.
 */
export type FailureKind = 'refused' | 'forgotten' | 'unreached' | 'lost';

export function failureKind(error: unknown, transport: Transport): FailureKind {
  if (error instanceof ProtocolError) return error.code === STREAM_LOST ? 'lost' : 'refused';
  if (isLoginRefused(error) || error instanceof RenewalFailed) return 'refused';
  if (error instanceof SdkHttpError) {
    if (error.status === 404 && transport.sessionId !== undefined) return 'forgotten';
    return error.status < 500 ? 'refused' : 'lost';
  }
  if (error instanceof SdkError) return error.code === SdkErrorCode.ConnectionClosed ? 'lost' : 'refused';
  const code = systemCode(error instanceof Error ? error.cause : undefined) ?? systemCode(error);
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND' ? 'unreached' : 'lost';
}

/** Whether the server has answered what nobody can begin with: an error, another version, another shape. */
export function isAnswer(error: unknown): boolean {
  if (error instanceof ProtocolError) return error.code !== STREAM_LOST;
  return error instanceof Error && WRONG_ANSWER.test(error.message);
}

const WRONG_ANSWER = /protocol version|its answer has no result|\[\s*\{\s*"/i;

/** The headers go to the server alone, never to where it sends a person to log in. */
function fetchWith(
  headers: HttpServer['headers'],
  origin: string,
  fetchFn: typeof boundedFetch,
): typeof boundedFetch {
  return async (url, init) => {
    if (new URL(url).origin !== origin) return fetchFn(url, init);
    const all = new Headers(init?.headers);
    for (const [name, value] of Object.entries(headers)) if (!all.has(name)) all.set(name, value);
    return fetchFn(url, { ...init, headers: all });
  };
}

const sentTokens = new WeakMap<Response, string>();

/** The bearer token of the request that this answers. */
export function tokenSentWith(response: Response): string | undefined {
  return sentTokens.get(response);
}

export async function boundedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = withinBounds(await fetch(url, init));
  const token = /^Bearer (.+)$/i.exec(new Headers(init?.headers).get('authorization') ?? '')?.[1];
  if (token !== undefined) sentTokens.set(response, token);
  return response;
}

function withinBounds(response: Response): Response {
  if (response.body === null) return response;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const body = response.body.pipeThrough(bounded(isStream));
  const { status, statusText, headers } = response;
  const copy = new Response(body, { status, statusText, headers });
  // A copy does not know where it came from, and the SDK looks at that.
  Object.defineProperties(copy, { url: { value: response.url }, type: { value: response.type } });
  return copy;
}

/** Fails a body that is too large; of a stream, an event that is: a blank line ends an event. */
function bounded(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
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
      if (held > LARGEST_MESSAGE)
        controller.error(new Error(`the answer has more than ${LARGEST_MESSAGE >> 20} MB: ask for less`));
      else controller.enqueue(chunk);
    },
  });
}
