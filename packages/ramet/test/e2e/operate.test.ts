import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import { IDENTITY } from '../fixtures/merge-repository.ts';
import { test, type User } from '../fixtures/user.ts';
import { git } from '../fixtures/worktrees.ts';

const merging = { env: IDENTITY };

const TASKS = `# Tasks

- [ ] T001 Write one.txt
- [ ] T002 [P] Write two.txt
- [ ] T003 [P] Write three.txt (depends on T001)
`;

function prepare(user: User, tasks: string = TASKS): void {
  mkdirSync(user.rametHome, { recursive: true });
  const settings = { sandbox: { readOnly: 'off', worktree: 'off' } };
  writeFileSync(join(user.rametHome, 'settings.json'), JSON.stringify(settings));
  writeFileSync(join(user.repository, 'tasks.md'), tasks);
  git(user.repository, 'add', '--all');
  git(user.repository, 'commit', '--quiet', '--message=tasks');
  // The target is nowhere checked out, so it can move.
  git(user.repository, 'switch', '--quiet', '--create', 'desk');
}

const write = (name: string, content: string): Answer => ({
  tool_use: [{ name: 'Write', input: { file_path: name, content } }],
});

/** Each task writes the file that its title names, and says so. */
function worker({ request, turn }: { request: { messages: unknown }; turn: number }): Answer {
  const name = /Task \S+: Write (\w+\.txt)/.exec(JSON.stringify(request.messages))?.[1] ?? 'unknown.txt';
  return turn === 0 ? write(name, `${name}\n`) : { text: `Wrote ${name}.` };
}

describe.concurrent('OP-2, OP-3, OP-4: ramet operate', () => {
  test('runs a file of three tasks: merged and checked commits on the target, marks in the file', async ({
    user,
  }) => {
    prepare(user);
    await user.emulate({ respond: worker });
    const args = ['operate', 'tasks.md', '--into', 'main', '--check', 'test -e one.txt || test -e two.txt'];
    const end = await user.ramet(args, merging);
    expect(end).toMatchObject({ code: 0 });
    expect(end.stdout).toMatch(
      /^TASK +STATUS +TRIES +COST +COMMIT +TITLE\nT001 +done +1 +\$[\d.]+ +\w{10} +Write one.txt\n/,
    );
    expect(end.stdout).toContain('3 of 3 tasks done, $');
    for (const name of ['one', 'two', 'three'])
      expect(git(user.repository, 'show', `main:${name}.txt`)).toBe(`${name}.txt`);
    expect(readFileSync(join(user.repository, 'tasks.md'), 'utf8')).toBe(TASKS.replaceAll('[ ]', '[x]'));
    expect(git(user.repository, 'status', '--porcelain').trim()).toBe('M tasks.md');
    expect(git(user.repository, 'log', '-1', '--format=%B', 'main')).toMatch(
      /Merge ramet\/\S+ into main(?:.|\n)*Ramet-Task: T00\d /,
    );
    // The third began with the work of the first.
    const branch = git(
      user.repository,
      'for-each-ref',
      '--format=%(refname)',
      'refs/heads/ramet/T003-1',
    ).trim();
    expect(git(user.repository, 'show', `${branch}:one.txt`)).toBe('one.txt');
    const again = await user.ramet(['operate', 'tasks.md'], merging);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('all tasks are done') });
  });

  test('a task that fails is tried again and frozen, the others land, and the exit code is 1', async ({
    user,
  }) => {
    prepare(user);
    await user.emulate({ respond: worker });
    const check = ['--check', 'test ! -e two.txt', '--retries', '0'];
    const end = await user.ramet(['operate', 'tasks.md', '--into', 'main', ...check], merging);
    expect(end.code).toBe(1);
    expect(end.stdout).toMatch(/T002 +frozen: check/);
    expect(end.stdout).toMatch(
      /T002: the check failed \(exit code 1\); its output: .*ramet operate retry T002/,
    );
    expect(end.stdout).toContain('2 of 3 tasks done');
    expect(end.stderr).toMatch(/resume it with: ramet operate --resume \w{8}/);
    expect(git(user.repository, 'ls-tree', '--name-only', 'main').split('\n')).toEqual(
      expect.not.arrayContaining(['two.txt']),
    );
    expect(git(user.repository, 'show', 'main:three.txt')).toBe('three.txt');
    expect(readFileSync(join(user.repository, 'tasks.md'), 'utf8')).toContain('- [ ] T002');
    expect(existsSync(join(user.repository, 'one.txt'))).toBe(false);
  });
});
