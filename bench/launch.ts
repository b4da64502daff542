/**
 * Cache-planned launch against the clock: agents released behind a lead may be done at most one time-to-first-token
 * later than agents sent all at once, and no later when the prefix is warm. The time-to-first-token is that of a bare
 * client at the same server. The last part is the example of five agents that share 100,000 tokens, in dollars.
 */
import { bareFirstToken } from './bare-client.ts';
import { benchEnvironment, openBenchSession, runPrompt } from './bench-session.ts';
import { type BenchPlace, benchPlace, runPrint } from './command.ts';
import { costOf, msBetween, ofChildren, ofParent, type PlayRecord } from './play-record.ts';
import type { Play } from './played-model.ts';
import { type CacheServer, startCacheServer } from './start-cache-server.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

const ROUNDS = 6;
const FIRST_TOKEN_MS = 300;

export async function run(): Promise<void> {
  using place = benchPlace();
  using server = await startCacheServer();
  await measureWaits(place, server);
  await measureExample(place, server);
}

/** Two fan-outs in a row: general-purpose agents on a model of their own find what they share cold, then warm. */
const PLAY: Partial<Play> = {
  fanOuts: 2,
  input: { subagent_type: 'general-purpose', model: 'opus' },
  call: null,
  firstTokenMs: FIRST_TOKEN_MS,
};

interface Samples {
  parallel: number[];
  auto: number[];
}

async function measureWaits(place: BenchPlace, server: CacheServer): Promise<void> {
  const [cold, warm]: [Samples, Samples] = [
    { parallel: [], auto: [] },
    { parallel: [], auto: [] },
  ];
  const bare: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const mode of ['parallel', 'auto'] as const) {
      await server.play(PLAY);
      bare.push(await bareFirstToken(server.url, 10_000));
      await runPrint(place, server.url, { prompt: 'Go.', args: ['--launch', mode] });
      const [first = Number.NaN, second = Number.NaN] = fanOutTimes(await server.records());
      cold[mode].push(first);
      warm[mode].push(second);
    }
  }
  console.log(
    "\nfive general-purpose agents of one call: from the parent's answer to its next request, by the server's clock; " +
      `${ROUNDS} rounds, modes in turns`,
  );
  console.log(`  first token, bare client  ${showSpread(spreadOf(bare), 'ms')}`);
  report('cold prefix', cold, spreadOf(bare).median);
  report('warm prefix', warm, 0);
}

/** From each answer of the parent to its next request. */
function fanOutTimes(records: readonly PlayRecord[]): number[] {
  const asks = ofParent(records);
  return asks.slice(1).map((next, index) => msBetween(asks[index]?.endedAt ?? next.at, next.at));
}

/** Judged by medians, as they are; by how much "all at once" differs from itself stands beside it, and excuses nothing. */
function report(name: string, { parallel, auto }: Samples, firstTokenMs: number): void {
  const [floor, planned] = [spreadOf(parallel), spreadOf(auto)];
  console.log(`  ${name}, all at once  ${showSpread(floor, 'ms')}`);
  console.log(`  ${name}, planned      ${showSpread(planned, 'ms')}`);
  const range = (floor.max - floor.min).toFixed(1);
  const best = (planned.min - floor.min).toFixed(1);
  console.log(`  difference of minima ${best} ms; runs of all at once differ by up to ${range} ms`);
  const above = planned.median - floor.median;
  console.log(`  ${verdict(`${name}, planned above all at once`, above, Math.round(firstTokenMs), 'ms')}`);
}

/** Opus 4.6, dollars per input token: the example's, not what Ramet believes. */
const DOLLARS_PER_TOKEN = 5 / 1_000_000;
const SHARED_TOKENS = 100_000;
const MODEL = 'claude-opus-4-6';
type Way = 'parallel' | 'auto' | 'staggered' | 'sequential';
const WAYS: readonly Way[] = ['parallel', 'auto', 'staggered', 'sequential'];
const EXAMPLE_ROUNDS = 3;

async function measureExample(place: BenchPlace, server: CacheServer): Promise<void> {
  const byArithmetic = (units: number): number => units * SHARED_TOKENS * DOLLARS_PER_TOKEN;
  const [parallel, sequential] = [byArithmetic(5 * 1.25), byArithmetic(1.25 + 4 * 0.1)];
  console.log(
    `\nfive forks of a resumed session of ${SHARED_TOKENS} tokens whose cache has gone, one call each, $5 per million ` +
      `input tokens, ${EXAMPLE_ROUNDS} rounds; by arithmetic all at once $${parallel.toFixed(3)}, one after the other ` +
      `$${sequential.toFixed(3)}`,
  );
  const usd = new Map<Way, number[]>();
  const ms = new Map<Way, number[]>();
  for (let round = 0; round < EXAMPLE_ROUNDS; round++) {
    for (const way of WAYS) {
      const measured = await exampleRun(place, server, way);
      usd.set(way, [...(usd.get(way) ?? []), measured.usd]);
      ms.set(way, [...(ms.get(way) ?? []), measured.ms]);
    }
  }
  for (const way of WAYS) {
    const dollars = spreadOf(usd.get(way) ?? []).max.toFixed(3);
    console.log(`  ${way.padEnd(10)} $${dollars}  ${showSpread(spreadOf(ms.get(way) ?? []), 'ms')}`);
  }
  const firstToken = await bareFirstToken(server.url, SHARED_TOKENS * 4);
  const above = spreadOf(ms.get('auto') ?? []).median - spreadOf(ms.get('parallel') ?? []).median;
  const beside = spreadOf(usd.get('auto') ?? []).max / spreadOf(usd.get('sequential') ?? []).min;
  console.log(`  ${verdict('planned, dollars beside one after the other', beside, 1, 'times')}`);
  const goal = Math.round(firstToken);
  console.log(`  ${verdict('planned, wall clock above all at once', above, goal, 'ms')}`);
}

async function exampleRun(
  place: BenchPlace,
  server: CacheServer,
  way: Way,
): Promise<{ usd: number; ms: number }> {
  const env = benchEnvironment(server.url, place.freshHome());
  await server.play({ fanOuts: 0 });
  await longSession(place, server, env);
  await server.play({ fanOuts: 0, call: null, firstTokenMs: FIRST_TOKEN_MS });
  const launch = way === 'sequential' ? 'auto' : way;
  await using session = await openBenchSession(place, server.url, { env, launch, resume: 'latest' });
  const started = performance.now();
  if (way === 'sequential') {
    for (let task = 1; task <= 5; task++) await (await session.fork(taskText(task))).result;
  } else {
    const forks = await Promise.all([1, 2, 3, 4, 5].map((task) => session.fork(taskText(task))));
    await Promise.all(forks.map(({ result }) => result));
  }
  const ms = performance.now() - started;
  return { usd: costOf(ofChildren(await server.records())) * DOLLARS_PER_TOKEN, ms };
}

function taskText(task: number): string {
  return `Do child task ${task} now.`;
}

/** Leaves a conversation of about the tokens of the example, tools and system prompt included. */
async function longSession(place: BenchPlace, server: CacheServer, env: NodeJS.ProcessEnv): Promise<void> {
  await using session = await openBenchSession(place, server.url, { env, model: MODEL });
  const line = 'One of many lines that the user has to say about the work.\n';
  await runPrompt(session, line.repeat(Math.round((SHARED_TOKENS * 4 - 11_500) / line.length)));
}

if (import.meta.main) await run();
