/**
 * Requests for one key: nearly all that a memory server gets. They are answered on the connection as it is, because a
 * framework's request and response cost more than all of the work.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { secretInKey, secretsIn, secretsText } from '../secrets/secret-guard.ts';
import { keyProblem, newKeyProblem } from '../wire/memory-key.ts';
import type { MemoryEntry, MemoryLimits } from '../wire/memory-shapes.ts';
import type { Expected, KeyStore, WriteOutcome } from './key-store.ts';
import { jsonReply, type MemoryReply, refuse, refuseFailed, refuseMethod, send } from './memory-reply.ts';
import { isKnown, isMatched, isNoneMatched, isOneTag, tagsOf, wantsAnother } from './request-conditions.ts';
import type { RequestGate } from './request-gate.ts';
import type { OpenWrites } from './request-head.ts';

export const KEYS = '/v1/keys';
const KEY_PATH = `${KEYS}/`;
const METHODS = 'GET, HEAD, PUT, DELETE';

export interface KeyRequests {
  store: KeyStore;
  gate: RequestGate;
  limits: MemoryLimits;
  writes: OpenWrites;
  /** Learns of failures that are ours. */
  note(line: string): void;
}

export function isForKey(incoming: IncomingMessage): boolean {
  return incoming.url?.startsWith(KEY_PATH) === true;
}

export function answerForKey(api: KeyRequests, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const answer = (reply: MemoryReply): void => {
    // What is left of a value is read and dropped, but no more than a value may have.
    if (!incoming.complete && mayBeLonger(incoming, api.limits.value))
      outgoing.setHeader('Connection', 'close');
    send(outgoing, reply);
  };
  const fail = (error: unknown): void => answer(refuseFailed(error, api.note));
  try {
    const reply = replyFor(api, incoming);
    if (reply instanceof Promise)
      reply
        .finally(() => api.writes.end(incoming, outgoing))
        .then(answer)
        .catch(fail);
    else answer(reply);
  } catch (error) {
    fail(error);
  }
}

function mayBeLonger({ headers }: IncomingMessage, limit: number): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > limit;
}

function replyFor(api: KeyRequests, incoming: IncomingMessage): MemoryReply | Promise<MemoryReply> {
  const team = api.gate.admit(incoming);
  if ('status' in team) return team;
  switch (incoming.method) {
    case 'GET':
    case 'HEAD':
      return readKey(api.store, incoming, team.id);
    case 'PUT':
      return writeKey(api, incoming, team.id);
    case 'DELETE':
      return deleteKey(api, incoming, team.id);
    default:
      return refuseMethod(METHODS);
  }
}

function readKey(store: KeyStore, incoming: IncomingMessage, team: number): MemoryReply {
  const path = pathOf(incoming);
  // A key that the store knows was checked when it was written.
  let entry = store.known(team, path);
  if (entry === undefined) {
    const key = keyFrom(path);
    if (typeof key !== 'string') return key;
    entry = store.entry(team, key) ?? undefined;
  }
  if (entry === undefined) return refuse(404, 'missing', 'there is no such key');
  if (entry.deleted) return refuseDeleted(store, team, entry);
  if (wantsAnother(incoming.headers['if-match'], entry.etag) !== false)
    return refuseOther(incoming.headers['if-match'], entry);
  if (isKnown(incoming.headers['if-none-match'], entry.etag))
    return { status: 304, headers: headersOf(entry), body: null };
  const value = store.value(team, entry.key, entry.version);
  if (value !== null) return found(entry, value);
  // Another server has written it since. An entry is never removed, so it is there, in whatever version.
  const now = store.whole(team, entry.key);
  return now.value === null ? refuseDeleted(store, team, now.entry) : found(now.entry, now.value);
}

function refuseDeleted(store: KeyStore, team: number, entry: MemoryEntry): MemoryReply {
  const more = { current: entry, earlier: store.earlier(team, entry.key), headers: { ETag: entry.etag } };
  return refuse(410, 'deleted', 'the key was deleted', more);
}

function refuseOther(ifMatch: string | undefined, entry: MemoryEntry): MemoryReply {
  return wantsAnother(ifMatch, entry.etag) === null ? refuseCondition() : refuseChanged(entry);
}

function headersOf({ etag }: MemoryEntry): Record<string, string> {
  return { ETag: etag, 'Cache-Control': 'no-cache' };
}

function found(entry: MemoryEntry, value: Uint8Array): MemoryReply {
  return {
    status: 200,
    headers: {
      ...headersOf(entry),
      'Content-Type': 'text/plain; charset=utf-8',
      'X-Content-Type-Options': 'nosniff',
      'Repr-Digest': `sha-256=:${Buffer.from(entry.checksum, 'base64url').toString('base64')}:`,
    },
    body: value,
  };
}

async function writeKey(
  { store, limits, writes }: KeyRequests,
  incoming: IncomingMessage,
  team: number,
): Promise<MemoryReply> {
  const key = keyFrom(pathOf(incoming));
  if (typeof key !== 'string') return key;
  const expected = conditionOf(incoming);
  if (typeof expected === 'object' && expected !== null) return expected;
  const problem = expected === null ? newKeyProblem(key) : null;
  if (problem !== null) return refuse(400, 'key', `this cannot be a key: ${problem}`);
  const rule = expected === null ? secretInKey(key) : null;
  if (rule !== null) return refuse(422, 'secret', `the key has a secret (${rule}): use another name`);
  if (incoming.headers['content-encoding'] !== undefined)
    return refuse(415, 'encoding', 'send the value as it is, without Content-Encoding');
  if (incoming.headers['content-range'] !== undefined)
    return refuse(400, 'value', 'send the whole value, without Content-Range');
  const body = await readBody(incoming, limits.value);
  if (!(body instanceof Uint8Array)) return body;
  const text = decoded(body);
  if (text === null) return refuse(400, 'value', 'the value is not UTF-8, or has a NUL');
  const findings = secretsIn(text);
  if (findings.length > 0)
    return refuse(422, 'secret', `the value has a secret: ${secretsText(findings)}; remove it`, {
      findings,
    });
  return writes.begin(incoming)
    ? written(await store.write({ team, key, expected, value: body }))
    : refuse(400, 'head', 'more than the value was sent');
}

async function deleteKey(
  { store, writes }: KeyRequests,
  incoming: IncomingMessage,
  team: number,
): Promise<MemoryReply> {
  const key = keyFrom(pathOf(incoming));
  if (typeof key !== 'string') return key;
  const expected = conditionOf(incoming, 'send If-Match with its ETag');
  if (typeof expected === 'object' && expected !== null) return expected;
  if (expected === null)
    return refuse(428, 'condition', 'a key that is deleted exists: send If-Match with its ETag');
  // What came with the request has been looked at by then.
  await Promise.resolve();
  return writes.begin(incoming)
    ? written(await store.write({ team, key, expected, value: null }))
    : refuse(400, 'head', 'more than a deletion was sent');
}

function written(result: WriteOutcome): MemoryReply {
  switch (result.outcome) {
    case 'twin':
      return refuse(409, 'twin', twinText(result));
    case 'full':
      return refuse(
        507,
        'full',
        `the team has reached its limit of ${result.what}: ${result.remedy ?? 'delete something'}`,
      );
    case 'changed':
      return refuseChanged(result.current);
    default:
      return jsonReply(result.entry, result.outcome === 'created' ? 201 : 200, { ETag: result.entry.etag });
  }
}

function twinText({ other, how }: Extract<WriteOutcome, { outcome: 'twin' }>): string {
  if (how === 'key') return `"${other}" differs from it in case or form only: use that name`;
  if (how === 'folder')
    return `the folder of "${other}" differs from one of it in case or form only: use that name`;
  return `"${other}" is there, and no name can be a file and a folder: use another name`;
}

function refuseChanged(current: MemoryEntry | null): MemoryReply {
  if (current === null) return refuse(412, 'changed', 'the key does not exist: send If-None-Match: *');
  const more = { current, headers: { ETag: current.etag } };
  return current.deleted
    ? refuse(412, 'deleted', 'the key was deleted: If-Match with its ETag writes it again', more)
    : refuse(412, 'changed', 'the key has another version: read it and merge', more);
}

/** As it was sent: a `..` in it is refused and not resolved. */
function pathOf({ url = '' }: IncomingMessage): string {
  const path = url.slice(KEY_PATH.length);
  const end = path.search(/[?#]/);
  return end === -1 ? path : path.slice(0, end);
}

function keyFrom(path: string): string | MemoryReply {
  let problem: string | null;
  try {
    const key = decodeURIComponent(path);
    problem = keyProblem(key);
    if (problem === null) return key;
  } catch {
    problem = 'it is not UTF-8';
  }
  return refuse(400, 'key', `this cannot be a key: ${problem}`);
}

/** What a write must say: which version it replaces, or that the key is new. */
function conditionOf(
  { headers }: IncomingMessage,
  wanted = 'send If-Match with its ETag, or If-None-Match: * for a new key',
): Expected | MemoryReply {
  const match = headers['if-match'];
  const none = headers['if-none-match'];
  if (match === undefined && none === undefined)
    return refuse(428, 'condition', `a write needs a condition: ${wanted}`);
  if (none === undefined && match !== undefined && isOneTag(match)) return match;
  const [tags, others] = [match === undefined ? '*' : tagsOf(match), none === undefined ? [] : tagsOf(none)];
  if (tags === null || others === null) return refuseCondition(wanted);
  if (match !== undefined) return (current) => isMatched(tags, current) && isNoneMatched(others, current);
  // Any version but one: what is replaced would be unknown.
  return others === '*' ? null : refuse(428, 'condition', `a write needs another condition: ${wanted}`);
}

function refuseCondition(wanted = 'send ETags as they were answered'): MemoryReply {
  return refuse(400, 'condition', `this condition is not understood: ${wanted}`);
}

/** As it arrives, and no further than the limit; a sender that is too slow is ended by the server. */
function readBody(incoming: IncomingMessage, limit: number): Promise<Uint8Array | MemoryReply> {
  const tooLarge = (): MemoryReply => refuse(413, 'large', `the value has more than ${limit} bytes`);
  if (Number(incoming.headers['content-length'] ?? 0) > limit) return Promise.resolve(tooLarge());
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else resolve(tooLarge());
    });
    incoming.on('end', () =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
    );
    const early = (): void => resolve(refuse(400, 'value', 'the value ended early'));
    incoming.on('error', early);
    incoming.on('close', early);
  });
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
