import { describe, expect, test } from 'vitest';
import { type Siblings, startSiblings } from '../../../test/fixtures/siblings.ts';
import { freezeBlock } from '../../conversation/frozen-block.ts';
import type { Answer, RequestView } from '../../emulator/index.ts';
import { type SimulatedClock, simulatedClock } from '../../testing/simulated-clock.ts';
import type { Agent } from '../agent/agent.ts';
import { recordResponse } from '../exchange/exchange.ts';

const TASKS = ['task one', 'task two', 'task three', 'task four', 'task five'];
const latency = { baseMs: 60 };

async function runAll({ child, run }: Siblings): Promise<string[]> {
  const agents = TASKS.map((task) => child(task));
  const results = await Promise.all(agents.map((agent) => run(agent)));
  return results.map(({ status }) => status);
}

/** Lets a number of requests come in, and then answers them all: none reads what another of them writes. */
async function answerTogether(clock: SimulatedClock, requests: number): Promise<void> {
  await clock.whenSleeping(requests);
  await clock.advance(latency.baseMs);
}

/** The parent asks for five forks; they answer. */
function respond({ last }: RequestView): Answer {
  if (!last.includes('the parent')) return { text: 'done' };
  const calls = TASKS.map((_, index) => ({ name: 'Fork', input: {}, id: `fork${index}` }));
  return { tool_use: calls };
}

/** One answer of the parent, whose calls are left open: forks continue from there. */
async function askOnce(agent: Agent): Promise<void> {
  const done = await agent.runtime.host.exchange(agent, {
    turn: 1,
    maxTokens: 1_000,
    signal: new AbortController().signal,
    partial: false,
    onSpent: () => undefined,
  });
  recordResponse(agent, done, true);
}

const allDone = TASKS.map(() => 'done');

describe('LAUNCH-1: five children of one session on a provider with a cache', () => {
  test('a cold prefix is written by exactly one and read by four', async () => {
    const siblings = await startSiblings({ emulator: { latency } });
    expect(await runAll(siblings)).toEqual(allDone);
    expect(siblings.accounts()).toEqual(['wrote', 'read', 'read', 'read', 'read']);
    expect(TASKS.map(siblings.choices)).toEqual([['lead'], ...Array(4).fill(['follow', 'released'])]);
  });

  test('those who wait say so, and go in the order they came', async () => {
    const siblings = await startSiblings({ emulator: { latency } });
    const agents = TASKS.map((task) => siblings.child(task));
    await Promise.all(agents.map((agent) => siblings.run(agent)));
    const statuses = siblings.engine.recorded().filter(({ type }) => type === 'status.changed');
    expect(statuses.slice(0, 4)).toEqual(
      Array(4).fill({ type: 'status.changed', status: 'waiting', cause: 'lead' }),
    );
    const asked = siblings.engine
      .recorded()
      .flatMap((event) => (event.type === 'request.started' ? [event.request] : []));
    expect(asked).toEqual(agents.map(({ spec }) => `${spec.id}/1`));
  });

  test('on a warm prefix all start at once and all read', async () => {
    const siblings = await startSiblings({ emulator: { latency } });
    await siblings.run(siblings.child('first of all'));
    expect(await runAll(siblings)).toEqual(allDone);
    expect(siblings.accounts()).toEqual(['wrote', 'read', 'read', 'read', 'read', 'read']);
    expect(TASKS.map(siblings.choices)).toEqual(Array(5).fill(['at_once']));
  });

  test('below the minimum nobody is held', async () => {
    const siblings = await startSiblings({ emulator: { latency }, sharedTokens: 600 });
    expect(await runAll(siblings)).toEqual(allDone);
    expect(TASKS.map(siblings.choices)).toEqual(Array(5).fill(['at_once']));
    const why = siblings.engine.recorded().flatMap((e) => (e.type === 'launch.decided' ? [e.why] : []));
    expect(why.every((reason) => reason.startsWith('below minimum'))).toBe(true);
  });

  test('in parallel all write', async () => {
    const clock = simulatedClock(1_000_000);
    const siblings = await startSiblings({ emulator: { latency, clock }, launch: 'parallel' });
    const running = runAll(siblings);
    await answerTogether(clock, 5);
    expect(await running).toEqual(allDone);
    expect(siblings.accounts()).toEqual(Array(5).fill('wrote'));
  });

  test('a lead that fails for good hands over, and the others still read', async () => {
    const refuse = { kind: 'status', status: 400, message: 'no' } as const;
    const siblings = await startSiblings({
      emulator: { latency, fault: ({ last }) => (last.includes('task one') ? refuse : undefined) },
    });
    expect(await runAll(siblings)).toEqual(['failed', 'done', 'done', 'done', 'done']);
    expect(siblings.accounts()).toEqual(['wrote', 'read', 'read', 'read']);
    expect(siblings.choices('task two')).toEqual(['follow', 'lead']);
  });

  test('a lead that fails and tries again comes back as one that follows', async () => {
    let failures = 1;
    const siblings = await startSiblings({
      emulator: {
        latency,
        fault: () => (failures-- > 0 ? { kind: 'status', status: 529 } : undefined),
      },
    });
    expect(await runAll(siblings)).toEqual(allDone);
    expect(siblings.accounts()).toEqual(['wrote', 'read', 'read', 'read', 'read']);
    expect(siblings.choices('task one')).toEqual(['lead', 'follow', 'released']);
  });

  test('a lead that is aborted hands over', async () => {
    const abort = new AbortController();
    const over = Promise.withResolvers<void>();
    const siblings = await startSiblings({
      emulator: {
        latency,
        async respond({ last }) {
          if (last.includes('task one')) {
            abort.abort('stopped');
            await over.promise;
          }
          return { text: 'done' };
        },
      },
    });
    const [first, ...others] = TASKS.map((task) => siblings.child(task));
    if (first === undefined) throw new Error('no child');
    const running = [siblings.run(first, abort.signal), ...others.map((agent) => siblings.run(agent))];
    const results = await Promise.all(running);
    expect(results.map(({ status }) => status)).toEqual(['cancelled', 'done', 'done', 'done', 'done']);
    expect(siblings.accounts()).toEqual(['wrote', 'read', 'read', 'read']);
    over.resolve();
  });

  test('a lead that stalls holds the others no longer than the limit', async () => {
    const clock = simulatedClock(1_000_000);
    const abort = new AbortController();
    const siblings = await startSiblings({
      clock,
      emulator: {
        fault: ({ last }) => (last.includes('task one') ? { kind: 'stall', at: 'headers' } : undefined),
      },
    });
    const [first, ...others] = TASKS.map((task) => siblings.child(task));
    if (first === undefined) throw new Error('no child');
    const stalled = siblings.run(first, abort.signal);
    const running = others.map((agent) => siblings.run(agent));
    await clock.whenSleeping();
    await clock.advance(5_000);
    const results = await Promise.all(running);
    expect(results.map(({ status }) => status)).toEqual(['done', 'done', 'done', 'done']);
    expect(siblings.choices('task five')).toEqual(['follow', 'released']);
    abort.abort('over');
    expect((await stalled).status).toBe('interrupted');
  });

  test.each([
    ['auto', Array(5).fill(['at_once']), [5]],
    ['staggered', [['lead'], ...Array(4).fill(['follow', 'released'])], [1, 4]],
  ] as const)('FORK-7: forks of a warm parent, %s, all read all of it', async (launch, choices, rounds) => {
    const clock = simulatedClock(1_000_000);
    const siblings = await startSiblings({ launch, emulator: { latency, clock, respond } });
    const parent = siblings.child('the parent');
    const asked = askOnce(parent);
    await answerTogether(clock, 1);
    await asked;
    const [first] = siblings.emulator.requests;
    const written = first?.usage?.cache_creation_input_tokens ?? 0;
    const forks = TASKS.map((task) => siblings.fork(parent, task, TASKS.length));
    const running = Promise.all(forks.map((agent) => siblings.run(agent)));
    for (const requests of rounds) await answerTogether(clock, requests);
    expect((await running).map(({ status }) => status)).toEqual(allDone);
    expect(TASKS.map(siblings.choices)).toEqual(choices);
    const usages = siblings.emulator.requests.slice(1).map(({ usage }) => usage);
    const read = usages.map((usage) => usage?.cache_read_input_tokens ?? 0);
    expect(Math.min(...read)).toBe(written);
    // Who writes the tail that forks share reads no more than the parent's prefix.
    expect(read.filter((tokens) => tokens === written)).toHaveLength(rounds[0]);
  });

  test('later requests and the main agent do not pass the gate', async () => {
    const siblings = await startSiblings();
    await siblings.engine.run('hello');
    const agent = siblings.child('task one');
    await siblings.run(agent);
    agent.say('prompt', [freezeBlock({ type: 'text', text: 'and now?' })]);
    await siblings.run(agent);
    const decided = siblings.engine.recorded().filter(({ type }) => type === 'launch.decided');
    expect(decided).toHaveLength(1);
  });
});
