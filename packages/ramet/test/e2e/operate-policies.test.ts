import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import { eventually } from '../fixtures/command.ts';
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
import { writeFiles } from '../fixtures/temporary.ts';
import { test, type User } from '../fixtures/user.ts';
import { git } from '../fixtures/worktrees.ts';

const list = (count: number): string =>
  Array.from({ length: count }, (_, index) => `- [ ] T${index + 1} [P] Write it\n`).join('');

const isOn = (user: User, ref: string, name: string): boolean => filesOn(user, ref).includes(name);
const privateRef = (user: User): string =>
  git(user.repository, 'for-each-ref', '--format=%(refname)', 'refs/ramet/operator').trim();

describe.concurrent('OP-4: what lands, with real merges', { timeout: 240_000 }, () => {
  test('all: nothing lands after one task has failed, and everything at once when that is repaired', async ({
    user,
  }) => {
    prepareRun(user, `${list(2)}- [ ] T3 Write it (depends on T1, T2)\n`);
    let isRepaired = false;
    await user.emulate({
      respond: (asked) =>
        taskIn(asked) === 'T2' && !isRepaired && asked.turn === 0 ? writing('bad', 'x') : taskWorker(asked),
    });
    const main = git(user.repository, 'rev-parse', 'main');
    const flags = ['--policy', 'all', '--check', 'test ! -e bad', '--retries', '0'];
    const lost = await operateHere(user, 'tasks.md', ...flags);
    expect(lost).toMatchObject({ code: 1, run: { cause: 'policy', landing: null } });
    expect(statusesOf(lost.run)).toEqual(['T1 done', 'T2 frozen check', 'T3 queued']);
    expect(git(user.repository, 'rev-parse', 'main')).toBe(main);
    expect(isOn(user, privateRef(user), 'T1.txt')).toBe(true);
    isRepaired = true;
    expect(await user.here(['operate', 'retry', 'T2'])).toMatchObject({ code: 0 });
    const met = await operateHere(user, '--resume');
    expect(statusesOf(met.run)).toEqual(['T1 done', 'T2 done', 'T3 done']);
    expect(met).toMatchObject({ code: 0, run: { landing: { state: 'moved' } } });
    expect(filesOn(user, 'main')).toEqual(['README.md', 'T1.txt', 'T2.txt', 'T3.txt']);
  });

  test('quorum: too few land nothing; enough land what has passed; auto looks at the run before', async ({
    user,
  }) => {
    prepareRun(user, list(3));
    await user.emulate({
      respond: (asked) =>
        taskIn(asked) === 'T1' && asked.turn === 0 ? writing('bad', 'x') : taskWorker(asked),
    });
    const flags = ['--check', 'test ! -e bad', '--retries', '0'];
    const few = await operateHere(user, 'tasks.md', '--policy', 'quorum:3', ...flags, '--no-marks');
    expect(few).toMatchObject({ code: 1, run: { landing: null } });
    expect(filesOn(user, 'main')).toEqual(['README.md']);
    const enough = await operateHere(
      user,
      'tasks.md',
      '--policy',
      'quorum:2',
      ...flags,
      '--parallel',
      'auto',
    );
    expect(enough.stderr).toMatch(/at most \d agents? works? at once \(a plan from 1 earlier run\)/);
    expect(enough.run.tasks.map(({ id, status, message }) => [id, status, message])).toEqual([
      ['T1', 'frozen', expect.stringContaining('the check failed')],
      ['T2', 'done', null],
      ['T3', 'done', null],
    ]);
    expect(enough).toMatchObject({ code: 1, run: { landing: { state: 'moved' } } });
    expect(filesOn(user, 'main')).toEqual(['README.md', 'T2.txt', 'T3.txt']);
  });

  test('first: one of two attempts that passes is merged; the other is stopped, and its branch is kept', async ({
    user,
  }) => {
    prepareRun(user, list(1));
    const late = Promise.withResolvers<void>();
    await user.emulate({
      respond: async (asked) => {
        const isSecond = promptOf(asked).includes('Others try the same task');
        if (asked.turn === 0) return writing(isSecond ? 'second.txt' : 'first.txt', 'x');
        // The first is not done before the other one has been merged.
        if (!isSecond) await late.promise;
        return { text: 'Done.' };
      },
    });
    const run = operateHere(user, 'tasks.md', '--policy', 'first', '--attempts', '2');
    const { run: object, code } = await run.finally(() => late.resolve());
    expect(code).toBe(0);
    expect(filesOn(user, 'main')).toEqual(['README.md', 'second.txt']);
    const [task] = object.tasks;
    expect(task?.attempts.map(({ state }) => state).sort()).toEqual(['passed', 'stopped']);
    const loser = task?.attempts.find(({ state }) => state === 'stopped');
    expect(git(user.repository, 'for-each-ref', `refs/heads/${loser?.branch}`)).not.toBe('');
  });
});

describe.concurrent('OP-5, OP-6: what stops a run, with real agents', { timeout: 240_000 }, () => {
  test('five tasks that fail in a row stop it, what is done stays, and a resumed run continues', async ({
    user,
  }) => {
    prepareRun(user, list(8));
    let isRepaired = false;
    await user.emulate({
      respond: (asked) => (isRepaired || taskIn(asked) === 'T1' ? taskWorker(asked) : { text: 'Nothing.' }),
    });
    // With a budget, the next one starts when the end of the last is known.
    const flags = ['--retries', '0', '--parallel', '1', '--max-budget-usd', '100'];
    const tripped = await operateHere(user, 'tasks.md', ...flags);
    expect(tripped).toMatchObject({ code: 1, run: { cause: 'breaker' } });
    expect(statusesOf(tripped.run)).toEqual([
      ...['T1 done', ...[2, 3, 4, 5, 6].map((id) => `T${id} frozen no_changes`), 'T7 ready', 'T8 ready'],
    ]);
    expect(filesOn(user, 'main')).toEqual(['README.md', 'T1.txt']);
    isRepaired = true;
    const resumed = await operateHere(user, '--resume');
    expect(statusesOf(resumed.run).slice(6)).toEqual(['T7 done', 'T8 done']);
  });

  test('a budget that is spent starts nothing more and merges what is paid for; a higher one continues', async ({
    user,
  }) => {
    prepareRun(user, list(3));
    await user.emulate({ respond: taskWorker });
    const flags = ['--parallel', '1', '--check', 'true'];
    const one = await operateHere(user, 'tasks.md', ...flags, '--max-budget-usd', '0.000001');
    expect(one).toMatchObject({ run: { cause: 'budget' } });
    const cost = one.run.total_cost_usd ?? 0;
    expect(cost).toBeGreaterThan(0.000001);
    const two = await operateHere(user, '--resume', '--max-budget-usd', String(cost * 1.2));
    expect(two).toMatchObject({ run: { cause: 'budget' } });
    const all = await operateHere(user, '--resume', '--max-budget-usd', String(cost * 100));
    expect(statusesOf(all.run)).toEqual(['T1 done', 'T2 done', 'T3 done']);
    expect(filesOn(user, 'main')).toEqual(['README.md', 'T1.txt', 'T2.txt', 'T3.txt']);
  });

  test('a check that fails without any task is found while the first agent works, and the next does not start', async ({
    user,
  }) => {
    prepareRun(user, list(2));
    const known = Promise.withResolvers<void>();
    const emulator = await user.emulate({
      respond: async (asked) => {
        // The agent is not done before the check of the target is.
        if (asked.turn > 0) await known.promise;
        return taskWorker(asked);
      },
    });
    const flags = ['--parallel', '1', '--retries', '0', '--check', 'test -e repaired', '--into', 'main'];
    const args = ['operate', 'tasks.md', ...flags, '--output-format', 'stream-json'];
    const running = user.start(args);
    await eventually(() => running.stdout.includes('operator.base_checked'));
    known.resolve();
    const end = await running.ended;
    expect(end.code).toBe(1);
    expect(end.stdout).toContain('the check fails on main without any task (exit code 1; its output: ');
    expect(
      emulator.requests.some(({ request }) => request !== undefined && taskIn({ request }) === 'T2'),
    ).toBe(false);
    expect(filesOn(user, 'main')).toEqual(['README.md']);
    // A person repairs it on the target, and follows the printed commands.
    git(user.repository, 'switch', '--quiet', 'main');
    writeFiles(user.repository, { repaired: '' });
    git(user.repository, 'add', 'repaired');
    git(user.repository, 'commit', '--quiet', '--message=repair');
    git(user.repository, 'switch', '--quiet', 'desk');
    expect((await user.start(['operate', 'retry', 'T1']).ended).code).toBe(0);
    const { run } = await operateHere(user, '--resume');
    expect(statusesOf(run)).toEqual(['T1 done', 'T2 done']);
    expect(filesOn(user, 'main')).toEqual(['README.md', 'T1.txt', 'T2.txt', 'repaired']);
  });

  test('a check that was killed is run again for the next try, also if that made the same files', async ({
    user,
  }) => {
    prepareRun(user, list(1));
    await user.emulate({ respond: taskWorker });
    const runs = join(user.root, 'runs');
    // Without any task it passes; then it is killed once.
    const check = `echo >> ${runs}; [ $(wc -l < ${runs}) != 2 ] || kill -9 $$`;
    const { run } = await operateHere(user, 'tasks.md', '--retries', '1', '--check', check);
    expect(statusesOf(run)).toEqual(['T1 done']);
    expect(readFileSync(runs, 'utf8')).toHaveLength(3);
  });

  test('RES-10: a task has the limits that its file says', async ({ user }) => {
    prepareRun(
      user,
      `tasks:
  - {id: T1, title: Write it, max_turns: 1}
  - {id: T2, title: Write it, budget: 10 tokens}
  - {id: T3, title: Write it, budget: "$5, 10 minutes", max_turns: 9}
`,
      { file: 'tasks.yaml' },
    );
    await user.emulate({ respond: taskWorker });
    const { run } = await operateHere(user, 'tasks.yaml', '--retries', '0');
    expect(statusesOf(run)).toEqual(['T1 frozen max_turns', 'T2 frozen budget', 'T3 done']);
    writeFileSync(
      join(user.repository, 'bad.yaml'),
      'tasks:\n  - {id: T1, title: Write it, max_turns: none}\n',
    );
    expect(await user.here(['operate', 'bad.yaml'])).toMatchObject({
      ...{
        code: 1,
        stdout: expect.stringContaining('max_turns of T1 is "none": write a whole number above 0'),
      },
    });
  });

  test('OP-6: each role has its model; a task and an agent type may name their own', async ({ user }) => {
    const models = { worker: 'opus', reviewer: 'haiku' };
    prepareRun(
      user,
      `tasks:
  - {id: T1, title: Write it}
  - {id: T2, title: Write it, model: sonnet, effort: low, review: none}
  - {id: T3, title: Look, type: Explore, budget: $0.5}
`,
      { file: 'tasks.yaml', settings: { operate: { models, review: ['code-review'] } } },
    );
    const used: Record<string, string[]> = {};
    await user.emulate({
      respond: (asked: Asked): Answer => {
        const isReview = promptOf(asked).includes('You do none of the tasks');
        const who = isReview ? 'reviewer' : (taskIn(asked) ?? 'unknown');
        const model = asked.request.model ?? '';
        const name = ['opus', 'haiku', 'sonnet'].find((tier) => model.includes(tier)) ?? model;
        used[who] = [...new Set([...(used[who] ?? []), name])];
        if (isReview) return { text: '{"approved": true, "reasons": "read"}' };
        return who === 'T3' ? { text: 'Looked.' } : taskWorker(asked);
      },
    });
    const { run } = await operateHere(user, 'tasks.yaml');
    expect(statusesOf(run)).toEqual(['T1 done', 'T2 done', 'T3 done nothing']);
    expect(used).toEqual({ T1: ['opus'], T2: ['sonnet'], T3: ['haiku'], reviewer: ['haiku'] });
  });
});
