import { expect, test } from 'vitest';
import { MIXED_RUN, madeRun, madeTask, recorded, taskChange } from '../../../test/fixtures/operator-run.ts';
import { applyOperatorEvent } from '../../operator/run/apply-operator-event.ts';
import { NO_RUN } from '../../operator/run/operator-state.ts';
import type { JournalEvent } from '../../schema/events.ts';
import { ProgressLines } from './progress-lines.ts';
import { landingLines } from './run-table.ts';

function linesOf(events: readonly JournalEvent[]): (string | null)[] {
  const lines = new ProgressLines();
  let state = NO_RUN;
  return recorded(events).map((one) => {
    state = applyOperatorEvent(state, one);
    return lines.line(state, one);
  });
}

test('UI-1: a run without a terminal is told in lines: one for each change that people care about', () => {
  const more: JournalEvent[] = [
    taskChange('T003', 'blocked', { cause: 'permission', failures: 0 }),
    { type: 'operator.tasks_added', tasks: [madeTask('T005')] },
    { type: 'operator.integrated', commit: 'c1', tasks: ['T001'] },
    { type: 'operator.asked', by: 'person', action: { kind: 'pause' }, refused: null },
    { type: 'progress.reported', line: 'x' },
  ];
  expect(linesOf([...MIXED_RUN, ...more])).toEqual([
    'operator started: 4 tasks into main (best-effort)',
    '[0/4] T001 running: Write the schema',
    '[1/4] T001 done: Write the schema (1.0 s, $0.2500)',
    '[1/4] T002 running: Write the reader',
    '[1/4] T003 running: Call the release script',
    '[1/4] T002 failed: check: the check failed 3 times (2.0 s, $0.5000); needs you: look at its branch, then try it again: ramet operate retry T002 --session s',
    '[1/4] T003 blocked: permission: Call the release script (2.0 s, $0.00); needs you: Bash ./release.sh (not allowed): ramet operate answer q1 denied --session s # or once, or always',
    null,
    'tasks added: T005',
    null,
    'asked for: pause',
    null,
  ]);
});

test('UI-1: a long question is shortened, and never the command that answers it', () => {
  const question = {
    id: 'q2',
    agent: 's.4',
    tool: 'Bash',
    summary: 'x'.repeat(900),
    reason: 'no',
    rules: [],
  };
  const line = linesOf([...MIXED_RUN, taskChange('T004', 'blocked', { cause: 'permission', question })]).at(
    -1,
  );
  expect(line).toMatch(
    /needs you: Bash x+…: ramet operate answer q2 denied --session s # or once, or always$/,
  );
});

test('OP-3: that an agent waits for a limit is one line, with the time', () => {
  const wait = { message: 'waiting: limit until 01:00 (in 59 min)', until: 3_600_000 };
  const lines = linesOf([
    ...MIXED_RUN,
    taskChange('T004', 'running'),
    taskChange('T004', 'running', wait),
    taskChange('T004', 'running', { message: null, until: null }),
  ]);
  expect(lines.slice(-2)).toEqual([
    expect.stringMatching(/^\[1\/4\] T004 waiting: limit until .*\d\d:\d\d \(in 1 h\): Write the manual$/),
    null,
  ]);
});

test('OP-3: that a check waits for a place on the machine is a line of its own, once', () => {
  const wait = { message: 'waits for a place: 2 heavy commands run on this machine' };
  const lines = linesOf([
    ...MIXED_RUN,
    taskChange('T004', 'verifying'),
    taskChange('T004', 'verifying', wait),
    taskChange('T004', 'verifying', wait),
    taskChange('T004', 'verifying', { message: null }),
  ]);
  expect(lines.slice(-3)).toEqual([
    expect.stringMatching(
      /^\[1\/4\] T004 verifying: waits for a place: 2 heavy commands run on this machine$/,
    ),
    null,
    null,
  ]);
});

test('OP-4: each time the target moves while the result is checked is a line, and the status says it', () => {
  const intended = (message: string | null): JournalEvent => ({
    ...{
      type: 'operator.landed',
      state: 'intended',
      commit: 'abcdef1234567890',
      before: null,
      after: null,
      message,
    },
  });
  const again = 'main has moved: merged and checked again (try 3 of 20)';
  const events = [...MIXED_RUN, intended(null), intended(again)];
  expect(linesOf(events).slice(-2)).toEqual([null, again]);
  expect(landingLines(madeRun(...events))).toEqual(['main is about to move to abcdef1234', again]);
});
