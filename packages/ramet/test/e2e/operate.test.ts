import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import { IDENTITY } from '../fixtures/merge-repository.ts';
import { test, type User } from '../fixtures/user.ts';
import { git, rametBranches } from '../fixtures/worktrees.ts';

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

/** What a branch had when it was merged. */
function mergedTip(user: User, branch: string): string {
  const found = ['--merges', '--fixed-strings', `--grep=Merge ramet/${branch} `, '--format=%P', '-1', 'main'];
  return git(user.repository, 'log', ...found).split(' ')[1] ?? 'none';
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
      /^TASK +STATUS +COMMIT +FILES +TRIES +TIME +COST +TITLE\nT001 +done +\w{10} +1 +1 +[\d.]+ \w+ +\$[\d.]+ +Write one.txt\n/m,
    );
    expect(end.stdout).toContain('3 of 3 tasks done; $');
    for (const name of ['one', 'two', 'three'])
      expect(git(user.repository, 'show', `main:${name}.txt`)).toBe(`${name}.txt`);
    expect(readFileSync(join(user.repository, 'tasks.md'), 'utf8')).toBe(TASKS.replaceAll('[ ]', '[x]'));
    expect(git(user.repository, 'status', '--porcelain').trim()).toBe('M tasks.md');
    expect(git(user.repository, 'log', '-1', '--format=%B', 'main')).toMatch(
      /Merge ramet\/\S+ into main(?:.|\n)*Ramet-Task: T00\d /,
    );
    // The third began with the work of the first.
    expect(git(user.repository, 'show', `${mergedTip(user, 'T003-1')}:one.txt`)).toBe('one.txt');
    // What has landed needs no worktree and no branch, and its diff can be read nevertheless.
    const report = readFileSync(/^report: (.+)$/m.exec(end.stdout)?.[1] ?? '', 'utf8');
    expect(report.split('\n').filter((line) => line.includes('its worktree stays'))).toEqual([]);
    expect((await user.here(['worktree', 'ls'])).stdout).not.toContain('T00');
    expect(rametBranches(user.repository)).toEqual([]);
    const agent = /## T003:(?:.|\n)*?agent `([^`]+)`/.exec(report)?.[1] ?? '';
    for (const look of [
      ['diff', agent],
      ['worktree', 'diff', 'T003-1'],
      ['show', agent],
    ])
      expect(await user.here(look)).toMatchObject({ code: 0, stdout: expect.stringContaining('three.txt') });
    // The run that has ended takes one task more.
    writeFileSync(join(user.repository, 'more.md'), '- [ ] T004 Write four.txt\n');
    Object.assign(user.env, IDENTITY);
    expect(await user.here(['operate', 'add', 'more.md'])).toMatchObject({ code: 0 });
    const resumed = await user.here(['operate', '--resume']);
    expect(resumed).toMatchObject({ code: 0, stdout: expect.stringContaining('4 of 4 tasks done') });
    expect(git(user.repository, 'show', 'main:four.txt')).toBe('four.txt');
    expect(rametBranches(user.repository)).toEqual([]);
    const again = await user.ramet(['operate', 'tasks.md'], merging);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('all tasks are done') });
  });

  test('a task that fails is tried again and frozen, the others land, and the exit code is 1', async ({
    user,
  }) => {
    prepare(user);
    await user.emulate({ respond: worker });
    const check = ['--check', 'test ! -e two.txt || { echo two is there; false; }', '--retries', '0'];
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
    const report = readFileSync(/^report: (.+)$/m.exec(end.stdout)?.[1] ?? '', 'utf8');
    expect(report).not.toContain('its worktree stays');
    expect(rametBranches(user.repository)).toEqual(['ramet/T002-1']);
    expect(report).toMatch(/## T002:(?:.|\n)*failed, exit code 1(?:.|\n)*```\ntwo is there\n```/);
  });
});

/** Every task in this process: the command itself is started above. */
async function operate(
  user: User,
  ...args: string[]
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  Object.assign(user.env, IDENTITY);
  return user.here(['operate', ...args, '--into', 'main', '--retries', '1']);
}

const textOf = ({ messages }: { messages: unknown }): string => JSON.stringify(messages);
const filesOn = (user: User, ref: string): string[] =>
  git(user.repository, 'ls-tree', '--name-only', ref).trim().split('\n');

describe.concurrent('OP-4, WORK-5: a run is not alone', () => {
  test('what a person commits to the target meanwhile stays, and is what later tasks begin with', async ({
    user,
  }) => {
    prepare(user);
    let hasCommitted = false;
    await user.emulate({
      respond: (asked) => {
        if (!hasCommitted) {
          hasCommitted = true;
          const tree = git(user.repository, 'rev-parse', 'main^{tree}').trim();
          const commit = git(user.repository, 'commit-tree', tree, '-p', 'main', '-m', 'By a person').trim();
          git(user.repository, 'update-ref', 'refs/heads/main', commit);
        }
        return worker(asked);
      },
    });
    expect(await operate(user, 'tasks.md', '--check', 'true')).toMatchObject({ code: 0 });
    expect(filesOn(user, 'main')).toEqual(['README.md', 'one.txt', 'tasks.md', 'three.txt', 'two.txt']);
    expect(git(user.repository, 'log', '--format=%s', 'main').split('\n')).toContain('By a person');
    const began = git(user.repository, 'log', '--format=%s', mergedTip(user, 'T003-1'));
    expect(began.split('\n')).toContain('By a person');
  });

  test('two runs and a merge of a person go to one target, and lose nothing', async ({ user }) => {
    prepare(user, '- [ ] T001 Write a.txt\n- [ ] T002 [P] Write b.txt\n');
    writeFileSync(join(user.repository, 'more.md'), '- [ ] T001 Write c.txt\n- [ ] T002 [P] Write d.txt\n');
    git(user.repository, 'branch', 'mine', 'main');
    const tree = git(user.repository, 'write-tree').trim();
    const commit = git(user.repository, 'commit-tree', tree, '-p', 'main', '-m', 'Mine').trim();
    git(user.repository, 'update-ref', 'refs/heads/mine', commit);
    await user.emulate({ respond: worker });
    Object.assign(user.env, IDENTITY);
    const ends = await Promise.all([
      operate(user, 'tasks.md'),
      operate(user, 'more.md'),
      user.here(['merge', 'mine', '--into', 'main']),
    ]);
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(filesOn(user, 'main')).toEqual(expect.arrayContaining(['a.txt', 'b.txt', 'c.txt', 'd.txt']));
    expect(git(user.repository, 'fsck', '--no-dangling')).toBe('');
  });
});

describe.concurrent('OP-3, OP-5: what goes wrong with one task', () => {
  test('a failed setup blocks its task alone, before any request', async ({ user }) => {
    prepare(user, TASKS.replace('T001', 'T001 [P]'));
    const settings = {
      sandbox: { readOnly: 'off', worktree: 'off' },
      worktree: { setup: 'test ! -e one.txt' },
    };
    writeFileSync(join(user.rametHome, 'settings.json'), JSON.stringify(settings));
    const emulator = await user.emulate({ respond: worker });
    const end = await operate(user, 'tasks.md');
    expect(end.code).toBe(1);
    expect(end.stdout).toMatch(/T003 +blocked: setup/);
    expect(end.stdout).toMatch(/T003: .*test ! -e one.txt, failed \(1\)/);
    expect(filesOn(user, 'main')).toEqual(['README.md', 'one.txt', 'tasks.md', 'two.txt']);
    expect(
      emulator.requests.some(({ request }) => textOf(request ?? { messages: '' }).includes('Task T003')),
    ).toBe(false);
  });

  test('two tasks that change one file: the second is done again with what the first did', async ({
    user,
  }) => {
    prepare(user, '- [ ] T001 [P] Write one.txt\n- [ ] T002 [P] Write two.txt\n');
    await user.emulate({
      respond: ({ request, turn }) => {
        const text = textOf(request);
        const name = /Task (T\d+)/.exec(text)?.[1] ?? '';
        if (turn > 0) return { text: 'Done.' };
        const isAgain = text.includes('An earlier attempt failed (conflict');
        return write(isAgain ? `${name}.txt` : 'same.txt', `${name}\n`);
      },
    });
    const end = await operate(user, 'tasks.md');
    expect(end.code).toBe(0);
    expect(
      [...end.stdout.matchAll(/^T\d+ +done +\w+ +\d+ +(\d)/gm)].map(([, tries]) => tries).sort(),
    ).toEqual(['1', '2']);
    expect(filesOn(user, 'main')).toHaveLength(4);
  });

  test('a retry that changes nothing after a conflict is no success: its work is not on the target', async ({
    user,
  }) => {
    prepare(user, '- [ ] T001 [P] Write one.txt\n- [ ] T002 [P] Write two.txt\n');
    await user.emulate({
      respond: ({ request, turn }) => {
        const text = textOf(request);
        const name = /Task (T\d+)/.exec(text)?.[1] ?? '';
        const isOver = turn > 0 || text.includes('An earlier attempt failed (conflict');
        return isOver ? { text: 'It is all there.' } : write('same.txt', `${name}\n`);
      },
    });
    const end = await operate(user, 'tasks.md', '--check', 'true');
    expect(end.code).toBe(1);
    expect(end.stdout).toMatch(/^T\d+ +frozen: no changes /m);
    expect(end.stdout).toContain('1 of 2 tasks done (1 frozen)');
    expect(end.stdout).toMatch(
      /changed nothing, and its earlier work \(conflict\) is not in the result: \w{10}/,
    );
    expect(readFileSync(join(user.repository, 'tasks.md'), 'utf8')).toMatch(/- \[ \] T00\d/);
  });

  test('a question blocks its task while the others continue; an allowed command then lets it end', async ({
    user,
  }) => {
    prepare(user, '- [ ] T001 [P] Write one.txt\n- [ ] T002 [P] Write two.txt\n');
    await user.emulate({
      respond: ({ request, turn }) => {
        const text = textOf(request);
        if (!text.includes('Task T001')) return worker({ request, turn });
        return turn === 0
          ? {
              tool_use: [
                {
                  name: 'Bash',
                  input: { command: 'node -e "console.log(6 * 7)" > one.txt', description: 'x' },
                },
              ],
            }
          : { text: 'Done.' };
      },
    });
    const end = await operate(user, 'tasks.md');
    expect(end.code).toBe(1);
    expect(end.stdout).toMatch(/T001 +blocked: permission/);
    expect(end.stdout).toMatch(
      /T001: Bash node .*ramet operate answer T001-\w{4} denied --session \w+ # or once, or always/,
    );
    expect(filesOn(user, 'main')).toContain('two.txt');
    const resumed = await user.here([
      'operate',
      '--resume',
      '--allowedTools',
      'Bash(node:*)',
      '--deny',
      'Bash(rm:*)',
    ]);
    expect(resumed).toMatchObject({ code: 0, stdout: expect.stringMatching(/T001 +done/) });
    expect(git(user.repository, 'show', 'main:one.txt')).toBe('42');
  });

  test('OP-1: ids that look like options or paths are only names', { timeout: 240_000 }, async ({ user }) => {
    prepare(user, '');
    const ids = ['-rf', '../x', 'a..b', "it's"];
    const isolations = ['worktree', 'clone', 'propose', 'worktree'];
    const tasks = ids.map(
      (id, index) =>
        `  - id: ${JSON.stringify(id)}\n    title: Write ${index}.txt\n    isolation: ${isolations[index]}\n`,
    );
    const list = `tasks:\n${tasks.join('')}  - id: "--"\n    title: Last\n    gate: ask first\n`;
    writeFileSync(join(user.repository, 'tasks.yaml'), list);
    const patch = '--- /dev/null\n+++ b/2.txt\n@@ -0,0 +1 @@\n+2\n';
    await user.emulate({
      respond: (asked) => {
        const prompt = textOf(asked.request);
        const name = /Task \S+: Write (\d\.txt)/.exec(prompt)?.[1] ?? '';
        if (name === '2.txt') return { text: `Adds it.\n\`\`\`diff\n${patch}\`\`\`\n` };
        return asked.turn === 0 ? write(name, name) : { text: 'Done.' };
      },
    });
    const end = await operate(user, 'tasks.yaml');
    expect(end.stdout).toMatch(/ramet operate start --session \w+ -- --/);
    expect(filesOn(user, 'main')).toEqual(expect.arrayContaining(['0.txt', '1.txt', '2.txt', '3.txt']));
    expect(await user.here(['operate', 'skip', '--', '--'])).toMatchObject({ code: 0 });
    expect(await user.here(['operate', '--resume'])).toMatchObject({ code: 0 });
    writeFileSync(
      join(user.repository, 'bad.yaml'),
      `tasks:\n  - id: "a\\nb"\n    title: x\n  - id: ${'y'.repeat(200)}\n    title: y\n`,
    );
    const lint = await user.here(['operate', '--lint', '--json', 'bad.yaml']);
    expect(lint.code).toBe(1);
    expect(JSON.parse(lint.stdout).problems).toMatchObject([
      { line: 2, column: 9, level: 'error', message: expect.stringContaining('line breaks') },
      { line: 4, column: 9, level: 'error', message: expect.stringContaining('longer than 80') },
    ]);
  });

  test('a task that changes nothing is not done, and one with its own model and check is done by both', async ({
    user,
  }) => {
    prepare(user, '');
    const tasks = `tasks:
  - id: idle
    title: Write nothing
  - id: own
    title: Write own.txt
    model: haiku
    check: test "$(cat own.txt)" = own.txt
`;
    writeFileSync(join(user.repository, 'tasks.yaml'), tasks);
    const emulator = await user.emulate({
      respond: (asked) =>
        textOf(asked.request).includes('Task idle') ? { text: 'Nothing to do.' } : worker(asked),
    });
    const end = await operate(user, 'tasks.yaml', '--check', 'echo too bad; false');
    expect(end.code).toBe(1);
    expect(end.stdout).toMatch(/idle +frozen: check/);
    expect(end.stdout).toMatch(/own +done/);
    const told = emulator.requests.map(({ request }) => (request === undefined ? '' : textOf(request)));
    expect(told).toContainEqual(
      expect.stringMatching(/An earlier attempt failed(?:.|\n)*<check-output>\S*too bad\S*<.check-output>/),
    );
    const models = emulator.requests.flatMap(({ request }) =>
      request !== undefined && textOf(request).includes('Task own') ? [request.model] : [],
    );
    expect(new Set(models).size).toBe(1);
    expect(models[0]).toContain('haiku');
  });
});
