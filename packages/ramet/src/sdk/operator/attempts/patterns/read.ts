/** Tasks whose agents only read, whatever the pattern of the run is: their report is all that comes of them. */
import type { AttemptOrder } from '../../../../operator/run/ports.ts';
import type { AttemptPattern } from './attempt-pattern.ts';
import type { ReadingCheckouts } from './reading-checkouts.ts';

export function readPattern(checkouts: ReadingCheckouts): AttemptPattern {
  const leave = ({ attempt, run }: AttemptOrder): Promise<void> =>
    checkouts.leave(attempt.name, attempt.base ?? run.base);
  return {
    isolation: 'read',
    expect: ({ attempt, run }) => checkouts.expect(attempt.name, attempt.base ?? run.base),
    async prepare({ attempt, run }) {
      return { workspace: await checkouts.enter(attempt.name, attempt.base ?? run.base), readOnly: true };
    },
    siteOf: async () => ({ branch: null, path: null }),
    async collect(order) {
      await leave(order);
      return null;
    },
    async abandon(order) {
      await leave(order);
      return { branch: null };
    },
  };
}
