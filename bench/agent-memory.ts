/**
 * Memory of agents, gross: heap and external memory after a collection, above a session that has none. Parked: 2,000
 * agents whose answers have begun and do not go on; the floor is as many bare requests in the same state. Idle: the same
 * agents after they have ended, their handles kept, each to be continued with a message. Then a child of one Bash call in
 * `ramet -p`: resident memory and CPU of the whole process, at 1 child and at 21, divided by 20.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { BareClient } from './bare-client.ts';
import { openBenchSession, runPrompt } from './bench-session.ts';
import { type BenchPlace, benchPlace, runPrint } from './command.ts';
import { grossBytes } from './gross-bytes.ts';
import { ofChildren } from './play-record.ts';
import { type CacheServer, startCacheServer } from './start-cache-server.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

const AGENTS = 2_000;
const KINDS = [
  ['general-purpose', { subagent_type: 'general-purpose' }],
  ['fork', {}],
] as const;

export async function run(): Promise<void> {
  using place = benchPlace();
  using server = await startCacheServer();
  console.log(`\nheap and external memory per agent, ${AGENTS} agents, after a collection`);
  console.log(`  bare request, parked      ${(await parkedBare(server)).toFixed(2)} KB`);
  for (const [name, input] of KINDS) {
    // The first time around, code is compiled and tables grow that stay.
    await measureAgents(place, server, input, 200);
    const { parked, idle } = await measureAgents(place, server, input, AGENTS);
    console.log(`  ${verdict(`${name}, parked mid-stream`, parked, 15, 'KB')}`);
    console.log(`  ${verdict(`${name}, idle`, idle, 4, 'KB')}`);
  }
  await measureLive(place, server);
}

async function measureAgents(
  place: BenchPlace,
  server: CacheServer,
  input: { subagent_type?: string },
  count: number,
): Promise<{ parked: number; idle: number }> {
  await server.play({ fanOuts: 0 });
  await using session = await openBenchSession(place, server.url, { launch: 'parallel' });
  await runPrompt(session, 'Go.');
  const before = await grossBytes();
  await server.play({ hold: true, call: null, accounting: false });
  const handles = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      session.spawn({ ...input, prompt: `Do child task ${index + 1} now.`, description: 'task' }),
    ),
  );
  await untilAsked(server, count);
  const parked = await grossBytes();
  await server.play({ accounting: false });
  const results = await Promise.all(handles.map(({ result }) => result));
  const failed = results.find(({ status }) => status !== 'done');
  if (failed !== undefined) throw new Error(`an agent ended ${failed.status}: ${failed.message}`);
  const idle = await grossBytes();
  // Looked at after the collections, so that none of them could take the handles away.
  const kept = handles.length;
  return { parked: (parked - before) / 1024 / kept, idle: (idle - before) / 1024 / kept };
}

async function untilAsked(server: CacheServer, count: number): Promise<void> {
  while (ofChildren(await server.records()).length < count) await sleep(100);
  await sleep(500);
}

async function parkedBare(server: CacheServer): Promise<number> {
  await server.play({ hold: true });
  using client = new BareClient(server.url);
  const body = Buffer.alloc(12_000, 'x');
  const before = await grossBytes();
  const sent = Array.from({ length: AGENTS }, () => client.send(body));
  await sleep(2_000);
  const parked = await grossBytes();
  await server.play({});
  await Promise.all(sent);
  return (parked - before) / 1024 / AGENTS;
}

const ROUNDS = 5;
const CHILDREN = 20;
/** Prints resident memory at its peak, in KB, and CPU in microseconds, when the process ends. */
const SPENT =
  "data:text/javascript,import{readFileSync}from'node:fs';process.on('exit',()=>{const{user,system}=process.cpuUsage();console.log('spent',/VmHWM:\\s*(\\d+)/.exec(readFileSync('/proc/self/status'))[1],user+system)})";

async function measureLive(place: BenchPlace, server: CacheServer): Promise<void> {
  const memory: number[] = [];
  const cpu: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const few = await spentBy(place, server, 1);
    const many = await spentBy(place, server, 1 + CHILDREN);
    memory.push((many.kb - few.kb) / 1024 / CHILDREN);
    cpu.push((many.ms - few.ms) / CHILDREN);
  }
  console.log(
    `live child of one Bash call and a report, in ramet -p, ${ROUNDS} rounds; the best-known peer: 3.3 MB, 80 ms`,
  );
  console.log(`  resident memory ${showSpread(spreadOf(memory), 'MB')}`);
  console.log(`  CPU             ${showSpread(spreadOf(cpu), 'ms')}`);
  console.log(`  ${verdict('memory of a live child', spreadOf(memory).median, 0.5, 'MB')}`);
  console.log(`  ${verdict('CPU of a live child', spreadOf(cpu).median, 8, 'ms')}`);
}

async function spentBy(
  place: BenchPlace,
  server: CacheServer,
  children: number,
): Promise<{ kb: number; ms: number }> {
  await server.play({ children, input: { subagent_type: 'general-purpose' }, firstTokenMs: 100 });
  const output = await runPrint(place, server.url, { prompt: 'Go.', node: ['--import', SPENT] });
  const [, kb, us] = /spent (\d+) (\d+)/.exec(output) ?? [];
  return { kb: Number(kb), ms: Number(us) / 1_000 };
}

if (import.meta.main) await run();
