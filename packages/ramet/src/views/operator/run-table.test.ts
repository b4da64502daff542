import { describe, expect, test } from 'vitest';
import { MIXED_RUN, madeRun, madeTask, startedRun, taskChange } from '../../../test/fixtures/operator-run.ts';
import type { OperatorState } from '../../operator/run/operator-state.ts';
import { displayWidth } from '../text/format.ts';
import { runObject } from './run-object.ts';
import { runReport } from './run-report.ts';
import { isRunWhole } from './run-summary.ts';
import { leftRun, runNotes, runTable } from './run-table.ts';

describe('OP-2: the table at the end of a run', () => {
  const state = madeRun(...MIXED_RUN);

  test('has the outcome of each task', () => {
    expect(runTable(state, null, 10_000).split('\n')).toEqual([
      'TASK  STATUS               COMMIT      FILES  TRIES  TIME   COST     TITLE',
      'T001  done                 abcdef1234  2      1      1.0 s  $0.2500  Write the schema',
      'T002  failed: check        -           0      1      2.0 s  $0.5000  Write the reader',
      'T003  blocked: permission  -           0      1      2.0 s  $0.00    Call the release script',
      'T004  queued               -           -      0      -      -        Write the manual',
      '',
    ]);
  });

  test('the time of a task that waits for an answer stands still when the run is over', () => {
    const over = madeRun(...MIXED_RUN, {
      type: 'operator.changed',
      status: 'ended',
      cause: null,
      message: null,
    });
    for (const text of [
      runTable(over, null, 90_000),
      runReport(over, {
        session: 's',
        now: 90_000,
        outputOf: () => null,
        hasBranch: () => true,
        members: new Map(),
      }),
    ])
      expect(text).not.toMatch(/T003.*(?:8\d s|1 min)/);
    expect(runTable(over, null, 90_000)).toBe(runTable(over, null, 99_000));
  });

  test('the time of a task does not count the wait for an answer, while it waits and afterwards', () => {
    const time = (state: OperatorState, now: number): string =>
      /^T003 +\S.*? {2,}- {2,}0 {2,}1 {2,}(\S+ \S+)/m.exec(runTable(state, null, now))?.[1] ?? 'none';
    const waiting = madeRun(...MIXED_RUN);
    const answered = madeRun(...MIXED_RUN, taskChange('T003', 'running'));
    expect([time(waiting, 10_000), time(waiting, 90_000)]).toEqual(['2.0 s', '2.0 s']);
    expect(time(answered, answered.at + 2_000)).toBe('4.0 s');
  });

  test.each([79, 60, 45, 30])('fits a screen of %i columns', (columns) => {
    const text = runTable(state, columns, 10_000);
    expect(Math.max(...text.split('\n').map(displayWidth))).toBeLessThanOrEqual(columns);
    expect(text).toContain('T003');
    expect(text).toMatch(columns >= 45 ? /Call the/ : /blocked/);
  });

  test('is followed by the sum, the target, and the commands of what needs a person', () => {
    expect(runNotes(state, 61_000, true)).toEqual([
      'T002: the check failed 3 times; look at its branch, then try it again: ramet operate retry T002 --session s',
      'T003: Bash ./release.sh (not allowed): ramet operate answer q1 denied --session s # or once, or always',
      'main is unchanged',
      '1 of 4 tasks done (1 blocked, 1 failed, 1 queued); $0.7500 of $5.00; cache 80%; 1 min',
    ]);
  });

  test.each([
    ['moved', null, ['main: ba5e000000 to 1234567890']],
    [
      'kept',
      'take it with: git merge x',
      ['the result is ready as 1234567890 and is not on main yet', 'take it with: git merge x'],
    ],
    [
      'failed',
      'main moved meanwhile',
      ['nothing landed on main; the result is 1234567890', 'main moved meanwhile'],
    ],
  ] as const)('says where the result is: %s', (landed, message, lines) => {
    const after = madeRun(startedRun([madeTask('a')]), taskChange('a', 'done'), {
      ...{ type: 'operator.landed', state: landed, commit: '1234567890ab', message },
      ...{ before: landed === 'moved' ? 'ba5e000000000000' : null, after: null },
    });
    expect(runNotes(after, 3_000, true)).toEqual([...lines, '1 of 1 tasks done; $0.00 of $5.00; 2.0 s']);
  });

  test('a result with what waited for the target before says that the work of this run is in it', () => {
    const kept = { state: 'kept', commit: '1234567890ab', message: null, before: null, after: null } as const;
    const after = madeRun(
      startedRun([madeTask('a')]),
      taskChange('a', 'done'),
      { type: 'operator.integrated', commit: 'abcdef123456', tasks: ['a'] },
      { type: 'operator.landed', ...kept },
    );
    expect(runNotes(after, 3_000, true)[0]).toBe(
      'the result is ready as 1234567890 and is not on main yet; the work of this run (abcdef1234) is in it',
    );
  });

  test('the range of the target is that of the whole run, not of the last move', () => {
    const moves = ['ba5e000000000000', '1111111111aa', '2222222222aa'].flatMap((before, index, all) => {
      const commit = all[index + 1];
      if (commit === undefined) return [];
      const move = { state: 'moved', commit, before, after: commit, message: null } as const;
      return [{ type: 'operator.landed', ...move } as const];
    });
    const after = madeRun(startedRun([madeTask('a')]), taskChange('a', 'done'), ...moves);
    expect(runNotes(after, 3_000, true)[0]).toBe('main: ba5e000000 to 2222222222');
  });

  test('a long message or question is shortened, and never the command', () => {
    const question = {
      ...{ id: 'T001-1a2b', agent: 's.4', tool: 'Bash', reason: 'not allowed', rules: [] },
      summary: `echo ${'x'.repeat(5_000)}`,
    };
    const person = 'the check fails without it too: repair that first; then: ramet operate retry b';
    const after = madeRun(
      startedRun([madeTask('a'), madeTask('b'), madeTask('c', { gate: 'y'.repeat(900) })]),
      taskChange('a', 'blocked', { cause: 'permission', question }),
      taskChange('b', 'frozen', { cause: 'base_check', message: 'z'.repeat(900), person }),
      taskChange('c', 'blocked', { cause: 'gate', message: 'y'.repeat(900) }),
    );
    const notes = runNotes(after, 3_000, true).slice(0, 3);
    expect(notes).toEqual([
      expect.stringMatching(
        /^a: Bash echo x+…: ramet operate answer T001-1a2b denied --session s # or once, or always$/,
      ),
      expect.stringMatching(/^b: z+…; the check fails.*; then: ramet operate retry b$/),
      expect.stringMatching(/^c: y+…: ramet operate start c --session s$/),
    ]);
    expect(Math.max(...notes.map(({ length }) => length))).toBeLessThan(700);
  });

  test('has no commit for work that is not merged', () => {
    const attempt = { number: 1, state: 'failed', commit: 'c0ffee1111111111', files: ['a'] } as const;
    const frozen = madeRun(startedRun([madeTask('a')]), taskChange('a', 'frozen', { attempt }));
    expect(runTable(frozen, null, 3_000)).toMatch(/^a +frozen +- +1 /m);
  });

  test('says that nothing landed where all tasks are done and the policy is not met', () => {
    const after = madeRun(
      startedRun([madeTask('a'), madeTask('b')], { policy: 'quorum:2' }),
      taskChange('a', 'done'),
      taskChange('b', 'skipped'),
      { type: 'operator.integrated', commit: '1234567890ab', tasks: ['a'] },
      { type: 'operator.changed', status: 'ended', cause: null, message: null },
    );
    expect(isRunWhole(after)).toBe(false);
    expect(runNotes(after, 3_000, false)).toContain(
      'nothing has landed on main: the policy quorum:2 is not met; the result is 1234567890',
    );
    const stopped = { ...after, cause: 'interrupted' };
    expect(runNotes(stopped, 3_000, false)).toContain(
      'nothing has landed on main: the run was interrupted before; the result is 1234567890',
    );
    const object = runObject(after, { session: 's', report: null, now: 1 });
    expect(object).toMatchObject({ is_error: true, landed: false, landing: null });
    expect(
      runReport(after, {
        session: 's',
        now: 1,
        outputOf: () => null,
        hasBranch: () => true,
        members: new Map(),
      }),
    ).toContain('nothing has landed on main');
  });

  test('tells a run that is held from one that nobody runs any more', () => {
    const held = madeRun(startedRun([madeTask('a')]), {
      ...{
        type: 'operator.changed',
        status: 'draining',
        cause: 'interrupted',
        message: 'interrupted (SIGINT)',
      },
    });
    expect(runNotes(held, 3_000, true)).toContain(
      'stopping: nothing new starts; waits for nothing; Ctrl-C again stops at once (interrupted (SIGINT))',
    );
    expect(runNotes(held, 3_000, false)).toContain('stopped: interrupted (SIGINT)');
  });
});

test('OP-2: what nobody runs any more is shown as interrupted, and its time stands still', () => {
  const left = leftRun(
    madeRun(
      startedRun([madeTask('a'), madeTask('b'), madeTask('c')]),
      taskChange('a', 'running', { attempt: { number: 1 } }),
      taskChange('b', 'verifying', { attempt: { number: 1, state: 'ended' } }),
      { type: 'operator.changed', status: 'draining', cause: 'interrupted', message: 'interrupted (SIGINT)' },
    ),
  );
  expect(runTable(left, null, 99_000)).toMatch(
    /^a +interrupted .* 2\.0 s .*\nb +interrupted .*\nc +queued /m,
  );
  expect(runNotes(left, 99_000, false)).toContain('stopped: interrupted (SIGINT)');
  expect(runObject(left, { session: 's', report: null, now: 99_000 })).toMatchObject({
    ...{ status: 'ended', cause: 'interrupted', counts: { interrupted: 2, queued: 1 } },
  });
});
