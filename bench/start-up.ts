/**
 * From process start to the first model request of `ramet -p`, as a ratio to `node -e 0` on the same machine in the same
 * minute: of the checkout with a fresh `$RAMET_HOME`, and of the package as installed, in a home that two sessions have
 * used (its compiled code is kept there). All are measured in turns; the request's time is taken by the server
 * (`process.hrtime` is one clock for all processes of a machine), the processor's time then by the system.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchPlace, benchPlace, type PrintOptions, spawnPrint } from './command.ts';
import { installPackage } from './installed-package.ts';
import { type CannedServer, startServer } from './start-server.ts';
import { type Spread, showSpread, spreadOf, verdict } from './statistics.ts';

const ROUNDS = 20;
const WARM_UP = 2;

interface Samples {
  readonly name: string;
  readonly goal: number;
  readonly options: PrintOptions;
  readonly ms: number[];
  readonly cpuMs: number[];
}

export async function run(): Promise<void> {
  using place = benchPlace();
  using server = await startServer([]);
  const home = place.freshHome();
  const bin = installPackage(join(home, 'project'));
  const ways: Samples[] = [
    { name: 'checkout', goal: 4, options: {}, ms: [], cpuMs: [] },
    { name: 'installed', goal: 4.5, options: { bin, home }, ms: [], cpuMs: [] },
  ];
  for (const { options } of ways) for (let run = 0; run < WARM_UP; run++) await start(place, server, options);
  const floor: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    floor.push(await bareNode());
    for (const { options, ms, cpuMs } of ways) {
      const taken = await start(place, server, options);
      ms.push(taken.ms);
      cpuMs.push(taken.cpuMs);
    }
  }
  console.log(`\nprocess start to first model request, ${ROUNDS} rounds`);
  console.log(`  node -e 0            ${showSpread(spreadOf(floor), 'ms')}`);
  for (const way of ways) report(way, spreadOf(floor));
}

function report({ name, goal, ms, cpuMs }: Samples, floor: Spread): void {
  const taken = spreadOf(ms);
  const ratio = taken.median / floor.median;
  console.log(`  ${name.padEnd(10)}           ${showSpread(taken, 'ms')}`);
  console.log(`  ${name.padEnd(10)} processor ${showSpread(spreadOf(cpuMs), 'ms')}`);
  console.log(`  ratio of medians ${ratio.toFixed(2)}, of minima ${(taken.min / floor.min).toFixed(2)}`);
  console.log(`  ${verdict(`${name}, start to first request`, ratio, goal, 'times node -e 0')}`);
}

async function start(
  place: BenchPlace,
  server: CannedServer,
  options: PrintOptions,
): Promise<{ ms: number; cpuMs: number }> {
  const started = process.hrtime.bigint();
  const child = spawnPrint(place, server.url, options);
  const ended = once(child, 'exit');
  const { at } = await server.nextRequest();
  const cpuMs = processorTime(child);
  await ended;
  return { ms: Number(at - started) / 1e6, cpuMs };
}

/** Of all threads so far, without the programs it started; unknown where there is no /proc. */
function processorTime({ pid }: ChildProcess): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const nanoseconds = threads.map((thread) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
    );
    return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
  } catch {
    return Number.NaN;
  }
}

async function bareNode(): Promise<number> {
  const started = process.hrtime.bigint();
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit');
  return Number(process.hrtime.bigint() - started) / 1e6;
}

if (import.meta.main) await run();
