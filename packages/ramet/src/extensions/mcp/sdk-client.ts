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
  type OAuthClientProvider,
  ProtocolError,
  type RequestId,
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
import { describeError, systemCode } from '../../schema/errors.ts';
import { boundedFetch } from './bounded-fetch.ts';
import type { HttpServer } from './server-config.ts';
import { type LeftOutItem, LoginNeeded, RenewalFailed } from './server-failure.ts';

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
  const sent = new Set<RequestId>();
  const fetchHere = fetchWith(headers, new URL(url).origin, fetchFn);
  const options = {
    fetch: (to: string | URL, init?: RequestInit) =>
      fetchHere(to, init, (reason) => {
        // All answers of the older way come in one stream. A call that has its answer hears nothing of another.
        for (const id of type === 'sse' ? sent : idsIn(parsedBody(init?.body))) lose(transport, id, reason);
      }),
    redirectPolicy: 'same-origin' as const,
    ...(authProvider !== undefined && { authProvider }),
  };
  const transport: Transport =
    type === 'sse'
      ? new SSEClientTransport(new URL(url), options)
      : new StreamableHTTPClientTransport(new URL(url), options);
  const send = transport.send.bind(transport);
  transport.send = async (message, own) => {
    const ids = idsIn(message);
    for (const id of type === 'sse' ? ids : []) sent.add(id);
    return send(message, {
      ...own,
      // A stream that breaks before the answer would leave its request open until the time is over.
      onRequestStreamEnd() {
        own?.onRequestStreamEnd?.();
        for (const id of ids) lose(transport, id, LOST);
      },
    });
  };
  return transport;
}

function idsIn(message: unknown): RequestId[] {
  return [message].flat().flatMap((one) => {
    const { id, method } = Object(one);
    return method !== undefined && (typeof id === 'number' || typeof id === 'string') ? [id] : [];
  });
}

function parsedBody(body: unknown): unknown {
  return typeof body === 'string' ? JSON.parse(body) : null;
}

/** Nobody knows how far the request came, or its answer is lost. */
function lose(transport: Transport, id: RequestId, message: string): void {
  transport.onmessage?.({ jsonrpc: '2.0', id, error: { code: STREAM_LOST, message } });
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

/** Where a redirect leads that is not followed, in words; null for another error. */
export function redirectWords(error: unknown, address: string): string | null {
  const found = /Redirect (?:to|from https to plain http not followed; try) (\S+) /.exec(
    describeError(error),
  );
  if (!(error instanceof SdkHttpError) || found?.[1] === undefined) return null;
  const [from, to] = [new URL(address), new URL(found[1])];
  const [here, there] = [from, to].map(({ origin, pathname }) => origin + pathname);
  const correct = 'correct its url, or the server';
  if (here === there) return `the server redirects ${here} to itself, again and again: ${correct}`;
  // Of this kind those within one origin are followed, up to a limit.
  const isFollowed = from.origin === to.origin && (error.status === 307 || error.status === 308);
  return isFollowed
    ? `the server redirects ${here} again and again, the last time to ${there}: ${correct}`
    : `the server redirects ${here} to ${there}, which is not followed: set its url to that, if you trust it`;
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
  return async (url, init, onTooLarge) => {
    if (new URL(url).origin !== origin) return fetchFn(url, init);
    const all = new Headers(init?.headers);
    for (const [name, value] of Object.entries(headers)) if (!all.has(name)) all.set(name, value);
    return fetchFn(url, { ...init, headers: all }, onTooLarge);
  };
}
