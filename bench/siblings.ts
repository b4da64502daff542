/**
 * CPU of one model turn above a bare client, for a lead that hands work to N agents in one message, two turns each: one
 * Read, one report. In process through the library, journal on, caps raised, all N at work at once; the bare client
 * sends as many bytes to the same server with as many requests at once, in turns with it. CPU is `process.cpuUsage`,
 * user and system, of this process alone.
 */
import { BareClient } from './bare-client.ts';
import { openBenchSession, runPrompt } from './bench-session.ts';
import { type BenchPlace, benchPlace } from './command.ts';
import { type CacheServer, startCacheServer } from './start-cache-server.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

const GOAL = 0.6;
/** Rounds for each N: many turns in all, so that the code is as warm as it gets, and no more time than that takes. */
const SIZES = [
  { siblings: 5, rounds: 40 },
  { siblings: 50, rounds: 10 },
  { siblings: 500, rounds: 5 },
];
const LARGEST = [{ siblings: 5_000, rounds: 3 }];
const WARM_UP = 8;

interface Round {
  engineMs: number;
  floorMs: number;
}

export async function run(): Promise<void> {
  await measureSizes(SIZES);
}

/** By itself, because it takes as long as all the others together. */
export async function runLargest(): Promise<void> {
  await measureSizes(LARGEST);
}

async function measureSizes(sizes: typeof SIZES): Promise<void> {
  using place = benchPlace();
  using server = await startCacheServer();
  for (let round = 0; round < WARM_UP; round++) await measure(place, server, 50);
  for (const { siblings, rounds } of sizes) {
    const measured: Round[] = [];
    for (let round = 0; round < rounds; round++) measured.push(await measure(place, server, siblings));
    report(siblings, measured);
  }
}

function report(siblings: number, rounds: readonly Round[]): void {
  const above = spreadOf(rounds.map(({ engineMs, floorMs }) => engineMs - floorMs));
  console.log(`\n${siblings} siblings of two turns, ${rounds.length} rounds: CPU per turn`);
  console.log(`  bare client   ${showSpread(spreadOf(rounds.map(({ floorMs }) => floorMs)), 'ms')}`);
  console.log(`  ramet         ${showSpread(spreadOf(rounds.map(({ engineMs }) => engineMs)), 'ms')}`);
  console.log(`  above it      ${showSpread(above, 'ms')}`);
  console.log(
    `  ${verdict(`CPU per turn above a bare client, ${siblings} siblings`, above.median, GOAL, 'ms')}`,
  );
}

async function measure(place: BenchPlace, server: CacheServer, siblings: number): Promise<Round> {
  const engine = await engineRound(place, server, siblings);
  const sizes = (await server.records()).map(({ bytes }) => bytes);
  const floor = await floorRound(server, sizes, siblings);
  return { engineMs: engine / sizes.length, floorMs: floor / sizes.length };
}

async function engineRound(place: BenchPlace, server: CacheServer, siblings: number): Promise<number> {
  await server.play({
    children: siblings,
    input: { subagent_type: 'general-purpose' },
    call: { name: 'Read', input: { file_path: 'file.txt' } },
    accounting: false,
  });
  await using session = await openBenchSession(place, server.url);
  const before = process.cpuUsage();
  await runPrompt(session, 'Go.');
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

async function floorRound(server: CacheServer, sizes: readonly number[], atOnce: number): Promise<number> {
  using client = new BareClient(server.url);
  const largest = Buffer.alloc(Math.max(...sizes), 'x');
  const waiting = sizes.map((size) => largest.subarray(0, size));
  const worker = async (): Promise<void> => {
    for (let body = waiting.pop(); body !== undefined; body = waiting.pop()) await client.send(body);
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: atOnce }, worker));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

if (import.meta.main) await run();
