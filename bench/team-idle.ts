/**
 * What idle members of a team take: heap and external memory of each after a collection, and CPU while they idle. First 10,000
 * that were added and have not begun, then 2,000 that have answered a prompt. The floor is a map of as many names and states.
 * Then the wake-up of a member with 50 turns in a journal of 100,000 events, from the call that sends to its request.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Session } from 'ramet';
import { openBenchSession, runPrompt } from './bench-session.ts';
import { type BenchPlace, benchPlace } from './command.ts';
import { grossBytes } from './gross-bytes.ts';
import { type CannedServer, startServer } from './start-server.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';
import { untilIdle } from './team-latency.ts';

const MEMBERS = 10_000;
const ANSWERED = 2_000;
/** Longer than the pause between two looks at the record. */
const IDLE_MS = 31_000;
const HEAP_KB = 4;
const CPU_PERCENT = 1;
const TURNS = 50;
const EVENTS = 100_000;
const WAKES = 40;
const WAKE_MS = 30;

/** Only members that have answered, as many as were only added otherwise. */
export async function runLargest(): Promise<void> {
  using place = benchPlace();
  using server = await startServer([]);
  void readAll(server);
  console.log(`\n${MEMBERS} idle members of a team that have answered, ${IDLE_MS / 1_000} s of idling`);
  await reportAnswered(place, server, MEMBERS);
}

export async function run(): Promise<void> {
  using place = benchPlace();
  using server = await startServer([]);
  void readAll(server);
  console.log(`\nidle members of a team, ${IDLE_MS / 1_000} s of idling`);
  console.log(`  a map of names and states  ${(await bareMap()).toFixed(2)} KB each`);
  await report(place, server, { how: 'added, not begun', count: MEMBERS }, async (session, name) => {
    await session.team?.add({ name });
  });
  await reportAnswered(place, server, ANSWERED);
  await reportWake(place);
}

function reportAnswered(place: BenchPlace, server: CannedServer, count: number): Promise<void> {
  return report(place, server, { how: 'after an answer', count }, async (session, name) => {
    const { result } = await session.spawn({ ...MEMBER, name, prompt: `You are ${name}. Wait.` });
    await result;
  });
}

const MEMBER = { subagent_type: 'teammate', description: 'wait' } as const;

/** Nobody else reads when requests arrived. */
async function readAll(server: CannedServer): Promise<void> {
  for (;;) {
    try {
      await server.nextRequest();
    } catch {
      return;
    }
  }
}

async function bareMap(): Promise<number> {
  const before = await grossBytes();
  const names = Array.from({ length: MEMBERS }, (_, index) => [`m${index}`, { state: 'idle' }] as const);
  const kept = new Map(names);
  const after = await grossBytes();
  return (after - before) / 1024 / kept.size;
}

async function report(
  place: BenchPlace,
  server: CannedServer,
  { how, count }: { how: string; count: number },
  make: (session: Session, name: string) => Promise<void>,
): Promise<void> {
  await using session = await openBenchSession(place, server.url, { team: 'bench' });
  await runPrompt(session, 'Go.');
  // The first ones make tables grow and code compile that stay.
  await makeAll(session, 'first', 200, make);
  const before = await grossBytes();
  const since = performance.now();
  await makeAll(session, 'm', count, make);
  const ms = performance.now() - since;
  await untilIdle(session);
  const heap = ((await grossBytes()) - before) / 1024 / count;
  const cpu = process.cpuUsage();
  await sleep(IDLE_MS);
  const { user, system } = process.cpuUsage(cpu);
  const share = (100 * (user + system)) / 1_000 / IDLE_MS;
  console.log(`  ${count} ${how}: made in ${(ms / 1_000).toFixed(1)} s`);
  console.log(`    ${verdict(`heap of a member, ${how}`, heap, HEAP_KB, 'KB')}`);
  console.log(`    ${verdict(`CPU of all, ${how}`, share, CPU_PERCENT, '% of a core')}`);
}

async function makeAll(
  session: Session,
  prefix: string,
  count: number,
  make: (session: Session, name: string) => Promise<void>,
): Promise<void> {
  const batch = 100;
  for (let from = 0; from < count; from += batch) {
    const names = Array.from({ length: batch }, (_, index) => `${prefix}${from + index}`);
    await Promise.all(names.map((name) => make(session, name)));
  }
}

async function reportWake(place: BenchPlace): Promise<void> {
  using server = await startServer([]);
  let events = 0;
  await using session = await openBenchSession(place, server.url, {
    team: 'bench',
    onRecord: () => {
      events++;
    },
  });
  await runPrompt(session, 'Go.');
  await server.nextRequest();
  await session.team?.add({ name: 'ada' });
  const small = await wakes(session, server, TURNS);
  const spoken = spreadOf(small.slice(-20));
  await fill(session, server, () => events < EVENTS);
  const large = spreadOf(await wakes(session, server, WAKES));
  console.log(`  wake-up of a member with ${TURNS} turns, ${WAKES} times, call of the sender to its request`);
  console.log(`    ${TURNS * 20} events in the journal or fewer  ${showSpread(spoken, 'ms')}`);
  console.log(`    ${events} events in the journal  ${showSpread(large, 'ms')}`);
  console.log(`    ${verdict('wake-up in the large journal', large.median, WAKE_MS, 'ms')}`);
}

async function wakes(session: Session, server: CannedServer, count: number): Promise<number[]> {
  const samples: number[] = [];
  for (let round = 0; round < count; round++) {
    const before = process.hrtime.bigint();
    const [{ at }] = await Promise.all([
      server.nextRequest(),
      session.team?.send({ to: 'ada', text: `Part ${round}: ${'a line of what to do\n'.repeat(20)}` }),
    ]);
    samples.push(Number(at - before) / 1e6);
    await untilIdle(session);
  }
  return samples;
}

/** Other agents write the rest of the journal. */
async function fill(session: Session, server: CannedServer, isMissing: () => boolean): Promise<void> {
  const batch = 100;
  while (isMissing()) {
    const made = Array.from({ length: batch }, async (_, index) => {
      const order = { subagent_type: 'general-purpose', description: 'fill', prompt: `Fill ${index}.` };
      return (await session.spawn(order)).result;
    });
    await Promise.all([...made, ...made.map(() => server.nextRequest())]);
  }
}
