import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually } from '../fixtures/command.ts';
import { fanOut } from '../fixtures/fan-out.ts';
import { test, type User } from '../fixtures/user.ts';

/** Says when it begins and ends, and runs until the user lets it. Two at once would fail to make the folder. */
const BUILD = `#!/bin/sh
mkdir "$1/busy" || exit 1
echo begin >> "$1/log"
until [ -e "$1/go" ]; do sleep 0.02; done
echo end >> "$1/log"
rmdir "$1/busy"
echo done
`;

function prepare(user: User, executor: 'in-process' | 'process'): void {
  mkdirSync(user.rametHome, { recursive: true });
  const settings = {
    ...{ agents: { executor }, limits: { heavyCommands: 1 } },
    sandbox: { readOnly: 'off', worktree: 'off' },
  };
  writeFileSync(join(user.rametHome, 'settings.json'), JSON.stringify(settings));
  writeFileSync(join(user.repository, 'build.sh'), BUILD);
}

const ARGS = ['--permission-mode', 'bypassPermissions', '--output-format', 'stream-json'];
const WAITS = 'waiting for a place: 1 heavy command runs on this machine';

describe.concurrent('OP-3: heavy commands of agents share the places of the machine', () => {
  for (const executor of ['in-process', 'process'] as const) {
    test(`two agents (${executor}) build one after the other, and the second one says that it waits`, async ({
      user,
    }) => {
      prepare(user, executor);
      const command = `cd . && CI=1 sh build.sh ${user.root} 2>&1 | tail -1`;
      const input = { subagent_type: 'general-purpose' };
      await user.emulate({ respond: fanOut({ children: 2, input, command }) });
      const run = user.start(['-p', 'Go.', ...ARGS]);
      await eventually(() => run.stdout.includes(WAITS));
      await eventually(() => readFileSync(join(user.root, 'log'), 'utf8'));
      expect(readFileSync(join(user.root, 'log'), 'utf8')).toBe('begin\n');
      writeFileSync(join(user.root, 'go'), '');
      expect(await run.ended).toMatchObject({ code: 0, stderr: '' });
      expect(readFileSync(join(user.root, 'log'), 'utf8')).toBe('begin\nend\nbegin\nend\n');
    });
  }

  test('who waits ends at once on Ctrl-C, and a session that is killed leaves its place to the next', async ({
    user,
  }) => {
    prepare(user, 'in-process');
    const command = `sh build.sh ${user.root}`;
    await user.emulate({
      respond: ({ turn }) =>
        turn === 0 ? { tool_use: [{ name: 'Bash', input: { command } }] } : { text: 'Built.' },
    });
    const holder = user.start(['-p', 'Go.', ...ARGS]);
    await eventually(() => readFileSync(join(user.root, 'log'), 'utf8') === 'begin\n');
    const waiter = user.start(['-p', 'Go.', ...ARGS]);
    await eventually(() => waiter.stdout.includes(WAITS));
    waiter.kill('SIGINT');
    expect(await waiter.ended).toMatchObject({ code: 130 });
    const next = user.start(['-p', 'Go.', ...ARGS]);
    await eventually(() => next.stdout.includes(WAITS));
    holder.kill('SIGKILL');
    await holder.ended;
    writeFileSync(join(user.root, 'go'), '');
    expect(await next.ended).toMatchObject({ code: 0 });
    expect(next.stdout).toContain('Built.');
  });
});
