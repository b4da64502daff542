import { expect, test } from 'vitest';
import { madeRun, madeTask, startedRun, taskChange } from '../../../test/fixtures/operator-run.ts';
import type { AgentOverview } from '../../journal/projections/status.ts';
import { costOfTask, tasksOf } from '../../operator/run/operator-state.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import { withOpenCosts } from './open-costs.ts';

const agent = (id: string, name: string, costUsd: number | null): AgentOverview =>
  // Only what is read.
  ({ id, name, costUsd, usage: { ...NO_USAGE, output_tokens: 5 } }) as AgentOverview;

const review = { type: 'strict', commit: 'c', approved: true, reasons: '', costUsd: 0.25 };
const state = madeRun(
  startedRun(['at-work', 'in-review', 'stopped', 'over'].map((id) => madeTask(id))),
  taskChange('at-work', 'running', { attempt: { number: 1, name: 'at-work-1' } }),
  taskChange('in-review', 'verifying', {
    attempt: {
      ...{ number: 1, name: 'in-review-1', state: 'ended', costUsd: 0.75, commit: 'c' },
      reviews: [{ ...review, agent: 's.4' }],
    },
  }),
  taskChange('stopped', 'interrupted', { attempt: { number: 1, name: 'stopped-1', costUsd: 2 } }),
  taskChange('over', 'done', { attempt: { number: 1, name: 'over-1', state: 'passed', costUsd: 1 } }),
);
const AGENTS = [
  agent('s.2', 'at-work-1', 0.5),
  agent('s.3', 'in-review-1', 0.5),
  agent('s.4', 'in-review-1-review-strict', 0.25),
  agent('s.5', 'in-review-1-review-other', 0.125),
  agent('s.6', 'stopped-1', 2),
  agent('s.7', 'over-1', 9),
  agent('s.8', 'over-1-review-strict', 9),
];

test('OP-7: agents that have not ended are in the sum, and none is in it twice', () => {
  const tasks = tasksOf(withOpenCosts(state, () => AGENTS));
  expect(tasks.map(costOfTask)).toEqual([0.5, 0.875, 2, 1]);
  expect(tasks.map(({ attempts }) => attempts[0]?.usage.output_tokens)).toEqual([5, 5, 0, 0]);
  const unknown = withOpenCosts(state, () => [agent('s.5', 'in-review-1-review-other', null)]);
  expect(tasksOf(unknown).map(costOfTask)).toEqual([0, null, 2, 1]);
});

test('OP-7: of a run in which nothing is open, no journal is read', () => {
  const over = madeRun(startedRun([madeTask('a')]), taskChange('a', 'done'));
  const read = (): never => {
    throw new Error('it was read');
  };
  expect(withOpenCosts(over, read)).toBe(over);
});
