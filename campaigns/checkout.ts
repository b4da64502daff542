/**
 * The shared checkout under stress: `npm run campaign:checkout -- --steps 10000 --seed 1`. Several processes with
 * several agents each edit and commit in one checkout through the real tools, a person edits beside them, and the
 * journals are replayed; then the same the plain way, smaller. Exit code 1 when anything did not hold. See
 * docs/shared-checkout.md.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type CheckoutResult, runCheckout } from './checkout/run.ts';

const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '10000' },
    agents: { type: 'string', default: '4' },
    processes: { type: 'string', default: '4' },
    commits: { type: 'string', default: '0.1' },
    seed: { type: 'string', default: '1' },
    plain: { type: 'string', default: '1000' },
  },
});

const helper = join(import.meta.dirname, '../packages/ramet/dist/git/shared-git.js');
const plan = {
  agents: Number(values.agents),
  processes: Number(values.processes),
  commits: Number(values.commits),
  seed: Number(values.seed),
  ...(existsSync(helper) && { helper }),
};

function show({ way, edits, commits, lostEdits, sweptUp, seconds, problems }: CheckoutResult): void {
  console.log(
    `\n${way}, ${plan.processes} processes with ${plan.agents} agents each, ${seconds.toFixed(0)} s`,
  );
  console.log(
    `  edits    ${edits.done} accepted, ${edits.refused} refused with a reason, ${lostEdits} lost silently`,
  );
  console.log(
    `  commits  ${commits.done} made, ${commits.nothing} had nothing to commit, ${commits.lock} failed on a lock, ${commits.failed} otherwise; ${sweptUp} held others' paths`,
  );
  for (const problem of problems.slice(0, 20)) console.log(`  DID NOT HOLD  ${problem}`);
}

const ramet = await runCheckout({ ...plan, way: 'ramet', steps: Number(values.steps) });
show(ramet);
const plain = await runCheckout({ ...plan, way: 'plain', steps: Number(values.plain) });
show(plain);
process.exitCode = ramet.problems.length > 0 ? 1 : 0;
