import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { fanOut } from '../fixtures/fan-out.ts';
import { workingSandbox } from '../fixtures/sandbox.ts';
import { test, type User } from '../fixtures/user.ts';

/** Only behind the wall is it another directory than the user's. */
const WHERE = 'printenv TMPDIR; echo done';

/** What the model was told, of everything. */
async function toldBy(user: User, ...args: string[]): Promise<string> {
  const emulator = await user.emulate({ respond: fanOut({ children: 1, command: WHERE }) });
  const { code, stderr } = await user.ramet(['-p', 'Go.', ...args]);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  return JSON.stringify(emulator.requests.map(({ request }) => request?.messages));
}

describe.concurrent('RES-3: the wall in ramet -p', () => {
  test.for(['in-process', 'process'])(
    'a judged command runs behind it, agents %s',
    async (executor, { user, skip }) => {
      await workingSandbox(skip);
      const told = await toldBy(user, '--executor', executor);
      expect(told).toContain('\\ndone');
      expect(told).not.toContain(`${user.env.TMPDIR}\\ndone`);
    },
  );

  test('where bubblewrap cannot start, it runs as it is', async ({ user }) => {
    const folder = join(user.root, 'bin');
    mkdirSync(folder);
    writeFileSync(join(folder, 'bwrap'), '#!/bin/sh\necho "bwrap: no namespaces" >&2; exit 1\n');
    chmodSync(join(folder, 'bwrap'), 0o755);
    user.env.PATH = `${folder}:${user.env.PATH}`;
    expect(await toldBy(user)).toContain(`${user.env.TMPDIR}\\ndone`);
  });
});
