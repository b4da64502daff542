import { expect, test } from 'vitest';
import { MIXED_RUN, madeRun, madeTask, startedRun, taskChange } from '../../../test/fixtures/operator-run.ts';
import { eventObject, objectWithoutRun, runObject } from './run-object.ts';

test('UI-4: a run is one object with every task, attempt, cost and next step', () => {
  const facts = { session: 'k3v9x2ab', report: '/r/report.md', now: 61_000 };
  const object = runObject(madeRun(...MIXED_RUN), facts);
  expect(JSON.parse(JSON.stringify(object))).toMatchObject({
    ...{ type: 'result', subtype: 'error_tasks', is_error: true, session_id: 'k3v9x2ab', status: 'running' },
    ...{ file: 'tasks.md', target: 'main', num_tasks: 4, num_done: 1, duration_ms: 60_000 },
    ...{ total_cost_usd: 0.75, budget_usd: 5, cache_hit_rate: 0.8, report: '/r/report.md' },
    counts: { done: 1, failed: 1, blocked: 1, queued: 1 },
    tasks: [
      {
        id: 'T001',
        status: 'done',
        commit: 'abcdef1234567890',
        attempts: [{ agent_id: 's.2', total_cost_usd: 0.25 }],
      },
      { id: 'T002', cause: 'check', needs_person: true, check: { passed: false } },
      { id: 'T003', question: { id: 'q1' }, next_step: expect.stringContaining('ramet operate answer q1') },
      { id: 'T004', waits_for: ['T002'], needs_person: false, attempts: [] },
    ],
  });
  const done = runObject(madeRun(startedRun([madeTask('a')]), taskChange('a', 'done')), facts);
  expect(done).toMatchObject({ subtype: 'success', is_error: false });
  const landed = (state: 'moved' | 'kept'): unknown => {
    const event = {
      type: 'operator.landed',
      state,
      commit: 'abc',
      before: 'a',
      after: 'a',
      message: null,
    } as const;
    return runObject(madeRun(startedRun([madeTask('a')]), taskChange('a', 'done'), event), facts);
  };
  expect(landed('moved')).toMatchObject({ is_error: false, landed: true, landing: { state: 'moved' } });
  expect(landed('kept')).toMatchObject({ is_error: false, landed: false, landing: { state: 'kept' } });
});

test('UI-4: a line of stream-json is the recorded event', () => {
  const event = taskChange('a', 'done');
  expect(eventObject('s', { time: 1_000, event })).toEqual({
    ...{
      type: 'system',
      subtype: 'operator_event',
      session_id: 's',
      time: '1970-01-01T00:00:01.000Z',
      event,
    },
  });
});

test('UI-4: where nothing was run, the object has the same fields, and says what is wrong', () => {
  const problem = { file: 'tasks.md', line: 1, column: 1, level: 'error', message: 'a cycle' } as const;
  const bad = objectWithoutRun('tasks.md', { message: 'the task file has errors', problems: [problem] });
  const run = runObject(madeRun(...MIXED_RUN), { session: 's', report: null, now: 1 });
  expect(Object.keys(bad)).toEqual(Object.keys(run));
  expect(bad).toMatchObject({
    ...{ type: 'result', subtype: 'error_during_execution', is_error: true, session_id: null },
    ...{ file: 'tasks.md', started_at: null, num_tasks: 0, tasks: [], problems: [problem], landed: false },
  });
  expect(objectWithoutRun('tasks.md', { message: 'all tasks are done', problems: [] })).toMatchObject({
    ...{ subtype: 'success', is_error: false, status: 'ended', message: 'all tasks are done', problems: [] },
  });
});
