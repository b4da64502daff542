/**
 * What a process of its own costs an agent, beside agents in the host's process, in the same run and in turns: from the
 * end of the parent's answer to the first request of the last of five children, and to the request that brings their
 * first tool results (both times are the server's, which has no latency); CPU of the whole tree of processes for such a
 * run; and memory of agents at work whose answers do not go on, as the share of the machine's memory that is theirs
 * alone (proportional set size, all processes together).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBenchSession, runPrompt } from './bench-session.ts';
import { type BenchPlace, benchPlace, runPrint } from './command.ts';
import { grossBytes } from './gross-bytes.ts';
import { msBetween, ofChildren, ofParent, type PlayRecord } from './play-record.ts';
import { type CacheServer, startCacheServer } from './start-cache-server.ts';
import { showSpread, spreadOf } from './statistics.ts';

const ROUNDS = 10;
const CHILDREN = 5;
const PARKED = 10;
const KINDS = ['in-process', 'process'] as const;
type Kind = (typeof KINDS)[number];

interface RunFigures {
  firstRequest: number;
  firstResults: number;
  cpu: number;
}

export async function run(): Promise<void> {
  using place = benchPlace();
  using server = await startCacheServer();
  const runs: Record<Kind, RunFigures[]> = { 'in-process': [], process: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const kind of KINDS) runs[kind].push(await oneRun(place, server, kind));
  }
  console.log(`\n${CHILDREN} general-purpose children of one Bash call each, ${ROUNDS} rounds of ramet -p`);
  const rows: [string, keyof RunFigures][] = [
    ['answer to the last first request', 'firstRequest'],
    ['answer to the last first result', 'firstResults'],
    ['CPU of the whole run', 'cpu'],
  ];
  for (const [label, figure] of rows) {
    for (const kind of KINDS) {
      const spread = spreadOf(runs[kind].map((each) => each[figure]));
      console.log(`  ${label.padEnd(34)} ${kind.padEnd(11)} ${showSpread(spread, 'ms')}`);
    }
  }
  console.log(`memory per agent at work, ${PARKED} agents, all processes together`);
  for (const kind of KINDS) {
    const { host, own } = await parkedMemory(place, server, kind);
    console.log(
      `  ${kind.padEnd(11)} ${host.toFixed(2)} MB in the host, ${own.toFixed(1)} MB in its own process`,
    );
  }
}

async function oneRun(place: BenchPlace, server: CacheServer, kind: Kind): Promise<RunFigures> {
  await server.play({ children: CHILDREN, input: { subagent_type: 'general-purpose' } });
  const before = cpuOfEnded();
  await runPrint(place, server.url, { prompt: 'Go.', args: ['--launch', 'parallel', '--executor', kind] });
  const cpu = cpuOfEnded() - before;
  const records = await server.records();
  const answered = ofParent(records)[0]?.endedAt ?? '0';
  const last = (nth: number): number =>
    Math.max(...requestsByChild(records).map((own) => msBetween(answered, own[nth]?.at ?? '0')));
  return { firstRequest: last(0), firstResults: last(1), cpu };
}

function requestsByChild(records: readonly PlayRecord[]): PlayRecord[][] {
  return Object.values(Object.groupBy(ofChildren(records), ({ child }) => String(child))).map(
    (own) => own ?? [],
  );
}

/** CPU of processes that this one has waited for, and of those they waited for, in milliseconds; in steps of ten. */
function cpuOfEnded(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

async function parkedMemory(
  place: BenchPlace,
  server: CacheServer,
  kind: Kind,
): Promise<{ host: number; own: number }> {
  await server.play({ fanOuts: 0 });
  await using session = await openBenchSession(place, server.url, {
    launch: 'parallel',
    agents: { executor: kind },
  });
  await runPrompt(session, 'Go.');
  const before = await grossBytes();
  await server.play({ hold: true, call: null, accounting: false });
  const order = { subagent_type: 'general-purpose', description: 'task' };
  const handles = await Promise.all(
    Array.from({ length: PARKED }, (_, index) =>
      session.spawn({ ...order, prompt: `Do child task ${index + 1} now.` }),
    ),
  );
  while (ofChildren(await server.records()).length < PARKED) await sleep(100);
  await sleep(2_000);
  const host = (await grossBytes()) - before;
  const own = agentProcesses().reduce((sum, pid) => sum + proportionalKb(pid), 0);
  await server.play({ accounting: false });
  await Promise.all(handles.map(({ result }) => result));
  return { host: host / 1024 / 1024 / PARKED, own: own / 1024 / PARKED };
}

function agentProcesses(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      const isOurs = new RegExp(`^PPid:\\s+${process.pid}$`, 'm').test(look(pid, 'status'));
      return isOurs && look(pid, 'cmdline').includes('child-main');
    })
    .map(Number);
}

function proportionalKb(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(look(String(pid), 'smaps_rollup'))?.[1]);
}

function look(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return ''; // it ended while being looked at
  }
}

if (import.meta.main) await run();
