/**
 * From process start to the first model request of `ramet -p`, with a fresh `$RAMET_HOME`, as a ratio to
 * `node -e 0` on the same machine in the same minute. The two are measured in turns; the request's time is
 * taken by the server (`process.hrtime` is one clock for all processes of a machine).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { benchPlace, spawnPrint } from './command.ts';
import { startServer } from './start-server.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

const ROUNDS = 25;
const GOAL = 5;

export async function run(): Promise<void> {
  using place = benchPlace();
  using server = await startServer([]);
  const floor: number[] = [];
  const first: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    floor.push(await bareNode());
    const started = process.hrtime.bigint();
    const child = spawnPrint(place, server.url);
    const ended = once(child, 'exit');
    const { at } = await server.nextRequest();
    first.push(Number(at - started) / 1e6);
    await ended;
  }
  const ratio = spreadOf(first).median / spreadOf(floor).median;
  const best = spreadOf(first).min / spreadOf(floor).min;
  console.log(`\nprocess start to first model request, fresh home, ${ROUNDS} rounds`);
  console.log(`  node -e 0     ${showSpread(spreadOf(floor), 'ms')}`);
  console.log(`  ramet -p      ${showSpread(spreadOf(first), 'ms')}`);
  console.log(`  ratio         of medians ${ratio.toFixed(2)}, of minima ${best.toFixed(2)}`);
  console.log(`  ${verdict('start to first request', ratio, GOAL, 'times node -e 0')}`);
}

async function bareNode(): Promise<number> {
  const started = process.hrtime.bigint();
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit');
  return Number(process.hrtime.bigint() - started) / 1e6;
}

if (import.meta.main) await run();
