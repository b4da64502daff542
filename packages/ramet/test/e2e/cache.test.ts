import { describe, expect } from 'vitest';
import type { Emulator } from '../../src/emulator/index.ts';
import { test } from '../fixtures/user.ts';

const READ = { name: 'Read', input: { file_path: 'README.md' } };
const BASH = { name: 'Bash', input: { command: 'seq 1 400' } };

describe.concurrent('FORK-7: every request reads all that the former one sent', () => {
  test('over many turns, also after one with thirty calls', async ({ user }) => {
    const emulator = await user.model(
      { text: 'I look.', tool_use: [READ] },
      { tool_use: Array.from({ length: 30 }, () => READ) },
      { thinking: 'Hm.', text: 'I run.', tool_use: [BASH, READ] },
      { tool_use: [BASH] },
      { text: 'Done.' },
    );
    const end = await user.ramet(['-p', 'Go.', '--permission-mode', 'bypassPermissions']);
    expect(end.code).toBe(0);
    expect(emulator.requests).toHaveLength(5);
    expectFullReuse(emulator);
  });

  test('over a resumed session', async ({ user }) => {
    const emulator = await user.model(
      { tool_use: Array.from({ length: 25 }, () => READ) },
      { text: 'One.' },
      { tool_use: [READ] },
      { text: 'Two.' },
    );
    await user.here(['-p', 'First.']);
    await user.here(['-p', 'Second.', '--continue']);
    expect(emulator.requests).toHaveLength(4);
    expectFullReuse(emulator);
  });

  test('with four breakpoints at the most', async ({ user }) => {
    const emulator = await user.model(...Array.from({ length: 4 }, () => ({ tool_use: [READ] })), {
      text: 'Done.',
    });
    await user.here(['-p', 'Go.']);
    for (const { body } of emulator.requests) {
      expect(body.split('"cache_control":').length - 1).toBeLessThanOrEqual(4);
    }
  });
});

describe.concurrent('FORK-9: sessions share what they have in common', () => {
  test('a second session reads tools and system from the cache', async ({ user }) => {
    const emulator = await user.emulate({ respond: () => ({ text: 'ok' }) });
    await user.here(['-p', 'The first prompt.']);
    await user.here(['-p', 'Something else.']);
    const [first, second] = emulator.requests.map(({ usage }) => usage);
    const head = emulator.requests[0]?.request;
    const tokens = Buffer.byteLength(JSON.stringify([head?.tools, head?.system])) / 4;
    expect(first?.cache_read_input_tokens).toBe(0);
    // Within the bytes of brackets and of the mark itself, which the emulator does not count.
    expect(Math.abs((second?.cache_read_input_tokens ?? 0) - tokens)).toBeLessThan(40);
    expect(second?.cache_creation_input_tokens).toBeLessThan(200);
  });
});

/** What the next request reads is exactly what this one read and wrote: nothing is paid for twice. */
function expectFullReuse(emulator: Emulator): void {
  const usages = emulator.requests.map(({ usage }) => usage);
  usages.slice(1).forEach((usage, index) => {
    const before = usages[index];
    expect(before?.input_tokens).toBe(0);
    expect(usage?.cache_read_input_tokens).toBe(
      (before?.cache_read_input_tokens ?? 0) + (before?.cache_creation_input_tokens ?? 0),
    );
  });
}
