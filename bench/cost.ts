/**
 * What fan-outs cost, in input-token equivalents (write 1.25, read 0.1, output left out), as the cache server accounts
 * for the bytes that `ramet -p` sends. Every child makes one Bash call and reports; all tiers are one model. The
 * figures of the best peer are those of the same runs, measured the same way (2026-11-15); they are no part of the
 * verdicts.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchPlace, benchPlace, runPrint } from './command.ts';
import { costOf, ofChildren, ofParent, type PlayRecord } from './play-record.ts';
import type { Play } from './played-model.ts';
import { type CacheServer, startCacheServer } from './start-cache-server.ts';
import { atLeast, verdict } from './statistics.ts';

const MODEL = 'claude-sonnet-5';
const ONE_MODEL = { RAMET_MODEL_HAIKU: MODEL, RAMET_MODEL_SONNET: MODEL, RAMET_MODEL_OPUS: MODEL };
/** Without it a sibling's answer would have begun before the next one's request is sent. */
const FIRST_TOKEN_MS = 300;
const GENERAL = { subagent_type: 'general-purpose' };

interface Run {
  name: string;
  play: Partial<Play>;
  args?: string[];
  peer: number | null;
  goal: number;
  /** Of which requests; the children's when absent. */
  whole?: true;
}

const RUNS: readonly Run[] = [
  { name: '5 general-purpose', play: { input: GENERAL }, peer: 50_022, goal: 11_000 },
  { name: '5 Explore', play: { input: { subagent_type: 'Explore' } }, peer: 34_896, goal: 7_500 },
  { name: '5 forks', play: {}, peer: 14_625, goal: 11_000 },
  { name: '5 forks, parallel', play: {}, args: ['--launch', 'parallel'], peer: 14_625, goal: 11_000 },
  { name: '5 forks, staggered', play: {}, args: ['--launch', 'staggered'], peer: 14_625, goal: 7_500 },
  { name: '20 general-purpose', play: { children: 20, input: GENERAL }, peer: 201_184, goal: 30_000 },
  { name: 'whole run, 5 general-purpose', play: { input: GENERAL }, peer: 72_830, goal: 20_000, whole: true },
];

export async function run(): Promise<void> {
  using place = benchPlace();
  using server = await startCacheServer();
  writeInstructions(place.repository);
  console.log(
    '\ncost of a fan-out, input-token equivalents; children of two calls; ' +
      `${FIRST_TOKEN_MS} ms to the first token; one run each`,
  );
  for (const each of RUNS) await reportRun(place, server, each);
  await reportDirectories(place, server);
  await reportWorktrees(place, server);
  for (const children of [20, 50]) await reportResults(place, server, children);
}

async function reportRun(
  place: BenchPlace,
  server: CacheServer,
  { name, peer, goal, ...how }: Run,
): Promise<void> {
  const records = await recordsOf(place, server, how.play, how.args);
  const counted = how.whole ? records : ofChildren(records);
  const sum = (field: 'input' | 'write' | 'read'): string =>
    counted.reduce((total, record) => total + record[field], 0).toFixed(0);
  const cost = costOf(counted);
  const ratio = peer === null ? '' : `, best peer ${peer}: ${(peer / cost).toFixed(1)} times ours`;
  console.log(`  ${name}: input ${sum('input')}, written ${sum('write')}, read ${sum('read')}${ratio}`);
  console.log(`    ${verdict(name, cost, goal, 'tokens')}`);
  if (how.play.input === undefined) reportPrefix(records);
}

/** Of a fork: how much of what its parent had marked its first request read. */
function reportPrefix(records: readonly PlayRecord[]): void {
  const parent = ofParent(records)[0]?.marked ?? Number.NaN;
  const firsts = ofChildren(records).filter(
    ({ child }, index, all) => all.findIndex((other) => other.child === child) === index,
  );
  const least = Math.min(...firsts.map(({ read }) => read));
  console.log(
    `    ${atLeast("least read by a fork of its parent's prefix", (100 * least) / parent, 100, '%')}`,
  );
}

/**
 * Five runs in five repositories beside five in one: nothing that differs may stand before what is shared (FORK-9).
 * Each run has its own task: the same task again in one directory would be read whole, which no directory can share.
 */
async function reportDirectories(place: BenchPlace, server: CacheServer): Promise<void> {
  const others = [1, 2, 3, 4, 5].map((number) => {
    const directory = join(place.repository, '..', `another-${'x'.repeat(number)}`, `project-${number}`);
    mkdirSync(directory, { recursive: true });
    execFileSync('git', ['init', '--quiet', directory]);
    writeInstructions(directory);
    return directory;
  });
  const same = await costIn(place, server, Array<string>(5).fill(place.repository));
  const different = await costIn(place, server, others);
  console.log(
    `  five runs of a general-purpose agent, each with its own task: one directory ${same.toFixed(0)}, five ${different.toFixed(0)}`,
  );
  console.log(`    ${verdict('five directories beside one', different / same, 1.05, 'times')}`);
}

/** Five agents of one run in worktrees of their own beside five in one directory (EXEC-5); the whole run counts. */
async function reportWorktrees(place: BenchPlace, server: CacheServer): Promise<void> {
  const repository = join(place.repository, '..', 'committed');
  mkdirSync(repository);
  writeInstructions(repository);
  const identity = ['-c', 'user.name=Bench', '-c', 'user.email=bench@localhost'];
  for (const args of [
    ['init', '--quiet'],
    ['add', '--all'],
    ['commit', '--quiet', '--message=start'],
  ]) {
    execFileSync('git', [...identity, ...args], { cwd: repository });
  }
  const costWith = async (input: Record<string, unknown>): Promise<number> => {
    await server.play({ firstTokenMs: FIRST_TOKEN_MS, input });
    await runPrint(place, server.url, { prompt: 'Go.', cwd: repository, env: ONE_MODEL });
    return costOf(await server.records());
  };
  const same = await costWith(GENERAL);
  const apart = await costWith({ ...GENERAL, isolation: 'worktree' });
  console.log(
    `  a run with five general-purpose agents: one directory ${same.toFixed(0)}, five worktrees ${apart.toFixed(0)}`,
  );
  console.log(`    ${verdict('five worktrees beside one directory', apart / same, 1.05, 'times')}`);
}

async function costIn(
  place: BenchPlace,
  server: CacheServer,
  directories: readonly string[],
): Promise<number> {
  await server.play({ children: 1, input: GENERAL });
  for (const [index, cwd] of directories.entries()) {
    await runPrint(place, server.url, { cwd, prompt: `Continue with part ${index + 1}.`, env: ONE_MODEL });
  }
  return costOf(await server.records());
}

/** The parent's request after many results, beside what its last one had marked; and that all came, in order. */
async function reportResults(place: BenchPlace, server: CacheServer, children: number): Promise<void> {
  const records = await recordsOf(place, server, { children, input: GENERAL });
  const [before, after] = ofParent(records);
  const read = (100 * (after?.read ?? 0)) / (before?.marked ?? Number.NaN);
  console.log(
    `  ${children} Agent calls in one message: the parent's next request writes ${after?.write.toFixed(0)}`,
  );
  console.log(`    ${atLeast(`former prefix read after ${children} results`, read, 100, '%')}`);
  console.log(`    ${atLeast('results in the order of the calls', inOrder(after), children, 'reports')}`);
}

function inOrder(record: PlayRecord | undefined): number {
  const reports = record?.reports ?? [];
  const wrong = reports.findIndex((child, index) => child !== index + 1);
  return wrong < 0 ? reports.length : wrong;
}

async function recordsOf(
  place: BenchPlace,
  server: CacheServer,
  play: Partial<Play>,
  args: readonly string[] = [],
): Promise<PlayRecord[]> {
  await server.play({ firstTokenMs: FIRST_TOKEN_MS, ...play });
  await runPrint(place, server.url, { prompt: 'Go.', args, env: ONE_MODEL });
  return server.records();
}

function writeInstructions(directory: string): void {
  writeFileSync(join(directory, 'AGENTS.md'), 'Use plain words.\n'.repeat(40));
}

if (import.meta.main) await run();
