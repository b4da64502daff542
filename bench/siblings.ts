/**
 * CPU of one model turn beside a bare client, for a lead that hands work to N agents in one message, two turns each: one
 * Read, one report. Through the library, journal on, caps raised, all N at work at once. The bare client (`fetch-loop.ts`)
 * does the same work with requests of the same length on the same server, which is another process. They take turns.
 * CPU is `process.cpuUsage`, user and system, of this whole process, from opening the session until it is closed.
 * Beside that the least that a request can cost: `node:http` sends as many bytes and drops the answer unread.
 *
 * `node bench/siblings.ts ../other-checkout` measures a built checkout of another version in the same run.
 */
import { resolve } from 'node:path';
import { openSession } from 'ramet';
import { BareClient } from './bare-client.ts';
import { openBenchSession, runPrompt } from './bench-session.ts';
import { type BenchPlace, benchPlace } from './command.ts';
import { FetchLoop } from './fetch-loop.ts';
import { type CacheServer, startCacheServer } from './start-cache-server.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

/** Rounds for each N: many turns in all, so that the code is as warm as it gets, and no more time than that takes. */
const SIZES = [
  { siblings: 5, rounds: 40, goal: 1.7 },
  { siblings: 50, rounds: 10, goal: 1.4 },
  { siblings: 500, rounds: 5, goal: 1.4 },
];
const LARGEST = [{ siblings: 5_000, rounds: 3, goal: 1.4 }];
const WARM_UP = 8;

type Place = Pick<BenchPlace, 'repository' | 'freshHome'>;
type Opening = typeof openSession;
type Version = readonly [name: string, open: Opening];

/** Milliseconds of CPU per turn. */
interface Round {
  engine: number[];
  loop: number;
  least: number;
}

export async function run(): Promise<void> {
  await measureSizes(SIZES, [['ramet', openSession]]);
}

/** By itself, because it takes as long as all the others together. */
export async function runLargest(): Promise<void> {
  await measureSizes(LARGEST, [['ramet', openSession]]);
}

async function measureSizes(sizes: typeof SIZES, versions: readonly Version[]): Promise<void> {
  using base = benchPlace();
  using server = await startCacheServer();
  // As a user has it: only the first session ever makes the home.
  const home = base.freshHome();
  const place = { repository: base.repository, freshHome: () => home };
  const once = (siblings: number): Promise<Round> => measure(place, server, siblings, versions);
  for (let round = 0; round < WARM_UP; round++) await once(50);
  for (const { siblings, rounds, goal } of sizes) {
    const measured: Round[] = [];
    for (let round = 0; round < rounds; round++) measured.push(await once(siblings));
    report(siblings, goal, measured, versions);
  }
}

function report(
  siblings: number,
  goal: number,
  rounds: readonly Round[],
  versions: readonly Version[],
): void {
  console.log(`\n${siblings} siblings of two turns, ${rounds.length} rounds: CPU per turn`);
  console.log(`  node:http, unread  ${showSpread(spreadOf(rounds.map(({ least }) => least)), 'ms')}`);
  console.log(`  bare fetch loop    ${showSpread(spreadOf(rounds.map(({ loop }) => loop)), 'ms')}`);
  for (const [index, [name]] of versions.entries()) {
    const own = rounds.map(({ engine }) => engine[index] ?? Number.NaN);
    console.log(`  ${name.padEnd(18)} ${showSpread(spreadOf(own), 'ms')}`);
    const times = spreadOf(rounds.map(({ engine, loop }) => (engine[index] ?? Number.NaN) / loop)).median;
    console.log(
      `  ${verdict(`CPU per turn, ${siblings} siblings, ${name} beside a bare loop`, times, goal, 'times')}`,
    );
  }
}

async function measure(
  place: Place,
  server: CacheServer,
  siblings: number,
  versions: readonly Version[],
): Promise<Round> {
  const engine: number[] = [];
  let sizes: number[] = [];
  for (const [, open] of versions) {
    await play(server, siblings);
    const cpuMs = await cpuOf(async () => {
      await using session = await openBenchSession(place, server.url, {}, open);
      await runPrompt(session, 'Go.');
    });
    sizes = (await server.records()).map(({ bytes }) => bytes);
    engine.push(cpuMs / sizes.length);
  }
  await play(server, siblings);
  const bare = new FetchLoop(server.url, place.repository, Math.min(...sizes));
  const loop = await cpuOf(async () => void (await bare.run('Go.')));
  const { length } = await server.records();
  if (length !== sizes.length) throw new Error(`the bare loop makes ${length} requests, not ${sizes.length}`);
  return { engine, loop: loop / length, least: (await leastRound(server, sizes, siblings)) / length };
}

function play(server: CacheServer, siblings: number): Promise<void> {
  return server.play({
    children: siblings,
    input: { subagent_type: 'general-purpose' },
    call: { name: 'Read', input: { file_path: 'file.txt' } },
    accounting: false,
  });
}

async function leastRound(server: CacheServer, sizes: readonly number[], atOnce: number): Promise<number> {
  using client = new BareClient(server.url);
  const largest = Buffer.alloc(Math.max(...sizes), 'x');
  const waiting = sizes.map((size) => largest.subarray(0, size));
  const worker = async (): Promise<void> => {
    for (let body = waiting.pop(); body !== undefined; body = waiting.pop()) await client.send(body);
  };
  return await cpuOf(async () => void (await Promise.all(Array.from({ length: atOnce }, worker))));
}

async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

async function versionIn(checkout: string): Promise<Version> {
  const other: { openSession: Opening } = await import(resolve(checkout, 'packages/ramet/dist/sdk/index.js'));
  return ['other version', other.openSession];
}

if (import.meta.main) {
  const [other] = process.argv.slice(2);
  await measureSizes(SIZES, [
    ['ramet', openSession],
    ...(other === undefined ? [] : [await versionIn(other)]),
  ]);
}
