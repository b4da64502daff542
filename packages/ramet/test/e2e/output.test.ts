import { describe, expect } from 'vitest';
import { linesOf } from '../fixtures/command.ts';
import { test } from '../fixtures/user.ts';

describe.concurrent('UI-1: readers that stop reading', () => {
  test.for(['text', 'json', 'stream-json'])(
    '%s into `head -c 1`: the work is finished and recorded',
    async (format, { user }) => {
      const text = 'a long answer '.repeat(20_000);
      const read = { name: 'Read', input: { file_path: 'README.md' } };
      await user.model({ tool_use: [read, read] }, { tool_use: [read] }, { text });
      const end = await user.ramet(['-p', 'x', '--output-format', format], {
        shell: 'set -o pipefail; "$@" | head -c 1',
      });
      expect(end.stdout).toHaveLength(1);
      expect(end).toMatchObject({ code: 0, stderr: '' });
      const [agent] = JSON.parse((await user.here(['ps', '--json'])).stdout);
      expect(agent).toMatchObject({ status: 'done', turns: 3 });
    },
  );

  test('a long answer reaches a slow reader whole', async ({ user }) => {
    const text = 'a long answer '.repeat(100_000);
    await user.model({ text });
    const end = await user.ramet(['-p', 'x'], { shell: '"$@" | (sleep 0.5; cat)' });
    expect(end.stdout).toHaveLength(text.length + 1);
  });

  test('a closed standard error does no harm', async ({ user }) => {
    let faults = 1;
    await user.emulate({
      respond: () => ({ text: 'ok' }),
      fault: () => (faults-- > 0 ? { kind: 'status', status: 529, retryAfter: 0.01 } : undefined),
    });
    const end = await user.ramet(['-p', 'x'], { shell: 'exec "$@" 2> >(true)' });
    expect(end).toMatchObject({ code: 0, stdout: 'ok\n' });
  });

  test('a prompt of a megabyte on standard input arrives whole', async ({ user }) => {
    const emulator = await user.model({ text: 'ok' });
    const prompt = `${'word '.repeat(200_000)}end`;
    const end = await user.ramet(['-p'], { stdin: prompt });
    expect(linesOf(end.stdout)).toEqual(['ok']);
    expect(emulator.requests[0]?.body).toContain(prompt);
  });
});
