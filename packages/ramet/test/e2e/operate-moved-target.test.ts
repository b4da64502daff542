import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import { runSync } from '../fixtures/run-sync.ts';
import {
  type Asked,
  filesOn,
  operateHere,
  prepareRun,
  promptOf,
  statusesOf,
  taskIn,
  taskWorker,
  writing,
} from '../fixtures/task-runs.ts';
import { test, type User } from '../fixtures/user.ts';
import { git } from '../fixtures/worktrees.ts';

/** A commit on a branch that is checked out nowhere, as a push brings it. */
function commitOn(user: User, branch: string, name: string, text: string): void {
  const { repository } = user;
  git(repository, 'worktree', 'add', '--quiet', '--force', `${repository}-person`, branch);
  writeFileSync(join(`${repository}-person`, name), text);
  git(`${repository}-person`, 'add', name);
  git(`${repository}-person`, 'commit', '--quiet', '-m', `person: ${name}`);
  git(repository, 'worktree', 'remove', '--force', `${repository}-person`);
}

const subjects = (user: User): string[] =>
  git(user.repository, 'log', '--format=%s', 'main').trim().split('\n');

describe.concurrent('OP-4: a target that others move meanwhile', { timeout: 240_000 }, () => {
  test.for(['best-effort', 'all'])(
    '%s: only the task that conflicts is done again',
    async (policy, { user }) => {
      prepareRun(user, '- [ ] T1 [P] Write it\n- [ ] T2 [P] Write it\n- [ ] T3 [P] Write it\n');
      let hasMoved = false;
      const onMain: string[][] = [];
      await user.emulate({
        respond: (asked) => {
          // A person writes the file of T2 before anything can land.
          if (!hasMoved) commitOn(user, 'main', 'T2.txt', 'a person\n');
          hasMoved = true;
          const isAgain = promptOf(asked).includes('An earlier attempt failed (conflict');
          if (isAgain) onMain.push(filesOn(user, 'main'));
          return isAgain && asked.turn === 0 ? writing('T2-again.txt', 'both\n') : taskWorker(asked);
        },
      });
      const end = await operateHere(user, 'tasks.md', '--policy', policy, '--check', 'test -e README.md');
      expect(statusesOf(end.run), end.stderr).toEqual(['T1 done', 'T2 done', 'T3 done']);
      expect(end).toMatchObject({ code: 0, run: { landing: { state: 'moved' } } });
      expect(filesOn(user, 'main')).toEqual(['README.md', 'T1.txt', 'T2-again.txt', 'T2.txt', 'T3.txt']);
      expect(git(user.repository, 'show', 'main:T2.txt')).toBe('a person');
      expect(end.run.tasks.map(({ attempts }) => attempts.length)).toEqual([1, 2, 1]);
      expect(end.run.tasks[1]?.attempts[0]).toMatchObject({ state: 'failed', cause: 'conflict' });
      // Nothing of the run is on the target before all of it is.
      if (policy === 'all') expect(onMain[0]).toEqual(['README.md', 'T2.txt']);
      for (const file of ['T1.txt', 'T3.txt'])
        expect(
          git(user.repository, 'log', '--no-merges', '--format=%h', 'main', '--', file).trim().split('\n'),
        ).toHaveLength(1);
    },
  );

  test('two runs at once: each lands what does not conflict with the other', async ({ user }) => {
    prepareRun(user, '- [ ] T1 [P] Write it\n- [ ] T2 [P] Write it\n');
    prepareSecond(user, '- [ ] T3 [P] Write it\n- [ ] T4 [P] Write it\n');
    const runs = { begun: new Set<string>(), both: Promise.withResolvers<void>() };
    await user.emulate({
      respond: async (asked) => {
        runs.begun.add(Number(taskIn(asked)?.slice(1)) < 3 ? 'one' : 'other');
        if (runs.begun.size === 2) runs.both.resolve();
        await runs.both.promise;
        return rival(asked);
      },
    });
    const [one, other] = await Promise.all([
      operateHere(user, 'tasks.md', '--check', 'test -e README.md'),
      operateHere(user, 'more.md', '--check', 'test -e README.md'),
    ]);
    expect(statusesOf(one.run), one.stderr).toEqual(['T1 done', 'T2 done']);
    expect(statusesOf(other.run), other.stderr).toEqual(['T3 done', 'T4 done']);
    expect(filesOn(user, 'main')).toEqual(expect.arrayContaining(['T1.txt', 'T3.txt', 'same.txt']));
    const again = filesOn(user, 'main').filter((name) => name.endsWith('-again.txt'));
    expect(again).toHaveLength(1);
    expect(git(user.repository, 'fsck', '--no-dangling')).toBe('');
  });

  test('person: the others land, and the resumed run does it again when a person says so', async ({
    user,
  }) => {
    prepareRun(user, '- [ ] T2 [P] Write it\n- [ ] T1 [P] Write it\n');
    let hasMoved = false;
    await user.emulate({
      respond: (asked) => {
        if (!hasMoved) commitOn(user, 'main', 'T2.txt', 'a person\n');
        hasMoved = true;
        return promptOf(asked).includes('An earlier attempt failed') && asked.turn === 0
          ? writing('T2-again.txt', 'x')
          : taskWorker(asked);
      },
    });
    // One after the other: T2 comes first, and finds that the target has moved.
    const first = await operateHere(user, 'tasks.md', '--on-conflict', 'person', '--parallel', '1');
    expect(first.code).toBe(1);
    expect(statusesOf(first.run)).toEqual(['T2 frozen conflict', 'T1 done']);
    expect(first.run.tasks[0]?.message).toMatch(
      /^main has moved to \w{10} meanwhile, and this conflicts in T2\.txt/,
    );
    expect(first.run.tasks[0]?.next_step).toContain('ramet operate retry T2');
    expect(filesOn(user, 'main')).toEqual(['README.md', 'T1.txt', 'T2.txt']);
    expect(await user.here(['operate', 'retry', 'T2'])).toMatchObject({ code: 0 });
    const second = await operateHere(user, '--resume');
    expect(statusesOf(second.run)).toEqual(['T2 done', 'T1 done']);
    expect(filesOn(user, 'main')).toEqual(['README.md', 'T1.txt', 'T2-again.txt', 'T2.txt']);
    expect(subjects(user).filter((subject) => subject.includes('person'))).toHaveLength(1);
  });

  test('person: the printed steps, followed word for word, land what did not fit', async ({ user }) => {
    prepareRun(user, '- [ ] T2 [P] Write it\n');
    let hasMoved = false;
    await user.emulate({
      respond: (asked) => {
        if (!hasMoved) commitOn(user, 'main', 'T2.txt', 'a person\n');
        hasMoved = true;
        return taskWorker(asked);
      },
    });
    const { run } = await operateHere(user, 'tasks.md', '--on-conflict', 'person');
    expect(statusesOf(run)).toEqual(['T2 frozen conflict']);
    const [way = ''] = (run.tasks[0]?.next_step ?? '').split('Or let an agent');
    const steps = [...way.matchAll(/^ {2}(.+)$/gm)].map(([, command = '']) => command);
    const at = steps.findIndex((step) => step.includes(' commit '));
    expect(steps[at - 1]).toContain(`merge refs/ramet/operator/${run.session_id}`);
    expect(steps[at + 1]).toBe(`ramet operate --resume ${run.session_id}`);
    const follow = (command: string): unknown =>
      runSync('sh', ['-c', command], { cwd: user.repository, env: user.env });
    expect(() => follow(steps[at - 1] ?? '')).toThrow();
    const [, tree = ''] = /^git -C (\S+) /.exec(steps[at] ?? '') ?? [];
    writeFileSync(join(tree, 'T2.txt'), 'both\n');
    follow(steps[at] ?? '');
    // All of the result is in that task: there is nothing else to land, and nothing says so.
    expect(readFileSync(run.report, 'utf8')).not.toContain('The result');
    const end = await operateHere(user, '--resume', run.session_id);
    expect(statusesOf(end.run), end.stderr).toEqual(['T2 done']);
    expect(git(user.repository, 'show', 'main:T2.txt')).toBe('both');
    expect(end.run.tasks[0]?.attempts).toHaveLength(1);
  });

  test('WORK-5: work that someone took off the target is not done, and its steps put it back', async ({
    user,
  }) => {
    prepareRun(user, '- [ ] T1 Write it\n- [ ] T2 Write it\n- [ ] T3 Write it\n');
    const base = git(user.repository, 'rev-parse', 'main').trim();
    let isSetBack = false;
    await user.emulate({
      respond: (asked) => {
        // T1 and T2 have landed by then.
        if (taskIn(asked) === 'T3' && !isSetBack) {
          git(user.repository, 'update-ref', 'refs/heads/main', base);
          isSetBack = true;
        }
        return taskWorker(asked);
      },
    });
    const { run, code } = await operateHere(user, 'tasks.md', '--parallel', '1');
    expect(statusesOf(run)).toEqual(['T1 frozen removed', 'T2 frozen removed', 'T3 done']);
    expect(code).toBe(1);
    expect(filesOn(user, 'main')).toEqual(['README.md', 'T3.txt']);
    const [first] = run.tasks;
    expect(first?.message).toMatch(/^landed as \w{10}, and was removed from main by someone$/);
    expect(readFileSync(run.report, 'utf8')).toContain('was removed from main by someone');
    expect(readFileSync(join(user.repository, 'tasks.md'), 'utf8')).toMatch(/\[ \] T1 [\s\S]*\[x\] T3/);
    for (const { next_step } of run.tasks.slice(0, 2)) {
      const [way = ''] = (next_step ?? '').split('Or let an agent');
      for (const [, command = ''] of way.matchAll(/^ {2}(.+)$/gm))
        runSync('sh', ['-c', command], { cwd: user.repository, env: user.env });
    }
    expect(filesOn(user, 'main')).toEqual(['README.md', 'T1.txt', 'T2.txt', 'T3.txt']);
    const end = await operateHere(user, '--resume', run.session_id);
    expect(statusesOf(end.run), end.stderr).toEqual(['T1 done', 'T2 done', 'T3 done']);
    expect(end.code).toBe(0);
    expect(filesOn(user, 'main')).toEqual(['README.md', 'T1.txt', 'T2.txt', 'T3.txt']);
  });

  test('a result that breaks the check on the new target is told apart by task', async ({ user }) => {
    prepareRun(user, '- [ ] T1 [P] Write it\n- [ ] T2 [P] Write it\n');
    let hasMoved = false;
    await user.emulate({
      respond: (asked) => {
        if (!hasMoved) commitOn(user, 'main', 'rule.txt', 'no T2\n');
        hasMoved = true;
        return promptOf(asked).includes('An earlier attempt failed (check') && asked.turn === 0
          ? writing('T2-again.txt', 'x')
          : taskWorker(asked);
      },
    });
    const check = 'test ! -e rule.txt -o ! -e T2.txt';
    const end = await operateHere(user, 'tasks.md', '--policy', 'all', '--check', check);
    expect(statusesOf(end.run), end.stderr).toEqual(['T1 done', 'T2 done']);
    expect(filesOn(user, 'main')).toEqual(['README.md', 'T1.txt', 'T2-again.txt', 'rule.txt']);
  });
});

function prepareSecond(user: User, tasks: string): void {
  writeFileSync(join(user.repository, 'more.md'), tasks);
}

/** The second task of each run writes one file; what is done again is another. */
function rival(asked: Asked): Answer {
  const id = taskIn(asked) ?? '';
  if (asked.turn > 0) return { text: 'Done.' };
  const isAgain = promptOf(asked).includes('An earlier attempt failed (conflict');
  if (isAgain) return writing(`${id}-again.txt`, 'x');
  return id === 'T2' || id === 'T4' ? writing('same.txt', `${id}\n`) : taskWorker(asked);
}
