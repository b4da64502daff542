import { expect, test } from 'vitest';
import { madeRun, madeTask, startedRun, taskChange } from '../../../test/fixtures/operator-run.ts';
import { graphLine } from './run-graph.ts';

test('OP-2: a graph is one line of steps, shorter where the screen is narrow', () => {
  const state = madeRun(
    startedRun([
      madeTask('a'),
      madeTask('c', { waits: ['b'] }),
      madeTask('b', { waits: ['a'] }),
      madeTask('d', { waits: ['a', 'gone'] }),
    ]),
    taskChange('a', 'done'),
  );
  expect(graphLine(state, 80)).toBe('✓ a → · b  · d → · c');
  expect(graphLine(state, 12)).toBe('✓ → ·· → ·');
  expect(graphLine(state, 9)).toBeNull();
});

test('OP-2: many tasks of a step are counted, and a phase is a step', () => {
  const wide = Array.from({ length: 40 }, (_, index) => madeTask(`t${index}`, { barrier: 1 }));
  const state = madeRun(startedRun([...wide, madeTask('end', { barrier: 2 })]), taskChange('t3', 'done'));
  expect(graphLine(state, 20)).toBe('1/40 → 0/1');
});

test('OP-2: a chain of two thousand tasks and a circle are no trouble', () => {
  const chain = Array.from({ length: 2_000 }, (_, index) =>
    madeTask(`t${index}`, { waits: index === 1_999 ? [] : [`t${index + 1}`] }),
  );
  expect(graphLine(madeRun(startedRun(chain)), 80)).toBeNull();
  const circle = [madeTask('a', { waits: ['b'] }), madeTask('b', { waits: ['a'] })];
  expect(graphLine(madeRun(startedRun(circle)), 80)).toContain('· a');
  expect(graphLine(madeRun(startedRun([madeTask('a'), madeTask('b')])), 80)).toBeNull();
});
