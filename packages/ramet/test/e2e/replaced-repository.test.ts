import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import { writeFiles } from '../fixtures/temporary.ts';
import { test, toolResults, type User } from '../fixtures/user.ts';

const done = { text: 'done' };
const bash = (command: string): Answer => ({ tool_use: [{ name: 'Bash', input: { command } }] });
const bypass = ['--permission-mode', 'bypassPermissions'];
const asked = 'a hook that checks this call did not run: ';
const guard = { PreToolUse: [{ hooks: [{ type: 'command', command: 'exit 0' }] }] };
const replaced = 'was trusted as another repository, and its .git has been replaced since';
const gone = 'was trusted as a repository, and git finds no repository there now';
const held = 'calls that its hooks checked are questions';

async function trusted(user: User, settings: object = { hooks: guard }): Promise<void> {
  writeFiles(user.repository, {
    '.claude/settings.json': JSON.stringify(settings),
    'sub/a.txt': '',
  });
  await user.ramet(['trust']);
}

const at = ({ repository }: User, folder: string) => ({ cwd: realpathSync(join(repository, folder)) });

/** Of a session in that folder of the repository, which runs one command. */
async function lastCall(user: User, folder = '.', args: readonly string[] = []) {
  let turn = 0;
  const emulator = await user.emulate({ respond: () => (turn++ === 0 ? bash('echo ran') : done) });
  const { stderr } = await user.here(['-p', ...args, 'GO', ...bypass], at(user, folder));
  return { stderr, result: toolResults(emulator).at(-1) };
}

async function expectQuiet(user: User, folder: string): Promise<void> {
  const { stderr, result } = await lastCall(user, folder);
  expect(stderr).not.toContain('trust');
  expect(result).toMatchObject({ isError: false });
}

const refused = { isError: true, text: expect.stringContaining(asked) };
const settings = '.claude/settings.json';

describe.concurrent('SEC-1: a folder whose repository is another one than the one that was trusted', () => {
  test.for([
    ['.git is a new one', 'rm -rf .git && git init -q', replaced, '.'],
    ['.git is a copy of itself', 'cp -r .git g && rm -rf .git && mv g .git', replaced, '.'],
    ['.git is a new one and the settings go', `rm -rf .git ${settings} && git init -q`, replaced, '.'],
    ['.git is a new one below', 'rm -rf .git && git init -q', replaced, 'sub'],
    ['.git is gone', 'rm -rf .git', gone, '.'],
    ['.git is gone below', 'rm -rf .git', gone, 'sub'],
    ['.git is broken below', 'rm .git/HEAD', gone, 'sub'],
    ['.git leads nowhere', 'rm -rf .git && echo "gitdir: nowhere" > .git', gone, '.'],
  ] as const)('asks about what its guards checked where %s', async ([, command, line, folder], { user }) => {
    await trusted(user);
    const first = await user.model(bash(command), bash('echo the same session'), done);
    expect((await user.here(['-p', 'GO', ...bypass])).stderr).toBe('');
    expect(toolResults(first)).toMatchObject([{ isError: false }, { isError: false }]);
    const { stderr, result } = await lastCall(user, folder);
    expect(stderr).toContain(line);
    expect(stderr.split(held)).toHaveLength(2);
    expect(result).toMatchObject(refused);
    const there = at(user, folder);
    expect((await user.here(['trust', '--show'], there)).stdout).toMatch(
      new RegExp(`${line}[^]*is not trusted`),
    );
    await user.here(['trust'], there);
    await expectQuiet(user, folder);
  });

  test('gives no trust, and has nothing left once trust is taken back', async ({ user }) => {
    const allow = { permissions: { allow: ['Bash(touch:*)'], deny: ['Bash(touch denied)'] } };
    const marker = join(user.repository, 'hook-ran');
    await trusted(user, {
      ...allow,
      hooks: { SessionStart: [{ hooks: [{ type: 'command', command: `touch ${marker}` }] }] },
    });
    rmSync(join(user.repository, '.git'), { recursive: true });
    execFileSync('git', ['init', '-q'], { cwd: user.repository });
    writeFiles(user.repository, {
      [settings]: JSON.stringify({ permissions: { allow: allow.permissions.allow } }),
    });
    let turn = 0;
    const calls = ['touch allowed', 'touch denied'].map(bash);
    const emulator = await user.emulate({ respond: () => calls[turn++] ?? done });
    const { stderr } = await user.here(['-p', 'GO']);
    expect(stderr).toContain(replaced);
    expect(stderr).not.toContain(held);
    expect(stderr).toContain('stays in force until ramet trust: deny: "Bash(touch denied)"');
    expect(toolResults(emulator)).toMatchObject([{ isError: true }, { isError: true }]);
    const taken = await user.here(['trust', '--revoke']);
    expect(taken.stdout).toContain('is not trusted, and what was trusted there is forgotten');
    expect((await user.here(['-p', 'GO', ...bypass])).stderr).not.toContain(replaced);
    expect((await user.here(['trust', '--revoke'])).stdout).toContain('was not trusted');
  });

  test('asks on in a session that began so, and not where it is trusted for once', async ({ user }) => {
    await trusted(user);
    const aside = join(user.repository, '..', 'aside');
    renameSync(join(user.repository, '.git'), aside);
    execFileSync('git', ['init', '-q'], { cwd: user.repository });
    expect((await lastCall(user)).result).toMatchObject(refused);
    expect((await lastCall(user, '.', ['--trust'])).stderr).not.toContain(replaced);
    // The one that was trusted is back.
    rmSync(join(user.repository, '.git'), { recursive: true });
    renameSync(aside, join(user.repository, '.git'));
    expect(await lastCall(user)).toMatchObject({ stderr: '', result: { isError: false } });
  });

  test('says nothing of copies, of moved ones, and of other repositories', async ({ user }) => {
    await trusted(user);
    const [copy, moved, below] = ['copy', 'moved', 'below'].map((name) => join(user.repository, '..', name));
    cpSync(user.repository, `${copy}`, { recursive: true });
    mkdirSync(join(user.repository, 'nested'));
    execFileSync('git', ['init', '-q'], { cwd: join(user.repository, 'nested') });
    for (const folder of ['nested', '../copy'])
      expect((await lastCall(user, folder)).stderr).not.toContain('was trusted as');
    renameSync(user.repository, `${moved}`);
    mkdirSync(`${below}`);
    for (const folder of ['../moved', '../below'])
      expect((await lastCall(user, folder)).stderr).not.toContain('was trusted as');
  });

  test.for([
    [
      'its link is replaced by a repository',
      'rm .git && git init -q',
      replaced.replace('another repository', 'a worktree of'),
    ],
    ['its link is gone', 'rm .git', 'git finds no repository there now'],
    ['its link leads into another trusted one', 'other', 'a worktree of'],
  ] as const)('asks in a linked worktree where %s', async ([, command], { user }) => {
    await trusted(user);
    const git = (...args: string[]): string =>
      execFileSync('git', args, { cwd: user.repository, encoding: 'utf8' });
    git('add', '.');
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'x');
    git('worktree', 'add', '-q', '../linked');
    const linked = join(realpathSync(join(user.repository, '..')), 'linked');
    expect(await lastCall(user, '../linked')).toMatchObject({ stderr: '', result: { isError: false } });
    if (command !== 'other') execFileSync('sh', ['-c', command], { cwd: linked });
    else {
      const other = join(user.repository, '..', 'other');
      mkdirSync(other);
      execFileSync('git', ['init', '-q'], { cwd: other });
      await user.here(['trust'], { cwd: other });
      git(
        '-C',
        '../other',
        '-c',
        'user.name=a',
        '-c',
        'user.email=a@b',
        'commit',
        '-qm',
        'x',
        '--allow-empty',
      );
      git('-C', '../other', 'worktree', 'add', '-q', '../third');
      rmSync(join(linked, '.git'));
      renameSync(join(user.repository, '../third/.git'), join(linked, '.git'));
      writeFileSync(join(other, '.git/worktrees/third/gitdir'), `${linked}/.git\n`);
    }
    const { stderr, result } = await lastCall(user, '../linked');
    expect(stderr).toMatch(
      /linked was trusted as a worktree of .*calls that its hooks checked are questions/,
    );
    expect(result).toMatchObject(refused);
    await user.here(['trust'], { cwd: linked });
    await expectQuiet(user, '../linked');
    // That of the repository is not touched.
    expect((await user.here(['trust', '--show'])).stdout).toContain('is trusted');
  });
});
