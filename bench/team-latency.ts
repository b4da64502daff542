/**
 * From the call that sends a message to an idle member until its request arrives at the server, by one clock. The member was
 * in no memory: it is rebuilt from the journal. One kind has no worktree, the other keeps its own while it is idle. Sent in the
 * process that hosts the team, and by another process. Beside it, in turns: a bare request, from its call to its arrival.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Session } from 'ramet';
import { BareClient } from './bare-client.ts';
import { benchEnvironment, openBenchSession, runPrompt } from './bench-session.ts';
import { benchPlace } from './command.ts';
import { type CannedServer, startServer } from './start-server.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';
import { commitAll } from './team-place.ts';

const ROUNDS = 40;
const WARM_UP = 10;
const HERE_MS = 10;
const ELSEWHERE_MS = 25;

export async function run(): Promise<void> {
  console.log(`\na message to an idle member, call of the sender to the member's request, ${ROUNDS} rounds`);
  await report('without a worktree', false);
  await report('with a worktree', true);
}

async function report(kind: string, hasWorktree: boolean): Promise<void> {
  using place = benchPlace();
  if (hasWorktree) commitAll(place.repository);
  using server = await startServer([]);
  const env = benchEnvironment(server.url, place.freshHome());
  await using session = await openBenchSession(place, server.url, { env, team: 'bench' });
  await runPrompt(session, 'Go.');
  await server.nextRequest();
  await session.team?.add({ name: 'ada' });
  await using sender = await otherProcess({ cwd: place.repository, env });
  using client = new BareClient(server.url);
  const body = Buffer.alloc(20_000, 'x');
  const [floor, here, elsewhere]: [number[], number[], number[]] = [[], [], []];
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const bare = await arrival(server, () => client.send(body));
    const own = await arrival(server, async () => session.team?.send({ to: 'ada', text: 'Do a part.' }));
    await untilIdle(session);
    const other = await arrival(server, () => sender.send());
    await untilIdle(session);
    if (round < 0) continue;
    floor.push(bare);
    here.push(own);
    elsewhere.push(other);
  }
  console.log(`  ${kind}`);
  console.log(`    a bare request            ${showSpread(spreadOf(floor), 'ms')}`);
  console.log(`    sent in the same process  ${showSpread(spreadOf(here), 'ms')}`);
  console.log(`    sent by another process   ${showSpread(spreadOf(elsewhere), 'ms')}`);
  console.log(`    ${verdict('in one process', spreadOf(here).median, HERE_MS, 'ms')}`);
  console.log(`    ${verdict('across processes', spreadOf(elsewhere).median, ELSEWHERE_MS, 'ms')}`);
}

async function arrival(server: CannedServer, send: () => Promise<unknown>): Promise<number> {
  const before = process.hrtime.bigint();
  const [sent, { at }] = await Promise.all([send(), server.nextRequest()]);
  return Number(at - (typeof sent === 'bigint' ? sent : before)) / 1e6;
}

/** Nothing of its last run is under way any more. */
export async function untilIdle(session: Session): Promise<void> {
  const isBusy = (): boolean =>
    session.agents.length > 0 || session.team?.members().some(({ state }) => state !== 'idle') === true;
  do await sleep(5);
  while (isBusy());
}

/** Sends when it is told to, and says when it began to. */
async function otherProcess(options: object): Promise<AsyncDisposable & { send(): Promise<bigint> }> {
  const child = fork(join(import.meta.dirname, 'team-sender.ts'), [JSON.stringify(options)], {
    stdio: 'inherit',
  });
  await once(child, 'message');
  return {
    async send() {
      child.send('send');
      const [at] = await once(child, 'message');
      return BigInt(String(at));
    },
    async [Symbol.asyncDispose]() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}
