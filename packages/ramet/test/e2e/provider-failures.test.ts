import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect } from 'vitest';
import type { Answer, Emulator, Fault } from '../../src/emulator/index.ts';
import { linesOf } from '../fixtures/command.ts';
import { test, toolResults, type User } from '../fixtures/user.ts';

/** Answers every turn with `answer`, and breaks the first request of each as told; then it is done. */
function breakingEach(user: User, faults: readonly Fault[], answer: Answer): Promise<Emulator> {
  const broken = new Set<number>();
  return user.emulate({
    respond: ({ turn }) => (turn < faults.length ? answer : { text: 'Done.' }),
    fault: ({ turn }) => {
      if (broken.has(turn)) return;
      broken.add(turn);
      return faults[turn];
    },
  });
}

/** Everything on standard error but that a run of this length also says that it waits. */
function attemptsTold({ stderr }: { stderr: string }): string[] {
  return linesOf(stderr).filter((line) => line !== 'ramet: waiting: provider');
}

/** Byte for byte the same again, for each of that many turns; the last turn was answered at once. */
function expectEachAskedTwice({ requests }: Emulator, turns: number): void {
  expect(requests).toHaveLength(2 * turns + 1);
  for (let turn = 0; turn < turns; turn++)
    expect(requests[2 * turn + 1]?.body).toBe(requests[2 * turn]?.body);
}

/** One line that says why, where to go on, and the session listed as failed and ready to go on. */
async function expectKept(
  user: User,
  end: { code: number | null; stderr: string },
  why: RegExp,
): Promise<void> {
  expect(end.code).toBe(1);
  const [session = ''] = user.sessions();
  const last = linesOf(end.stderr).at(-1);
  expect(last).toMatch(why);
  expect(last).toMatch(new RegExp(`\\(session ${session}; resume with: ramet -p --resume ${session}\\)$`));
  const [agent] = JSON.parse((await user.here(['ps', '--json'])).stdout);
  expect(agent).toMatchObject({ id: `${session}.1`, status: 'failed' });
}

/** Goes on without a new prompt, on a provider that is well again. */
async function expectResumable(user: User): Promise<void> {
  await user.emulate({ respond: () => ({ text: 'Well again.' }) });
  const end = await user.ramet(['-p', '--continue']);
  expect(end).toEqual({ code: 0, stdout: 'Well again.\n', stderr: '' });
}

describe.concurrent('MODEL-2: a provider that refuses', () => {
  test.for([
    [401, /answered 401 .*: check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN \(/],
    [403, /answered 403 .*: the key may not use this model or workspace \(/],
    [
      404,
      /answered 404 .*: is "claude-sonnet-5" a model of this provider, and ANTHROPIC_BASE_URL right\? \(/,
    ],
    [413, /answered 413 .*: the conversation is too large/],
    [400, /answered 400 /],
  ] as const)('%i ends at once in one line', async ([status, why], { user }) => {
    const emulator = await user.emulate({ fault: () => ({ kind: 'status', status }) });
    const end = await user.here(['-p', 'x']);
    expect(end.stdout).toBe('');
    expect(linesOf(end.stderr)).toHaveLength(1);
    expect(emulator.requests).toHaveLength(1);
    await expectKept(user, end, why);
    if (status === 413) await expectResumable(user);
  });

  test('an unknown model is a 404 that names it', async ({ user }) => {
    await user.emulate({ unknownModels: ['claude-sonet-5'], respond: () => ({ text: 'never' }) });
    const end = await user.here(['-p', 'x', '--model', 'claude-sonet-5']);
    expect(linesOf(end.stderr)).toHaveLength(1);
    await expectKept(
      user,
      end,
      /^ramet: failed: not_found_error: .*is "claude-sonet-5" a model of this provider/,
    );
  });

  test('a wrong key is told without the key', async ({ user }) => {
    await user.emulate({ requireKey: 'another', respond: () => ({ text: 'never' }) });
    const end = await user.here(['-p', 'x']);
    expect(end.stderr).not.toContain(user.env.ANTHROPIC_API_KEY);
    await expectKept(user, end, /401/);
  });

  test('a spend limit is not retried', async ({ user }) => {
    const emulator = await user.emulate({ fault: () => ({ kind: 'status', status: 429, spendLimit: true }) });
    const end = await user.here(['-p', 'x']);
    expect(emulator.requests).toHaveLength(1);
    await expectKept(user, end, /spend_limit: .*raise the spend limit/);
  });

  test('a page instead of a stream is told as a wrong address', async ({ user }) => {
    const emulator = await user.emulate({ fault: () => ({ kind: 'wrong_content_type' }) });
    const end = await user.here(['-p', 'x']);
    expect(linesOf(end.stderr)).toHaveLength(1);
    expect(emulator.requests).toHaveLength(1);
    await expectKept(
      user,
      end,
      /answered with text\/html.* instead of an event stream: is ANTHROPIC_BASE_URL right\?/,
    );
  });
});

describe.concurrent('MODEL-2: a provider that is out of breath', () => {
  test('408, 409, 429, 500, 502 and 529 without retry-after are tried again', async ({ user }) => {
    const statuses = [408, 409, 429, 500, 502, 529];
    const emulator = await breakingEach(
      user,
      statuses.map((status) => ({ kind: 'status', status })),
      { text: 'I look.', tool_use: [{ name: 'Glob', input: { pattern: '*' } }] },
    );
    const end = await user.here(['-p', 'x']);
    expect(end).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(attemptsTold(end)).toEqual(
      statuses.map((status) =>
        expect.stringMatching(
          new RegExp(`^ramet: attempt 1 failed: .* answered ${status} .*; trying again in 0\\.\\d s$`),
        ),
      ),
    );
    expectEachAskedTwice(emulator, statuses.length);
  });

  test('529 from the start gives up after the retries there are, and keeps what it has', async ({ user }) => {
    const emulator = await user.emulate({ fault: () => ({ kind: 'status', status: 529 }) });
    const end = await user.ramet(['-p', 'x'], { env: { RAMET_MAX_RETRIES: '2' } });
    expect(emulator.requests).toHaveLength(3);
    expect(linesOf(end.stderr)).toHaveLength(3);
    await expectKept(user, end, /overloaded_error: .* answered 529 .*\(gave up after 3 attempts\)/);
    const bill = JSON.parse((await user.here(['cost', '--json'])).stdout);
    expect(bill.total).toMatchObject({ requests: 3, responses: 0, retries: 2 });
    await expectResumable(user);
  });

  test('a provider that is down is told with its address', async ({ user }) => {
    const emulator = await user.emulate({});
    await emulator.close();
    const end = await user.ramet(['-p', 'x'], { env: { RAMET_MAX_RETRIES: '1' } });
    expect(linesOf(end.stderr)).toHaveLength(2);
    await expectKept(
      user,
      end,
      new RegExp(`connection: cannot reach ${emulator.url} \\(ECONNREFUSED\\): is the provider up`),
    );
    await expectResumable(user);
  });
});

describe.concurrent('MODEL-2: a stream that breaks is asked for again as a whole', () => {
  const call = { name: 'Bash', input: { command: 'echo ran >> runs.txt; wc -l < runs.txt' } };

  const faults: Record<string, Fault> = {
    // First, on a connection that is new: on one that was used before it is asked again without a word.
    'cut before the headers': { kind: 'reset', at: 'headers' },
    malformed: { kind: 'malformed_event' },
    truncated: { kind: 'truncated_event' },
    'without its end': { kind: 'missing_stop' },
    'cut after the start': { kind: 'reset', at: 'start' },
    'cut in text': { kind: 'reset', at: 'text' },
    'cut in tool JSON': { kind: 'reset', at: 'tool_input' },
    'ended by an error event': { kind: 'stream_error' },
  };

  test(`${Object.keys(faults).join(', ')}: and each tool runs once`, async ({ user }) => {
    const all = Object.values(faults);
    const emulator = await breakingEach(user, all, { text: 'I run it.', tool_use: [call] });
    const end = await user.here(['-p', 'x', '--permission-mode', 'bypassPermissions']);
    expect(end).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(attemptsTold(end)).toEqual(
      all.map(() => expect.stringMatching(/^ramet: attempt 1 failed: .*; trying again in/)),
    );
    expect(toolResults(emulator)).toEqual(
      all.map((_, index) => ({ text: String(index + 1), isError: false })),
    );
    expectEachAskedTwice(emulator, all.length);
  });

  test('a stream that breaks every time gives up in one line', async ({ user }) => {
    await user.emulate({ respond: () => ({ text: 'Hello' }), fault: () => ({ kind: 'reset', at: 'text' }) });
    const end = await user.ramet(['-p', 'x'], { env: { RAMET_MAX_RETRIES: '0' } });
    expect(end.stdout).toBe('');
    expect(linesOf(end.stderr)).toHaveLength(1);
    await expectKept(user, end, /gave up after 1 attempt\)/);
    await expectResumable(user);
  });
});

describe.concurrent('MODEL-2: servers that do not speak the protocol', () => {
  test.for<[string, (response: ServerResponse) => void, RegExp]>([
    [
      'an error page',
      (response) => response.writeHead(403).end('<html>\n<b>Forbidden</b>\n</html>'),
      /answered 403 /,
    ],
    ['an empty error', (response) => response.writeHead(404).end(), /answered 404 /],
    [
      'no stream at all',
      (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(),
      /stream_cut/,
    ],
    ['a hang-up', (response) => response.destroy(), /connection: the connection to .* was lost/],
  ])('%s ends in one line', async ([, answer, why], { user }) => {
    const server = createServer((request, response) => {
      request.resume().once('end', () => answer(response));
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo; // listens on TCP
    user.env.ANTHROPIC_BASE_URL = `http://127.0.0.1:${port}`;
    const end = await user.ramet(['-p', 'x'], { env: { RAMET_MAX_RETRIES: '0' } });
    server.close();
    expect(linesOf(end.stderr)).toHaveLength(1);
    await expectKept(user, end, why);
  });
});
