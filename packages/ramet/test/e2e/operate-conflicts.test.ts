import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import { runSync } from '../fixtures/run-sync.ts';
import {
  type Asked,
  operateHere,
  prepareRun,
  promptOf,
  statusesOf,
  taskIn,
  writing,
} from '../fixtures/task-runs.ts';
import { test, type User } from '../fixtures/user.ts';
import { git } from '../fixtures/worktrees.ts';

const TASKS = '- [ ] T1 [P] Write it\n- [ ] T2 [P] Write it\n';
const isResolver = (asked: Asked): boolean => promptOf(asked).includes('git could not decide');

/** Both tasks write one file, each its own name. */
function rival(asked: Asked): Answer {
  return asked.turn === 0 ? writing('same.txt', `${taskIn(asked)}\n`) : { text: 'Done.' };
}

const contentOf = (user: User): string[] =>
  git(user.repository, 'show', 'main:same.txt').trim().split('\n').sort();

describe.concurrent('OP-4: two tasks that conflict', { timeout: 240_000 }, () => {
  test('resolve: an agent that wrote neither side keeps both, on its own model', async ({ user }) => {
    prepareRun(user, TASKS);
    const models = new Set<string>();
    await user.emulate({
      respond: (asked) => {
        if (!isResolver(asked)) return rival(asked);
        models.add(asked.request.model ?? '');
        const directory = /Working directory: (\S+?)\\n/.exec(promptOf(asked))?.[1] ?? '';
        if (asked.turn === 0)
          return { tool_use: [{ name: 'Read', input: { file_path: `${directory}/same.txt` } }] };
        return asked.turn === 1 ? writing(`${directory}/same.txt`, 'T1\nT2\n') : { text: 'Both are kept.' };
      },
    });
    const { code, run } = await operateHere(
      ...([user, 'tasks.md', '--on-conflict', 'resolve', '--resolve-model', 'haiku'] as const),
      ...['--check', 'test -e same.txt'],
    );
    expect(statusesOf(run)).toEqual(['T1 done', 'T2 done']);
    expect(code).toBe(0);
    expect(contentOf(user)).toEqual(['T1', 'T2']);
    expect([...models]).toEqual([expect.stringContaining('haiku')]);
    // Nothing was done again.
    expect(run.tasks.flatMap(({ attempts }) => attempts)).toHaveLength(2);
    const [conflict, ...more] = run.tasks.flatMap(({ conflict }) => conflict ?? []);
    const by = { agent_id: expect.any(String), session_id: expect.any(String) };
    expect([more, conflict]).toEqual([
      [],
      { files: ['same.txt'], rounds: 1, resolved_by: [{ ...by, total_cost_usd: expect.any(Number) }] },
    ]);
    expect(readFileSync(run.report ?? '', 'utf8')).toMatch(
      /- conflicts: `same.txt`; given to the policy once; resolved by agent `\w{8}\.1` \(\$0\.\d+ of the task's cost, `ramet show \w{8}`\)/,
    );
  });

  test('resolve: one that leaves the conflict as it is changes nothing, and the task is done again', async ({
    user,
  }) => {
    prepareRun(user, TASKS);
    const resolvers = { count: 0 };
    await user.emulate({
      respond: (asked) => {
        if (isResolver(asked)) {
          resolvers.count += 1;
          return { text: 'It looks fine.' };
        }
        const isAgain = promptOf(asked).includes('An earlier attempt failed (conflict');
        return isAgain && asked.turn === 0 ? writing(`${taskIn(asked)}.txt`, 'x') : rival(asked);
      },
    });
    const { run } = await operateHere(user, 'tasks.md', '--on-conflict', 'resolve');
    expect(statusesOf(run)).toEqual(['T1 done', 'T2 done']);
    expect(resolvers.count).toBe(1);
    expect(run.tasks.flatMap(({ attempts }) => attempts.map(({ cause }) => cause)).sort()).toEqual([
      ...['conflict', null, null],
    ]);
  });

  test('person: the branch is left to a person, with the commands', async ({ user }) => {
    prepareRun(user, TASKS);
    await user.emulate({ respond: rival });
    const { code, run } = await operateHere(user, 'tasks.md', '--on-conflict', 'person');
    expect(code).toBe(1);
    const left = run.tasks.find(({ status }) => status === 'frozen');
    expect(left).toMatchObject({ cause: 'conflict', needs_person: true });
    expect(left?.message).toMatch(/conflicts in same\.txt/);
    const branch = left?.attempts[0]?.branch ?? '';
    expect(git(user.repository, 'show', `${branch}:same.txt`).trim()).toBe(left?.id);
    expect(contentOf(user)).toHaveLength(1);
  });

  test.for([['all'], ['best-effort']] as const)(
    'the printed steps of policy %s, followed word for word, land the work once',
    async ([policy], { user }) => {
      prepareRun(user, TASKS);
      await user.emulate({ respond: rival });
      const check = "test -e same.txt && ! grep -q '<<<' same.txt";
      const options = ['--policy', policy, '--on-conflict', 'person', '--check', check];
      const { run } = await operateHere(user, 'tasks.md', ...options);
      const left = run.tasks.find(({ status }) => status === 'frozen');
      const { stdout } = await user.here(['operate', 'status']);
      const steps = commandsBelow(stdout, 'To resolve it yourself');
      expect(reportBlocks(run.report)).toEqual([...blocksOf(left?.next_step ?? '')]);
      const at = steps.findIndex((step) => step.includes(' commit '));
      expect([at, steps.length]).toEqual([1, 3]);
      for (const step of steps.slice(0, at)) follow(user, step);
      const [, tree = ''] = /^git -C (\S+) /.exec(steps[at] ?? '') ?? [];
      writeFileSync(join(tree, 'same.txt'), 'T1\nT2\n');
      follow(user, steps[at] ?? '');
      const [, ...words] = (steps[at + 1] ?? '').split(' ');
      const end = await operateHere(user, ...words.slice(1));
      expect(statusesOf(end.run)).toEqual(['T1 done', 'T2 done']);
      expect(end.code).toBe(0);
      expect(contentOf(user)).toEqual(['T1', 'T2']);
      // No agent did anything again.
      expect(end.run.tasks.flatMap(({ attempts }) => attempts)).toHaveLength(2);
    },
  );

  test('work that a person has merged into the target is done, also if it was to be done again', async ({
    user,
  }) => {
    prepareRun(user, TASKS);
    await user.emulate({ respond: rival });
    const { run } = await operateHere(user, 'tasks.md', '--on-conflict', 'person');
    const left = run.tasks.find(({ status }) => status === 'frozen');
    git(user.repository, 'worktree', 'add', '--quiet', '../hand', 'main');
    const hand = join(user.root, 'hand');
    expect(() => git(hand, 'merge', left?.attempts[0]?.branch ?? '')).toThrow();
    writeFileSync(join(hand, 'same.txt'), 'T1\nT2\n');
    git(hand, 'commit', '--quiet', '--all', '--no-edit');
    git(user.repository, 'worktree', 'remove', '../hand');
    expect((await user.here(['operate', 'retry', left?.id ?? ''])).code).toBe(0);
    // Main leads to its commit now, so a clean-up of any session takes its branch.
    await user.here(['worktree', 'gc']);
    expect(git(user.repository, 'branch', '--list', 'ramet/*')).toBe('');
    const end = await operateHere(user, '--resume', run.session_id);
    expect(statusesOf(end.run)).toEqual(['T1 done', 'T2 done']);
    expect(contentOf(user)).toEqual(['T1', 'T2']);
    expect(end.run.tasks.flatMap(({ attempts }) => attempts)).toHaveLength(2);
  });
});

/** The commands of one way, up to the next. */
function commandsBelow(text: string, heading: string): string[] {
  const [, after = ''] = text.split(heading);
  const [way = ''] = after.split('  Or let');
  return [...way.matchAll(/^ {4}(.+)$/gm)].map(([, command = '']) => command);
}

function blocksOf(step: string): string[] {
  return step.split(/^\S.*\n/m).flatMap((block) => block.replaceAll(/^ {2}/gm, '').trim() || []);
}

function reportBlocks(report: string): string[] {
  const [, part = ''] = readFileSync(report, 'utf8').split('## What needs a person');
  const [people = ''] = part.split('\n## ');
  return [...people.matchAll(/^ {2}```\n([^`]+?)\n {2}```/gm)].map(([, block = '']) =>
    block.replaceAll(/^ {2}/gm, ''),
  );
}

/** As a shell does it; a merge that conflicts says so by its exit code. */
function follow(user: User, command: string): void {
  try {
    runSync('sh', ['-c', command], { cwd: user.repository, env: user.env });
  } catch (error) {
    if (!command.includes(' merge ')) throw error;
  }
}
