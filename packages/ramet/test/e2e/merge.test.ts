import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually, isRunning } from '../fixtures/command.ts';
import { checkoutBytes, IDENTITY } from '../fixtures/merge-repository.ts';
import { runSync } from '../fixtures/run-sync.ts';
import { writeFiles } from '../fixtures/temporary.ts';
import { API_KEY, test, type User } from '../fixtures/user.ts';

function git(user: User, ...args: string[]): string {
  const env = { ...process.env, ...IDENTITY, HOME: user.root };
  return runSync('git', args, { cwd: user.repository, env }).trim();
}

function branch(user: User, name: string, files: Record<string, string>): void {
  git(user, 'switch', '-q', '-c', name, 'main');
  writeFiles(user.repository, files);
  git(user, 'add', '-A');
  git(user, 'commit', '-qm', `work on ${name}`);
  git(user, 'switch', '-q', 'main');
}

const merging = { env: IDENTITY };

describe.concurrent('WORK-5: ramet merge', () => {
  test('says what conflicts before anything is merged, with escapes taken out of names', async ({ user }) => {
    branch(user, 'one', { 'README.md': 'one\n', 'a\u001b[31m.txt': '1' });
    branch(user, 'two', { 'README.md': 'two\n' });
    branch(user, 'three', { 'c.txt': '1' });
    const before = checkoutBytes(user.repository);
    const shown = await user.ramet(['merge', '--preview', 'one', 'two', 'three'], merging);
    expect(shown).toEqual({
      code: 1,
      stdout:
        'BRANCH  CONFLICTS WITH  IN\ntwo     one             README.md (contents)\nsuggested order: three one two\n',
      stderr: '',
    });
    const { stdout } = await user.here(['merge', '--preview', '--json', 'one', 'three'], merging);
    expect(JSON.parse(stdout)).toEqual({
      target: 'main',
      branches: ['one', 'three'],
      conflicts: [],
      nothing: [],
      order: ['one', 'three'],
    });
    expect(checkoutBytes(user.repository)).toEqual(before);
    expect(git(user, 'for-each-ref', 'refs/ramet')).toBe('');
  });

  test('leaves a checked-out target alone, says how to take the result, and moves it when asked', async ({
    user,
  }) => {
    branch(user, 'one', { 'a.txt': '1' });
    const before = checkoutBytes(user.repository);
    const kept = await user.here(['merge', 'one'], merging);
    expect(kept.code).toBe(0);
    expect(kept.stdout).toMatch(
      /^one {2}integrated {2}\w{10}\nmain is unchanged\nthe result is ready as \w{10} and was not put on main: \S+ has it checked out\ntake it with:\n {2}git merge --ff-only --autostash refs\/ramet\/integration\/main/,
    );
    expect(checkoutBytes(user.repository)).toEqual(before);
    expect((await user.here(['merge', '--status'], merging)).stdout).toMatch(
      /1 +one +main +merge +integrated/,
    );
    const checked = await user.here(
      ['merge', '--continue', '--update-checkout', '--check', 'false'],
      merging,
    );
    expect(checked).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^one {2}integrated {2}the check fails on main itself/),
    });
    expect(checkoutBytes(user.repository)).toEqual(before);
    const last = ['merge', '--continue', '--update-checkout', '--check', 'true', '--json'];
    const moved = await user.here(last, merging);
    expect(JSON.parse(moved.stdout)).toMatchObject({
      kept: null,
      checkout: user.repository,
      entries: [{ state: 'landed' }],
    });
    expect(existsSync(join(user.repository, 'a.txt'))).toBe(true);
  });

  test('runs the check of the settings without keys, and ends with 1 when a branch is left behind', async ({
    user,
  }) => {
    branch(user, 'good', { 'a.txt': '1' });
    branch(user, 'bad', { 'bad.txt': '1' });
    git(user, 'switch', '-q', '--detach');
    const check = 'test -z "$ANTHROPIC_API_KEY" && test ! -e bad.txt && test -n "$HOME"';
    mkdirSync(user.rametHome, { recursive: true });
    writeFileSync(join(user.rametHome, 'settings.json'), JSON.stringify({ merge: { check } }));
    const end = await user.here(['merge', 'bad', 'good', '--into', 'main'], merging);
    expect(end.code).toBe(1);
    expect(end.stdout).toMatch(
      /^bad {3}failed {2}the check failed \(exit code 1\); its output: \S+\.log; it ran in [^\n]+\ngood {2}landed/,
    );
    expect((await user.here(['merge', 'bad', '--into', 'main', '--no-check'], merging)).code).toBe(0);
  });

  test('can be interrupted during a check, leaves nothing running, and goes on', async ({ user }) => {
    branch(user, 'one', { 'a.txt': '1' });
    git(user, 'switch', '-q', '-c', 'desk');
    const pid = join(user.root, 'pid');
    const check = `test -e ${pid} || { echo $$ > ${pid}.new; mv ${pid}.new ${pid}; sleep 600; }`;
    const running = user.start(['merge', 'one', '--into', 'main', '--check', check], merging);
    await eventually(() => existsSync(pid));
    running.kill('SIGINT');
    const end = await running.ended;
    expect(end).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(
        /^ramet: the check has begun; it may take 1800 s; its output: \S+\.log\nramet: interrupted; resume with ramet merge --continue --into main\n$/,
      ),
    });
    expect(isRunning(Number(readFileSync(pid, 'utf8')))).toBe(false);
    expect((await user.here(['merge', '--continue'], merging)).stderr).toBe(
      'ramet: nothing waits to be merged into desk, but elsewhere something does: ramet merge --continue --into main\n',
    );
    const next = await user.here(['merge', '--continue', '--into', 'main', '--json'], merging);
    expect(JSON.parse(next.stdout)).toMatchObject({ entries: [{ branch: 'one', state: 'landed' }] });
  });

  test('refuses wrong use in one line', async ({ user }) => {
    expect((await user.here(['merge'])).stderr).toBe(
      'ramet: nothing waits to be merged: name branches, such as ramet merge BRANCH --into main\n',
    );
    git(user, 'switch', '-q', '--detach');
    const detached = await user.here(['merge', 'x']);
    expect(detached).toMatchObject({ code: 2, stderr: expect.stringContaining('HEAD is on no branch here') });
    const outside = await user.ramet(['merge', 'x'], { cwd: user.root });
    expect(outside).toMatchObject({ code: 2, stderr: expect.stringContaining('is not in a git repository') });
    const strategy = await user.here(['merge', 'x', '--strategy', 'magic']);
    expect(strategy).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Allowed choices are merge, squash'),
    });
  });

  test('merges in a bare repository', async ({ user }) => {
    branch(user, 'one', { 'a.txt': '1' });
    const bare = join(user.root, 'bare.git');
    git(user, 'clone', '-q', '--bare', user.repository, bare);
    const end = await user.ramet(['merge', 'one', '--into', 'main'], { cwd: bare, ...merging });
    expect(end).toMatchObject({ code: 0, stdout: expect.stringMatching(/^one {2}landed/) });
    expect(git(user, '-C', bare, 'ls-tree', '--name-only', 'main')).toBe('README.md\na.txt');
  });

  test('says what is missing in a shallow clone', async ({ user }) => {
    for (const name of ['one', 'two']) branch(user, name, { [name]: '1' });
    git(user, 'commit', '-q', '--allow-empty', '-m', 'later');
    const shallow = join(user.root, 'shallow');
    git(user, 'clone', '-q', '--depth=1', '--no-single-branch', `file://${user.repository}`, shallow);
    git(user, '-C', shallow, 'branch', 'one', 'origin/one');
    const end = await user.ramet(['merge', 'one', '--into', 'main'], { cwd: shallow, ...merging });
    expect(end).toMatchObject({ code: 1, stdout: expect.stringContaining('git fetch --unshallow') });
  });

  test('a resolver agent gets the markers, and only a result without them lands', async ({ user }) => {
    branch(user, 'one', { 'README.md': 'one\n' });
    branch(user, 'two', { 'README.md': 'two\n' });
    git(user, 'switch', '-q', '-c', 'desk');
    const emulator = await user.model(
      { tool_use: [{ name: 'Read', input: { file_path: 'README.md' } }] },
      { tool_use: [{ name: 'Write', input: { file_path: 'README.md', content: 'one and two\n' } }] },
      { text: 'Both are kept.' },
    );
    const limits = ['--resolve-model', 'haiku', '--resolve-budget-usd', '5'];
    const end = await user.here(
      ['merge', 'one', 'two', '--into', 'main', '--on-conflict', 'resolve', ...limits],
      merging,
    );
    expect(end, end.stdout).toMatchObject({ code: 0 });
    expect(git(user, 'show', 'main:README.md')).toBe('one and two');
    expect(emulator.requests[0]?.request?.model).toContain('haiku');
    expect((await user.here(['ps'], merging)).stdout).toContain('resolve the merge of two');
    git(user, 'switch', '-q', 'main');
    expect((await user.here(['blame', 'README.md'], merging)).stdout).toMatch(
      /^\w{10} {2}\w{8}\.1 +resolve the conflicts of two with main/,
    );
    expect(JSON.stringify(emulator.requests[1]?.request?.messages)).toContain('<<<<<<<');
    expect(git(user, 'worktree', 'list').split('\n')).toHaveLength(1);
  });

  test('RES-2: --max-budget-usd holds for all conflicts of the command together', async ({ user }) => {
    for (const name of ['one', 'two', 'three']) branch(user, name, { 'README.md': `${name}\n` });
    git(user, 'switch', '-q', '-c', 'desk');
    const emulator = await user.model({ tool_use: [{ name: 'Read', input: { file_path: 'README.md' } }] });
    const end = await user.here(
      [
        ...['merge', 'one', 'two', 'three', '--into', 'main', '--on-conflict', 'resolve'],
        ...['--max-budget-usd', '0.00001'],
      ],
      merging,
    );
    expect(end).toMatchObject({ code: 1 });
    expect(end.stdout).toMatch(/tried: it ended as failed, the budget is spent/);
    expect(end.stdout).toContain('no agent was asked: --max-budget-usd is spent');
    expect(emulator.requests).toHaveLength(1);
  });

  test('a resolver agent that leaves markers changes nothing, and its attempt is told', async ({ user }) => {
    branch(user, 'one', { 'README.md': 'one\n' });
    branch(user, 'two', { 'README.md': 'two\n' });
    git(user, 'switch', '-q', '-c', 'desk');
    await user.model({ text: 'I cannot.' });
    const end = await user.here(
      ['merge', 'one', 'two', '--into', 'main', '--on-conflict', 'resolve'],
      merging,
    );
    expect(end).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^one {2}landed .*\ntwo {2}conflicted/),
    });
    const [, session = ''] =
      /agent \w{8}\.1 tried: conflict markers are left in README.md \(ramet show (\w{8})\)/.exec(
        end.stdout,
      ) ?? [];
    expect((await user.here(['show', session])).stdout).toContain('I cannot.');
    expect(git(user, 'show', 'main:README.md')).toBe('one');
    // Resolved by hand, it is listed once: as what it has become.
    git(user, 'switch', '-q', 'two');
    git(user, 'merge', '-q', '-s', 'ours', '-m', 'both', 'main');
    await user.here(['merge', 'two', '--into', 'main'], merging);
    const status = (await user.here(['merge', '--status'], merging)).stdout;
    expect(status).toMatch(/two +main +merge +landed/);
    expect(status).not.toContain('conflicted');
  });

  test('a resolver agent that changes nothing about a conflict without markers has not resolved it', async ({
    user,
  }) => {
    const lines = Array.from({ length: 9 }, (_, line) => `line ${line}\n`).join('');
    writeFiles(user.repository, { f: lines, g: lines.toUpperCase() });
    git(user, 'add', '-A');
    git(user, 'commit', '-qm', 'files');
    branch(user, 'edit', { f: `${lines}more\n` });
    git(user, 'switch', '-q', 'edit');
    git(user, 'mv', 'g', 'g1');
    git(user, 'commit', '-qm', 'rename');
    for (const [name, ...change] of [
      ['gone', 'rm', '-q', 'f'],
      ['renamed', 'mv', 'g', 'g2'],
      ['folder', 'rm', '-q', 'f'],
    ] as const) {
      git(user, 'switch', '-q', '-c', name, 'main');
      git(user, ...change);
      if (name === 'folder') writeFiles(user.repository, { 'f/x': 'x\n' });
      git(user, 'add', '-A');
      git(user, 'commit', '-qm', name);
    }
    git(user, 'switch', '-q', '-c', 'desk', 'main');
    const emulator = await user.model({ text: 'I could not decide; I changed nothing.' });
    const resolve = ['--into', 'main', '--on-conflict', 'resolve'];
    const end = await user.here(['merge', 'edit', 'gone', 'renamed', 'folder', ...resolve], merging);
    expect(end, end.stdout).toMatchObject({ code: 1, stdout: expect.stringMatching(/^edit {2,}landed/) });
    for (const what of ['f (modify/delete)', 'g, g1, g2 (rename/rename)'])
      expect(end.stdout).toContain(`tried: it changed nothing about ${what} (ramet show `);
    expect(end.stdout).toMatch(/^folder +conflicted.*no agent was asked/m);
    expect(emulator.requests).toHaveLength(2);
    expect(git(user, 'rev-parse', 'main^{tree}')).toBe(git(user, 'rev-parse', 'edit^{tree}'));
    await user.model({ tool_use: [{ name: 'Bash', input: { command: 'rm f' } }] }, { text: 'Removed.' });
    expect(await user.here(['merge', 'gone', ...resolve], merging)).toMatchObject({ code: 0 });
    expect(git(user, 'ls-tree', '--name-only', 'main')).toBe('README.md\ng1');
  });

  test('opens a pull request with the own gh, its text over standard input', async ({ user }) => {
    const remote = join(user.root, 'remote.git');
    git(user, 'clone', '-q', '--bare', user.repository, remote);
    git(user, 'remote', 'add', 'origin', remote);
    branch(user, 'one', { 'a.txt': '1' });
    git(user, 'switch', '-q', 'one');
    git(user, 'commit', '-q', '--amend', '-m', 'Say `whoami` $(id)\n\nRamet-Agent: abcd1234.2');
    git(user, 'switch', '-q', 'main');
    const missing = await user.here(['merge', 'one', '--pr'], merging);
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('gh is not on the PATH') });
    const programs = join(user.root, 'programs');
    mkdirSync(programs);
    writeFileSync(
      join(programs, 'gh'),
      `#!/bin/sh\nprintf '%s\\n' "$@" > ${user.root}/arguments\ncat > ${user.root}/body\necho https://example.invalid/pull/1\n`,
    );
    chmodSync(join(programs, 'gh'), 0o755);
    const env = { ...IDENTITY, PATH: `${programs}:${process.env.PATH}` };
    const end = await user.ramet(['merge', 'one', '--pr'], { env });
    expect(end).toEqual({ code: 0, stdout: 'one  https://example.invalid/pull/1\n', stderr: '' });
    expect(readFileSync(join(user.root, 'arguments'), 'utf8').split('\n')).toEqual([
      'pr',
      'create',
      '--base',
      'main',
      '--head',
      'one',
      '--title',
      'Say `whoami` $(id)',
      '--body-file',
      '-',
      '',
    ]);
    expect(readFileSync(join(user.root, 'body'), 'utf8')).toContain(
      '* Say `whoami` $(id)\n\nRamet-Agent: abcd1234.2\n',
    );
    expect(git(user, '-C', remote, 'rev-parse', 'one')).toBe(git(user, 'rev-parse', 'one'));
  });

  test('an old git is refused by name, and doctor says what still works', async ({ user }) => {
    branch(user, 'one', { 'a.txt': '1' });
    const programs = join(user.root, 'old');
    mkdirSync(programs);
    const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
    const old = `#!/bin/sh\ncase "$*" in *--version*) echo git version 2.30.2;; *merge-tree*) echo usage: git merge-tree >&2; exit 129;; *) exec ${real} "$@";; esac\n`;
    writeFileSync(join(programs, 'git'), old, { mode: 0o755 });
    const env = { ...IDENTITY, PATH: `${programs}:${process.env.PATH}` };
    for (const args of [
      ['merge', 'one'],
      ['merge', '--preview', 'one'],
    ]) {
      const end = await user.here(args, { env });
      expect(end).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('needs git 2.38 or later and this is "git version 2.30.2"'),
      });
    }
    expect((await user.ramet(['doctor'], { env })).stdout).toMatch(
      /git .*2\.30\.2: ramet merge does not work, all else does/,
    );
  });

  test('nothing of a key is in what a merge keeps', async ({ user }) => {
    branch(user, 'one', { 'a.txt': '1' });
    await user.here(['merge', 'one', '--check', 'env'], merging);
    expect(() => execFileSync('grep', ['-rq', API_KEY, user.rametHome])).toThrow();
  });
});
