/**
 * The HTTP interface of team memory, as Hono routes. Every refusal is JSON with a code and one line; none repeats what
 * was sent, since it may hold a secret. `api-description.ts` describes the same for other programs.
 */
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { secretsIn, secretsText } from '../secrets/secret-guard.ts';
import { keyProblem } from '../wire/memory-key.ts';
import type { MemoryEntry, MemoryLimits, RefusalBody } from '../wire/memory-shapes.ts';
import { apiDescription } from './api-description.ts';
import type { Expected, KeyStore } from './key-store.ts';
import { RequestRate } from './request-rate.ts';
import type { TeamTokens, TokenTeam } from './team-tokens.ts';

export interface MemoryApi {
  store: KeyStore;
  tokens: TeamTokens;
  limits: MemoryLimits;
  /** Learns of failures that are ours. */
  note(line: string): void;
}

type ApiContext = Context<{ Bindings: HttpBindings; Variables: { team: TokenTeam } }>;

type Status = 400 | 401 | 404 | 405 | 408 | 409 | 410 | 412 | 413 | 415 | 422 | 428 | 429 | 500 | 507;

const KEYS = '/v1/keys';
/** Wrong tokens from one address. */
const WRONG_RATE = 5;
const WRONG_BURST = 30;

export function memoryApp(api: MemoryApi): Hono<{ Bindings: HttpBindings; Variables: { team: TokenTeam } }> {
  const app = new Hono<{ Bindings: HttpBindings; Variables: { team: TokenTeam } }>();
  const description = apiDescription(api.limits);
  app.get('/v1/openapi.json', (c) => c.json(description));
  app.get('/v1/health', (c) => c.json({ status: 'ok' }));
  const rate = new RequestRate(api.limits.rate, api.limits.burst);
  const wrong = new RequestRate(WRONG_RATE, WRONG_BURST);
  app.use('/v1/*', async (c, next) => {
    const token = /^Bearer ([\x21-\x7e]{1,200})$/i.exec(c.req.header('authorization') ?? '')?.[1];
    const team = token === undefined ? null : api.tokens.teamOf(token);
    if (team === null) {
      const wait = wrong.take(c.env.incoming.socket.remoteAddress ?? '');
      if (wait > 0) return tooMany(c, wait);
      c.header('WWW-Authenticate', 'Bearer');
      return refuse(c, 401, 'token', 'the token is missing, wrong or revoked: ask for a new one');
    }
    const wait = rate.take(team.token);
    if (wait > 0) return tooMany(c, wait);
    c.set('team', team);
    return next();
  });
  app.get(KEYS, (c) => listKeys(c, api));
  app.get(`${KEYS}/*`, (c) => readKey(c, api));
  app.put(`${KEYS}/*`, (c) => writeKey(c, api));
  app.delete(`${KEYS}/*`, (c) => deleteKey(c, api));
  app.all(KEYS, (c) => refuseMethod(c, 'GET, HEAD'));
  app.all(`${KEYS}/*`, (c) => refuseMethod(c, 'GET, HEAD, PUT, DELETE'));
  app.notFound((c) => refuse(c, 404, 'path', `there is nothing at this path: see /v1/openapi.json`));
  app.onError((error, c) => {
    api.note(`a request failed: ${error.message}`);
    return refuse(c, 500, 'failed', 'the server could not do it: its log says why');
  });
  return app;
}

function listKeys(c: ApiContext, { store }: MemoryApi): Response {
  const { id, name } = c.get('team');
  const tag = store.listingTag(id);
  c.header('ETag', tag);
  c.header('Cache-Control', 'no-cache');
  if (matches(c.req.header('if-none-match'), tag)) return c.body(null, 304);
  return c.json(store.listing(id, name));
}

function readKey(c: ApiContext, { store }: MemoryApi): Response {
  const key = keyOf(c);
  if (typeof key !== 'string') return key.refusal;
  const { id } = c.get('team');
  const entry = store.entry(id, key);
  if (entry === null) return refuse(c, 404, 'missing', 'there is no such key');
  c.header('ETag', entry.etag);
  if (entry.deleted) return refuse(c, 410, 'deleted', 'the key was deleted', { current: entry });
  c.header('Cache-Control', 'no-cache');
  if (matches(c.req.header('if-none-match'), entry.etag)) return c.body(null, 304);
  const value = store.value(id, key, entry.version);
  if (value === null)
    return refuse(c, 410, 'deleted', 'the key was deleted or changed meanwhile: read it again');
  c.header('Content-Type', 'text/plain; charset=utf-8');
  c.header('X-Content-Type-Options', 'nosniff');
  c.header('Repr-Digest', `sha-256=:${Buffer.from(entry.checksum, 'base64url').toString('base64')}:`);
  return c.body(new Uint8Array(value));
}

async function writeKey(c: ApiContext, { store, limits }: MemoryApi): Promise<Response> {
  const key = keyOf(c);
  if (typeof key !== 'string') return key.refusal;
  const expected = conditionOf(c);
  if (typeof expected === 'object' && expected !== null) return expected.refusal;
  if (c.req.header('content-encoding') !== undefined)
    return refuse(c, 415, 'encoding', 'send the value as it is, without Content-Encoding');
  const body = await readBody(c, limits.value);
  if (!(body instanceof Uint8Array)) return body.refusal;
  const text = decoded(body);
  if (text === null) return refuse(c, 400, 'value', 'the value is not UTF-8, or has a NUL');
  const findings = secretsIn(text);
  if (findings.length > 0)
    return refuse(c, 422, 'secret', `the value has a secret: ${secretsText(findings)}; remove it`, {
      findings,
    });
  return written(c, await store.write({ team: c.get('team').id, key, expected, value: body }));
}

async function deleteKey(c: ApiContext, { store }: MemoryApi): Promise<Response> {
  const key = keyOf(c);
  if (typeof key !== 'string') return key.refusal;
  const expected = conditionOf(c);
  if (typeof expected === 'object' && expected !== null) return expected.refusal;
  return written(c, await store.write({ team: c.get('team').id, key, expected, value: null }));
}

function written(c: ApiContext, result: Awaited<ReturnType<KeyStore['write']>>): Response {
  switch (result.outcome) {
    case 'twin':
      return refuse(c, 409, 'twin', `"${result.other}" differs from it in case or form only: use that name`);
    case 'full':
      return refuse(c, 507, 'full', `the team has reached its limit of ${result.what}: delete something`);
    case 'changed':
      return refuseChanged(c, result.current);
    default:
      c.header('ETag', result.entry.etag);
      return c.json(result.entry, result.outcome === 'created' ? 201 : 200);
  }
}

function refuseChanged(c: ApiContext, current: MemoryEntry | null): Response {
  if (current === null) return refuse(c, 412, 'changed', 'the key does not exist: send If-None-Match: *');
  c.header('ETag', current.etag);
  if (current.deleted)
    return refuse(c, 412, 'deleted', 'the key was deleted: If-Match with its ETag writes it again', {
      current,
    });
  return refuse(c, 412, 'changed', 'the key has another version: read it and merge', { current });
}

interface Refused {
  refusal: Response;
}

/** From the address as it was sent: a `..` in it is refused and not resolved. */
function keyOf(c: ApiContext): string | Refused {
  const [path = ''] = (c.env.incoming.url ?? '').split(/[?#]/, 1);
  const bad = (why: string): Refused => ({ refusal: refuse(c, 400, 'key', `this cannot be a key: ${why}`) });
  if (!path.startsWith(`${KEYS}/`)) return bad('the path was changed on its way');
  try {
    const key = decodeURIComponent(path.slice(KEYS.length + 1));
    const problem = keyProblem(key);
    return problem === null ? key : bad(problem);
  } catch {
    return bad('it is not UTF-8');
  }
}

/** What a write must say: which version it replaces, or that the key is new. */
function conditionOf(c: ApiContext): Expected | Refused {
  const match = c.req.header('if-match');
  const none = c.req.header('if-none-match');
  const wanted = 'send If-Match with one ETag, or If-None-Match: * for a new key';
  if (match === undefined && none === undefined)
    return { refusal: refuse(c, 428, 'condition', `a write needs a condition: ${wanted}`) };
  if (match === undefined && none === '*') return null;
  if (match !== undefined && none === undefined && /^"[\x21\x23-\x7e]{1,100}"$/.test(match)) return match;
  return { refusal: refuse(c, 400, 'condition', `this condition is not understood: ${wanted}`) };
}

/** `*`, or a list of tags, weak ones too. */
function matches(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === tag);
}

/** As it arrives, and no further than the limit; a sender that is too slow is ended by the server. */
async function readBody(c: ApiContext, limit: number): Promise<Uint8Array | Refused> {
  const tooLarge = (): Refused => {
    // What still comes is not read.
    c.header('Connection', 'close');
    return { refusal: refuse(c, 413, 'large', `the value has more than ${limit} bytes`) };
  };
  if (Number(c.req.header('content-length') ?? 0) > limit) return tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of c.env.incoming) {
      size += chunk.length;
      if (size > limit) return tooLarge();
      chunks.push(chunk);
    }
  } catch {
    return { refusal: refuse(c, 400, 'value', 'the value ended early') };
  }
  return Buffer.concat(chunks);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decoded(bytes: Uint8Array): string | null {
  try {
    const text = UTF8.decode(bytes);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

function tooMany(c: ApiContext, wait: number): Response {
  c.header('Retry-After', String(wait));
  return refuse(c, 429, 'rate', `too many requests: wait ${wait} s`);
}

function refuseMethod(c: ApiContext, allowed: string): Response {
  c.header('Allow', allowed);
  return refuse(c, 405, 'method', `this path allows ${allowed}`);
}

function refuse(
  c: Context,
  status: Status,
  code: string,
  message: string,
  more: Omit<RefusalBody['error'], 'code' | 'message'> = {},
): Response {
  const body: RefusalBody = { error: { code, message, ...more } };
  return c.json(body, status);
}
