import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { sessionPath } from '../../src/journal/session-file.ts';
import { linesOf } from '../fixtures/command.ts';
import { startOnTerminal } from '../fixtures/terminal.ts';
import { test } from '../fixtures/user.ts';

/** Refuses to let any file grow beyond this many KB, as a full disk or a quota does. */
const limited = (kilobytes: number): string => `trap '' XFSZ; ulimit -f ${kilobytes}; exec "$@"`;

describe.concurrent('LOG-1: a disk that takes no more', () => {
  test('ends the run in one line, and what was recorded can be read and resumed', async ({ user }) => {
    const emulator = await user.emulate({
      // Not permitted, so nothing is written but the journal.
      respond: () => ({
        tool_use: [{ name: 'Write', input: { file_path: 'a.txt', content: 'x'.repeat(20_000) } }],
      }),
    });
    const end = await user.ramet(['-p', 'Go on and on.'], { shell: limited(400) });
    const [session = ''] = user.sessions();
    const file = sessionPath(user.project, session);
    expect(end).toMatchObject({ code: 1, stdout: '' });
    const lines = linesOf(end.stderr).filter((line) => !line.startsWith('ramet: denied: '));
    expect(lines).toEqual([
      `ramet: failed: journal_write_failed: cannot write the journal ${file}: the system refused the write (disk, quota or file size limit); check space and limits, then resume the session (session ${session}; resume with: ramet -p --resume ${session})`,
    ]);
    const asked = emulator.requests.length;
    expect(asked).toBeGreaterThan(2);
    const [agent] = JSON.parse((await user.ramet(['ps', '--json'])).stdout);
    expect(agent).toMatchObject({ status: 'interrupted', cause: 'process_ended' });
    expect(agent.turns).toBeGreaterThanOrEqual(asked - 1);
    const next = await user.emulate({ respond: () => ({ text: 'There is room again.' }) });
    const resumed = await user.ramet(['-p', '--continue']);
    expect(resumed).toEqual({ code: 0, stdout: 'There is room again.\n', stderr: '' });
    expect(next.requests[0]?.request?.messages.length).toBeGreaterThan(asked);
  });

  test('ends in one line when not even a session can be made', async ({ user }) => {
    const emulator = await user.model({ text: 'never' });
    const end = await user.ramet(['-p', 'x'], { shell: limited(1) });
    expect(end).toMatchObject({ code: 1, stdout: '' });
    expect(linesOf(end.stderr)).toEqual([
      expect.stringMatching(/^ramet: cannot write the journal .*\.sqlite: .*, then start again$/),
    ]);
    expect(emulator.requests).toHaveLength(0);
    expect(user.sessions()).toEqual([]);
  });
});

describe.concurrent('LOG-1: a disk that has room again', () => {
  test('takes the next prompt of an open conversation, and gives the one that failed back', async ({
    user,
    skip,
  }) => {
    const { status } = spawnSync('prlimit', ['--version'], { stdio: 'ignore' });
    if (status !== 0) skip('prlimit (util-linux) is needed to fill the disk of a running process');
    const emulator = await user.model({ text: 'First answer.' }, { text: 'Second answer.' });
    await using terminal = startOnTerminal(user, [], { before: "trap '' XFSZ" });
    const grow = (bytes: string): void =>
      void execFileSync('prlimit', ['--pid', String(terminal.pid), `--fsize=${bytes}:unlimited`]);
    await terminal.shows(/^>/m);
    terminal.type('one\r');
    await terminal.shows(/First answer\.\n>/);
    grow('1024');
    terminal.type('say two\r');
    await terminal.shows(/cannot write the journal(.*\n)+> say two\n/);
    terminal.type('\r');
    await terminal.shows(
      /cannot write the journal[^>]*> say two\n[^>]*cannot write the journal(.*\n)+> say two\n/,
    );
    grow('unlimited');
    terminal.type('\r');
    await terminal.shows(/Second answer\.\n>/);
    terminal.type('\u0004');
    expect(await terminal.ended).toBe(0);
    expect(user.sessions()).toHaveLength(1);
    const { messages = [] } = emulator.requests.at(-1)?.request ?? {};
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(JSON.stringify(messages)).toContain('First answer.');
  });
});

describe.concurrent('LOG-1: a run whose journal is removed', () => {
  const remedies = [
    ['', 'journal_removed', 'start a new session (session ID)'],
    [
      '-wal',
      'journal_wal_removed',
      'the session can be resumed from what its file holds (session ID; resume with: ramet -p --resume ID)',
    ],
  ] as const;
  for (const [end, code, remedy] of remedies) {
    test(`stops before its next effect, with one line and code 1 (${end || 'all of it'})`, async ({
      user,
    }) => {
      const emulator = await user.emulate({
        respond() {
          const [session = ''] = user.sessions();
          rmSync(`${sessionPath(user.project, session)}${end}`);
          return { tool_use: [{ name: 'Write', input: { file_path: 'effect.txt', content: 'x' } }] };
        },
      });
      const run = await user.ramet(['-p', 'Write.', '--permission-mode', 'bypassPermissions']);
      expect(run).toMatchObject({ code: 1, stdout: '' });
      const [session = ''] = linesOf(run.stderr)[0]?.match(/(?<=\(session )\w+/) ?? [];
      const file = `${sessionPath(user.project, session)}${end}`;
      expect(linesOf(run.stderr)).toEqual([
        `ramet: failed: ${code}: cannot write the journal ${file}: it was removed or replaced while in use; ${remedy.replaceAll('ID', session)}`,
      ]);
      expect(existsSync(join(user.repository, 'effect.txt'))).toBe(false);
      expect(emulator.requests).toHaveLength(1);
    });
  }
});
