/**
 * 10,000 agents started and ended in one session, 20 at work at once: what is left of them. Heap, handles of the event
 * loop, listeners on the process and child processes are compared with what they were after the first 3,000, when
 * everything that is made once has been made.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Session } from 'ramet';
import { openBenchSession, runPrompt } from './bench-session.ts';
import { benchPlace } from './command.ts';
import { grossBytes } from './gross-bytes.ts';
import { startCacheServer } from './start-cache-server.ts';
import { verdict } from './statistics.ts';

const AGENTS = 10_000;
const FIRST = 3_000;
const AT_ONCE = 20;

interface Left {
  bytes: number;
  resources: string[];
  listeners: number;
  processes: number;
}

export async function run(): Promise<void> {
  using place = benchPlace();
  using server = await startCacheServer();
  await server.play({ fanOuts: 0, call: null, accounting: false });
  await using session = await openBenchSession(place, server.url);
  await runPrompt(session, 'Go.');
  await spawnAll(session, 0, FIRST);
  const before = await whatIsLeft();
  const started = performance.now();
  await spawnAll(session, FIRST, AGENTS);
  const seconds = (performance.now() - started) / 1_000;
  const after = await whatIsLeft();
  const more = AGENTS - FIRST;
  console.log(
    `\n${AGENTS} agents in one session, ${AT_ONCE} at once; ${(more / seconds).toFixed(0)} a second`,
  );
  show('heap and external, MB', before.bytes / 2 ** 20, after.bytes / 2 ** 20);
  console.log(`  active resources       ${before.resources.join(' ')}; then ${after.resources.join(' ')}`);
  show('listeners', before.listeners, after.listeners);
  show('child processes', before.processes, after.processes);
  console.log(`  ${verdict('heap beside what it was', after.bytes / before.bytes, 1.05, 'times')}`);
  console.log(
    `  ${verdict('more resources', after.resources.length - before.resources.length, 0, 'handles')}`,
  );
  console.log(`  ${verdict('more listeners', after.listeners - before.listeners, 0, 'listeners')}`);
  console.log(`  ${verdict('more processes', after.processes - before.processes, 0, 'processes')}`);
}

function show(name: string, before: number, after: number): void {
  console.log(
    `  ${name.padEnd(22)} ${before.toFixed(1)} after ${FIRST}, ${after.toFixed(1)} after ${AGENTS}`,
  );
}

async function spawnAll(session: Session, from: number, to: number): Promise<void> {
  let next = from;
  const worker = async (): Promise<void> => {
    while (next < to) {
      next += 1;
      const order = { prompt: `Do child task ${next} now.`, description: 'task' };
      const type = next % 2 === 0 ? { subagent_type: 'general-purpose' } : {};
      const { status, message } = await (await session.spawn({ ...order, ...type })).result;
      if (status !== 'done') throw new Error(`agent ${next} ended ${status}: ${message}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function whatIsLeft(): Promise<Left> {
  // Timers of finished requests and the journal's sync run out.
  await sleep(1_000);
  const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
  return {
    bytes: await grossBytes(),
    resources: process.getActiveResourcesInfo().sort(),
    listeners,
    processes: childProcesses(),
  };
}

function childProcesses(): number {
  return readdirSync('/proc').filter((entry) => {
    if (!/^\d+$/.test(entry)) return false;
    try {
      return (
        readFileSync(`/proc/${entry}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === String(process.pid)
      );
    } catch {
      return false;
    }
  }).length;
}

if (import.meta.main) await run();
