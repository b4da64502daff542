import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import { IDENTITY } from '../fixtures/merge-repository.ts';
import { runSync } from '../fixtures/run-sync.ts';
import { test, type User } from '../fixtures/user.ts';

const read: Answer = { tool_use: [{ name: 'Read', input: { file_path: 'README.md' } }] };
const edit = (old_string: string, new_string: string): Answer => ({
  tool_use: [{ name: 'Edit', input: { file_path: 'README.md', old_string, new_string } }],
});
const done: Answer = { text: 'ok' };

function git(user: User, ...args: string[]): string {
  const env = { ...process.env, ...IDENTITY, HOME: user.root };
  return runSync('git', args, { cwd: user.repository, env }).trim();
}

const BYPASS = ['--permission-mode', 'bypassPermissions'];

/** An agent adds a second line and creates a file; a person adds a third line. Returns the session. */
async function worked(user: User): Promise<string> {
  const create: Answer = { tool_use: [{ name: 'Write', input: { file_path: 'new.txt', content: 'new\n' } }] };
  await user.model(read, edit('# Test\n', '# Test\ndraft\n'), edit('draft', 'by the agent'), create, done);
  await user.ramet(['-p', 'Say who you are.', ...BYPASS]);
  appendFileSync(join(user.repository, 'README.md'), 'by the person\n');
  const [session = ''] = user.sessions();
  return session;
}

describe.concurrent('WORK-6: who wrote what', () => {
  test('blame names the agent of lines that are not committed, and nobody for those of a person', async ({
    user,
  }) => {
    const session = await worked(user);
    const { stdout, code } = await user.ramet(['blame', 'README.md']);
    expect(code).toBe(0);
    const rows = stdout.split('\n').map((row) => row.split(/ {2,}/));
    expect(rows[0]).toEqual([expect.stringMatching(/^\w{10}$/), 'Test', 'start', '1', '# Test']);
    expect(rows[1]).toEqual(['uncommitted', `${session}.1`, 'Say who you are.', '2', 'by the agent']);
    expect(rows[2]?.slice(0, 2)).toEqual(['uncommitted', '?']);
    expect(rows[2]?.at(-1)).toBe('by the person');
    appendFileSync(join(user.repository, 'new.txt'), 'by the person\n');
    const fresh = await user.here(['blame', 'new.txt', '--json']);
    expect(JSON.parse(fresh.stdout)).toMatchObject([
      { line: 1, text: 'new', commit: null, agent: `${session}.1`, task: 'Say who you are.' },
      { line: 2, text: 'by the person', commit: null },
    ]);
    writeFileSync(join(user.repository, 'own.txt'), 'by the person\n');
    expect((await user.here(['blame', 'own.txt'])).stderr).toContain('name a file that is committed');
  });

  test('blame reads agent, task and session from the trailers of commits', async ({ user }) => {
    writeFileSync(join(user.repository, 'README.md'), '# Test\nmore\n');
    const trailers = 'Ramet-Agent: abcd1234.2\nRamet-Session: abcd1234\nRamet-Task: Say \u001b[31mmore';
    git(user, 'commit', '-qam', `Change it\n\n${trailers}`);
    const { stdout } = await user.here(['blame', 'README.md', '--json']);
    expect(JSON.parse(stdout)[1]).toMatchObject({
      agent: 'abcd1234.2',
      session: 'abcd1234',
      line: 2,
      subject: 'Change it',
    });
    const shown = await user.here(['blame', 'README.md']);
    expect(shown.stdout).toContain('abcd1234.2  Say more');
  });

  test('diff shows what an agent changed, from what was there to what it left', async ({ user }) => {
    const session = await worked(user);
    for (const name of [session, `${session}.1`, '.1']) {
      const { stdout } = await user.ramet(['diff', name]);
      expect(stdout).toContain('--- a/README.md\n+++ b/README.md\n@@ -1 +1,2 @@\n # Test\n+by the agent\n');
      expect(stdout).toMatch(/--- \/dev\/null\n\+\+\+ b\/new\.txt\n@@ -0,0 \+1 @@\n\+new\n/);
      expect(stdout).toContain('diff --git a/new.txt b/new.txt\nnew file mode');
    }
    await user.ramet(['undo', '--force']);
    const undone = await user.here(['diff', '.1']);
    expect(undone.stdout).toContain('+new\n');
    expect(undone.stderr).toMatch(/ramet undo has put back since: .*new\.txt/);
  });

  test('diff restores what was changed since, and says when it cannot', async ({ user }) => {
    const session = await worked(user);
    const { stdout } = await user.here(['diff', '.1']);
    expect(stdout).toContain('@@ -1 +1,2 @@\n # Test\n+by the agent\n');
    rmSync(join(user.project, session, 'originals'), { recursive: true });
    const lost = await user.here(['diff', '.1']);
    expect(lost.stdout).toMatch(/^# README\.md: changed by \w+\.1, but what was there before is not kept$/m);
  });

  test('diff of a branch leaves out what came to the base since', async ({ user }) => {
    git(user, 'switch', '-q', '-c', 'one');
    writeFileSync(join(user.repository, 'a.txt'), 'a\n');
    git(user, 'add', '-A');
    git(user, 'commit', '-qm', 'one');
    git(user, 'switch', '-q', 'main');
    writeFileSync(join(user.repository, 'b.txt'), 'b\n');
    git(user, 'add', '-A');
    git(user, 'commit', '-qm', 'mine');
    const { stdout } = await user.here(['diff', 'one']);
    expect(stdout).toContain('+++ b/a.txt');
    expect(stdout).not.toContain('b.txt');
    expect((await user.here(['diff', 'one', '--base', 'nope'])).stderr).toContain(
      '"nope" is no branch or commit',
    );
    expect((await user.here(['diff', 'zzz'])).code).toBe(2);
  });

  test('a file that git does not know or that is not there is refused in one line', async ({ user }) => {
    writeFileSync(join(user.repository, 'u.txt'), 'x\n');
    expect(await user.here(['blame', 'u.txt'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('git cannot say who wrote'),
    });
    expect(await user.here(['blame', 'none'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^ramet: there is no file ".*none": give a path from the current directory\n$/,
      ),
    });
  });
});
