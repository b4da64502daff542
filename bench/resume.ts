/**
 * A session of 50 agents and 20 MB of journal, killed with everybody in mid-work: from the start of the process that
 * resumes it to its first request, by the server's clock, and how much of what its agents send is read from the cache.
 * Building it is not measured; every repetition resumes a copy. Beside it, in turns: `node -e 0`, and a small session.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { benchEnvironment } from './bench-session.ts';
import { type BenchPlace, BIN, benchPlace } from './command.ts';
import {
  type ResumePlay,
  type ResumeRecord,
  type ResumeServer,
  startResumeServer,
} from './start-resume-server.ts';
import { atLeast, showSpread, spreadOf, verdict } from './statistics.ts';

const ROUNDS = 8;
const GOAL_MS = 400;
const GOAL_SHARE = 95;
const LARGE: ResumePlay = { children: 50, turns: 20, hold: true };
const SMALL: ResumePlay = { children: 1, turns: 1, hold: true };
const FILE_BYTES = 20_000;
const SETTINGS = { agents: { concurrent: 100, total: 1_000 } };

interface LeftSession {
  home: string;
  session: string;
  play: ResumePlay;
  bytes: number;
}

export async function run(): Promise<void> {
  using place = benchPlace();
  using server = await startResumeServer();
  fillPlace(place);
  // The large one last: the server keeps the cache of what was built last.
  const small = await leaveSession(place, server, SMALL);
  const large = await leaveSession(place, server, LARGE);
  const [floor, few, many]: [number[], number[], number[]] = [[], [], []];
  const shares: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    floor.push(await bareNode());
    few.push((await resume(place, server, small)).firstMs);
    const { firstMs, records } = await resume(place, server, large);
    many.push(firstMs);
    shares.push(shareRead(records));
  }
  const megabytes = (large.bytes / 2 ** 20).toFixed(1);
  console.log(`\nresume of a killed session, process start to first request, ${ROUNDS} rounds on copies`);
  console.log(`  node -e 0                  ${showSpread(spreadOf(floor), 'ms')}`);
  console.log(`  1 agent, 1 turn            ${showSpread(spreadOf(few), 'ms')}`);
  console.log(`  ${LARGE.children} agents, ${megabytes} MB journal  ${showSpread(spreadOf(many), 'ms')}`);
  console.log(`  ${verdict('resume to first request', spreadOf(many).median, GOAL_MS, 'ms')}`);
  console.log(`  ${atLeast("agents' tokens read from the cache", spreadOf(shares).min, GOAL_SHARE, '%')}`);
}

function fillPlace({ repository }: BenchPlace): void {
  for (let turn = 0; turn < LARGE.turns; turn++) {
    const line = `line of file ${turn} with some words in it\n`;
    writeFileSync(join(repository, `file-${turn}.txt`), line.repeat(Math.round(FILE_BYTES / line.length)));
  }
}

/** Runs until everybody is in mid-work, and kills it. */
async function leaveSession(place: BenchPlace, server: ResumeServer, play: ResumePlay): Promise<LeftSession> {
  await server.play(play);
  const home = place.freshHome();
  mkdirSync(join(home, 'ramet'), { recursive: true });
  writeFileSync(join(home, 'ramet/settings.json'), JSON.stringify(SETTINGS));
  const child = startRamet(place, server, home, ['Go.', '--permission-mode', 'bypassPermissions']);
  const ended = once(child, 'exit');
  while ((await server.records()).filter(({ left }) => left).length < play.children) await sleep(50);
  await sleep(500);
  child.kill('SIGKILL');
  await ended;
  const projects = join(home, 'ramet/projects');
  const [project = ''] = readdirSync(projects);
  const files = readdirSync(join(projects, project));
  const session = files.find((name) => /^\w{8}\.sqlite$/.test(name))?.slice(0, 8) ?? '';
  const sizes = files
    .filter((name) => name.startsWith(session))
    .map((name) => statSync(join(projects, project, name)).size);
  return { home, session, play, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

function startRamet(place: BenchPlace, { url }: ResumeServer, home: string, args: string[]): ChildProcess {
  return spawn(process.execPath, [BIN, '-p', ...args], {
    cwd: place.repository,
    env: benchEnvironment(url, home),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function resume(
  place: BenchPlace,
  server: ResumeServer,
  { home, session, play }: LeftSession,
): Promise<{ firstMs: number; records: ResumeRecord[] }> {
  const copy = place.freshHome();
  cpSync(home, copy, { recursive: true });
  await server.play({ ...play, hold: false });
  const started = process.hrtime.bigint();
  const child = startRamet(place, server, copy, ['--resume', session]);
  const [code] = await once(child, 'exit');
  const records = await server.records();
  rmSync(copy, { recursive: true, force: true });
  const first = records[0]?.at;
  if (code !== 0 || first === undefined) throw new Error(`the session was not resumed: code ${code}`);
  return { firstMs: Number(BigInt(first) - started) / 1e6, records };
}

/** Of the first request of every agent that went on, in percent. */
function shareRead(records: readonly ResumeRecord[]): number {
  const firsts = new Map<number, ResumeRecord>();
  for (const record of records) {
    if (record.child !== null && !firsts.has(record.child)) firsts.set(record.child, record);
  }
  if (firsts.size !== LARGE.children) throw new Error(`${firsts.size} agents went on, not ${LARGE.children}`);
  const all = [...firsts.values()];
  const sum = (of: (record: ResumeRecord) => number): number =>
    all.reduce((total, one) => total + of(one), 0);
  return (100 * sum(({ read }) => read)) / sum(({ read, write, input }) => read + write + input);
}

async function bareNode(): Promise<number> {
  const started = process.hrtime.bigint();
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit');
  return Number(process.hrtime.bigint() - started) / 1e6;
}

if (import.meta.main) await run();
