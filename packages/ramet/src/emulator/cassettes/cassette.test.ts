import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { type Fields, post, readAll } from '../../../test/fixtures/emulator-client.ts';
import { test } from '../../../test/fixtures/temporary-directory.ts';
import type { Answer } from '../answer.ts';
import type { EmulatorOptions } from '../emulator-state.ts';
import type { Fault } from '../fault.ts';
import { type Emulator, startEmulator } from '../server.ts';

async function start(options: EmulatorOptions): Promise<Emulator> {
  const emulator = await startEmulator(options);
  onTestFinished(() => emulator.close());
  return emulator;
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo; // a server listening on TCP always has one
  return `http://127.0.0.1:${port}`;
}

/** Status, headers that count and every byte, in one value. */
async function ask(
  emulator: Emulator,
  fields: Fields,
  path = '/v1/messages',
  headers = {},
): Promise<unknown> {
  const response = await post(emulator, fields, { path, headers });
  const { text, broken } = await readAll(response);
  const kept = ['content-type', 'retry-after'].map((name) => response.headers.get(name));
  return { status: response.status, kept, text, broken };
}

const says = (content: string): Fields => ({ messages: [{ role: 'user', content }] });
const lines = (file: string): string[] => readFileSync(file, 'utf8').trimEnd().split('\n');
const KEY = 'sk-ant-cassette-0123456789-abcdefghij';

describe('EMU-4: a cassette', () => {
  test('replays exactly what was recorded: streams, documents, errors, both APIs', async ({ directory }) => {
    const file = join(directory, 'a.jsonl');
    const faults: (Fault | undefined)[] = [
      { kind: 'status', status: 529, retryAfter: 2 },
      undefined,
      undefined,
      undefined,
      { kind: 'reset', at: 'text' },
    ];
    const real = await start({ respond: () => ({ text: 'Grüße 🌳' }), fault: () => faults.shift() });
    const requests: [Fields, string?][] = [
      [{ stream: true }],
      [{ stream: true }],
      [says('document')],
      [{ stream: true }, '/v1/chat/completions'],
      [{ ...says('broken'), stream: true }],
      [{ messages: 'wrong' }],
    ];
    const recorder = await start({ record: { file, upstream: real.url } });
    const recorded = [];
    for (const [fields, path] of requests) recorded.push(await ask(recorder, fields, path));
    await recorder.close();
    await real.close();

    const player = await start({ cassette: file });
    const replayed = [];
    for (const [fields, path] of requests) replayed.push(await ask(player, fields, path));
    expect(replayed).toEqual(recorded);
    expect(recorded).toMatchObject([
      { status: 529, kept: ['application/json', '2'] },
      { status: 200, text: expect.stringContaining('message_stop') },
      { status: 200, text: expect.stringContaining('Grüße 🌳') },
      { status: 200, text: expect.stringContaining('[DONE]') },
      { status: 200, broken: true },
      { status: 400 },
    ]);
  });

  test('keeps the pieces in which an answer came, also where a character was split', async ({
    directory,
  }) => {
    const file = join(directory, 'a.jsonl');
    const bytes = Buffer.from('data: "ü"\n\n');
    let finish = (): void => {};
    const upstream = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(bytes.subarray(0, 8));
      finish = () => void response.end(bytes.subarray(8));
    });
    const recorder = await start({ record: { file, upstream } });
    const received = [];
    for await (const piece of (await post(recorder, {})).body ?? []) {
      received.push(piece);
      finish();
    }
    expect(Buffer.concat(received)).toEqual(bytes);
    await recorder.close();
    expect(JSON.parse(lines(file)[1] ?? '').chunks).toEqual(['data: "', 'ü"\n\n']);
  });

  test('answers equal requests in the order of the recording, then the last one again', async ({
    directory,
  }) => {
    const file = join(directory, 'a.jsonl');
    const answers: Answer[] = [{ text: 'one' }, { text: 'two' }];
    const real = await start({ respond: () => answers.shift() });
    const recorder = await start({ record: { file, upstream: real.url } });
    for (let i = 0; i < 2; i += 1) await ask(recorder, {});
    await recorder.close();
    const player = await start({ cassette: file });
    for (const text of ['one', 'two', 'two']) {
      expect(await ask(player, {})).toMatchObject({ text: expect.stringContaining(`"${text}"`) });
    }
  });

  test('takes the order of fields, metadata and the environment for the same request', async ({
    directory,
  }) => {
    const file = join(directory, 'a.jsonl');
    const place = (cwd: string): Fields =>
      says(`<environment>\nWorking directory: ${cwd}\n</environment> go`);
    const real = await start({ respond: () => ({ text: 'ok' }) });
    const recorder = await start({ record: { file, upstream: real.url } });
    await ask(recorder, { ...place('/one'), temperature: 1, metadata: { user_id: 'a' } });
    await recorder.close();
    const player = await start({ cassette: file });
    const again = { metadata: { user_id: 'b' }, temperature: 1, ...place('/two') };
    expect(await ask(player, again)).toMatchObject({ status: 200 });
  });
});

describe('EMU-4: secrets', () => {
  test('keys of headers and bodies are not in the file, and the request still matches', async ({
    directory,
  }) => {
    const file = join(directory, 'a.jsonl');
    const own = 'a-key-of-no-known-form';
    const upstream = await serve((_, response) => {
      const headers = {
        'content-type': 'application/json',
        'set-cookie': 'session=s3cr3t',
        'request-id': 'r1',
      };
      response.writeHead(200, headers).end(JSON.stringify({ echoed: own, found: KEY }));
    });
    const recorder = await start({ record: { file, upstream } });
    const asked = says(`use ${KEY} or ${own}`);
    await ask(recorder, asked, undefined, {
      'x-api-key': own,
      authorization: `Bearer ${own}`,
      cookie: `c=${own}`,
    });
    await recorder.close();
    for (const secret of [KEY, own, 's3cr3t', 'session'])
      expect(readFileSync(file, 'utf8')).not.toContain(secret);
    const player = await start({ cassette: file });
    const other = says(`use ${KEY.replace('0', '1')} or another-of-no-known-form`);
    const replayed = await ask(player, other, undefined, { 'x-api-key': 'another-of-no-known-form' });
    expect(replayed).toMatchObject({ status: 200, text: '{"echoed":"[scrubbed]","found":"[scrubbed]"}' });
  });

  test('an answer that spells a secret across events is not recorded, and that is told', async ({
    directory,
  }) => {
    const file = join(directory, 'a.jsonl');
    const real = await start({ respond: () => ({ text: KEY }) });
    const skipped: string[] = [];
    const recorder = await start({
      record: { file, upstream: real.url, onSkipped: (reason) => skipped.push(reason) },
    });
    expect(await ask(recorder, { stream: true })).toMatchObject({ status: 200 });
    await recorder.close();
    expect(lines(file)).toHaveLength(1);
    expect(skipped).toEqual([expect.stringContaining('was not recorded: it spells a secret')]);
  });
});

describe('EMU-4: what goes wrong with a cassette', () => {
  async function recordOne(file: string): Promise<void> {
    const real = await start({ respond: () => ({ text: 'ok' }) });
    const recorder = await start({ record: { file, upstream: real.url } });
    await ask(recorder, says('first'));
    await ask(recorder, says('a long question about leap days'));
    await recorder.close();
  }

  test('a request that was not recorded is refused with what differs from the nearest', async ({
    directory,
  }) => {
    const file = join(directory, 'a.jsonl');
    await recordOne(file);
    const player = await start({ cassette: file });
    const miss = await ask(player, says('a long question about leap years'));
    expect(miss).toMatchObject({
      status: 400,
      text: expect.stringContaining(
        'is in line 3 and differs at messages.0.content: recorded ...question about leap days',
      ),
    });
    expect(await ask(player, { ...says('first'), tools: [] })).toMatchObject({
      text: expect.stringContaining('in line 2 and differs at tools: recorded nothing, asked []'),
    });
    expect(await ask(player, {}, '/v1/other')).toMatchObject({
      text: expect.stringContaining('nothing is recorded for POST /v1/other'),
    });
    expect(player.unmatched).toHaveLength(3);
    expect(player.requests[0]?.outcome).toBe('unmatched');
  });

  test.for<[string, (text: string) => string, RegExp]>([
    ['an empty file', () => '', /a\.jsonl:1: no cassette$/],
    ['a file of another kind', () => 'rules:\n', /a\.jsonl:1: no cassette$/],
    [
      'another version',
      (text) => text.replace('"cassette":1', '"cassette":2'),
      /:1: no cassette of this version/,
    ],
    ['a line that is no JSON', (text) => text.replace('{"method"', '{"method'), /a\.jsonl:2: not JSON/],
    ['a line that was cut', (text) => text.slice(0, -20), /a\.jsonl:3: the line is cut off$/],
    [
      'a field of the wrong kind',
      (text) => text.replace('"status":200', '"status":"ok"'),
      /a\.jsonl:2: status: /,
    ],
    ['a request that was changed', (text) => text.replace('"first"', '"last"'), /a\.jsonl:2: .*does not fit/],
  ])('%s is named with its line', async ([, damage, message], { directory }) => {
    const file = join(directory, 'a.jsonl');
    await recordOne(file);
    writeFileSync(file, damage(readFileSync(file, 'utf8')));
    await expect(startEmulator({ cassette: file })).rejects.toMatchObject({
      family: 'mistake',
      message: expect.stringMatching(message),
    });
  });

  test('a missing cassette, one that is there already, and a bad address are mistakes', async ({
    directory,
  }) => {
    const file = join(directory, 'a.jsonl');
    await expect(startEmulator({ cassette: file })).rejects.toThrow('no such file');
    await expect(startEmulator({ record: { file, upstream: 'localhost' } })).rejects.toThrow(
      '--upstream is not',
    );
    writeFileSync(file, 'mine');
    const record = { file, upstream: 'http://127.0.0.1:1' };
    await expect(startEmulator({ record })).rejects.toThrow('is there already: record to a new file');
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });

  test('an upstream that is down is a 502, a client that leaves is not recorded', async ({ directory }) => {
    const file = join(directory, 'a.jsonl');
    const down = await start({ record: { file, upstream: 'http://127.0.0.1:1' } });
    expect(await ask(down, {})).toMatchObject({
      status: 502,
      text: expect.stringContaining('--upstream right?'),
    });
    const slow = await serve((_, response) => void response.writeHead(200).write('begun'));
    const second = join(directory, 'b.jsonl');
    const recorder = await start({ record: { file: second, upstream: slow } });
    const leaving = new AbortController();
    const response = await post(recorder, {}, { signal: leaving.signal });
    leaving.abort();
    await expect(response.text()).rejects.toThrow();
    await recorder.close();
    expect(lines(second)).toHaveLength(1);
  });
});
