/**
 * A process that runs a task file. Arguments: repository and JSON: `file` (absent to resume the latest run), `check`, and
 * `death`: it kills itself when that many events of the run are on record, or with `everything` also of its agents. Prints the
 * statuses and how many events there were. `retries` is 1 unless it says otherwise. With `diesAt` it kills itself at the first event of that type. With `diesRebased` it kills itself when the result was put on a target that has moved.
 * With `held` it stays for ever between its look at other runs and its own record, and says so; with
 * `begins`, it begins when that file is there, and says before that it is ready.
 */
import { existsSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { OPERATOR_EVENTS } from '../../src/operator/run/apply-operator-event.ts';
import { tasksOf } from '../../src/operator/run/operator-state.ts';
import type { Isolation } from '../../src/schema/operator-events.ts';
import { operateTasks } from '../../src/sdk/operator/operate.ts';

export interface OperatorRunnerOrder {
  file?: string;
  check?: string;
  into?: string;
  death?: number;
  everything?: boolean;
  retries?: number;
  isolation?: Isolation;
  diesRebased?: boolean;
  diesAt?: string;
  allow?: string[];
  resolve?: boolean;
  held?: boolean;
  begins?: string;
}

const [cwd = '', text = '{}'] = process.argv.slice(2);
const order: OperatorRunnerOrder = JSON.parse(text);
const { file, check, into = 'main', death = 0, everything = false, isolation, diesRebased = false } = order;
const { held = false, begins } = order;
const known = new Set<string>(OPERATOR_EVENTS);
let count = 0;
if (begins !== undefined) {
  console.log('ready');
  while (!existsSync(begins)) await sleep(1);
}
const { state } = await operateTasks(file, {
  ...{ cwd, env: process.env, into, parallel: 2, retries: order.retries ?? 1 },
  ...(check === undefined ? {} : { check }),
  ...(isolation === undefined ? {} : { isolation }),
  ...(order.allow === undefined ? {} : { allow: order.allow }),
  ...(order.resolve === true ? { onConflict: 'resolve' as const } : {}),
  ...(file === undefined ? { resume: 'latest' } : {}),
  onRecord: (_, event) => {
    const { type } = event;
    if (held) {
      writeSync(1, 'held\n');
      for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    }
    if (diesRebased && event.type === 'operator.integrated' && event.rebased !== undefined)
      setImmediate(() => process.kill(process.pid, 'SIGKILL'));
    if (type === order.diesAt) setImmediate(() => process.kill(process.pid, 'SIGKILL'));
    if (!everything && !known.has(type)) return;
    count += 1;
    // After the end of this phase of the event loop it is on its way to the disk, and acted on.
    if (count === death) setImmediate(() => process.kill(process.pid, 'SIGKILL'));
  },
});
console.log(
  JSON.stringify({
    count,
    output: outputOf(state),
    statuses: tasksOf(state).map(({ task, status }) => `${task.id} ${status}`),
    whys: tasksOf(state).flatMap(({ message }) => message ?? []),
  }),
);

/** What agents of all tasks have written, in tokens. */
function outputOf(end: typeof state): number {
  const attempts = tasksOf(end).flatMap((task) => task.attempts);
  return attempts.reduce((sum, { usage }) => sum + usage.output_tokens, 0);
}
