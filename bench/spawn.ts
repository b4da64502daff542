/**
 * How long it takes from the end of the parent's answer to the first request of the last of five children, at a server
 * without latency: both times are the server's. `ramet -p`, a fresh process each round, as a user has it; then the
 * second fan-out of the same processes, when the code is warm. The floor is a bare client that opens five connections.
 */
import { BareClient } from './bare-client.ts';
import { benchPlace, runPrint } from './command.ts';
import { msBetween, ofChildren, ofParent, type PlayRecord } from './play-record.ts';
import { startCacheServer } from './start-cache-server.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

const ROUNDS = 20;
const CHILDREN = 5;
const GOAL = 25;
/** What the best-known peer takes, measured the same way on the same machine (2026-11-15). */
const PEER = '143-317 ms';

export async function run(): Promise<void> {
  using place = benchPlace();
  using server = await startCacheServer();
  console.log(
    `\nparent's answer to the last of ${CHILDREN} children's requests, ${ROUNDS} processes; best peer ${PEER}`,
  );
  const kinds = [
    ['forks', {}],
    ['general-purpose', { subagent_type: 'general-purpose' }],
  ] as const;
  const floor: number[] = [];
  const samples = kinds.map(() => ({ first: [] as number[], second: [] as number[] }));
  for (let round = 0; round < ROUNDS; round++) {
    floor.push(await bareSpread(server.url));
    for (const [index, [, input]] of kinds.entries()) {
      await server.play({ input, fanOuts: 2, call: null });
      await runPrint(place, server.url, { prompt: 'Go.', args: ['--launch', 'parallel'] });
      const [first, second] = spawnTimes(await server.records());
      samples[index]?.first.push(first ?? Number.NaN);
      samples[index]?.second.push(second ?? Number.NaN);
    }
  }
  console.log(`  ${CHILDREN} requests of a bare client  ${showSpread(spreadOf(floor), 'ms')}`);
  for (const [index, [name]] of kinds.entries()) {
    const { first = [], second = [] } = samples[index] ?? {};
    console.log(`  ${name}, first fan-out   ${showSpread(spreadOf(first), 'ms')}`);
    console.log(`  ${name}, second fan-out  ${showSpread(spreadOf(second), 'ms')}`);
    console.log(
      `  ${verdict(`spawn of ${CHILDREN}, ${name}, first fan-out`, spreadOf(first).median, GOAL, 'ms')}`,
    );
  }
}

/** For each answer of the parent with calls: when the last first request of its children came. */
function spawnTimes(records: readonly PlayRecord[]): number[] {
  const firsts = new Map<number, PlayRecord>();
  for (const record of ofChildren(records)) {
    if (record.child !== null && !firsts.has(record.child)) firsts.set(record.child, record);
  }
  return ofParent(records)
    .slice(0, -1)
    .map(({ endedAt }, fanOut) => {
      const own = [...firsts.values()].filter(
        ({ child }) => Math.ceil((child ?? 0) / CHILDREN) === fanOut + 1,
      );
      return Math.max(...own.map(({ at }) => msBetween(endedAt, at)));
    });
}

async function bareSpread(url: string): Promise<number> {
  using client = new BareClient(url);
  const body = Buffer.alloc(12_000, 'x');
  const started = performance.now();
  await Promise.all(Array.from({ length: CHILDREN }, () => client.send(body)));
  return performance.now() - started;
}

if (import.meta.main) await run();
