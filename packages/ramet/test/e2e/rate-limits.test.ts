import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { linesOf } from '../fixtures/command.ts';
import { API_KEY, requestsTaken, test } from '../fixtures/user.ts';

describe.concurrent('LAUNCH-2: several commands on one machine', () => {
  test('none fails on a server that takes one request at a time', async ({ user }) => {
    let open = 0;
    const emulator = await user.emulate({
      respond: ({ turn }) =>
        turn < 3 ? { tool_use: [{ name: 'Read', input: { file_path: 'README.md' } }] } : { text: 'Done.' },
      latency: { baseMs: 30 },
      fault() {
        if (open > 0) return { kind: 'status', status: 429, retryAfter: 0.05 };
        open += 1;
        return undefined;
      },
      onRequest({ status }) {
        if (status === 200) open -= 1;
      },
    });
    const ends = await Promise.all([1, 2, 3].map(() => user.ramet(['-p', 'x'])));
    for (const end of ends) expect(end).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(emulator.requests.filter(({ status }) => status === 200)).toHaveLength(12);
  });

  test('a refusal of one holds back the next, and nothing on disk tells key or address', async ({ user }) => {
    const pauseMs = 2_000;
    let refusals = 1;
    const emulator = await user.emulate({
      respond: () => ({ text: 'Done.' }),
      fault: () =>
        refusals-- > 0 ? { kind: 'status', status: 429, retryAfter: pauseMs / 1_000 } : undefined,
    });
    const first = user.start(['-p', 'first']);
    await requestsTaken(emulator, 1);
    const second = user.start(['-p', 'second']);
    expect((await Promise.all([first.ended, second.ended])).map(({ code }) => code)).toEqual([0, 0]);
    const [refused, ...others] = emulator.requests;
    expect(others).toHaveLength(2);
    for (const { time } of others) expect(time).toBeGreaterThanOrEqual((refused?.time ?? 0) + pauseMs);
    const files = readdirSync(user.rametHome).filter((name) => name.startsWith('machine.sqlite'));
    expect(files).toContain('machine.sqlite');
    const bytes = files.map((name) => readFileSync(join(user.rametHome, name), 'latin1')).join();
    expect(bytes).toContain('claude-sonnet-5');
    expect(bytes).not.toContain(API_KEY);
    expect(bytes).not.toContain('127.0.0.1');
  });

  test('a damaged file fails nothing and is told in the journal', async ({ user }) => {
    mkdirSync(user.rametHome, { recursive: true });
    const file = join(user.rametHome, 'machine.sqlite');
    writeFileSync(file, 'nonsense '.repeat(500));
    let refusals = 1;
    await user.emulate({
      respond: () => ({ text: 'Done.' }),
      fault: () => (refusals-- > 0 ? { kind: 'status', status: 429 } : undefined),
    });
    expect(await user.here(['-p', 'x'])).toMatchObject({ code: 0, stdout: 'Done.\n' });
    const logs = linesOf((await user.here(['logs'])).stdout);
    const told = logs.filter((line) => line.includes('rate limits are not shared'));
    expect(told).toEqual([expect.stringContaining(file)]);
    expect(readFileSync(file, 'utf8')).toBe('nonsense '.repeat(500));
  });

  test('limits.concurrentRequests must be a whole number above zero', async ({ user }) => {
    await user.emulate({ respond: () => ({ text: 'Done.' }) });
    const settings = join(user.repository, '.ramet', 'settings.local.json');
    mkdirSync(join(user.repository, '.ramet'));
    writeFileSync(settings, '{ "limits": { "concurrentRequests": 0 } }');
    const end = await user.here(['-p', 'x']);
    expect(end.code).toBe(2);
    expect(end.stderr).toContain('limits.concurrentRequests');
    writeFileSync(settings, '{ "limits": { "concurrentRequests": 1 } }');
    expect(await user.here(['-p', 'x'])).toMatchObject({ code: 0, stdout: 'Done.\n' });
  });
});
