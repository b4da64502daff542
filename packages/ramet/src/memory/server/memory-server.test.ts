import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { Validator } from '@cfworker/json-schema';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type Answer,
  type Asking,
  newToken,
  type ServedMemory,
  servedMemory,
} from '../../../test/fixtures/memory-server.ts';
import { BASE62, seededRandom } from '../../../test/fixtures/seeded-random.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { createSharedFile } from '../../system/sqlite/database.ts';
import { DEFAULT_LIMITS } from '../wire/memory-shapes.ts';
import { KeyStore, openMemoryDatabase } from './key-store.ts';
import { MEMORY_MIGRATIONS } from './memory-schema.ts';
import { TeamTokens } from './team-tokens.ts';

const CREATE = { 'if-none-match': '*' };

function put(
  server: ServedMemory,
  key: string,
  body: string | Uint8Array,
  headers: Record<string, string> = CREATE,
): Promise<Answer> {
  return server.ask('PUT', `/v1/keys/${key}`, { headers, body });
}

const errorOf = (answer: Answer): { code: string; message: string } => JSON.parse(answer.text).error;

describe('TEAM-6: the memory server', () => {
  test('gives every version an ETag, answers 304 to those who have it and 412 to those who replace another', async () => {
    const server = await servedMemory();
    const created = await put(server, 'notes/build.md', 'one\n');
    expect(created.status).toBe(201);
    const first = String(created.headers.etag);
    const read = await server.ask('GET', '/v1/keys/notes/build.md');
    expect(read).toMatchObject({ status: 200, text: 'one\n' });
    expect(read.headers.etag).toBe(first);
    expect(read.headers['repr-digest']).toMatch(/^sha-256=:[A-Za-z0-9+/]{43}=:$/);
    const known = { headers: { 'if-none-match': `"other", W/${first}` } };
    expect(await server.ask('GET', '/v1/keys/notes/build.md', known)).toMatchObject({
      status: 304,
      text: '',
    });
    expect(await put(server, 'notes/build.md', 'two\n', { 'if-match': first })).toMatchObject({
      status: 200,
    });
    const late = await put(server, 'notes/build.md', 'three\n', { 'if-match': first });
    expect(late.status).toBe(412);
    expect(JSON.parse(late.text).error).toMatchObject({ code: 'changed', current: { version: 2 } });
    expect((await put(server, 'notes/build.md', 'new\n')).status).toBe(412);
    expect((await server.ask('GET', '/v1/keys/notes/build.md')).text).toBe('two\n');
  });

  test('wants a condition with every write', async () => {
    const server = await servedMemory();
    expect((await put(server, 'a.md', 'x', {})).status).toBe(428);
    for (const headers of [{}, CREATE]) {
      const deleted = await server.ask('DELETE', '/v1/keys/a.md', { headers });
      expect([deleted.status, errorOf(deleted).message]).toEqual([
        428,
        expect.stringMatching(/send If-Match with its ETag$/),
      ]);
    }
    expect((await put(server, 'a.md', 'x', { 'if-none-match': '"1"' })).status).toBe(428);
    for (const headers of [{ 'if-match': 'garbage' }, { 'if-match': '"1' }, { 'if-none-match': '"1" "2"' }])
      expect((await put(server, 'a.md', 'x', headers)).status).toBe(400);
  });

  test.each([
    ['"x", ETAG', 200],
    ['"x",ETAG,"y,z"', 200],
    [',,ETAG ,', 200],
    ['*', 200],
    ['"x"', 412],
    ['W/ETAG', 412],
    ['"x", W/ETAG', 412],
    [',', 412],
    ['*, ETAG', 400],
    ['ETAG ETAG', 400],
  ])('compares If-Match: %s as RFC 9110 says, for reading, writing and deleting', async (form, status) => {
    const server = await servedMemory();
    const created = await put(server, 'a.md', 'x');
    const of = ({ headers }: Answer): Record<string, string> => ({
      'if-match': form.replaceAll('ETAG', String(headers.etag)),
    });
    for (const method of ['GET', 'HEAD'])
      expect((await server.ask(method, '/v1/keys/a.md', { headers: of(created) })).status).toBe(status);
    const listed = await server.ask('GET', '/v1/keys');
    expect((await server.ask('GET', '/v1/keys', { headers: of(listed) })).status).toBe(status);
    const written = await put(server, 'a.md', 'y', of(created));
    expect(written.status).toBe(status);
    expect((await server.ask('GET', '/v1/keys/a.md')).text).toBe(status === 200 ? 'y' : 'x');
    const headers = of(status === 200 ? written : created);
    expect((await server.ask('DELETE', '/v1/keys/a.md', { headers })).status).toBe(status);
  });

  test('with * in If-Match writes a key that is there, none that never was, and none that was deleted', async () => {
    const server = await servedMemory();
    const any = { 'if-match': '*' };
    expect((await put(server, 'a.md', 'x', any)).status).toBe(412);
    const etag = String((await put(server, 'a.md', 'x')).headers.etag);
    expect((await put(server, 'a.md', 'x', { ...any, ...CREATE })).status).toBe(412);
    expect((await put(server, 'a.md', 'x', { ...any, 'if-none-match': etag })).status).toBe(412);
    expect((await put(server, 'a.md', 'x', { ...any, 'if-none-match': '"x"' })).status).toBe(200);
    expect((await server.ask('DELETE', '/v1/keys/a.md', { headers: any })).status).toBe(200);
    expect((await put(server, 'a.md', 'x', any)).status).toBe(412);
    expect((await server.ask('DELETE', '/v1/keys/a.md', { headers: any })).status).toBe(412);
    expect((await server.ask('GET', '/v1/keys/a.md', { headers: any })).status).toBe(410);
  });

  test('lists keys with checksums and no values, and says when nothing has changed', async () => {
    const server = await servedMemory();
    await put(server, 'a.md', 'same');
    await put(server, 'b.md', 'same');
    const listing = await server.ask('GET', '/v1/keys');
    const { keys, team, version } = JSON.parse(listing.text);
    expect({ team, version }).toEqual({ team: 'core', version: 2 });
    expect(keys[0]).toMatchObject({ key: 'a.md', version: 1, size: 4, deleted: false });
    expect(keys[0].checksum).toBe(keys[1].checksum);
    const known = { headers: { 'if-none-match': String(listing.headers.etag) } };
    expect(await server.ask('GET', '/v1/keys', known)).toMatchObject({ status: 304, text: '' });
    await put(server, 'c.md', 'new');
    expect((await server.ask('GET', '/v1/keys', known)).status).toBe(200);
  });

  test('remembers a deletion: only who has seen it can write the key again', async () => {
    const server = await servedMemory();
    const created = await put(server, 'a.md', 'x');
    const deleted = await server.ask('DELETE', '/v1/keys/a.md', {
      headers: { 'if-match': String(created.headers.etag) },
    });
    expect(deleted.status).toBe(200);
    expect((await server.ask('GET', '/v1/keys/a.md')).status).toBe(410);
    expect((await put(server, 'a.md', 'x')).status).toBe(412);
    expect((await put(server, 'a.md', 'x', { 'if-match': String(created.headers.etag) })).status).toBe(412);
    expect(
      (await server.ask('DELETE', '/v1/keys/a.md', { headers: { 'if-match': String(deleted.headers.etag) } }))
        .status,
    ).toBe(412);
    const again = await put(server, 'a.md', 'y', { 'if-match': String(deleted.headers.etag) });
    expect(again.status).toBe(201);
    expect(JSON.parse(again.text).version).toBe(3);
  });

  test('says what a deleted key was, so that an old copy of it is known: the beginnings of up to 64 checksums', async () => {
    const server = await servedMemory();
    let etag = '';
    for (let number = 0; number < 70; number++) {
      const headers: Record<string, string> = number === 0 ? CREATE : { 'if-match': etag };
      etag = String((await put(server, 'a.md', `text ${number}\n`, headers)).headers.etag);
    }
    await server.ask('DELETE', '/v1/keys/a.md', { headers: { 'if-match': etag } });
    const { error } = JSON.parse((await server.ask('GET', '/v1/keys/a.md')).text);
    const of = (number: number): string => hash('sha256', `text ${number}\n`, 'base64url').slice(0, 12);
    expect(error.current.checksum.slice(0, 12)).toBe(of(69));
    expect(error.earlier).toEqual(Array.from({ length: 64 }, (_, index) => of(68 - index)));
  });

  test('keeps teams apart, and refuses a token that is wrong, of another form or revoked at that moment', async () => {
    const server = await servedMemory();
    await put(server, 'a.md', 'ours');
    const other = newToken(server.directory, 'others');
    expect((await server.ask('GET', '/v1/keys/a.md', { token: other.token })).status).toBe(404);
    const wrong = [
      null,
      '',
      'x',
      `${server.token}x`,
      `${server.token.slice(0, -1)}${server.token.endsWith('A') ? 'B' : 'A'}`,
    ];
    for (const token of wrong) {
      const refused = await server.ask('GET', '/v1/keys/a.md', { token });
      expect(refused).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } });
    }
    using db = openMemoryDatabase(server.directory);
    expect(new TeamTokens(db).revoke(other.id, 1)).toBe(true);
    expect((await server.ask('GET', '/v1/keys', { token: other.token })).status).toBe(401);
    expect((await server.ask('GET', '/v1/keys')).status).toBe(200);
  });

  test('stores digests of tokens and never a token', async () => {
    const server = await servedMemory();
    using db = openMemoryDatabase(server.directory);
    const rows = db.rows('SELECT * FROM tokens');
    expect(JSON.stringify(rows.map((row) => Object.values(row).map(String)))).not.toContain(
      server.token.slice(-43),
    );
  });

  test.each([
    ['..', '%2e%2e/a'],
    ['.. in the middle', 'a/%2e%2e/b'],
    ['.. as it is', 'a/../../b'],
    ['an absolute path', '/etc/passwd'],
    ['an encoded slash at the start', '%2fetc'],
    ['NUL', 'a%00b'],
    ['what is not UTF-8', 'a%ff'],
    ['a lone percent', 'a%'],
    ['a surrogate', 'a%ed%a0%80'],
    ['a backslash', 'a%5cb'],
    ['an empty part', 'a//b'],
    ['a point', 'a/%2e/b'],
    ['a stream of Windows', 'a:b'],
    ['a device', 'nul.md'],
    ['a file of ours', '.ramet-sync/state'],
    ['a file of git', 'notes/.git/config'],
    ['NFD', 'u%cc%88.md'],
    ['a line break', 'a%0ab'],
    ['a long name', 'a'.repeat(600)],
    ['nothing', ''],
  ])('refuses a key with %s', async (_name, key) => {
    const server = await servedMemory();
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await server.ask(method, `/v1/keys/${key}`, {
        headers: CREATE,
        ...(method === 'PUT' && { body: 'x' }),
      });
      expect([400, 404, 405]).toContain(answer.status);
    }
    expect(JSON.parse((await server.ask('GET', '/v1/keys')).text).keys).toEqual([]);
  });

  test('refuses a key that differs from another in case or form only', async () => {
    const server = await servedMemory();
    await put(server, 'Notes.md', 'x');
    for (const key of ['notes.md', 'NOTES.MD', encodeURIComponent('ｎotes.md')]) {
      const twin = await put(server, key, 'y');
      expect(twin.status).toBe(409);
      expect(errorOf(twin).message).toContain('"Notes.md"');
    }
  });

  test('refuses folders that differ in case or form only, names that are a file and a folder, and signs that nobody sees', async () => {
    const server = await servedMemory();
    await put(server, 'Dir/sub/x.md', 'x');
    await put(server, 'a.md', 'x');
    for (const [key, other] of [
      ['dir/y.md', 'Dir/sub/x.md'],
      ['Dir/SUB/y.md', 'Dir/sub/x.md'],
      ['a.md/x', 'a.md'],
      ['A.md/x/y', 'a.md'],
      ['Dir', 'Dir/sub/x.md'],
      ['dir/sub', 'Dir/sub/x.md'],
    ] as const) {
      const refused = await put(server, key, 'y');
      expect([key, refused.status, errorOf(refused).message]).toEqual([
        ...[key, 409, expect.stringContaining(`"${other}"`)],
      ]);
    }
    for (const sign of ['\u200b', '\u202e', '\u2060', '\u00a0'])
      expect((await put(server, encodeURIComponent(`a${sign}.md`), 'y')).status).toBe(400);
    for (const key of ['Dir/sub/y.md', 'Dir/subs/x.md', 'Dir0', 'a.md.txt'])
      expect([key, (await put(server, key, 'y')).status]).toEqual([key, 201]);
  });

  test('refuses a value with a secret by rule and line, and never repeats it', async () => {
    const server = await servedMemory();
    const secret = `ghp_${seededRandom(7).text(BASE62, 36)}`;
    const refused = await put(server, 'a.md', `fine\nuse ${secret}\n`);
    expect(refused.status).toBe(422);
    expect(JSON.parse(refused.text).error.findings).toEqual([{ rule: 'GitHub token', line: 2 }]);
    expect(refused.text).not.toContain(secret.slice(4));
    expect((await server.ask('GET', '/v1/keys/a.md')).status).toBe(404);
  });

  test('refuses a key with a secret, and never repeats it', async () => {
    const server = await servedMemory();
    const secret = `ghp_${seededRandom(7).text(BASE62, 36)}`;
    for (const key of [`${secret}.md`, `notes/${secret}`, `a-${seededRandom(3).text(BASE62, 40)}.md`]) {
      const refused = await put(server, key, 'fine\n');
      expect([key, refused.status]).toEqual([key, 422]);
      expect(refused.text).not.toContain(secret.slice(4));
    }
    expect((await put(server, 'notes/release-2026-11-17.md', 'fine\n')).status).toBe(201);
  });

  test.each([
    ['bytes that are not UTF-8', new Uint8Array([0x61, 0xff])],
    ['a NUL', 'a\0b'],
  ])('refuses a value with %s', async (_name, body) => {
    const server = await servedMemory();
    expect((await put(server, 'a.md', body)).status).toBe(400);
  });

  test('has limits on values, keys, teams and requests', async () => {
    const server = await servedMemory({ limits: { value: 100, team: 250, keys: 4, rate: 1, burst: 14 } });
    expect((await put(server, 'a.md', 'x'.repeat(100))).status).toBe(201);
    expect((await put(server, 'b.md', 'x'.repeat(101))).status).toBe(413);
    const chunked = { headers: { ...CREATE, 'transfer-encoding': 'chunked' }, body: 'x'.repeat(5_000) };
    expect((await server.ask('PUT', '/v1/keys/b.md', chunked)).status).toBe(413);
    expect((await put(server, 'b.md', 'x'.repeat(100))).status).toBe(201);
    expect((await put(server, 'c.md', 'x'.repeat(51))).status).toBe(507);
    expect((await put(server, 'c.md', 'x')).status).toBe(201);
    expect((await put(server, 'd.md', 'x')).status).toBe(201);
    const full = await put(server, 'e.md', 'x');
    expect(full.status).toBe(507);
    expect(errorOf(full).message).toContain('4 keys');
    const gzip = { headers: { ...CREATE, 'content-encoding': 'gzip' }, body: 'x' };
    expect((await server.ask('PUT', '/v1/keys/f.md', gzip)).status).toBe(415);
    const rest = await Promise.all(Array.from({ length: 20 }, () => server.ask('GET', '/v1/keys')));
    const late = rest.filter(({ status }) => status === 429);
    expect(late.length).toBeGreaterThanOrEqual(12);
    expect(Number(late[0]?.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    const other = newToken(server.directory);
    expect((await server.ask('GET', '/v1/keys', { token: other.token })).status).toBe(200);
  });

  test('a team with too many deleted keys can write each of them again, and is told what to do for others', async () => {
    const server = await servedMemory({ limits: { keys: 2 } });
    const tagOf = async (key: string): Promise<string> =>
      String((await server.ask('GET', `/v1/keys/${key}`)).headers.etag);
    for (let number = 0; number < 10; number++) {
      expect((await put(server, `${number}.md`, 'x')).status).toBe(201);
      const headers = { 'if-match': await tagOf(`${number}.md`) };
      expect((await server.ask('DELETE', `/v1/keys/${number}.md`, { headers })).status).toBe(200);
    }
    const refused = await put(server, 'new.md', 'x');
    expect(refused.status).toBe(507);
    expect(errorOf(refused).message).toMatch(/8 deleted keys: .*start the server with a higher --max-keys$/);
    expect((await put(server, '3.md', 'x', { 'if-match': await tagOf('3.md') })).status).toBe(201);
  });

  test('a key has up to 16 folders', async () => {
    const server = await servedMemory();
    expect((await put(server, `${'m/'.repeat(16)}a.md`, 'x')).status).toBe(201);
    expect((await put(server, `${'m/'.repeat(17)}a.md`, 'x')).status).toBe(400);
  });

  test('slows down who tries tokens', async () => {
    const server = await servedMemory();
    const tries = await Promise.all(
      Array.from({ length: 60 }, () => server.ask('GET', '/v1/keys', { token: 'guess' })),
    );
    expect(new Set(tries.map(({ status }) => status))).toEqual(new Set([401, 429]));
    expect((await server.ask('GET', '/v1/keys')).status).toBe(200);
  });

  test('lets one of 20 that write at once win each round, and loses none of their lines', async () => {
    const server = await servedMemory();
    await put(server, 'log.md', '');
    const add = async (line: string): Promise<void> => {
      for (;;) {
        const read = await server.ask('GET', '/v1/keys/log.md');
        const tag = String(read.headers.etag);
        const written = await put(server, 'log.md', `${read.text}${line}\n`, { 'if-match': tag });
        if (written.status === 200) return;
        expect(written.status).toBe(412);
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, index) => add(`line ${index}`)));
    const { text } = await server.ask('GET', '/v1/keys/log.md');
    expect(new Set(text.trim().split('\n')).size).toBe(20);
  });

  test('outlives garbage, and answers the next request', async () => {
    const server = await servedMemory();
    const garbage = [
      'GET\r\n\r\n',
      '\0\0\0\0',
      'GET / HTTP/9.9\r\n\r\n',
      'GET /v1/keys HTTP/1.1\r\nHost: \x01\r\n\r\n',
      'GET http:// HTTP/1.1\r\nHost: a b c\r\n\r\n',
      'GET //// HTTP/1.1\r\nHost: [::\r\n\r\n',
      'GET /v1/keys/%00%ff%zz HTTP/1.1\r\nHost: x\r\n\r\n',
      `GET /${'a'.repeat(40_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      `GET / HTTP/1.1\r\n${'X: y\r\n'.repeat(5_000)}\r\n`,
      'PUT /v1/keys/a HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
      'PUT /v1/keys/a HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n',
      `PUT /v1/keys/a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nIf-None-Match: *\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
      `PUT /v1/keys/a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nIf-None-Match: *\r\nContent-Length: 10\r\n\r\nabc`,
      'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
      'GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nHost: x\r\n\r\n',
      'TRACE /v1/keys HTTP/1.1\r\nHost: x\r\n\r\n',
      'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      `GET /v1/keys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${'ä'.repeat(50)}\r\nIf-None-Match: ${'"'.repeat(5_000)}\r\n\r\n`,
    ];
    for (const bytes of garbage) await sendRaw(server.port, bytes);
    const random = seededRandom(3);
    for (let round = 0; round < 50; round++) await sendRaw(server.port, random.bytes(1 + random.below(400)));
    expect((await server.ask('GET', '/v1/keys')).status).toBe(200);
    expect(JSON.parse((await server.ask('GET', '/v1/keys')).text).keys).toEqual([]);
  });

  test('ends a client that sends its request too slowly', async () => {
    const server = await servedMemory({ requestTimeoutMs: 300 });
    const ended = new Promise((resolve) => {
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.on('close', resolve);
      socket.resume();
      socket.write(
        `PUT /v1/keys/a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nIf-None-Match: *\r\nContent-Length: 10\r\n\r\nabc`,
      );
    });
    await ended;
    expect((await server.ask('GET', '/v1/keys/a')).status).toBe(404);
  });
});

/** Writes bytes, lets go, and waits until the connection is over: what came back. */
function sendRaw(port: number, bytes: string | Uint8Array, keepsOpen = false): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => (keepsOpen ? socket.write(bytes) : socket.end(bytes)));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
}

/** One answer as it came, with nothing behind it. */
function answerOf(raw: string, method: string): Answer {
  const [head = '', ...rest] = raw.split('\r\n\r\n');
  const [first = '', ...fields] = head.split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => [
      field.slice(0, field.indexOf(':')).toLowerCase(),
      field.slice(field.indexOf(':') + 2),
    ]),
  );
  const text = rest.join('\r\n\r\n');
  if (method !== 'HEAD') expect(Buffer.byteLength(text)).toBe(Number(headers['content-length']));
  return { status: Number(first.split(' ')[1]), headers, text };
}

describe('TEAM-6: a request that HTTP forbids', () => {
  const sent = async (server: ServedMemory, head: string, body = ''): Promise<Answer> => {
    const [line = '', ...fields] = head.split('\n');
    const token = `Authorization: Bearer ${server.token}`;
    const bytes = [`${line} HTTP/1.1`, token, 'Connection: close', ...fields, '', body].join('\r\n');
    return answerOf(await sendRaw(server.port, bytes, true), line.split(' ')[0] ?? '');
  };
  const PUT = 'PUT /v1/keys/a.md\nHost: x\nIf-None-Match: *';

  test.each([
    ['no Host field', 400, 'GET /v1/keys/a.md', ''],
    ['two Host fields', 400, 'GET /v1/keys/a.md\nHost: x\nHost: y', ''],
    ['two Host fields for the listing', 400, 'GET /v1/keys\nHost: x\nHost: x', ''],
    ['two Host fields for no key', 400, 'GET /v1/health\nHost: x\nHost: ', ''],
    ['a Host that is none', 400, 'GET /v1/keys/a.md\nHost: a b', ''],
    ['a Host that is none for the listing', 400, 'GET /v1/keys\nHost: a/b', ''],
    ['a port that is none', 400, 'GET /v1/keys\nHost: a:99999', ''],
    ['a coding of the transfer', 501, `${PUT}\nTransfer-Encoding: gzip, chunked`, '3\r\nabc\r\n0\r\n\r\n'],
    ['a coding of the transfer without chunks', 501, `${PUT}\nTransfer-Encoding: identity`, 'abc'],
    ['a part of a value', 400, `${PUT}\nContent-Range: bytes 0-2/10\nContent-Length: 3`, 'abc'],
    ['an unknown Expect', 417, `${PUT}\nExpect: x\nContent-Length: 3`, 'abc'],
    ['more than its value', 400, `${PUT}\nContent-Length: 3`, 'abcx'],
    ['lines behind its value', 400, `${PUT}\nContent-Length: 3`, 'abc\nde\n'],
    ['garbage behind its value', 400, `${PUT}\nContent-Length: 3`, 'abc\0GET / HTTP/9.9\r\n\r\n'],
    ['garbage behind its last chunk', 400, `${PUT}\nTransfer-Encoding: chunked`, '3\r\nabc\r\n0\r\n\r\nabc'],
    ['a head of 20 KB', 431, `${PUT}\nX: ${'x'.repeat(20_000)}\nContent-Length: 3`, 'abc'],
  ])('is refused, and nothing of it is done: %s', async (_name, status, head, body) => {
    const server = await servedMemory();
    const answer = await sent(server, head, body);
    expect([answer.status, errorOf(answer)]).toEqual([
      status,
      expect.objectContaining({ code: expect.any(String) }),
    ]);
    expect((await server.ask('GET', '/v1/keys/a.md')).status).toBe(404);
  });

  test('deletes nothing where more than a deletion came', async () => {
    const server = await servedMemory();
    await put(server, 'a.md', 'x');
    expect((await sent(server, 'DELETE /v1/keys/a.md\nHost: x\nIf-Match: *', 'abc')).status).toBe(400);
    expect((await server.ask('GET', '/v1/keys/a.md')).text).toBe('x');
  });

  test('but one that names the server in its target, or comes behind another, is answered', async () => {
    const server = await servedMemory();
    const target = `http://127.0.0.1:${server.port}/v1/keys`;
    expect(
      (await sent(server, `PUT ${target}/a.md\nHost: x\nIf-None-Match: *\nContent-Length: 3`, 'abc')).status,
    ).toBe(201);
    expect((await sent(server, `GET ${target}\nHost: x`)).status).toBe(200);
    const head = `HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\n`;
    const put = `PUT /v1/keys/b.md ${head}If-None-Match: *\r\nContent-Length: 3\r\n\r\nabc`;
    const both = await sendRaw(server.port, `${put}GET /v1/health ${head}Connection: close\r\n\r\n`, true);
    expect(both.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 201', 'HTTP/1.1 200']);
  });
});

describe('TEAM-6: the OpenAPI description of the memory server', () => {
  test('names every path and code that the server has, and the shape of every answer', async () => {
    const limits = { value: 50, keys: 2, rate: 1, burst: 80 };
    const server = await servedMemory({ limits, requestTimeoutMs: 300 });
    const { text } = await server.ask('GET', '/v1/openapi.json', { token: null });
    const description = JSON.parse(text);
    const seen = new Set<string>();
    const ask = async (method: string, path: string, asking: Asking = {}): Promise<Answer> => {
      return checked(method, path, await server.ask(method, path, asking));
    };
    const checked = (method: string, path: string, answer: Answer): Answer => {
      const template = path.startsWith('/v1/keys/') ? '/v1/keys/{key}' : path;
      const operation = description.paths[template][method.toLowerCase()] ?? description.paths[template].get;
      const response = operation.responses[answer.status];
      expect(response, `${method} ${template} ${answer.status}`).toBeDefined();
      seen.add(`${method} ${template} ${answer.status}`);
      for (const name of path.startsWith('/v1/keys') ? Object.keys(response.headers ?? {}) : [])
        expect(answer.headers[name.toLowerCase()]).toBeDefined();
      const schema = response.content?.['application/json']?.schema;
      if (schema === undefined) return answer;
      expect(answer.headers['content-type']).toMatch(/^application\/json/);
      const whole = { ...schema, components: description.components };
      expect(new Validator(whole, '2020-12').validate(JSON.parse(answer.text)).errors).toEqual([]);
      return answer;
    };
    const none = { headers: CREATE, body: 'x' };
    const methods = {
      '/v1/health': ['GET', 'HEAD'],
      '/v1/openapi.json': ['GET', 'HEAD'],
      '/v1/keys': ['GET', 'HEAD'],
      '/v1/keys/slow': ['GET', 'HEAD', 'PUT', 'DELETE'],
    };
    for (const path of ['/v1/health', '/v1/openapi.json'])
      for (const method of ['GET', 'HEAD']) {
        await ask(method, path, { token: null });
        await ask(method, path, { token: null, headers: { 'if-match': '"x"' } });
        await ask(method, path, { token: null, headers: { 'if-match': 'x' } });
      }
    for (const path of ['/v1/health', '/v1/openapi.json']) await ask('POST', path, { token: null });
    const raw = async (method: string, path: string, fields: string, keepsOpen = false): Promise<void> => {
      const bytes = `${method} ${path} HTTP/1.1\r\nHost: x\r\n${fields}`;
      const answer = answerOf(await sendRaw(server.port, bytes, keepsOpen), method);
      checked(method, path, answer);
    };
    await Promise.all(
      Object.entries(methods).flatMap(([path, of]) =>
        of.flatMap((method) => [
          raw(method, path, 'Host: y\r\n\r\n'),
          raw(method, path, 'Expect: x\r\n\r\n'),
          raw(method, path, 'Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'),
          raw(method, path, `X: ${'x'.repeat(20_000)}\r\n\r\n`),
          raw(method, path, 'X: ', true),
        ]),
      ),
    );
    const created = await ask('PUT', '/v1/keys/a', none);
    const has = { headers: { 'if-none-match': String(created.headers.etag) } };
    const listed = await ask('GET', '/v1/keys');
    await ask('HEAD', '/v1/keys');
    for (const method of ['GET', 'HEAD'])
      await ask(method, '/v1/keys', { headers: { 'if-none-match': String(listed.headers.etag) } });
    await ask('POST', '/v1/keys');
    for (const method of ['GET', 'HEAD'])
      for (const path of ['/v1/keys', '/v1/keys/a'])
        await ask(method, path, { headers: { 'if-match': '"x"' } });
    await ask('GET', '/v1/keys/a');
    for (const method of ['GET', 'HEAD']) {
      if (method === 'HEAD') await ask(method, '/v1/keys/a');
      await ask(method, '/v1/keys/a', has);
      await ask(method, '/v1/keys/missing');
      await ask(method, '/v1/keys/a%00');
    }
    await ask('PUT', '/v1/keys/a%00', none);
    await ask('DELETE', '/v1/keys/a%00', { headers: CREATE });
    await ask('PUT', '/v1/keys/A', none);
    await ask('PUT', '/v1/keys/a', none);
    await ask('PUT', '/v1/keys/b', { headers: CREATE, body: 'x'.repeat(51) });
    await ask('PUT', '/v1/keys/b', { headers: { ...CREATE, 'content-encoding': 'br' }, body: 'x' });
    await ask('PUT', '/v1/keys/b', { headers: CREATE, body: `ghp_${seededRandom(2).text(BASE62, 36)}` });
    await ask('PUT', '/v1/keys/b', { body: 'x' });
    await ask('PUT', '/v1/keys/b', none);
    await ask('PUT', '/v1/keys/c', none);
    const replaced = await ask('PUT', '/v1/keys/a', {
      headers: { 'if-match': String(created.headers.etag) },
      body: 'y',
    });
    await ask('DELETE', '/v1/keys/a');
    await ask('DELETE', '/v1/keys/a', { headers: { 'if-match': '"9"' } });
    await ask('DELETE', '/v1/keys/a', { headers: { 'if-match': String(replaced.headers.etag) } });
    for (const method of ['GET', 'HEAD']) await ask(method, '/v1/keys/a');
    for (const path of ['/v1/keys', '/v1/keys/a']) await ask('HEAD', path, { token: null });
    await ask('POST', '/v1/keys/a');
    for (const path of ['/v1/keys', '/v1/keys/a']) await ask('GET', path, { token: null });
    for (const method of ['PUT', 'DELETE']) await ask(method, '/v1/keys/a', { token: 'x', headers: CREATE });
    while ((await server.ask('GET', '/v1/keys')).status === 200);
    for (const path of ['/v1/keys', '/v1/keys/a']) await ask('GET', path);
    await ask('HEAD', '/v1/keys');
    for (const method of ['HEAD', 'PUT', 'DELETE']) await ask(method, '/v1/keys/a', { headers: CREATE });
    const described = Object.entries<Record<string, { responses: object }>>(description.paths).flatMap(
      ([path, item]) =>
        Object.entries(item)
          .filter(([method]) => method !== 'parameters')
          .flatMap(([method, { responses }]) =>
            Object.keys(responses)
              // A method that a path has cannot be refused as one that it lacks; others fill the disk.
              .filter((code) => !['405', '500'].includes(code))
              .map((code) => `${method.toUpperCase()} ${path} ${code}`),
          ),
    );
    expect(described.filter((one) => !seen.has(one))).toEqual([]);
    expect([...seen]).toContain('POST /v1/keys/{key} 405');
  });
});

describe('TEAM-6: what the memory server remembers', () => {
  test('is no older than the database: what another server wrote or revoked counts for the next request', async () => {
    const one = await servedMemory();
    const two = await servedMemory({ directory: one.directory });
    const created = await put(one, 'a.md', 'one\n');
    const known = { headers: { 'if-none-match': String(created.headers.etag) } };
    expect((await one.ask('GET', '/v1/keys/a.md', known)).status).toBe(304);
    expect((await put(two, 'a.md', 'two\n', { 'if-match': String(created.headers.etag) })).status).toBe(200);
    expect(await one.ask('GET', '/v1/keys/a.md', known)).toMatchObject({ status: 200, text: 'two\n' });
    const other = newToken(one.directory);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const as = { token: other.token, agent };
    expect((await one.ask('GET', '/v1/keys/a.md', as)).status).toBe(200);
    using db = openMemoryDatabase(one.directory);
    new TeamTokens(db).revoke(other.id, 1);
    // On the same connection, which was admitted before.
    expect((await one.ask('GET', '/v1/keys/a.md', as)).status).toBe(401);
    agent.destroy();
  });

  test('is one version, with its value, while another server writes', async () => {
    const server = await servedMemory();
    const program = `
      import { KeyStore, openMemoryDatabase } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'key-store.ts')).href)};
      const store = new KeyStore(openMemoryDatabase(process.argv[1]), ${JSON.stringify(DEFAULT_LIMITS)});
      let expected = null;
      for (let n = 0; ; n += 1) {
        const { entry } = await store.write({ team: 1, key: 'a.md', expected, value: Buffer.from('note ' + n) });
        expected = entry.etag;
        if (n === 0) console.log('begun');
      }`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program, server.directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    const seen = new Map<unknown, string>();
    for (let n = 0; n < 1_500; n += 1) {
      const { status, headers, text } = await server.ask('GET', '/v1/keys/a.md');
      expect({ status, text }).toEqual({ status: 200, text: expect.stringMatching(/^note \d+$/) });
      expect(seen.get(headers.etag) ?? text).toBe(text);
      seen.set(headers.etag, text);
    }
    expect(seen.size).toBeGreaterThan(50);
  });

  test('is on disk when a write is answered: a server that is killed loses nothing', async () => {
    const directory = join(temporaryDirectory(), 'server');
    const { token } = newToken(directory);
    const program = `
      import { startMemoryServer } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'memory-server.ts')).href)};
      console.log((await startMemoryServer({ directory: process.argv[1] })).port);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program, directory], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [port] = await once(child.stdout, 'data');
    const written = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        fetch(`http://127.0.0.1:${String(port).trim()}/v1/keys/note-${n}.md`, {
          method: 'PUT',
          headers: { authorization: `Bearer ${token}`, ...CREATE },
          body: `note ${n}\n`,
        }).then(
          ({ status }) => {
            if (n === 20) child.kill('SIGKILL');
            return status === 201 ? n : null;
          },
          () => null,
        ),
      ),
    );
    using db = openMemoryDatabase(directory);
    const store = new KeyStore(db, DEFAULT_LIMITS);
    const answered = written.filter((n) => n !== null);
    expect(answered).toContain(20);
    for (const n of answered) expect(store.entry(1, `note-${n}.md`)?.size).toBe(`note ${n}\n`.length);
  });

  test('of a file of an earlier version has the limits that it would have had', async () => {
    const directory = join(temporaryDirectory(), 'server');
    mkdirSync(directory, { recursive: true });
    createSharedFile(join(directory, 'memory.sqlite'), MEMORY_MIGRATIONS.slice(0, 1));
    const old = new DatabaseSync(join(directory, 'memory.sqlite'));
    old.exec(`INSERT INTO teams (name, version) VALUES ('core', 2);
      INSERT INTO entries (team, key, folded, version, checksum, size, value)
        VALUES (1, 'a.md', 'a.md', 1, 'x', 90, zeroblob(90)), (1, 'b.md', 'b.md', 2, 'x', 0, NULL)`);
    old.close();
    const server = await servedMemory({ directory, limits: { value: 100, team: 100, keys: 2 } });
    expect((await put(server, 'c.md', 'x'.repeat(11))).status).toBe(507);
    expect((await put(server, 'c.md', 'x'.repeat(10))).status).toBe(201);
    expect(errorOf(await put(server, 'd.md', 'x')).message).toContain('2 keys');
    const etag = String((await server.ask('GET', '/v1/keys/c.md')).headers.etag);
    expect((await server.ask('DELETE', '/v1/keys/c.md', { headers: { 'if-match': etag } })).status).toBe(200);
    expect((await put(server, 'd.md', 'x'.repeat(10))).status).toBe(201);
  });
});
