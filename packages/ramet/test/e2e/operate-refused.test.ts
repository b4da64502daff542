import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { runHere } from '../fixtures/command-here.ts';
import { IDENTITY } from '../fixtures/merge-repository.ts';
import { test, type User } from '../fixtures/user.ts';
import { git } from '../fixtures/worktrees.ts';

function prepare(user: User): void {
  mkdirSync(user.rametHome, { recursive: true });
  const settings = { sandbox: { readOnly: 'off', worktree: 'off' } };
  writeFileSync(join(user.rametHome, 'settings.json'), JSON.stringify(settings));
  writeFileSync(join(user.repository, 'tasks.md'), '- [ ] T001 Write it\n');
  Object.assign(user.env, IDENTITY, { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' });
}

const sessionsOf = (user: User): string[] => (existsSync(user.project) ? user.sessions() : []);

describe.concurrent('OP-1, OP-2: a run that cannot begin', () => {
  test('says why in a line, and leaves no session behind', async ({ user }) => {
    prepare(user);
    const refused = async (args: string[], why: RegExp, cwd = user.repository): Promise<void> => {
      const end = await runHere(['operate', ...args], { cwd, env: user.env });
      expect(end).toMatchObject({ code: 2, stderr: expect.stringMatching(why) });
      expect(end.stderr.trimEnd().split('\n')).toHaveLength(1);
    };
    await refused(['tasks.md', '--into', 'nowhere'], /there is no branch "nowhere" .* name one with --into/);
    const tasks = join(user.repository, 'tasks.md');
    const bare = join(user.root, 'bare.git');
    git(user.repository, 'clone', '--quiet', '--bare', '.', bare);
    await refused([tasks], /is a bare repository.* git worktree add/, bare);
    const empty = join(user.root, 'empty');
    git(user.root, 'init', '--quiet', empty);
    await refused([tasks], /this repository has no commit yet: make the first one/, empty);
    git(user.repository, 'switch', '--quiet', '--detach');
    await refused(['tasks.md'], /HEAD is on no branch here: say with --into/);
    for (const name of Object.keys(IDENTITY)) delete user.env[name];
    await refused(['tasks.md', '--into', 'main'], /git does not know who commits/);
    expect(sessionsOf(user)).toEqual([]);
  });

  test('a target that is deleted meanwhile is told with the command that brings it back, and the file says why no mark is there', async ({
    user,
  }) => {
    prepare(user);
    git(user.repository, 'switch', '--quiet', '--create', 'desk');
    await user.emulate({
      respond: ({ turn }) => {
        if (turn > 0) return { text: 'Done.' };
        git(user.repository, 'branch', '--quiet', '-D', 'main');
        return { tool_use: [{ name: 'Write', input: { file_path: 'a.txt', content: 'a' } }] };
      },
    });
    const end = await user.here(['operate', 'tasks.md', '--into', 'main']);
    expect(end.code).toBe(1);
    const [, command = ''] =
      /main is gone: make it again, with the result:\n {2}(git branch main \w+)\n/.exec(end.stdout) ?? [];
    git(user.repository, ...command.split(' ').slice(1));
    writeFileSync(join(user.repository, 'tasks.md'), '- [ ] T002 Write another\n');
    const again = await user.here(['operate', '--resume']);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/T001: not marked.*no longer in/) });
    expect(git(user.repository, 'show', 'main:a.txt')).toBe('a');
  });
});
