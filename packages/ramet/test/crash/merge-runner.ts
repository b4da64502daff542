/**
 * A process that runs the merge queue. Arguments: repository, project, and JSON: `check`, `death` (`step:count` at which
 * it kills itself), `update` (move a checkout too) and `branches`. Prints the states of the report.
 */
import { openMergeEntries } from '../../src/git/merge/merge-entries.ts';
import { runMergeQueue } from '../../src/git/merge/merge-queue.ts';
import { findMergeRepository } from '../../src/git/merge/merge-repository.ts';
import { systemClock } from '../../src/schema/clock.ts';
import { childEnvironment } from '../../src/system/child-environment.ts';

export interface MergeRunnerOrder {
  check?: string;
  death?: string;
  update?: boolean;
  branches?: string[];
}

const [directory = '', project = '', text = '{}'] = process.argv.slice(2);
const order: MergeRunnerOrder = JSON.parse(text);
const [deadly, count = '1'] = (order.death ?? '').split(':');
let left = Number(count);
const repository = findMergeRepository(directory, childEnvironment(process.env));
using entries = openMergeEntries(project);
const check = order.check === undefined ? null : { command: order.check, timeoutMs: 60_000 };
const wishes = { check, onConflict: 'person', updateCheckout: order.update ?? false } as const;
const report = await runMergeQueue(
  { target: 'main', branches: order.branches ?? [], strategy: 'squash', ...wishes },
  {
    repository,
    project,
    entries,
    clock: systemClock,
    onStep(step) {
      if (step === deadly && --left === 0) process.kill(process.pid, 'SIGKILL');
    },
  },
);
console.log(report.entries.map(({ branch, state }) => `${branch}: ${state}`).join('\n'));
