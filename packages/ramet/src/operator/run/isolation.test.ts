import { describe, expect, test } from 'vitest';
import { OperatorWorld, runTask } from '../../../test/fixtures/operator-world.ts';
import type { RunTask } from '../../schema/operator-events.ts';
import { firstOverlap } from '../schedule/file-overlap.ts';
import { chooseIsolation, isolationOf, isolationText } from './isolation.ts';

const OWN = { settings: { isolation: 'clone' } } as const;
const declared = (id: string, ...files: string[]): RunTask => runTask(id, { files, declares: true });

function choose(tasks: RunTask[], more: { policy?: string; hasCheck?: boolean } = {}): string {
  const { isolation, why } = chooseIsolation({
    ...{ tasks, policy: 'best-effort', hasCheck: true, ...more },
    readsOnly: ({ settings }) => settings.type === 'Explore',
  });
  return `${isolation}: ${why}`;
}

describe('OP-3, OP-9: isolation auto', () => {
  test('is one checkout where all tasks that write declare files, no two the same, and there is a check', () => {
    const tasks = [
      declared('a', 'src/a.ts'),
      declared('b', 'src/b/'),
      runTask('c', { settings: { type: 'Explore' } }),
    ];
    expect(choose(tasks)).toBe('partition: all tasks declare files, no two the same, and there is a check');
  });

  test('is a worktree for each otherwise, and says why', () => {
    const [a, b] = [declared('a', 'src/a.ts'), declared('b', 'src/b.ts')];
    expect(choose([a, b], { hasCheck: false })).toBe(
      'worktree: no check can show that work in one checkout fits together',
    );
    expect(choose([a, b], { policy: 'first' })).toBe('worktree: agents compete for each task');
    expect(choose([a, runTask('c')])).toBe('worktree: c does not declare its files');
    // A sentence may name one file of many.
    expect(choose([a, runTask('c', { files: ['src/c.ts'] })])).toBe('worktree: c does not declare its files');
    expect(choose([a, b, declared('c', 'src/*.ts')])).toMatch(/^worktree: \w and \w both declare src/);
    expect(choose([runTask('c', { settings: { type: 'Explore' } })])).toBe('worktree: no task writes');
  });

  test('leaves out tasks that name their own pattern', () => {
    expect(choose([declared('a', 'a.ts'), runTask('c', { settings: { isolation: 'clone' } })])).toMatch(
      /^partition/,
    );
  });
});

describe('firstOverlap', () => {
  test('finds a directory above a file, also past names that sort between them', () => {
    const lists = [
      { id: 'a', files: ['src'] },
      { id: 'b', files: ['src-x/a.ts', 'src.md'] },
      { id: 'c', files: ['src/deep/a.ts'] },
    ];
    expect(firstOverlap(lists)).toEqual({ ids: ['a', 'c'], path: 'src/deep/a.ts' });
    expect(firstOverlap(lists.slice(0, 2))).toBeNull();
    expect(firstOverlap([{ id: 'a', files: ['src/', 'src/a.ts'] }])).toBeNull();
  });
});

describe('OP-9: where an attempt works', () => {
  test('a task of a partition that names no files, or has failed there, works in a worktree', async () => {
    const world = new OperatorWorld({
      run: { isolation: 'partition' },
      tasks: [declared('a', 'a.ts'), declared('b', 'b.ts'), runTask('c'), runTask('d', OWN)],
      attempt: (order) => {
        const { task, attempt, run } = order;
        const where = isolationOf(run, { task, attempts: order.before === null ? [] : [order.before] });
        places.push(`${attempt.name} ${where}`);
        return task.id === 'a' && order.before === null
          ? { kind: 'failed', cause: 'outside_files', message: 'x.ts is not one of the files of your task' }
          : undefined;
      },
    });
    const places: string[] = [];
    await world.run();
    expect(world.statuses()).toEqual({ a: 'done', b: 'done', c: 'done', d: 'done' });
    expect(places.sort()).toEqual([
      ...['a-1 partition', 'a-2 worktree', 'b-1 partition', 'c-1 worktree', 'd-1 clone'],
    ]);
  });

  test('in one checkout where nothing is enforced, tasks run one after the other, whatever they declare', async () => {
    const tasks = [declared('a', 'a.ts'), declared('b', 'b.ts')];
    const world = new OperatorWorld({ run: { isolation: 'none' }, tasks });
    await world.run();
    expect([world.most, world.statuses()]).toEqual([1, { a: 'done', b: 'done' }]);
  });

  test('says in a line which pattern it is and why', () => {
    expect(isolationText({ isolation: 'worktree', isolationWhy: 'a does not declare its files' })).toBe(
      'worktree, each task in a worktree of its own (auto: a does not declare its files)',
    );
  });
});
