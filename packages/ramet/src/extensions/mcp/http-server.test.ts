import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from '../../../test/fixtures/mcp/authorization-server.ts';
import {
  type HttpServerOptions,
  type LoopbackServer,
  listen,
  startHttpServer,
} from '../../../test/fixtures/mcp/http-server.ts';
import { testPool } from '../../../test/fixtures/mcp/servers.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { describeError, UserMistake } from '../../schema/errors.ts';
import type { ServerConnection } from './connection.ts';
import { logIn } from './login.ts';
import type { HttpServer, ServerTimes } from './server-config.ts';
import { openTokens } from './token-store.ts';

const never = new AbortController().signal;
const KINDS = ['sessions', 'stateless'] as const;

function echo(server: ServerConnection, text: string): Promise<unknown> {
  return server.call('echo', { text }, { signal: never }).then(({ content }) => Object(content[0]).text);
}

interface Scene {
  readonly http: LoopbackServer;
  readonly server: ServerConnection;
  /** Another session of the same user. */
  another(): ServerConnection;
  logIn(visit: (url: string) => unknown, signal?: AbortSignal, limitMs?: number): ReturnType<typeof logIn>;
  readonly home: string;
}

async function withHttp(
  options: HttpServerOptions & ServerTimes & Partial<Pick<HttpServer, 'headers'>>,
  work: (scene: Scene) => Promise<void>,
): Promise<void> {
  await using http = await startHttpServer(options);
  const directory = temporaryDirectory();
  const { headers = {}, timeout, startTimeout } = options;
  const config: HttpServer & ServerTimes = { type: 'http', url: http.url, headers, timeout, startTimeout };
  const pools = [testPool(directory).pool];
  const another = (): ServerConnection => {
    const { pool } = testPool(directory);
    pools.push(pool);
    return pool.lease('web', config).connection;
  };
  const home = join(directory, 'home');
  try {
    await work({
      http,
      server: another(),
      another,
      home,
      logIn: (visit, signal = never, limitMs = undefined) =>
        logIn(config, { home, visit, signal, ...(limitMs && { limitMs }) }),
    });
  } finally {
    await Promise.all(pools.map((pool) => pool[Symbol.asyncDispose]()));
  }
  expect([...http.sessions.keys()]).toEqual([]);
}

describe('EXT-4: servers over HTTP', () => {
  test('an answer without a result is told in words, and that the call may have taken effect', () =>
    withHttp(
      {
        refuse: (_, body) =>
          Object(body).method === 'tools/call'
            ? Response.json({ jsonrpc: '2.0', id: Object(body).id, result: null })
            : null,
      },
      async ({ server }) => {
        await expect(echo(server, 'x')).rejects.toThrow(
          /could not run echo: its answer does not have the shape of the protocol.*; the call may have taken effect$/,
        );
      },
    ));

  test.each(['message', 'progress'])(
    'one that sends a %s without end and answers nothing is given up',
    (kind) => {
      let cancelled = false;
      return withHttp(
        {
          refuse(_, body) {
            const { method, params } = Object(body);
            if (method !== 'tools/call' || params.arguments.text !== 'flood') return null;
            const told = kind === 'message' ? { level: 'info', data: 'x' } : { progress: 1 };
            const { progressToken } = Object(params._meta);
            const note = {
              ...{ jsonrpc: '2.0', method: `notifications/${kind}` },
              params: { ...told, ...(progressToken !== undefined && { progressToken }) },
            };
            const batch = Buffer.from(`data: ${JSON.stringify(note)}\n\n`.repeat(500));
            const flood = new ReadableStream({
              pull: (controller) => controller.enqueue(batch),
              cancel() {
                cancelled = true;
              },
            });
            return new Response(flood, { headers: { 'content-type': 'text/event-stream' } });
          },
        },
        async ({ server }) => {
          let told = 0;
          const flooding = server.call(
            'echo',
            { text: 'flood' },
            { signal: never, onProgress: () => void told++ },
          );
          await expect(flooding).rejects.toThrow(
            'ended while it was to run echo: it sends message after message and answers nothing; the call may have taken effect',
          );
          expect(told).toBeLessThanOrEqual(20_000);
          expect(await echo(server, 'again')).toBe('echo: again');
          await vi.waitUntil(() => cancelled, 10_000);
        },
      );
    },
  );

  test.each(KINDS)('%s: tools are listed and called, side by side', (kind) =>
    withHttp({ kind }, async ({ server }) => {
      expect((await server.offer(never)).tools.map(({ name }) => name)).toEqual([
        'echo',
        'hang',
        'huge',
        'whoami',
      ]);
      expect(await Promise.all(['a', 'b', 'c'].map((text) => echo(server, text)))).toEqual([
        'echo: a',
        'echo: b',
        'echo: c',
      ]);
    }),
  );

  test('one whose first answer takes longer than a probe may is waited for', async () => {
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await withHttp({}, async ({ http }) => {
      await using slow = await listen(async (request) => {
        reached.resolve();
        await released.promise;
        const { method, headers } = request;
        return fetch(http.url, { method, headers, ...(method === 'POST' && { body: await request.text() }) });
      });
      const { pool } = testPool(temporaryDirectory());
      const { connection } = pool.lease('web', { type: 'http', url: slow.url, headers: {} });
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      try {
        const answer = echo(connection, 'a');
        answer.catch(() => {});
        await reached.promise;
        vi.advanceTimersByTime(20_000);
        vi.useRealTimers();
        released.resolve();
        expect(await answer).toBe('echo: a');
      } finally {
        vi.useRealTimers();
        await pool[Symbol.asyncDispose]();
      }
    });
  });

  test.each([true, false])('an answer whose size is said (in JSON: %s) is refused with it', (isJson) =>
    withHttp(
      {
        refuse(_, body) {
          const { id, method } = Object(body);
          if (method !== 'tools/call') return null;
          const json = JSON.stringify({
            jsonrpc: '2.0',
            id,
            result: { content: [], x: 'x'.repeat(50 << 20) },
          });
          const text = isJson ? json : `id: 1\ndata: ${json}\n\n`;
          const type = isJson ? 'application/json' : 'text/event-stream';
          return new Response(text, {
            headers: { 'content-type': type, 'content-length': `${text.length}` },
          });
        },
      },
      async ({ server }) => {
        await expect(echo(server, 'x')).rejects.toThrow(
          'the answer has 50 MB, more than the 32 MB that are read: ask for less',
        );
      },
    ),
  );

  test('an answer of 50 MB in the one stream of the older way is told, not waited for', async () => {
    const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
    let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
    await using http = await listen(async (request) => {
      if (request.method === 'GET') {
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            stream = controller;
            controller.enqueue(encode('event: endpoint\ndata: /post\n\n'));
          },
        });
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
      }
      const { id, method, params } = Object(await request.json());
      const answers: Record<string, unknown> = {
        initialize: {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'old', version: '1' },
        },
        'tools/call': {
          content: [{ type: 'text', text: 'x'.repeat(params?.name === 'echo' ? 1 : 50 << 20) }],
        },
      };
      const answer = answers[method]
        ? { result: answers[method] }
        : { error: { code: -32601, message: 'no' } };
      if (id !== undefined)
        stream?.enqueue(encode(`data: ${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n\n`));
      return new Response(null, { status: 202 });
    });
    const { pool } = testPool(temporaryDirectory());
    await using _ = pool;
    const { connection } = pool.lease('old', { type: 'sse', url: http.url, headers: {} });
    expect(await echo(connection, 'a')).toBe('x');
    await expect(connection.call('huge', {}, { signal: never })).rejects.toThrow(
      'the answer has more than the 32 MB that are read: ask for less; the call may have taken effect',
    );
    expect(await echo(connection, 'a')).toBe('x');
  });

  test.each<[status: number, to: string, words: string]>([
    [307, '/mcp', 'the server redirects URL to itself, again and again: correct its url, or the server'],
    [
      308,
      '/mcp?again',
      'the server redirects URL to itself, again and again: correct its url, or the server',
    ],
    [302, '/mcp', 'the server redirects URL to itself, again and again: correct its url, or the server'],
    [
      307,
      '/mcp/more',
      'the server redirects URL again and again, the last time to URL/more: correct its url, or the server',
    ],
    [
      302,
      '/other',
      'the server redirects URL to ORIGIN/other, which is not followed: set its url to that, if you trust it',
    ],
    [
      307,
      'https://mcp.example/mcp',
      'the server redirects URL to https://mcp.example/mcp, which is not followed: set its url to that, if you trust it',
    ],
  ])('a redirect (%i to %s) is told with what to do', async (status, to, words) => {
    await using http = await listen(async () => new Response(null, { status, headers: { location: to } }));
    const { pool } = testPool(temporaryDirectory());
    await using _ = pool;
    const url = `${http.url}/mcp`;
    const { connection } = pool.lease('web', { type: 'http', url, headers: {} });
    const told = await connection.offer(never).catch(describeError);
    expect(told).toBe(
      `the MCP server web did not start: ${words.replaceAll('URL', url).replaceAll('ORIGIN', http.url)}`,
    );
  });

  test.each(KINDS)('%s: an answer of 50 MB fails its call, not the connection', (kind) =>
    withHttp({ kind }, async ({ server }) => {
      await expect(server.call('huge', { text: 'x' }, { signal: never })).rejects.toThrow(
        'could not run huge: the answer has more than the 32 MB that are read: ask for less; the call may have taken effect',
      );
      expect(await echo(server, 'a')).toBe('echo: a');
    }),
  );

  test.each(KINDS)(
    '%s: a connection that breaks in mid-call ends the call at once, and is made again',
    (kind) =>
      withHttp({ kind }, async ({ server, http }) => {
        const calling = server.call('hang', { text: 'mid' }, { signal: never });
        calling.catch(() => {});
        await expect.poll(() => http.begun).toEqual(['mid']);
        http.breakAll();
        await expect(calling).rejects.toThrow(/could not run hang: .*; the call may have taken effect/);
        expect(await echo(server, 'a')).toBe('echo: a');
        expect(http.begun).toEqual(['mid', 'a']);
      }),
  );

  test('a session that the server has forgotten is begun again, and the call is made once', () =>
    withHttp({}, async ({ server, http }) => {
      await echo(server, 'a');
      http.sessions.clear();
      expect(await Promise.all([echo(server, 'b'), echo(server, 'c')])).toEqual(['echo: b', 'echo: c']);
      expect([...http.begun].sort()).toEqual(['a', 'b', 'c']);
    }));

  test('says that an address cannot be reached', async () => {
    const http = await startHttpServer();
    await http[Symbol.asyncDispose]();
    const { pool } = testPool(temporaryDirectory());
    const { connection } = pool.lease('gone', { type: 'http', url: http.url, headers: {} });
    await expect(connection.offer(never)).rejects.toThrow(/did not start: .*ECONNREFUSED/);
    await pool[Symbol.asyncDispose]();
  });

  test('a bearer token of the configuration goes with every request; a wrong one is named as the cause', async () => {
    const refuse = (request: Request): Response | null =>
      request.headers.get('authorization') === 'Bearer right' ? null : new Response('no', { status: 401 });
    await withHttp({ refuse, headers: { Authorization: 'Bearer right' } }, async ({ server, http }) => {
      expect(await echo(server, 'a')).toBe('echo: a');
      expect(new Set(http.seen.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer right']));
    });
    await withHttp({ refuse, headers: { authorization: 'Bearer wrong' } }, async ({ server }) => {
      await expect(server.offer(never)).rejects.toThrow(
        'did not start: it refuses the header Authorization: check the token',
      );
    });
  });
});

function wellKnown(text: string): AuthorizationServer['instead'] {
  return (path) => (path.startsWith('/.well-known/') ? new Response(text) : null);
}

describe('EXT-4: logins', () => {
  test.each(KINDS)('%s: a login gives a token, which sessions use and renew', async (kind) => {
    await using authority = await startAuthorizationServer();
    await withHttp(
      { kind, refuse: authority.refuse },
      async ({ server, another, http, logIn: log, home }) => {
        await expect(server.offer(never)).rejects.toThrow('it needs a login: run ramet mcp login web');
        expect(authority.registered).toBe(0);
        expect(await log((url) => authority.visit(url))).toBe('done');
        const ready = another();
        expect(await echo(ready, 'a')).toBe('echo: a');
        // As if the hour were over.
        authority.good.clear();
        expect(await Promise.all(['b', 'c', 'd'].map((text) => echo(ready, text)))).toEqual([
          'echo: b',
          'echo: c',
          'echo: d',
        ]);
        expect(await echo(another(), 'e')).toBe('echo: e');
        expect(authority.asked).toEqual(['authorization_code', 'refresh_token']);
        expect(authority.registered).toBe(1);
        expect([...http.begun].sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
        const [file = ''] = readdirSync(join(home, 'mcp')).filter((name) => name.endsWith('.json'));
        expect(statSync(join(home, 'mcp', file)).mode & 0o777).toBe(0o600);
        expect(statSync(join(home, 'mcp')).mode & 0o777).toBe(0o700);
      },
    );
  });

  test('a login that is worth nothing any more asks for another; trouble at the other side does not', async () => {
    await using authority = await startAuthorizationServer();
    await withHttp({ refuse: authority.refuse }, async ({ another, http, logIn: log, home }) => {
      await log((url) => authority.visit(url));
      authority.good.clear();
      authority.trouble = new Response('down', { status: 503 });
      await expect(another().offer(never)).rejects.toThrow(/its login could not be renewed: .*503/);
      authority.trouble = null;
      expect(await echo(another(), 'a')).toBe('echo: a');
      authority.good.clear();
      authority.renewing.clear();
      await expect(another().offer(never)).rejects.toThrow('it needs a login');
      expect(readdirSync(join(home, 'mcp')).filter((name) => name.endsWith('.json'))).toEqual([]);
      // Without a login nobody can end a session either.
      http.sessions.clear();
    });
  });

  test('a start or a call that waits for a renewal says what it waited for, how long, and what to do', async () => {
    await using authority = await startAuthorizationServer();
    const times = { startTimeout: 1_000, timeout: 1_000 };
    await withHttp({ refuse: authority.refuse, ...times }, async ({ another, http, logIn: log, home }) => {
      await log((url) => authority.visit(url));
      const ready = another();
      expect(await echo(ready, 'a')).toBe('echo: a');
      authority.good.clear();
      const over = Promise.withResolvers<void>();
      const holding = openTokens(home, http.url).alone(() => over.promise);
      const why =
        /: it waited 1 s for another connection of this process to renew its login; try again, and if that does not help, run ramet mcp login web/;
      const late = another().offer(never);
      await expect(late).rejects.toThrow(/did not answer within 1 s of its start: it waited/);
      await expect(late).rejects.toThrow(why);
      await expect(echo(ready, 'b')).rejects.toThrow(why);
      over.resolve();
      await holding;
      expect(await echo(ready, 'c')).toBe('echo: c');
    });
  });

  test('a start that waits for its authorization server says where that hangs', async () => {
    await using authority = await startAuthorizationServer();
    await withHttp({ refuse: authority.refuse, startTimeout: 1_000 }, async ({ another, logIn: log }) => {
      await log((url) => authority.visit(url));
      authority.good.clear();
      authority.instead = (path) => (path === '/token' ? new Promise(() => {}) : null);
      await expect(another().offer(never)).rejects.toThrow(
        `: it waited 1 s for ${authority.url}/token to renew its login; try again`,
      );
    });
  });

  test('a call whose token could not be renewed has not taken effect', async () => {
    await using authority = await startAuthorizationServer();
    await withHttp({ refuse: authority.refuse }, async ({ another, http, logIn: log }) => {
      await log((url) => authority.visit(url));
      const ready = another();
      expect(await echo(ready, 'a')).toBe('echo: a');
      authority.good.clear();
      authority.trouble = new Response('down', { status: 503 });
      await expect(echo(ready, 'b')).rejects.toThrow(
        /could not run echo: its login could not be renewed: [^;]*503[^;]*; try again, and if that does not help, run ramet mcp login web$/,
      );
      expect(http.begun).toEqual(['a']);
      authority.trouble = null;
      expect(await echo(ready, 'c')).toBe('echo: c');
    });
  });

  test('a token for renewal does not go to another authorization server than the one that gave it', async () => {
    await using authority = await startAuthorizationServer();
    await using thief = await startAuthorizationServer();
    let current = authority;
    await withHttp({ refuse: (request) => current.refuse(request) }, async ({ another, logIn: log }) => {
      await log((url) => authority.visit(url));
      current = thief;
      await expect(another().offer(never)).rejects.toThrow('it needs a login');
      expect(thief.asked).toEqual([]);
    });
  });

  test('a person who says no, and one who gives up, keep the login there was', async () => {
    await using authority = await startAuthorizationServer();
    await withHttp({ refuse: authority.refuse }, async ({ another, logIn: log, home }) => {
      await log((url) => authority.visit(url));
      const stored = (): string[] =>
        readdirSync(join(home, 'mcp'))
          .filter((name) => name.endsWith('.json'))
          .map((name) => readFileSync(join(home, 'mcp', name), 'utf8'));
      const before = stored();
      await expect(log((url) => authority.visit(url, 'no'))).rejects.toThrow(
        /did not succeed: it was declined in the browser \(access_denied\)$/,
      );
      const abort = new AbortController();
      await expect(log(() => abort.abort(), abort.signal)).rejects.toThrow('it was given up');
      expect(stored()).toEqual(before);
      expect(await echo(another(), 'a')).toBe('echo: a');
    });
  });

  test.for(['/.well-known/oauth-authorization-server', '/register', '/token'])(
    'a login ends where %s of the authorization server hangs: when a person gives up, and after a time',
    async (hanging) => {
      await using authority = await startAuthorizationServer();
      const reached = Promise.withResolvers<void>();
      authority.instead = (path) => {
        if (path !== hanging) return null;
        reached.resolve();
        return new Promise(() => {});
      };
      await withHttp({ refuse: authority.refuse }, async ({ logIn: log }) => {
        const visit = (url: string): unknown => authority.visit(url);
        const abort = new AbortController();
        const given = expect(log(visit, abort.signal)).rejects.toThrow('it was given up');
        await reached.promise;
        abort.abort();
        await given;
        await expect(log(visit, never, 200)).rejects.toThrow(
          `${authority.url}${hanging} did not answer within`,
        );
      });
    },
  );

  test.for<[string, Partial<AuthorizationServer>, RegExp]>([
    [
      'metadata that are no JSON',
      { instead: wellKnown('<html>') },
      /well-known\/oauth-authorization-server: it did not answer with JSON$/,
    ],
    [
      'a token endpoint that is no address',
      { metadata: { token_endpoint: 'nonsense' } },
      /oauth-authorization-server: its answer does not have the shape of the protocol \(wrong at token_endpoint\)$/,
    ],
    [
      'no word on PKCE',
      { metadata: { code_challenge_methods_supported: undefined } },
      /does not say that it checks PKCE with S256.*Authorization header/,
    ],
    [
      'PKCE without S256',
      { metadata: { code_challenge_methods_supported: ['plain'] } },
      /does not say that it checks PKCE with S256/,
    ],
    [
      'no registration of clients',
      { metadata: { registration_endpoint: undefined } },
      /does not register clients.*Authorization header/,
    ],
    [
      'an address of a file to log in at',
      { metadata: { authorization_endpoint: 'file:///etc/passwd' } },
      /log in at file:\/\/\/etc\/passwd.*only http and https/,
    ],
    [
      'a token endpoint that fails',
      { trouble: new Response('<h1>down</h1>', { status: 500 }) },
      /\/token: it answered with HTTP 500$/,
    ],
    [
      'a token that is refused',
      {
        trouble: Response.json(
          { error: 'invalid_grant', error_description: 'gone\u001b[31m' },
          { status: 400 },
        ),
      },
      /\/token: it answered with HTTP 400: invalid_grant, gone/,
    ],
    [
      'a token endpoint that answers a page',
      { trouble: new Response('<html>') },
      /\/token: it did not answer with JSON$/,
    ],
  ])('of %s a login says where and what', async ([, change, says]) => {
    await using authority = await startAuthorizationServer();
    Object.assign(authority, change);
    const warned = vi.spyOn(console, 'warn');
    await withHttp({ refuse: authority.refuse }, async ({ logIn: log }) => {
      const error = await log((url) => authority.visit(url)).catch((one: unknown) => one);
      expect(error).toBeInstanceOf(UserMistake);
      expect(Object(error).message).toMatch(says);
      expect(Object(error).message).not.toContain('\u001b');
    });
    expect(warned).not.toHaveBeenCalled();
    expect(authority.asked.length).toBeLessThan(2);
  });

  test('a token endpoint on another origin is used: many providers have one', async () => {
    await using authority = await startAuthorizationServer();
    const forward = async (request: Request): Promise<Response> =>
      fetch(`${authority.url}/token`, {
        method: 'POST',
        headers: request.headers,
        body: await request.text(),
      });
    await using tokens = await listen(forward);
    authority.metadata = { token_endpoint: `${tokens.url}/token` };
    await withHttp({ refuse: authority.refuse }, async ({ logIn: log }) => {
      expect(await log((url) => authority.visit(url))).toBe('done');
    });
  });

  test('an answer that another page forges is not taken', async () => {
    await using authority = await startAuthorizationServer();
    await withHttp({ refuse: authority.refuse }, async ({ logIn: log }) => {
      const forge = async (url: string): Promise<void> => {
        const back = new URL(new URL(url).searchParams.get('redirect_uri') ?? '');
        back.search = 'code=forged&state=guessed';
        expect((await fetch(back)).status).toBe(404);
        await authority.visit(url);
      };
      expect(await log((url) => void forge(url))).toBe('done');
    });
  });

  test('a server that asks for nothing needs no login; headers do not go to the other server', async () => {
    await withHttp({}, async ({ logIn: log }) => {
      expect(await log(() => {})).toBe('not needed');
    });
    await using authority = await startAuthorizationServer();
    const told: (string | null)[] = [];
    const visit = async (url: string): Promise<void> => void (await authority.visit(url));
    await withHttp(
      {
        headers: { 'X-Team': 'blue' },
        refuse: (request) => {
          told.push(request.headers.get('x-team'));
          return authority.refuse(request);
        },
      },
      async ({ logIn: log, another }) => {
        expect(await log(visit)).toBe('done');
        expect(await echo(another(), 'a')).toBe('echo: a');
        expect(told.at(-1)).toBe('blue');
      },
    );
  });
});
