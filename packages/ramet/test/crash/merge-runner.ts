/**
 * A process that runs the merge queue. Arguments: repository, project, check command or nothing, `step:count` at which
 * it kills itself or nothing, then branches. Prints the states of the report.
 */
import { openMergeEntries } from '../../src/journal/merge-entries.ts';
import { systemClock } from '../../src/schema/clock.ts';
import { childEnvironment } from '../../src/workspace/child-environment.ts';
import { runMergeQueue } from '../../src/workspace/merge/merge-queue.ts';
import { findMergeRepository } from '../../src/workspace/merge/merge-repository.ts';

const [directory = '', project = '', command = '', death = '', ...branches] = process.argv.slice(2);
const [deadly, count = '1'] = death.split(':');
let left = Number(count);
const repository = findMergeRepository(directory, childEnvironment(process.env));
using entries = openMergeEntries(project);
const check = command === '' ? null : { command, timeoutMs: 60_000 };
const wishes = {
  check,
  onConflict: 'person',
  updateCheckout: process.env.RAMET_MODEL_UPDATE === '1',
} as const;
const report = await runMergeQueue(
  { target: 'main', branches, strategy: 'squash', ...wishes },
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
