import { expect, test } from 'vitest';
import { MIXED_RUN, madeTask } from '../../test/fixtures/operator-run.ts';
import { describeOperatorEvent } from './operator-line.ts';

test('UI-4: a line of a run counts one task as one, and says nothing twice', () => {
  const [started] = MIXED_RUN;
  if (started?.type !== 'operator.started') throw new Error('the run does not begin');
  expect(describeOperatorEvent({ ...started, tasks: [madeTask('a')] })).toBe(
    'operator started: 1 task into main (best-effort)',
  );
  const changed = { type: 'operator.changed', status: 'draining', cause: 'interrupted' } as const;
  expect(describeOperatorEvent({ ...changed, message: 'interrupted (SIGINT)' })).toBe(
    'operator draining: interrupted (SIGINT)',
  );
  expect(describeOperatorEvent({ ...changed, message: 'a person asked' })).toBe(
    'operator draining: interrupted: a person asked',
  );
});
