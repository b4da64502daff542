import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { lineServer, testPool } from '../../../test/fixtures/mcp/servers.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { test } from '../../../test/fixtures/temporary-directory.ts';
import { isGroupAlive } from '../../system/processes/process-group.ts';
import { findProcess } from '../../system/processes/process-identity.ts';
import type { ServerConnection } from './connection.ts';
import type { PoolParts } from './pool.ts';
import { namedTools } from './server-set.ts';

const never = new AbortController().signal;

async function withServer(
  manner: string,
  work: (server: ServerConnection, groups: Set<number>) => Promise<void>,
  {
    directory = temporaryDirectory(),
    parts,
    ...options
  }: Parameters<typeof lineServer>[1] & { directory?: string; parts?: Partial<PoolParts> } = {},
): Promise<void> {
  const { pool, groups } = testPool(directory, parts);
  const { connection } = pool.lease(manner, lineServer(manner, options));
  try {
    await work(connection, groups.running);
  } finally {
    await pool[Symbol.asyncDispose]();
  }
  expect([...groups.running]).toEqual([]);
}

function textOf(result: { content: readonly unknown[] }): string {
  const [first] = result.content;
  return typeof first === 'object' && first !== null && 'text' in first ? String(first.text) : '';
}

describe('EXT-4: a connection to a server', () => {
  test('lists tools in one order, whatever order the server has', () =>
    withServer('good', async (server) => {
      const names = (await server.offer(never)).tools.map(({ name }) => name);
      expect(names).toEqual(['add', 'echo']);
      expect(textOf(await server.call('add', { a: 2, b: 3 }, { signal: never }))).toBe('5');
    }));

  test('has resources and prompts', () =>
    withServer('good', async (server) => {
      const { resources, prompts } = await server.offer(never);
      expect(resources.map(({ uri }) => uri)).toEqual(['note://one', 'note://{name}']);
      expect(prompts.map(({ name }) => name)).toEqual(['greet']);
      const read = await server.readResource('note://one', { signal: never });
      expect(read.contents[0]).toMatchObject({ text: 'about note://one' });
    }));

  test('says why a server that ends at its start did so, with its last words', () =>
    withServer('crash', async (server) => {
      await expect(server.offer(never)).rejects.toThrow(
        'the MCP server crash did not start: it ended with code 1 (it said: cannot find its configuration)',
      );
    }));

  test('says which version a server speaks that nobody knows here', () =>
    withServer('old', async (server) => {
      await expect(server.offer(never)).rejects.toThrow(/did not start: .*protocol version.*1999-01-01/);
    }));

  test('fails at once for an answer without a result', () =>
    withServer('no-result', async (server) => {
      await expect(server.offer(never)).rejects.toThrow('its answer has no result: null is no object');
    }));

  test('gives the words of a server that refuses to start, and no dump for a wrong shape', async () => {
    await withServer('refuse-start', async (server) => {
      await expect(server.offer(never)).rejects.toThrow(
        /^the MCP server refuse-start did not start: .*no licence for this machine$/,
      );
    });
    await withServer('number-version', async (server) => {
      await expect(server.offer(never)).rejects.toThrow(
        /did not start: its answer does not have the shape of the protocol \(wrong at protocolVersion\)$/,
      );
    });
  });

  test('keeps what is good of an answer, and names the rest', async () => {
    const echo = { text: 'x' };
    await withServer('strange-part', async (server) => {
      const { content, isError } = await server.call('echo', echo, { signal: never });
      expect(isError).toBe(false);
      expect(content.map((part) => Object(part).text)).toEqual([
        'done',
        '[left out of the answer: a part of the type "weird", which is not of the shape of the protocol]',
        '[left out of the answer: a part of the type "image", which is not of the shape of the protocol]',
        '[left out of the answer: a part without a type]',
      ]);
    });
    await withServer('no-list', async (server) => {
      const answer = await server.call('echo', echo, { signal: never });
      expect(textOf(answer)).toBe('[left out of the answer: its content, which is no list]');
    });
  });

  test('RES-8: what a server has started with a session of its own ends with it', async () => {
    const file = join(temporaryDirectory(), 'child');
    await withServer('daemon', async (server) => void (await server.offer(never)), { option: file });
    const daemon = Number(readFileSync(file, 'utf8'));
    expect(daemon).toBeGreaterThan(0);
    expect(findProcess(daemon)?.ended ?? true).toBe(true);
  });

  test('pauses before it starts a failing server again', () =>
    withServer('crash', async (server) => {
      await expect(server.offer(never)).rejects.toThrow('did not start');
      await expect(server.offer(never)).rejects.toThrow('did not start');
      await expect(server.offer(never)).rejects.toThrow(/started again in \d+ s at the earliest/);
    }));

  test('says that there is no such program', async () => {
    const { pool } = testPool(temporaryDirectory());
    const { connection } = pool.lease('gone', {
      type: 'stdio',
      command: 'no-such-program',
      args: [],
      env: {},
    });
    await expect(connection.offer(never)).rejects.toThrow('there is no program no-such-program');
    await pool[Symbol.asyncDispose]();
  });

  test.for<[string, string, string]>([
    ['that is a file', 'afile', 'the cwd DIR/afile is no directory'],
    ['below a file', 'afile/x', 'there is no directory DIR/afile/x'],
    ['that is not there', 'nowhere', 'there is no directory DIR/nowhere'],
  ])('says which cwd it cannot start in, and not the program: one %s', async ([, cwd, why]) => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'afile'), '');
    const { pool } = testPool(directory);
    const config = { ...lineServer('good'), cwd: join(directory, cwd) };
    const { connection } = pool.lease('odd', config);
    await expect(connection.offer(never)).rejects.toThrow(`did not start: ${why.replace('DIR', directory)}`);
    await pool[Symbol.asyncDispose]();
  });

  test('ends a call that hangs, and the server still answers others', () =>
    withServer(
      'hang-in-call',
      async (server) => {
        await expect(server.call('echo', { text: 'a' }, { signal: never })).rejects.toThrow(
          'did not run echo within 1 s; the call may have taken effect',
        );
        expect((await server.offer(never)).tools).toHaveLength(2);
      },
      { timeout: 300 },
    ));

  test('tells of a server that crashes in mid-call, and starts it again for the next', () =>
    withServer('crash-in-call', async (server) => {
      await expect(server.call('echo', { text: 'a' }, { signal: never })).rejects.toThrow(
        'ended while it was to run echo: it ended with code 3 (it said: about to break); the call may have taken effect',
      );
      expect((await server.offer(never)).tools).toHaveLength(2);
    }));

  test('refuses an answer of 50 MB and keeps the connection', () =>
    withServer('huge', async (server, groups) => {
      await expect(server.call('echo', { text: 'a' }, { signal: never })).rejects.toThrow(
        'the answer has 50 MB, more than the 32 MB that are read: ask for less',
      );
      expect(groups.size).toBe(1);
      expect((await server.offer(never)).tools).toHaveLength(2);
    }));

  test('refuses one whose id stands at its end, too, and nobody else is told', () =>
    withServer('huge-id-last', async (server, groups) => {
      await expect(server.call('echo', { text: 'a' }, { signal: never })).rejects.toThrow(
        'the answer has 50 MB, more than the 32 MB that are read: ask for less',
      );
      expect(groups.size).toBe(1);
    }));

  test('gives up a server that sends messages on and on that nobody asked for', () =>
    withServer(
      'flood-messages',
      async (server) => {
        await expect(server.offer(never)).rejects.toThrow('sends message after message');
      },
      { startTimeout: 60_000 },
    ));

  test('one who does not wait for the list does not spoil it for others', () =>
    withServer('slow-list', async (server) => {
      const impatient = new AbortController();
      const [gaveUp, waits] = [server.offer(impatient.signal), server.offer(never)];
      gaveUp.catch(() => {});
      await server.call('echo', { text: 'a' }, { signal: never });
      impatient.abort();
      await expect(gaveUp).rejects.toThrow('interrupted');
      expect((await waits).tools).toHaveLength(2);
      expect(server.listed).toBe(await waits);
    }));

  test('a start that fails leaves the next one alone', async () => {
    const directory = temporaryDirectory();
    const { pool, groups } = testPool(directory);
    const file = join(directory, 'pids');
    const config = lineServer('hang-once', { env: { PID_FILE: file }, startTimeout: 3_000 });
    const { connection } = pool.lease('twice', config);
    const pids = (): string[] => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []);
    await expect
      .poll(
        () => {
          connection.offer(never).catch(() => {});
          return pids().length;
        },
        { interval: 10, timeout: 30_000 },
      )
      .toBe(2);
    await expect.poll(async () => (await connection.offer(never)).tools.length).toBe(2);
    expect(pids()).toHaveLength(2);
    await pool[Symbol.asyncDispose]();
    expect([...groups.running]).toEqual([]);
  }, 60_000);

  test('gives up a server that floods its output', () =>
    withServer(
      'flood',
      async (server) => {
        await expect(server.offer(never)).rejects.toThrow(/floods its output|did not/);
      },
      { startTimeout: 20_000 },
    ));

  test('is not held up by a flood of errors', () =>
    withServer('flood-errors', async (server) => {
      expect(textOf(await server.call('echo', { text: 'a' }, { signal: never }))).toBe('echo: a');
    }));

  test('matches answers that come out of order', () =>
    withServer('slow', async (server) => {
      const [first, second] = await Promise.all(
        ['first', 'second'].map((text) => server.call('echo', { text }, { signal: never })),
      );
      expect([first, second].map((one) => one && textOf(one))).toEqual(['slow first', 'slow second']);
    }));

  test('refuses sampling and goes on', () =>
    withServer('sample', async (server) => {
      const result = await server.call('echo', { text: 'a' }, { signal: never });
      expect(textOf(result)).toMatch(/^sampling: .*(?:not found|not support)/i);
    }));

  test('lists again after the server says that its tools changed', () =>
    withServer('change', async (server) => {
      expect((await server.offer(never)).tools).toHaveLength(2);
      await server.call('echo', { text: 'a' }, { signal: never });
      await expect.poll(async () => (await server.offer(never)).tools.length).toBe(3);
    }));

  test('reads one list at a time, also for those that ask while the server says that it changed', () =>
    withServer('restless', async (server) => {
      const offers: ReturnType<typeof server.offer>[] = [];
      // Each of its first lists has changed before it is there: who asks then asks for another.
      const isSettled = (): boolean => {
        offers.push(server.offer(never));
        return server.listed !== null;
      };
      await expect.poll(isSettled, { interval: 10 }).toBe(true);
      const known = await Promise.all(offers);
      expect(new Set(known.map(({ tools }) => tools.map(({ name }) => name).join()))).toEqual(
        new Set(['add,echo']),
      );
      expect(known.flatMap(({ leftOut }) => leftOut)).toEqual([]);
    }));

  test('leaves out what cannot be used, names it, and keeps the rest', () =>
    withServer('broken', async (server) => {
      const { tools, resources, prompts, leftOut } = await server.offer(never);
      const names = ['__proto__', 'a b/c\u0000d', 'a_b_c_d', 'answers', 'echo', 'odd', 'wordy'];
      expect(tools.map(({ name }) => name)).toEqual(names);
      expect(tools.find(({ name }) => name === 'echo')?.description).toBe('Says the text again.');
      expect(Math.max(...tools.map(({ description }) => description.length))).toBeLessThan(50_000);
      expect(resources.map(({ uri }) => uri)).toEqual(['note://one', 'note://two', 'note://{name}']);
      expect(prompts.map(({ name }) => name)).toEqual(['greet']);
      const reasons = Object.fromEntries(leftOut.map(({ name, reason }) => [name, reason]));
      expect(reasons).toMatchObject({
        noschema: 'it has no inputSchema',
        text: expect.stringMatching(/^its inputSchema is wrong: /),
        list: expect.stringMatching(/^its inputSchema.type is wrong: /),
        none: expect.stringMatching(/^its inputSchema is wrong: /),
        echo: 'it is listed twice',
        described: expect.stringMatching(/^its description is wrong: /),
        deep: 'it is nested more than 100 levels deep',
        task: 'it can only be called as a task, which Ramet does not do',
        'number 8': 'it has no name',
        'note://one': 'it is listed twice',
      });
      expect(leftOut.filter(({ field }) => field === 'prompts')).toHaveLength(1);
      // What its answers are to look like is no reason to refuse one.
      expect(textOf(await server.call('answers', { text: 'a' }, { signal: never }))).toBe('answers: a');
    }));

  test('names that are alike once they are safe stay apart', () =>
    withServer('broken', async (server) => {
      const named = namedTools('s', await server.offer(never)).map(({ fullName }) => fullName);
      expect(new Set(named).size).toBe(named.length);
      expect(named).toContain('mcp__s__a_b_c_d');
      for (const name of named) expect(name).toMatch(/^[\w-]{1,64}$/);
    }));

  test.each([
    ['in one answer', 'many', '2500'],
    ['in pages', 'pages', '105'],
    ['in pages without end', 'pages', ''],
  ])('uses 2,000 tools of one that lists more %s, and says so', (_, manner, option) =>
    withServer(
      manner,
      async (server) => {
        const { tools, leftOut } = await server.offer(never);
        expect(tools).toHaveLength(2_000);
        if (manner === 'many')
          expect(leftOut).toMatchObject([{ name: '500 or more', reason: 'only 2000 tools are used' }]);
      },
      { option },
    ),
  );

  test('ends a call whose caller is aborted', () =>
    withServer('hang-in-call', async (server) => {
      const abort = new AbortController();
      const calling = server.call('echo', { text: 'a' }, { signal: abort.signal });
      await server.offer(never);
      abort.abort();
      await expect(calling).rejects.toThrow('interrupted');
    }));

  test('gets no key that pays for models, and what the configuration names', () =>
    withServer(
      'secret',
      async (server) => {
        const result = await server.call('echo', { text: 'a' }, { signal: never });
        expect(textOf(result)).toBe('token s3cret-value key absent');
      },
      { env: { SERVICE_TOKEN: 's3cret-value' } },
    ));
});

describe('RES-8: the pool', () => {
  test('equal configurations are one process, which ends with its last user', async () => {
    const directory = temporaryDirectory();
    const { pool, groups } = testPool(directory);
    const pids = join(directory, 'pids');
    const config = lineServer('good', { env: { PID_FILE: pids } });
    const leases = Array.from({ length: 20 }, (_, index) =>
      pool.lease(`name-${index}`, structuredClone(config)),
    );
    await Promise.all(leases.map(({ connection }) => connection.offer(never)));
    expect(readFileSync(pids, 'utf8').trim().split('\n')).toHaveLength(1);
    const [group = 0] = groups.running;
    for (const lease of leases.slice(1)) {
      await lease.release();
      await lease.release();
    }
    expect(isGroupAlive(group)).toBe(true);
    await leases[0]?.release();
    expect(isGroupAlive(group)).toBe(false);
    expect(pool.size).toBe(0);
  });

  test('another directory or another variable is another server', async () => {
    const { pool } = testPool(temporaryDirectory());
    pool.lease('a', lineServer());
    pool.lease('b', lineServer('good', { env: { A: '1' } }));
    pool.lease('c', { ...lineServer(), cwd: '/' } as ReturnType<typeof lineServer>);
    expect(pool.size).toBe(3);
    await pool[Symbol.asyncDispose]();
  });

  test('closing while a server starts leaves nothing', async () => {
    const { pool, groups } = testPool(temporaryDirectory());
    const { connection } = pool.lease('hang', lineServer('hang'));
    const starting = connection.offer(never);
    starting.catch(() => {});
    await expect.poll(() => groups.running.size).toBe(1);
    await pool[Symbol.asyncDispose]();
    expect(groups.running.size).toBe(0);
    await expect(starting).rejects.toThrow();
  });
});

/** Side by side, since each waits for seconds. */
describe.concurrent('EXT-4, RES-8: a server that takes its time', () => {
  test('waits for a program that takes longer to start than a first question may', async ({ directory }) => {
    const { pool } = testPool(directory);
    const { command, args } = lineServer() as { command: string; args: readonly string[] };
    const slow = ['-c', 'sleep 4; exec "$@"', 'sh', command, ...args];
    const { connection } = pool.lease('slow', { type: 'stdio', command: 'sh', args: slow, env: {} });
    expect((await connection.offer(never)).tools).toHaveLength(2);
    await pool[Symbol.asyncDispose]();
  }, 30_000);

  test('gives up a server that never answers', ({ directory }) =>
    withServer(
      'hang',
      async (server) => {
        await expect(server.offer(never)).rejects.toThrow('did not answer within 1 s of its start');
      },
      { directory, startTimeout: 1_000 },
    ));

  test('gives up a server that speaks garbage', ({ directory }) =>
    withServer(
      'garbage',
      async (server) => {
        await expect(server.offer(never)).rejects.toThrow(
          /did not answer within 1 s .*\(it said: .*not json/s,
        );
      },
      { directory, startTimeout: 1_000 },
    ));

  test('passes a question on to a person and waits without a limit', ({ directory }) =>
    withServer(
      'elicit',
      async (server) => {
        const result = await server.call('echo', { text: 'a' }, { signal: never });
        expect(textOf(result)).toContain('"colour":"blue"');
      },
      {
        directory,
        timeout: 200,
        parts: {
          async elicit({ message }) {
            expect(message).toBe('Which colour?');
            await new Promise((resolve) => setTimeout(resolve, 900));
            return { action: 'accept', content: { colour: 'blue' } };
          },
        },
      },
    ));

  test('ends a server that does not want to end', ({ directory }) =>
    withServer('stubborn', async (server) => void (await server.offer(never)), { directory }));

  test('a server that is wanted again starts when the one before has ended', async ({ directory }) => {
    const { pool, groups } = testPool(directory);
    const most: number[] = [];
    const enter = groups.enter.bind(groups);
    groups.enter = (group) => {
      const leave = enter(group);
      most.push(groups.running.size);
      return leave;
    };
    const config = lineServer('stubborn');
    const first = pool.lease('one', config);
    await first.connection.offer(never);
    const released = first.release();
    const second = pool.lease('one', config);
    await second.connection.offer(never);
    await released;
    expect(most).toEqual([1, 1]);
    await pool[Symbol.asyncDispose]();
    expect([...groups.running]).toEqual([]);
  });
});
