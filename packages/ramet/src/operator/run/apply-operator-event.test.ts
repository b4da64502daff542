import { describe, expect, test } from 'vitest';
import type { JournalEvent } from '../../schema/events.ts';
import type { OperatorRun, RunTask, TaskChanged } from '../../schema/operator-events.ts';
import { applyOperatorEvent, foldOperator } from './apply-operator-event.ts';
import { costOfTask, isTaskEnded, lastAttempt, NO_RUN, taskOf, tasksOf } from './operator-state.ts';

const RUN: OperatorRun = {
  ...{ file: 'tasks.md', tag: null, bullets: false, optional: false, target: 'main', base: 'b0' },
  ...{ integration: 'refs/ramet/operator/s', policy: 'best-effort', parallel: 4, attempts: 1 },
  ...{ isolation: 'worktree', strategy: 'merge', check: null, onConflict: 'person', retries: 2, budget: {} },
  ...{ model: null, updateCheckout: false, marks: true },
};

function task(id: string, fields: Partial<RunTask> = {}): RunTask {
  return {
    ...{ id, title: `do ${id}`, file: 'tasks.md', line: 1, phase: null, waits: [], barrier: null, files: [] },
    ...{ gate: null, held: false, settings: {}, text: '', rest: null },
    ...fields,
  };
}

function moved(id: string, status: TaskChanged['status'], fields: Partial<TaskChanged> = {}): JournalEvent {
  return { type: 'task.changed', task: id, status, cause: null, ...fields };
}

function fold(...events: JournalEvent[]) {
  return foldOperator(events.map((event, index) => ({ time: (index + 1) * 1000, event })));
}

const started: JournalEvent = { type: 'operator.started', run: RUN, tasks: [task('a'), task('b')] };

describe('OP-2: a run of the operator is a fold over its events', () => {
  test('begins with its tasks queued, in the order of the file', () => {
    const state = fold(started);
    expect(state.run).toEqual(RUN);
    expect(tasksOf(state).map(({ task: { id }, status }) => [id, status])).toEqual([
      ['a', 'queued'],
      ['b', 'queued'],
    ]);
    expect(tasksOf(state).some(isTaskEnded)).toBe(false);
  });

  test('follows one task from its agent to the commit that holds it', () => {
    const state = fold(
      started,
      moved('a', 'running', { attempt: { number: 1, name: 'a-1', base: 'b0' } }),
      moved('a', 'running', { attempt: { number: 1, agent: 's.2', branch: 'ramet/a-1' } }),
      moved('a', 'verifying', { attempt: { number: 1, state: 'ended', commit: 'c1', costUsd: 0.5 } }),
      moved('a', 'done', { attempt: { number: 1, state: 'passed' }, result: 'm1' }),
      { type: 'operator.integrated', commit: 'm1', tasks: ['a'] },
      { type: 'task.marked', task: 'a', written: true, why: null },
    );
    const done = taskOf(state, 'a');
    expect(done).toMatchObject({ status: 'done', since: 5000, result: 'm1', marked: { written: true } });
    expect(done && lastAttempt(done)).toMatchObject({
      ...{ number: 1, state: 'passed', agent: 's.2', branch: 'ramet/a-1', base: 'b0', commit: 'c1' },
      ...{ startedAt: 2000, endedAt: 4000, costUsd: 0.5 },
    });
    expect(state).toMatchObject({ integrated: 'm1', at: 7000 });
  });

  test('what was said about one status does not outlive it, and a fact does', () => {
    const question = { id: 'q1', agent: 's.2', tool: 'Bash', summary: 'x', reason: 'y', rules: [] };
    const check = { command: 'npm test', passed: false, ending: 'exit code 1', output: '/tmp/x' };
    const state = fold(
      started,
      moved('a', 'blocked', { cause: 'permission', question, person: 'answer it', check }),
      moved('a', 'running', {}),
    );
    expect(taskOf(state, 'a')).toMatchObject({ cause: null, question: null, person: null, check });
  });

  test('counts attempts that compete, and does not know a sum with an unknown part', () => {
    const state = fold(
      started,
      moved('a', 'running', { attempt: { number: 1, name: 'a-1' } }),
      moved('a', 'running', { attempt: { number: 2, name: 'a-2' } }),
      moved('a', 'running', { attempt: { number: 1, state: 'failed', cause: 'check', costUsd: 1 } }),
    );
    const one = taskOf(state, 'a');
    expect(one?.attempts.map(({ state: now, endedAt }) => [now, endedAt])).toEqual([
      ['failed', 4000],
      ['running', null],
    ]);
    expect(one && costOfTask(one)).toBe(1);
    const later = applyOperatorEvent(state, {
      time: 9000,
      event: moved('a', 'failed', { attempt: { number: 2, state: 'failed', costUsd: null } }),
    });
    const failed = taskOf(later, 'a');
    expect(failed && costOfTask(failed)).toBeNull();
  });

  test('changes one task of many and shares the others; the older value stays as it was', () => {
    const tasks = Array.from({ length: 500 }, (_, index) => task(`t${index}`));
    const before = fold({ type: 'operator.started', run: RUN, tasks });
    const after = applyOperatorEvent(before, { time: 5000, event: moved('t7', 'ready') });
    expect(taskOf(before, 't7')?.status).toBe('queued');
    expect(taskOf(after, 't7')?.status).toBe('ready');
    expect(tasksOf(after).filter((one) => one !== taskOf(before, one.task.id))).toHaveLength(1);
    expect(after.order).toBe(before.order);
  });

  test('takes tasks that are added once, and nothing for a task that it does not know', () => {
    const added: JournalEvent = { type: 'operator.tasks_added', tasks: [task('b'), task('c')] };
    const state = fold(started, moved('b', 'done'), added, added, moved('nobody', 'done'));
    expect(tasksOf(state).map(({ task: { id }, status }) => [id, status])).toEqual([
      ['a', 'queued'],
      ['b', 'done'],
      ['c', 'queued'],
    ]);
  });

  test('tells what the run is, what lands, and what people asked for', () => {
    const state = fold(
      started,
      { type: 'operator.changed', status: 'tripped', cause: 'breaker', message: '5 tasks in a row' },
      { type: 'operator.asked', by: 'person', action: { kind: 'resume' }, refused: null },
      { type: 'operator.resumed' },
      { type: 'operator.landed', state: 'moved', commit: 'm1', before: 'b0', after: 'm1', message: null },
    );
    expect(state).toMatchObject({ status: 'running', cause: null, message: null, resumed: 1 });
    expect(state.landing).toMatchObject({ state: 'moved', after: 'm1' });
    expect(state.asked).toEqual([{ time: 3000, by: 'person', action: { kind: 'resume' }, refused: null }]);
  });

  test('is the same value for events of agents', () => {
    const state = fold(started);
    const event: JournalEvent = { type: 'progress.reported', line: 'x' };
    expect(applyOperatorEvent(state, { time: 1, event })).toBe(state);
    expect(foldOperator([])).toBe(NO_RUN);
  });
});
