import { afterEach, describe, expect, test } from 'vitest';
import { bodyOf, parseEvents, post, readAll } from '../../test/fixtures/emulator-client.ts';
import type { Fault } from './fault.ts';
import { type Emulator, startEmulator } from './server.ts';

let running: Emulator | undefined;
afterEach(() => running?.close());

const respond = {
  thinking: 'let me think',
  text: 'some words',
  tool_use: [{ name: 'Read', input: { file_path: '/a' } }],
};

/** The first request meets the fault, the next one does not. */
async function startWith(fault: Fault): Promise<Emulator> {
  running = await startEmulator({ scenario: { rules: [{ times: 1, respond, fault }, { respond }] } });
  return running;
}

async function streamed(fault: Fault): Promise<{ text: string; broken: boolean }> {
  const emulator = await startWith(fault);
  const outcome = await readAll(await post(emulator, { stream: true }));
  const next = await readAll(await post(emulator, { stream: true }));
  expect(next.text).toContain('message_stop');
  expect(emulator.requests.map((record) => record.outcome)).toEqual(['fault', 'answered']);
  return outcome;
}

describe('EMU-3: status faults', () => {
  test.each([
    [400, 'invalid_request_error'],
    [401, 'authentication_error'],
    [403, 'permission_error'],
    [429, 'rate_limit_error'],
    [500, 'api_error'],
    [503, 'api_error'],
    [529, 'overloaded_error'],
  ])('%i comes as %s, without retry-after unless asked', async (status, type) => {
    const response = await post(await startWith({ kind: 'status', status }), {});
    expect(response.status).toBe(status);
    expect(response.headers.get('retry-after')).toBeNull();
    expect(await bodyOf(response)).toMatchObject({ type: 'error', error: { type } });
  });

  test('retry-after is sent in seconds', async () => {
    const response = await post(await startWith({ kind: 'status', status: 429, retryAfter: 3 }), {});
    expect(response.headers.get('retry-after')).toBe('3');
  });

  test('a spend limit is a 429 with its code and no retry-after', async () => {
    const response = await post(await startWith({ kind: 'status', status: 429, spendLimit: true }), {});
    expect(response.headers.get('retry-after')).toBeNull();
    expect(await bodyOf(response)).toMatchObject({
      error: { details: { error_code: 'enforced_spend_limit_reached' } },
    });
  });
});

describe('EMU-3: broken streams', () => {
  test.each([
    ['text', 'text_delta', 'content_block_stop","index":1'],
    ['tool_input', 'input_json_delta', 'content_block_stop","index":2'],
    ['thinking', 'thinking_delta', 'content_block_stop","index":0'],
    ['start', 'message_start', 'ping'],
  ] as const)('a reset in %s comes after its first bytes and before its end', async (at, last, absent) => {
    const { text, broken } = await streamed({ kind: 'reset', at });
    expect(broken).toBe(true);
    expect(text).toContain(last);
    expect(text).not.toContain(absent);
  });

  test('a reset before the headers is a broken connection', async () => {
    const emulator = await startWith({ kind: 'reset', at: 'headers' });
    await expect(post(emulator, { stream: true })).rejects.toThrow();
    expect((await post(emulator, {})).status).toBe(200);
  });

  test('a truncated event ends the stream inside a frame', async () => {
    const { text, broken } = await streamed({ kind: 'truncated_event' });
    expect(broken).toBe(false);
    expect(text.endsWith('\n\n')).toBe(false);
  });

  test('a malformed event is a whole frame that is no JSON, and the rest follows', async () => {
    const { text } = await streamed({ kind: 'malformed_event' });
    expect(() => parseEvents(text)).toThrow(SyntaxError);
    expect(text).toContain('message_stop');
  });

  test('an error event ends the stream after it has begun', async () => {
    const { text, broken } = await streamed({ kind: 'stream_error', message: 'busy' });
    expect(broken).toBe(false);
    expect(parseEvents(text).at(-1)).toMatchObject({
      type: 'error',
      error: { type: 'overloaded_error', message: 'busy' },
    });
  });

  test('a missing message_stop is all that is missing', async () => {
    const { text, broken } = await streamed({ kind: 'missing_stop' });
    expect(broken).toBe(false);
    expect(parseEvents(text).at(-1)?.type).toBe('message_delta');
  });

  test('a wrong content type is a page, not a message', async () => {
    const response = await post(await startWith({ kind: 'wrong_content_type' }), { stream: true });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html']);
    expect(await response.text()).toContain('<!doctype html>');
  });
});

describe('EMU-3: stalls', () => {
  test('mid-stream, the beginning arrives and then nothing until the client gives up', async () => {
    const emulator = await startWith({ kind: 'stall', at: 'text' });
    const leaving = new AbortController();
    const response = await post(emulator, { stream: true }, { signal: leaving.signal });
    let text = '';
    const reading = (async () => {
      for await (const chunk of response.body ?? []) {
        text += Buffer.from(chunk).toString();
        if (text.includes('text_delta')) leaving.abort();
      }
    })();
    await expect(reading).rejects.toThrow();
    expect(text).not.toContain('message_stop');
    expect((await post(emulator, {})).status).toBe(200);
  });

  test('a stall that ends delivers the rest', async () => {
    for (const at of ['headers', 'tool_input'] as const) {
      const { text, broken } = await streamed({ kind: 'stall', at, ms: 1 });
      expect([text.includes('message_stop'), broken]).toEqual([true, false]);
      await running?.close();
    }
  });
});

describe('EMU-3: faults of responses that are not streamed', () => {
  test.each<[Fault, boolean]>([
    [{ kind: 'reset', at: 'text' }, true],
    [{ kind: 'truncated_event' }, false],
  ])('%j cuts the document', async (fault, broken) => {
    const outcome = await readAll(await post(await startWith(fault), {}));
    expect(outcome.broken).toBe(broken);
    expect(() => JSON.parse(outcome.text)).toThrow(SyntaxError);
  });

  test('a fault that has nothing to break is refused loudly', async () => {
    const emulator = await startWith({ kind: 'missing_stop' });
    const response = await post(emulator, {});
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('needs a streamed request');
    expect(emulator.unmatched).toHaveLength(1);
  });
});

describe('EMU-3: the fault hook', () => {
  test('breaks a request without using up the rule that answers it', async () => {
    let left = 2;
    running = await startEmulator({
      scenario: { rules: [{ times: 1, respond: { text: 'once' } }] },
      fault: () => (left-- > 0 ? { kind: 'status', status: 500 } : undefined),
    });
    const emulator = running;
    const statuses = [];
    for (let at = 0; at < 4; at += 1) statuses.push((await post(emulator, {})).status);
    expect(statuses).toEqual([500, 500, 200, 400]);
  });
});
