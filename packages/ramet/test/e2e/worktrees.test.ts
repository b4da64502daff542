import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import { eventually } from '../fixtures/command.ts';
import { fanOut, inputCost } from '../fixtures/fan-out.ts';
import { IDENTITY } from '../fixtures/merge-repository.ts';
import { requestsTaken, test, type User } from '../fixtures/user.ts';
import { checkoutBytes, git, rametBranches } from '../fixtures/worktrees.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];
const GENERAL = { subagent_type: 'general-purpose' };

const write = (file_path: string, content: string): Answer => ({
  tool_use: [{ name: 'Write', input: { file_path, content } }],
});

/** Not every machine has a sandbox, and who has none is told. */
function withoutSandbox(user: User): void {
  mkdirSync(user.rametHome, { recursive: true });
  const settings = { sandbox: { readOnly: 'off', worktree: 'off' } };
  writeFileSync(join(user.rametHome, 'settings.json'), JSON.stringify(settings));
}

async function fanOutCost(user: User, input: Record<string, unknown>): Promise<number> {
  const emulator = await user.emulate({ respond: fanOut({ children: 5, input }) });
  const end = await user.ramet(['-p', 'Go.', ...BYPASS]);
  expect(end).toMatchObject({ code: 0, stderr: '' });
  return inputCost(emulator.requests);
}

describe.concurrent('WORK-6: what an agent in a worktree did', () => {
  test('is in its commits, and in ramet diff with what its commands changed', async ({ user }) => {
    withoutSandbox(user);
    const commit = 'git -c user.name=A -c user.email=a@example.invalid commit -qm "Make it"';
    const command = `echo made > made.txt && git add made.txt && ${commit} && echo more >> made.txt && echo done`;
    await user.emulate({
      respond: fanOut({ children: 1, input: { ...GENERAL, isolation: 'worktree' }, command }),
    });
    expect(await user.here(['-p', 'Go.', ...BYPASS])).toMatchObject({ code: 0 });
    const diff = await user.here(['diff', '.2']);
    expect(diff.stdout).toContain('+made\n+more\n');
    const [session = ''] = user.sessions();
    const whole = await user.here(['diff', session]);
    expect(whole).toMatchObject({
      stdout: `# agent ${session}.2, in a worktree of its own\n${diff.stdout}`,
      stderr: '',
    });
    const branch = git(user.repository, 'for-each-ref', '--format=%(refname)', 'refs/heads/ramet').trim();
    expect(git(user.repository, 'log', '-1', '--format=%B', branch)).toMatch(
      /^Make it\n\nRamet-Agent: (\w{8})\.2\nRamet-Session: \1\nRamet-Task: \S/,
    );
    const name = branch.replace('refs/heads/', '');
    const identity = { env: IDENTITY };
    const path = (await user.here(['worktree', 'open', name])).stdout.trim();
    git(path, 'init', '-q', 'own');
    git(join(path, 'own'), 'commit', '-q', '--allow-empty', '-m', 'own');
    const inside = 'own is a repository of its own: the files there are not part of the commit';
    const committed = await user.here(['worktree', 'commit', name, '-m', 'The rest'], identity);
    expect(committed.stderr).toContain(inside);
    expect(git(path, 'show', '--name-only', '--format=', 'HEAD')).toBe('made.txt');
    expect(committed.stdout).toMatch(
      /^committed 1 file as \w{10} on ramet\/\S+; merge it with: ramet merge ramet/,
    );
    expect(git(user.repository, 'show', `${branch}:made.txt`)).toBe('made\nmore');
    expect(git(user.repository, 'log', '-1', '--format=%an %B', branch)).toMatch(
      /^Person The rest\n\nRamet-Agent: \w{8}\.2\n/,
    );
    const again = await user.here(['worktree', 'commit', name], identity);
    expect(again).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`has nothing to commit; ${inside}`),
    });
  });
});

describe.concurrent('EXEC-5: agents in worktrees', () => {
  test('five share their prefix: they cost what five in one directory cost, within 5%', async ({ user }) => {
    withoutSandbox(user);
    writeFileSync(join(user.repository, 'AGENTS.md'), 'Use plain words.\n'.repeat(40));
    git(user.repository, 'add', '--all');
    git(user.repository, 'commit', '--quiet', '--message=instructions');
    const together = await fanOutCost(user, GENERAL);
    const apart = await fanOutCost(user, { ...GENERAL, isolation: 'worktree' });
    expect(apart / together).toBeLessThanOrEqual(1.05);
  });

  test('one whose host is killed in mid-work resumes in its worktree, with all it had', async ({ user }) => {
    withoutSandbox(user);
    const before = checkoutBytes(user.repository);
    const gate = Promise.withResolvers<void>();
    let killed = false;
    const emulator = await user.emulate({
      respond: async ({ task, turn, request }) => {
        const text = JSON.stringify(request.messages);
        if (!text.includes('Child: make it.') || task.startsWith('Go.')) {
          return turn === 0
            ? {
                tool_use: [
                  {
                    name: 'Agent',
                    input: {
                      prompt: 'Child: make it.',
                      description: 'make it',
                      ...GENERAL,
                      isolation: 'worktree',
                    },
                  },
                ],
              }
            : { text: 'All is in.' };
        }
        if (!text.includes('Created one.txt')) return write('one.txt', 'one\n');
        if (!killed) {
          await gate.promise;
          return { text: 'too late' };
        }
        if (!text.includes('Created two.txt')) return write('two.txt', 'two\n');
        return { text: 'Both are made.' };
      },
    });
    const run = user.start(['-p', 'Go.', ...BYPASS]);
    await requestsTaken(emulator, 3);
    run.kill('SIGKILL');
    await run.ended;
    killed = true;
    gate.resolve();
    const resumed = await user.here(['resume', ...BYPASS]);
    expect(resumed).toMatchObject({ code: 0, stdout: 'All is in.\n' });
    const listed = await user.here(['worktree', 'ls', '--json']);
    const [worktree] = JSON.parse(listed.stdout) as { path: string; state: string; branch: string }[]; // printed by the command
    expect(worktree).toMatchObject({ state: 'kept', branch: 'ramet/make-it' });
    const path = worktree?.path ?? '';
    expect(readFileSync(join(path, 'one.txt'), 'utf8')).toBe('one\n');
    expect(readFileSync(join(path, 'two.txt'), 'utf8')).toBe('two\n');
    expect(checkoutBytes(user.repository)).toEqual(before);
  });
});

describe.concurrent('WORK-2: ramet --worktree', () => {
  test('works in the worktree of that name, and enters it again', async ({ user }) => {
    withoutSandbox(user);
    const before = checkoutBytes(user.repository);
    await user.model(write('new.txt', 'first\n'), { text: 'ok' });
    expect(await user.here(['-p', '--worktree', 'feature', 'Go.', ...BYPASS])).toMatchObject({ code: 0 });
    await user.model(
      { tool_use: [{ name: 'Read', input: { file_path: 'new.txt' } }] },
      write('new.txt', 'second\n'),
      { text: 'ok' },
    );
    expect(await user.here(['-p', '--worktree', 'feature', 'Go.', ...BYPASS])).toMatchObject({ code: 0 });
    const { stdout: path } = await user.here(['worktree', 'open', 'feature']);
    expect(readFileSync(join(path.trim(), 'new.txt'), 'utf8')).toBe('second\n');
    expect(rametBranches(user.repository)).toEqual(['ramet/feature']);
    expect(checkoutBytes(user.repository)).toEqual(before);
  });

  test('invents a name, and begins where it is told to', async ({ user }) => {
    withoutSandbox(user);
    git(user.repository, 'branch', 'release');
    git(user.repository, 'commit', '-q', '--allow-empty', '-m', 'later');
    for (const name of ['work', 'work-2']) {
      await user.model(write('new.txt', 'first\n'), { text: 'ok' });
      const end = await user.here(['-p', 'Go.', ...BYPASS, '--worktree-base', 'release', '--worktree']);
      expect(end).toMatchObject({ code: 0 });
      const shown = await user.here(['worktree', 'show', name, '--json']);
      expect(JSON.parse(shown.stdout)).toMatchObject({ base: git(user.repository, 'rev-parse', 'release') });
    }
    const again = await user.here(['-p', '--worktree', 'work', '--worktree-base', 'main', 'Go.', ...BYPASS]);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain('the worktree work is there already');
  });

  test('outside a repository it says so and starts no session', async ({ user }) => {
    const end = await user.ramet(['-p', '--worktree', 'x', 'Go.'], { cwd: user.env.HOME ?? '' });
    expect(end.code).toBe(2);
    expect(end.stderr).toContain('is not in a git repository');
  });

  test('does not go with a session that is resumed', async ({ user }) => {
    const end = await user.here(['-p', '--worktree', 'x', '-c', 'Go.']);
    expect(end).toMatchObject({ code: 2 });
  });
});

describe.concurrent('WORK-3: ramet worktree', () => {
  test('lists, shows, compares; removes those without changes, and those with changes only when told to', async ({
    user,
  }) => {
    withoutSandbox(user);
    await user.model(write('new.txt', 'mine\n'), { text: 'ok' });
    await user.here(['-p', '--worktree', 'feature', 'Go.', ...BYPASS]);
    const list = await user.here(['worktree', 'ls']);
    expect(list.stdout).toMatch(
      /^NAME +AGENT +BRANCH +BASE +SIZE +STATE +HOLDS\nfeature +\w{8}\.1 +ramet\/feature +\w{12} +\d+ kB +kept +not known to git: new\.txt\n$/,
    );
    expect((await user.here(['worktree', 'show', 'feature'])).stdout).toContain('branch  ramet/feature');
    expect((await user.here(['worktree', 'diff', 'feature'])).stdout).toContain('+mine');
    const dry = await user.here(['worktree', 'gc', '--dry-run']);
    expect(dry.stdout).toMatch(/^keep +feature +not known to git: new\.txt\n$/);
    const refused = await user.here(['worktree', 'rm', 'feature']);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toMatch(
      /feature stays: not known to git: new\.txt\. To keep the work: ramet worktree commit feature, then ramet merge ramet\/feature\. To remove it and leave 1 file on refs\/ramet\/wip\/\w{8}\.1: ramet worktree rm --force feature\n/,
    );
    const path = (await user.here(['worktree', 'open', 'feature'])).stdout.trim();
    const removed = await user.here(['worktree', 'rm', '--force', 'feature']);
    const ref = /its work is in (\S+)/.exec(removed.stdout)?.[1] ?? '';
    await eventually(() => !existsSync(path));
    expect(refused.stderr).toContain(ref);
    expect(git(user.repository, 'show', `${ref}:new.txt`)).toBe('mine');
    expect((await user.here(['worktree', 'ls'])).stdout).toBe('no worktrees of agents here\n');
  });

  test('a name that is not there is answered with those that are', async ({ user }) => {
    const end = await user.here(['worktree', 'show', 'nothing']);
    expect(end).toMatchObject({ code: 2 });
    expect(end.stderr).toContain('there is no worktree "nothing" here');
  });
});
