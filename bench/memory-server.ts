/**
 * How many requests a second the memory server answers, 90% conditional GET and 10% PUT of 2 KB, beside a bare `node:http`
 * server that keeps tags in a map: both in processes of their own, in turns, with the same load from this process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMemoryDatabase } from '../packages/ramet/src/memory/server/key-store.ts';
import { TeamTokens } from '../packages/ramet/src/memory/server/team-tokens.ts';
import { load } from './memory-load.ts';
import { atLeast, showSpread, spreadOf } from './statistics.ts';

const CONNECTIONS = 64;
const REQUESTS = 10_000;
const WARM_ROUNDS = 2;
const ROUNDS = 9;
const GOAL = 0.4;

interface Served extends Disposable {
  port: number;
  /** Microseconds of processor time so far. */
  cpu(): Promise<number>;
}

interface Sample {
  perSecond: number;
  cpuMicroseconds: number;
}

export async function run(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'ramet-bench-memory-'));
  try {
    await measure(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measure(directory: string): Promise<void> {
  const token = newToken(directory);
  using bare = await start('bare');
  using memory = await start('memory', directory);
  const [floor, own]: [Sample[], Sample[]] = [[], []];
  for (let round = -WARM_ROUNDS; round < ROUNDS; round++) {
    const samples = [await sample(bare, token), await sample(memory, token)] as const;
    if (round < 0) continue;
    floor.push(samples[0]);
    own.push(samples[1]);
  }
  const of = (samples: readonly Sample[], field: keyof Sample): number[] => samples.map((one) => one[field]);
  const ratios = own.map(({ perSecond }, n) => perSecond / (floor[n]?.perSecond ?? Number.NaN));
  const byCpu = own.map(
    ({ cpuMicroseconds }, n) => (floor[n]?.cpuMicroseconds ?? Number.NaN) / cpuMicroseconds,
  );
  console.log(
    `\nthe memory server, ${CONNECTIONS} connections, ${REQUESTS} requests (90% conditional GET, 10% PUT of 2 KB), ${ROUNDS} rounds in turns`,
  );
  console.log(`  bare node:http  ${showSpread(spreadOf(of(floor, 'perSecond')), 'requests/s')}`);
  console.log(`  memory server   ${showSpread(spreadOf(of(own, 'perSecond')), 'requests/s')}`);
  console.log(
    `  bare node:http  ${showSpread(spreadOf(of(floor, 'cpuMicroseconds')), 'µs of CPU a request')}`,
  );
  console.log(`  memory server   ${showSpread(spreadOf(of(own, 'cpuMicroseconds')), 'µs of CPU a request')}`);
  console.log(`  ratio by CPU    ${showSpread(spreadOf(byCpu), '')}`);
  console.log(`  ratio           ${showSpread(spreadOf(ratios), '')}`);
  console.log(`  ${atLeast('of the requests of a bare server', spreadOf(ratios).median, GOAL, 'times')}`);
}

function newToken(directory: string): string {
  using db = openMemoryDatabase(directory);
  return new TeamTokens(db).create({ team: 'bench', note: '', now: 0 }).token;
}

async function start(kind: 'bare' | 'memory', directory = ''): Promise<Served> {
  const child: ChildProcess = spawn(
    process.execPath,
    [...nodeOptions(kind), `${import.meta.dirname}/memory-server-process.ts`, kind, directory],
    { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
  );
  if (child.stdout === null) throw new Error('the server has no output');
  const [port] = await once(child.stdout, 'data');
  return {
    port: Number(String(port)),
    async cpu() {
      child.send('cpu');
      const [microseconds] = await once(child, 'message');
      return Number(microseconds);
    },
    [Symbol.dispose]: () => child.disconnect(),
  };
}

/** `RAMET_BENCH_PROFILE=DIR` writes a profile of the memory server there. */
function nodeOptions(kind: 'bare' | 'memory'): string[] {
  const quiet = '--disable-warning=ExperimentalWarning';
  const profile = process.env.RAMET_BENCH_PROFILE;
  return kind === 'memory' && profile !== undefined
    ? [quiet, '--cpu-prof', `--cpu-prof-dir=${profile}`]
    : [quiet];
}

async function sample(server: Served, token: string): Promise<Sample> {
  const before = await server.cpu();
  const took = await load({ port: server.port, token, connections: CONNECTIONS, requests: REQUESTS });
  const cpu = (await server.cpu()) - before;
  return { perSecond: (1_000 * REQUESTS) / took, cpuMicroseconds: cpu / REQUESTS };
}
