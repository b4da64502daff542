import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect } from 'vitest';
import { sessionPath } from '../../src/journal/session-file.ts';
import { SESSION_MIGRATIONS } from '../../src/journal/session-schema.ts';
import { linesOf } from '../fixtures/command.ts';
import { runSync } from '../fixtures/run-sync.ts';
import { test } from '../fixtures/user.ts';

describe.concurrent('UI-1: wrong use ends with one line on standard error and exit code 2', () => {
  test.for<[string[], string]>([
    [['-p', 'x', '--frobnicate'], "unknown option '--frobnicate'"],
    [['-p', 'x', '--max-turns', '0'], 'It must be a whole number above 0.'],
    [['-p', 'x', '--model', ' '], 'the name of the model is empty'],
    [['-p', 'x', '--permission-mode', 'bubble'], 'bubble is for agents that other agents start'],
    [[], 'standard input holds no prompt'],
    [['hello'], 'give a prompt with -p'],
    [['shwo'], 'there is no command "shwo": did you mean show?'],
    [['agents', 'valdate'], 'there is no command "agents valdate": did you mean validate?'],
    [['-p'], 'there is no prompt'],
    [['-p', ''], 'there is no prompt'],
    [['-p', ' \n '], 'there is no prompt'],
    [['emulate', '--scenario', 'missing.yaml'], 'missing.yaml'],
  ])('%j', async ([args, message], { user }) => {
    const emulator = await user.model({ text: 'never' });
    const end = await user.ramet(args, { stdin: ' \n' });
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(linesOf(end.stderr)).toEqual([expect.stringMatching(/^ramet: /)]);
    expect(end.stderr).toContain(message);
    expect(emulator.requests).toHaveLength(0);
  });

  // What the grammar refuses it refuses the same way: the words count, not the process.
  test.for<[string[], string]>([
    [['-p', '- mend it'], "unknown option '- mend it'; a prompt that begins with - goes behind --"],
    [['--frobnicate'], "unknown option '--frobnicate'"],
    [['ps', '--frobnicate'], "unknown option '--frobnicate'"],
    [['ps', 'extra'], "too many arguments for 'ps'"],
    [['-p', 'x', '--model'], "option '--model <model>' argument missing"],
    [['-p', 'x', '--max-turns', 'many'], 'It must be a whole number above 0.'],
    [['-p', 'x', '--max-turns', '1.5'], 'It must be a whole number above 0.'],
    [['-p', 'x', '--max-budget-usd', '0'], 'It must be a number above 0.'],
    [['-p', 'x', '--max-budget-usd', '-1'], 'It must be a number above 0.'],
    [['-p', 'x', '--max-budget-usd', 'Infinity'], 'It must be a number above 0.'],
    [['-p', 'x', '--effort', 'huge'], 'Allowed choices are low, medium, high, max.'],
    [['-p', 'x', '--thinking', '1023'], 'It must be a whole number of at least 1024.'],
    [['-p', 'x', '--thinking', '2000', '--effort', 'low'], "cannot be used with option '--effort"],
    [['-p', 'x', '--output-format', 'xml'], 'Allowed choices are text, json, stream-json.'],
    [
      ['-p', 'x', '--permission-mode', 'yolo'],
      'Allowed choices are default, acceptEdits, plan, dontAsk, bypassPermissions.',
    ],
    [['-p', 'x', '--verbose'], '--verbose is for --output-format stream-json'],
    [['-p', 'x', '--replay-user-messages'], '--replay-user-messages is for --input-format stream-json'],
    [
      ['-p', 'x', '--allowed-tools', 'Read'],
      "unknown option '--allowed-tools' (Did you mean --allowedTools?)",
    ],
    [['-p', 'x', '--system-prompt-file', 'a'], 'here it is --system-prompt "$(cat FILE)"'],
    [['-p', 'x', '--dangerously-skip-permissions'], 'here it is --permission-mode bypassPermissions'],
    [['-p', 'x', '--launch', 'slow'], 'Allowed choices are auto, parallel, staggered.'],
  ])('%j', async ([args, message], { user }) => {
    const end = await user.here(args);
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(linesOf(end.stderr)).toEqual([expect.stringContaining(message)]);
  });

  test.for<[string, Record<string, string | undefined>, string]>([
    [
      'an address that is none',
      { ANTHROPIC_BASE_URL: 'not an address' },
      'ANTHROPIC_BASE_URL is not an http(s) address: not an address',
    ],
    [
      'an address of another kind',
      { ANTHROPIC_BASE_URL: 'ftp://127.0.0.1' },
      'ANTHROPIC_BASE_URL is not an http(s) address',
    ],
    ...['key\n', '“key”'].map((key): [string, Record<string, string>, string] => [
      `a key that no header can carry: ${JSON.stringify(key)}`,
      { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' },
      'ANTHROPIC_API_KEY holds a line end or another character that cannot be sent',
    ]),
    [
      'retries that are no number',
      { RAMET_MAX_RETRIES: 'lots' },
      'RAMET_MAX_RETRIES is not a whole number: lots',
    ],
  ])('%s', async ([, env, message], { user }) => {
    const end = await user.ramet(['-p', 'x'], { env });
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(linesOf(end.stderr)).toEqual([expect.stringContaining(message)]);
  });
});

describe.concurrent('UI-1: places that do not suit', () => {
  test('outside a git repository it works and says so in one line', async ({ user }) => {
    const emulator = await user.model({ text: 'Hello.' });
    const end = await user.ramet(['-p', 'x'], { cwd: user.root });
    expect(end).toEqual({
      code: 0,
      stdout: 'Hello.\n',
      stderr: `ramet: ${user.root} is not in a git repository: working without git\n`,
    });
    expect(emulator.requests[0]?.body).toContain('Git: not a repository');
  });

  test('a directory that is gone is told in one line', async ({ user }) => {
    await user.model({ text: 'never' });
    const end = await user.ramet(['-p', 'x'], { shell: 'mkdir gone; cd gone; rmdir ../gone; exec "$@"' });
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(linesOf(end.stderr)).toEqual([
      'ramet: the current directory no longer exists: change to another one',
    ]);
  });

  test('instructions that are no regular file are passed over', async ({ user }) => {
    runSync('mkfifo', [join(user.repository, 'AGENTS.md')]);
    mkdirSync(join(user.repository, 'CLAUDE.md'));
    await user.model({ text: 'ok' });
    expect(await user.here(['-p', 'x'])).toEqual({ code: 0, stdout: 'ok\n', stderr: '' });
  });

  test('a RAMET_HOME that is a file is named, with what to do', async ({ user }) => {
    await user.model({ text: 'never' });
    writeFileSync(user.rametHome, 'in the way');
    for (const args of [['-p', 'x'], ['ps'], ['-p', 'x', '--continue']]) {
      const end = await user.here(args);
      expect(end).toMatchObject({ code: 2, stdout: '' });
      expect(linesOf(end.stderr)).toEqual([
        expect.stringMatching(
          /^ramet: cannot keep sessions in .*: .*ramet is a file, not a directory; set RAMET_HOME/,
        ),
      ]);
    }
  });

  test('a RAMET_HOME that cannot be made is named, with what to do', async ({ user }) => {
    await user.model({ text: 'never' });
    symlinkSync(join(user.root, 'unplugged disk'), user.rametHome);
    for (const home of [user.rametHome, '/dev/null']) {
      const end = await user.ramet(['-p', 'x'], { env: { RAMET_HOME: home } });
      expect(end).toMatchObject({ code: 2, stdout: '' });
      expect(linesOf(end.stderr)).toEqual([
        expect.stringMatching(/^ramet: cannot keep sessions in .*; set RAMET_HOME to a directory/),
      ]);
    }
  });

  test('LOG-1: a journal from a newer version is refused and left as it is', async ({ user }) => {
    await user.model({ text: 'ok' });
    await user.here(['-p', 'x']);
    const [session = ''] = user.sessions();
    const file = sessionPath(user.project, session);
    setVersion(file, 99);
    const refusal = expect.stringMatching(
      /schema version 99 and this ramet knows up to \d+: update ramet to use it$/,
    );
    for (const args of [
      ['-p', 'y', '--resume', session],
      ['-p', 'y', '--continue'],
      ['show'],
      ['logs'],
      ['cost'],
    ]) {
      const end = await user.here(args);
      expect(end).toMatchObject({ code: 2, stdout: '' });
      expect(linesOf(end.stderr)).toEqual([refusal]);
    }
    const list = await user.here(['ps']);
    expect(list.code).toBe(0);
    expect(linesOf(list.stderr)).toEqual([refusal]);
    setVersion(file, SESSION_MIGRATIONS.length);
    expect((await user.here(['show', '--json'])).code).toBe(0);
  });

  test('LOG-1: a damaged journal is named, and does not hide the others', async ({ user }) => {
    await user.emulate({ respond: () => ({ text: 'ok' }) });
    await user.here(['-p', 'x']);
    const [damaged = ''] = user.sessions();
    await user.here(['-p', 'x']);
    writeFileSync(sessionPath(user.project, damaged), 'not a database, and longer than a header is');
    const end = await user.here(['-p', 'y', '--resume', damaged]);
    expect(end).toMatchObject({ code: 1, stdout: '' });
    expect(linesOf(end.stderr)).toEqual([expect.stringContaining('it is damaged or not a journal')]);
    const list = await user.here(['ps', '--json']);
    expect(JSON.parse(list.stdout)).toHaveLength(1);
    expect(linesOf(list.stderr)).toEqual([expect.stringContaining(damaged)]);
  });
});

function setVersion(file: string, version: number): void {
  using db = new DatabaseSync(file);
  db.exec(`PRAGMA user_version = ${version}`);
}
