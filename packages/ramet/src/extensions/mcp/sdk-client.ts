/**
 * The only file that loads the SDK of the protocol; it is imported when a server is first needed. What the client says
 * it can do: it knows the directory (roots) and passes questions on (elicitation). It samples nothing: a server that asks
 * for a model's answer gets a polite refusal.
 */
import { pathToFileURL } from 'node:url';
import {
  Client,
  type OAuthClientProvider,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/client/validators/cf-worker';
import type { ElicitedAnswer, ElicitedQuestion } from '../../permission/broker.ts';
import type { HttpServer } from './server-config.ts';
import { LARGEST_MESSAGE } from './stdio-line.ts';

export type { Client, Transport } from '@modelcontextprotocol/client';

/** A server that never answers what it does not know is asked the older way after this. */
const PROBE_MS = 3_000;
const MOST_PAGES = 50;

export interface ClientParts {
  readonly server: string;
  readonly version: string;
  readonly cwd: string;
  elicit(question: ElicitedQuestion, signal: AbortSignal): Promise<ElicitedAnswer>;
  onToolsChanged(): void;
}

export function createClient(parts: ClientParts): Client {
  const { server, version, cwd } = parts;
  const changed = { autoRefresh: false, debounceMs: 0, onChanged: () => parts.onToolsChanged() };
  const client = new Client(
    { name: 'ramet', title: 'Ramet', version },
    {
      capabilities: { roots: {}, elicitation: { form: {}, url: {} } },
      jsonSchemaValidator: new CfWorkerJsonSchemaValidator(),
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: PROBE_MS } },
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

/** Redirects to another origin are not followed: headers with tokens would go there. */
export function httpTransport(
  { type, url, headers }: HttpServer,
  authProvider: OAuthClientProvider | undefined,
): Transport {
  const options = {
    requestInit: { headers: { ...headers } },
    fetch: boundedFetch,
    redirectPolicy: 'same-origin' as const,
    ...(authProvider !== undefined && { authProvider }),
  };
  return type === 'sse'
    ? new SSEClientTransport(new URL(url), options)
    : new StreamableHTTPClientTransport(new URL(url), options);
}

export function isLoginRefused(error: unknown): boolean {
  return error instanceof UnauthorizedError;
}

/** Gives the browser's answer to the transport that had asked for a login. */
export async function finishLogin(transport: Transport, answer: URLSearchParams): Promise<void> {
  const isOurs =
    transport instanceof StreamableHTTPClientTransport || transport instanceof SSEClientTransport;
  if (isOurs) await transport.finishAuth(answer);
}

async function boundedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  const body = response.body.pipeThrough(bounded());
  const { status, statusText, headers } = response;
  const copy = new Response(body, { status, statusText, headers });
  // A copy does not know where it came from, and the SDK looks at that.
  Object.defineProperties(copy, { url: { value: response.url }, type: { value: response.type } });
  return copy;
}

/** Fails a body without a blank line, which ends an event of a stream, in this many bytes. */
function bounded(): TransformStream<Uint8Array, Uint8Array> {
  let held = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const end = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).lastIndexOf('\n\n');
      held = end === -1 ? held + chunk.byteLength : chunk.byteLength - end;
      if (held > LARGEST_MESSAGE)
        controller.error(new Error(`the answer has more than ${LARGEST_MESSAGE >> 20} MB: ask for less`));
      else controller.enqueue(chunk);
    },
  });
}
