import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import { requestsTaken, test, type User } from '../fixtures/user.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];

const write = (file_path: string, content: string): Answer => ({
  tool_use: [{ name: 'Write', input: { file_path, content } }],
});
const edit = (old_string: string, new_string: string): Answer => ({
  tool_use: [{ name: 'Edit', input: { file_path: 'README.md', old_string, new_string } }],
});
const read: Answer = { tool_use: [{ name: 'Read', input: { file_path: 'README.md' } }] };
const done: Answer = { text: 'ok' };

const textOf = (user: User, path: string): string => readFileSync(join(user.repository, path), 'utf8');
const has = (user: User, path: string): boolean => existsSync(join(user.repository, path));

/** Turn 2 edits README.md, turn 3 creates src/new.txt, turn 4 edits README.md again. */
async function worked(user: User): Promise<void> {
  await user.model(
    read,
    edit('# Test', '# One'),
    write('src/new.txt', 'new\n'),
    edit('# One', '# Two'),
    done,
  );
  await user.ramet(['-p', 'Work.', ...BYPASS]);
  expect(textOf(user, 'README.md')).toBe('# Two\n');
}

describe.concurrent('ramet undo', () => {
  test('UI-1: with --json, nothing to undo is an answer with the fields of every other', async ({ user }) => {
    await user.model(done);
    await user.here(['-p', 'Say ok.']);
    for (const flags of [['--dry-run'], [], ['--redo']]) {
      const { code, stdout, stderr } = await user.here(['undo', ...flags, '--json']);
      expect({ code, stderr }).toEqual({ code: 2, stderr: '' });
      expect(JSON.parse(stdout)).toEqual({
        ...{ plan: null, blocked: [], steps: [], failed: [], damage: null },
        refused: expect.stringMatching(/^(nothing to undo: |there is no undo)/),
      });
    }
  });

  test('puts back all that the last prompt changed, says each file, and can be taken back', async ({
    user,
  }) => {
    await worked(user);
    chmodSync(join(user.repository, 'README.md'), 0o640);
    const undone = await user.here(['undo']);
    expect(undone).toEqual({
      code: 0,
      stdout: 'restored  README.md (turn 2, 4)\nremoved  src/new.txt (turn 3)\n',
      stderr: 'ramet: files are as before turn 2; ramet undo --redo takes this back\n',
    });
    expect(textOf(user, 'README.md')).toBe('# Test\n');
    expect(statSync(join(user.repository, 'README.md')).mode & 0o777).toBe(0o640);
    expect(has(user, 'src/new.txt')).toBe(false);
    const again = await user.here(['undo', '--redo']);
    expect(again).toMatchObject({
      code: 0,
      stdout: 'restored  README.md (turn 2, 4)\nrecreated  src/new.txt (turn 3)\n',
    });
    expect([textOf(user, 'README.md'), textOf(user, 'src/new.txt')]).toEqual(['# Two\n', 'new\n']);
    expect((await user.here(['logs'])).stdout).toMatch(
      /undo of turn 2 and later: 2 files put back\n.*files in place\n.*redo of turn 2/,
    );
  });

  test('that failed for a file says so, and again continues it', async ({ user }) => {
    await worked(user);
    const [session = ''] = user.sessions();
    const originals = join(user.project, session, 'originals');
    const kept = readdirSync(originals).map((name) => join(originals, name));
    const damaged = kept.find((path) => readFileSync(path, 'utf8') === '# Test\n') ?? '';
    writeFileSync(damaged, 'damaged');
    const failed = await user.here(['undo']);
    expect(failed.code).toBe(1);
    expect(failed.stdout).toMatch(/not put back {2}README.md .*is damaged\nremoved {2}src\/new.txt/);
    expect(failed.stderr).toBe('ramet: one file was not put back: ramet undo tries again\n');
    writeFileSync(damaged, '# Test\n');
    const again = await user.here(['undo']);
    expect(again).toEqual({
      code: 0,
      stdout: 'restored  README.md\n',
      stderr:
        'ramet: the undo of turn 2 was interrupted: continuing it, 1 of 1 files are left (ramet undo --redo takes it back instead)\n' +
        'ramet: files are as before turn 2; ramet undo --redo takes this back\n',
    });
    expect((await user.here(['undo', '--redo'])).code).toBe(0);
    expect([textOf(user, 'README.md'), has(user, 'src/new.txt')]).toEqual(['# Two\n', true]);
  });

  test('goes back to before a turn, and then further', async ({ user }) => {
    await worked(user);
    expect((await user.here(['undo', '--turn', '4'])).stdout).toBe('restored  README.md (turn 4)\n');
    expect([textOf(user, 'README.md'), has(user, 'src/new.txt')]).toEqual(['# One\n', true]);
    expect((await user.here(['undo'])).code).toBe(0);
    expect([textOf(user, 'README.md'), has(user, 'src/new.txt')]).toEqual(['# Test\n', false]);
    const nothing = await user.here(['undo']);
    expect(nothing).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is undone already; --redo takes the last undo back'),
    });
    await user.here(['undo', '--redo']);
    await user.here(['undo', '--redo']);
    expect(textOf(user, 'README.md')).toBe('# Two\n');
    expect((await user.here(['undo', '--redo'])).stderr).toMatch(/^ramet: there is no undo to take back/);
  });

  test('undoes prompt by prompt, in sessions that were resumed too', async ({ user }) => {
    await user.model(write('a.txt', '1'), done, write('a.txt', '2'), done);
    await user.here(['-p', 'One.', ...BYPASS]);
    await user.here(['-p', 'Two.', '--continue', ...BYPASS]);
    expect((await user.here(['undo'])).stdout).toBe('restored  a.txt (turn 3)\n');
    expect(textOf(user, 'a.txt')).toBe('1');
    expect((await user.here(['undo'])).stdout).toBe('removed  a.txt (turn 1)\n');
  });

  test('with --dry-run says what it would do and does nothing', async ({ user }) => {
    await worked(user);
    const stored = (): string[] =>
      readdirSync(user.project, { recursive: true, encoding: 'utf8' }).filter(
        (name) => !/-(wal|shm)$/.test(name),
      );
    const files = stored();
    expect(await user.here(['undo', '--dry-run'])).toEqual({
      code: 0,
      stdout: 'would be restored  README.md (turn 2, 4)\nwould be removed  src/new.txt (turn 3)\n',
      stderr: '',
    });
    expect([textOf(user, 'README.md'), stored()]).toEqual(['# Two\n', files]);
  });

  test('refuses as a whole when a file changed since, and --force keeps a copy', async ({ user }) => {
    await worked(user);
    writeFileSync(join(user.repository, 'README.md'), '# Mine\n');
    const refused = await user.here(['undo']);
    expect(refused.code).toBe(2);
    expect(refused.stdout).toMatch(
      /^not put back {2}README\.md \(turn 2, 4\): changed since turn 4 wrote it, at (?:yesterday )?\d\d:\d\d outside Ramet\n$/,
    );
    expect(refused.stderr).toContain(
      'nothing was touched: blocked by 1 of 2 files; look at it, or use --force',
    );
    expect([textOf(user, 'README.md'), has(user, 'src/new.txt')]).toEqual(['# Mine\n', true]);
    expect((await user.here(['undo', '--force'])).code).toBe(0);
    expect([textOf(user, 'README.md'), has(user, 'src/new.txt')]).toEqual(['# Test\n', false]);
    await user.here(['undo', '--redo']);
    expect(textOf(user, 'README.md')).toBe('# Mine\n');
  });

  test('names the session that changed a file since', async ({ user }) => {
    await worked(user);
    const [first = ''] = user.sessions();
    await user.model(read, edit('# Two', '# Three'), done);
    await user.here(['-p', 'Another.', ...BYPASS]);
    const second = user.sessions().find((session) => session !== first);
    expect((await user.here(['undo', first])).stdout).toMatch(
      new RegExp(`at (?:yesterday )?\\d\\d:\\d\\d by session ${second}\n$`),
    );
    expect((await user.here(['undo', second ?? ''])).code).toBe(0);
    expect((await user.here(['undo', first])).code).toBe(0);
    expect(textOf(user, 'README.md')).toBe('# Test\n');
  });

  test('refuses if a file was changed between two turns', async ({ user }) => {
    const between: Answer = { tool_use: [{ name: 'Bash', input: { command: 'echo more >> README.md' } }] };
    await user.model(read, edit('# Test', '# One'), between, read, edit('# One', '# Two'), done);
    await user.here(['-p', 'Work.', ...BYPASS]);
    const refused = await user.here(['undo']);
    expect(refused.stdout).toContain('also changed by someone else, between turns 2 and 5');
    const forced = await user.here(['undo', '--force']);
    expect(forced.stderr).toContain('one Bash call ran in these turns; what Bash changed is not put back');
    expect(textOf(user, 'README.md')).toBe('# Test\n');
  });

  test('recreates what was deleted, with its mode', async ({ user }) => {
    chmodSync(join(user.repository, 'README.md'), 0o755);
    await worked(user);
    rmSync(join(user.repository, 'README.md'));
    rmSync(join(user.repository, 'src'), { recursive: true });
    expect((await user.here(['undo'])).stdout).toBe(
      'recreated  README.md (turn 2, 4)\nalready as it was  src/new.txt (turn 3)\n',
    );
    expect(textOf(user, 'README.md')).toBe('# Test\n');
    expect(statSync(join(user.repository, 'README.md')).mode & 0o777).toBe(0o755);
  });

  test('follows no link that was put in a file’s place, and enters no directory', async ({ user }) => {
    await worked(user);
    const outside = join(user.root, 'outside.txt');
    writeFileSync(outside, '# Two\n');
    rmSync(join(user.repository, 'README.md'));
    symlinkSync(outside, join(user.repository, 'README.md'));
    rmSync(join(user.repository, 'src/new.txt'));
    mkdirSync(join(user.repository, 'src/new.txt'));
    const refused = await user.here(['undo', '--force']);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('nothing can be done about that'),
    });
    expect(refused.stdout).toMatch(/README\.md .*: a symbolic link now leads elsewhere\n.*is a directory/);
    expect(readFileSync(outside, 'utf8')).toBe('# Two\n');
  });

  test('says when the original was too large to keep, and puts back the rest with --force', async ({
    user,
  }) => {
    writeFileSync(join(user.repository, 'large.txt'), 'x'.repeat(5_000_001));
    await user.model(
      { tool_use: [{ name: 'Read', input: { file_path: 'large.txt', limit: 1 } }] },
      write('large.txt', 'small'),
      write('new.txt', 'new'),
      done,
    );
    await user.here(['-p', 'Work.', ...BYPASS]);
    const refused = await user.here(['undo']);
    expect(refused).toMatchObject({ code: 2, stdout: expect.stringContaining('its original was not kept') });
    const forced = await user.here(['undo', '--force']);
    expect(forced).toMatchObject({ code: 1, stdout: expect.stringContaining('removed  new.txt (turn 3)') });
    expect(has(user, 'new.txt')).toBe(false);
  });

  test('keeps originals privately and once each', async ({ user }) => {
    const secret = 'original-content-that-nobody-else-has';
    writeFileSync(join(user.repository, 'README.md'), `# Test\n${secret}\n`);
    await user.model(read, edit(`# Test\n${secret}\n`, '# One\n'), done);
    await user.here(['-p', 'Work.', ...BYPASS]);
    const place = join(user.project, user.sessions()[0] ?? '', 'originals');
    expect(statSync(place).mode & 0o777).toBe(0o700);
    expect(readdirSync(place).map((name) => statSync(join(place, name)).mode & 0o777)).toEqual([0o600]);
    await user.here(['undo']);
    await user.here(['undo', '--redo']);
    expect(readdirSync(place)).toHaveLength(2);
  });

  test('refuses a session that is at work, and what makes no sense', async ({ user }) => {
    expect((await user.here(['undo'])).stderr).toContain('there is no session of this directory yet');
    const emulator = await user.emulate({
      respond: () => write('a.txt', '1'),
      fault: ({ turn }) => (turn === 0 ? undefined : { kind: 'stall', at: 'headers' }),
    });
    const running = user.start(['-p', 'Work.', ...BYPASS]);
    await requestsTaken(emulator, 2);
    expect(await user.here(['undo'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        new RegExp(`process ${running.pid}: .*; if it is open in a terminal, write /undo there`),
      ),
    });
    expect(has(user, 'a.txt')).toBe(true);
    for (const args of [['--turn', '0'], ['--turn', 'x'], ['--redo', '--turn', '1'], ['zzz']]) {
      expect((await user.here(['undo', ...args])).code).toBe(2);
    }
    expect((await user.here(['undo', '--dry-run', '--turn', '9'])).stderr).toContain(
      'from turn 9 on (it has 1)',
    );
  });
});

describe.concurrent('RES-6: ramet undo in a repository that was renamed', () => {
  test('works on the files that are there, and not on a copy in its old place', async ({ user }) => {
    await worked(user);
    const renamed = join(user.root, 'renamed');
    renameSync(user.repository, renamed);
    cpSync(renamed, user.repository, { recursive: true });
    const there = { cwd: renamed };
    expect((await user.here(['diff', '.1'], there)).stdout).toContain('b/src/new.txt');
    expect((await user.here(['blame', 'README.md', '--json'], there)).stdout).toContain('"agent"');
    expect((await user.here(['undo'], there)).stdout).toBe(
      'restored  README.md (turn 2, 4)\nremoved  src/new.txt (turn 3)\n',
    );
    expect(existsSync(join(renamed, 'src/new.txt'))).toBe(false);
    expect(has(user, 'src/new.txt')).toBe(true);
    expect((await user.here(['undo', '--redo'], there)).code).toBe(0);
    expect(existsSync(join(renamed, 'src/new.txt'))).toBe(true);
    // The copy has none of its sessions.
    expect((await user.here(['undo'])).stderr).toContain('there is no session of this directory yet');
    expect(existsSync(join(renamed, 'src/new.txt'))).toBe(true);
  });
});
