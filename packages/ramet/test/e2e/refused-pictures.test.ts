import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer, Emulator, EmulatorOptions, RequestRecord } from '../../src/emulator/index.ts';
import { openReader } from '../../src/journal/sessions.ts';
import { rebuiltRequests } from '../fixtures/rebuilt-requests.ts';
import { requestsTaken, test, type User } from '../fixtures/user.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const WORDS = 'media: at most 2 files';
const LEFT_OUT = '[A picture stood here.';

const look = (...names: string[]): Answer => ({
  tool_use: names.map((name) => ({ name: 'Read', input: { file_path: name } })),
});

/** A provider that takes two pictures in a request, and does not say what it calls them. */
const atMostTwo: EmulatorOptions['fault'] = ({ request }) =>
  picturesIn(JSON.stringify(request)) > 2 ? { kind: 'status', status: 400, message: WORDS } : undefined;

function picturesIn(text: string): number {
  return text.split('"media_type":"image/png"').length - 1;
}

function drawn(user: User): void {
  for (const name of ['a', 'b', 'c', 'd']) writeFileSync(join(user.repository, `${name}.png`), PNG);
}

const seen = ({ requests }: Emulator): [number, number][] =>
  requests.map(({ body, status }) => [picturesIn(body), status ?? 0]);

/** The messages as the provider got them, without the cache marks, which move. */
function messagesOf({ body }: RequestRecord): string {
  const [, messages = ''] = /"messages":(\[.*\]),"max_tokens"/s.exec(body) ?? [];
  return messages.replace(/,"cache_control":\{[^}]*\}/g, '').slice(0, -1);
}

describe.concurrent('RES-6: ramet -p with a picture too many for the provider', () => {
  test('leaves out the new ones, says so in the words of the provider, and continues, also when it is resumed', async ({
    user,
  }) => {
    drawn(user);
    const emulator = await user.emulate({
      respond: ({ turn }) =>
        [look('a.png', 'b.png'), look('c.png'), { text: 'done' }, { text: 'again' }][turn],
      fault: atMostTwo,
    });
    const first = await user.ramet(['-p', 'Look.']);
    expect(first).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(first.stderr).toContain(
      `answered 400 ${WORDS}. The newest pictures are left out of the conversation`,
    );
    expect(seen(emulator)).toEqual([
      [0, 200],
      [2, 200],
      [3, 400],
      [2, 200],
    ]);
    const [, accepted, , after] = emulator.requests.map(messagesOf);
    expect(after?.startsWith(accepted ?? '-')).toBe(true);
    expect(after).toContain(LEFT_OUT);

    expect(await user.ramet(['-p', '-c', 'More?'])).toEqual({ code: 0, stdout: 'again\n', stderr: '' });
    expect(emulator.requests).toHaveLength(5);
    expect(messagesOf(emulator.requests[4] ?? ({ body: '' } as RequestRecord)).startsWith(after ?? '-')).toBe(
      true,
    );
    const [session = ''] = user.sessions();
    const reader = openReader({ project: user.project, session });
    const rebuilt = rebuiltRequests(reader, session);
    reader.close();
    expect(rebuilt).toEqual(emulator.requests.map(({ body }) => body));
    expect((await user.here(['cache', 'explain'])).code).toBe(0);
  });

  test('killed while it tries without them, it has lost nothing, and the same is tried again', async ({
    user,
  }) => {
    drawn(user);
    const stalled = Promise.withResolvers<Answer>();
    let isFirst = true;
    const emulator = await user.emulate({
      respond: ({ turn, last }) => {
        if (!last.includes(LEFT_OUT)) return look('a.png', 'b.png', 'c.png');
        if (!isFirst) return turn === 1 ? { text: 'done' } : undefined;
        isFirst = false;
        return stalled.promise;
      },
      fault: atMostTwo,
    });
    const running = user.start(['-p', 'Look.']);
    await requestsTaken(emulator, 3);
    running.kill('SIGKILL');
    await running.ended;
    stalled.resolve({ text: 'nobody hears it' });
    const before = emulator.requests.map(messagesOf);
    expect(await user.ramet(['resume'])).toMatchObject({ code: 0, stdout: 'done\n' });
    const after = emulator.requests.slice(3);
    expect(after.map(({ body, status }) => [picturesIn(body), status])).toEqual([
      [3, 400],
      [0, 200],
    ]);
    expect(after.map(messagesOf)).toEqual(before.slice(1));
  });

  test.for(['in-process', 'process'])(
    'a fork keeps those that it has from its parent: %s',
    async (executor, { user }) => {
      drawn(user);
      const emulator = await user.emulate({
        respond: ({ turn, isFork }) => {
          if (isFork) return [look('c.png'), { text: 'Scope: look. Two pictures.' }][turn];
          const input = { description: 'look', prompt: 'Look at c.png.', subagent_type: 'fork' };
          return [look('a.png', 'b.png'), { tool_use: [{ name: 'Agent', input }] }, { text: 'done' }][turn];
        },
        fault: atMostTwo,
      });
      const ended = await user.ramet(['-p', 'Look.', '--executor', executor]);
      expect(ended).toMatchObject({ code: 0, stdout: 'done\n' });
      expect(seen(emulator)).toEqual([
        [0, 200],
        [2, 200],
        [2, 200],
        [3, 400],
        [2, 200],
        [2, 200],
      ]);
      expect(emulator.requests[4]?.body).toContain(LEFT_OUT);
      expect(emulator.requests[5]?.body).not.toContain(LEFT_OUT);
    },
  );

  test('what is refused without them too is shown as it is, and they stay', async ({ user }) => {
    drawn(user);
    const emulator = await user.emulate({
      respond: ({ turn }) => [look('a.png'), { text: 'done' }][turn],
      fault: ({ turn }) =>
        turn === 1 ? { kind: 'status', status: 400, message: 'no such schema' } : undefined,
    });
    const ended = await user.ramet(['-p', 'Look.']);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('answered 400 no such schema');
    expect(ended.stderr).not.toContain('left out');
    expect(seen(emulator)).toEqual([
      [0, 200],
      [1, 400],
      [1, 400],
      [0, 400],
    ]);
  });

  test('an error about something else that passes takes none of them', async ({ user }) => {
    drawn(user);
    let isFirst = true;
    const emulator = await user.emulate({
      respond: ({ turn }) => [look('a.png'), { text: 'done' }][turn],
      fault({ turn }) {
        if (turn !== 1 || !isFirst) return undefined;
        isFirst = false;
        return { kind: 'status', status: 400, message: 'Your credit balance is too low' };
      },
    });
    expect(await user.ramet(['-p', 'Look.'])).toEqual({ code: 0, stdout: 'done\n', stderr: '' });
    expect(seen(emulator)).toEqual([
      [0, 200],
      [1, 400],
      [1, 200],
    ]);
  });

  test('a session continues without pictures at a server that takes none, also after a kill in any of its tries', async ({
    user,
  }) => {
    drawn(user);
    const before = await user.emulate({ respond: ({ turn }) => [look('a.png'), { text: 'done' }][turn] });
    expect((await user.ramet(['-p', 'Look.'])).code).toBe(0);

    const stalled: PromiseWithResolvers<Answer>[] = [];
    let stallsAt = 2;
    let tries = 0;
    const stops = (): boolean => ++tries === stallsAt;
    const other = await user.emulate({
      respond: () => {
        if (stallsAt === 0) return { text: 'here' };
        const wait = Promise.withResolvers<Answer>();
        stalled.push(wait);
        return wait.promise;
      },
      fault: ({ request }) => {
        const isStopped = stops();
        if (picturesIn(JSON.stringify(request)) === 0 || isStopped) return undefined;
        return { kind: 'status', status: 400, message: 'Bad Request' };
      },
    });
    const running = user.start(['-p', '-c', 'More?']);
    await requestsTaken(other, 2);
    running.kill('SIGKILL');
    await running.ended;
    stallsAt = 3;
    tries = 0;
    const again = user.start(['resume']);
    await requestsTaken(other, 5);
    again.kill('SIGKILL');
    await again.ended;
    stallsAt = 0;
    expect(await user.ramet(['resume'])).toMatchObject({ code: 0, stdout: 'here\n' });
    for (const { resolve } of stalled) resolve({ text: 'nobody hears it' });
    const bodies = other.requests.map(messagesOf);
    expect(other.requests.map(({ body }) => picturesIn(body))).toEqual([1, 1, 1, 1, 0, 1, 1, 0]);
    expect(new Set([bodies[0], bodies[1], bodies[2], bodies[3], bodies[5], bodies[6]]).size).toBe(1);
    expect(bodies[4]).toBe(bodies[7]);
    const [session = ''] = user.sessions();
    const reader = openReader({ project: user.project, session });
    const sent = [...before.requests, ...other.requests].map(({ body }) => body);
    const rebuilt = rebuiltRequests(reader, session);
    reader.close();
    expect(rebuilt).toEqual(sent);
  });
});
