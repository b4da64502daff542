import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type EngineFixture, runToEnd, startEngine } from '../../../test/fixtures/engine.ts';
import { freezeBlock } from '../../conversation/frozen-block.ts';
import { type Emulator, type EmulatorOptions, startEmulator } from '../../emulator/index.ts';
import { anthropicProvider } from '../../model/anthropic/anthropic.ts';
import { createRateWindow } from '../../model/rate/rate-window.ts';
import { DEFAULT_RETRY } from '../../model/rate/retry.ts';
import { systemClock } from '../../schema/clock.ts';
import type { JournalEvent } from '../../schema/events.ts';
import { agentId } from '../../schema/ids.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { Agent } from '../agent/agent.ts';
import type { AgentResult } from '../agent/agent-event.ts';

/** Pauses as they are by default, but short. */
const BRISK = { ...DEFAULT_RETRY, baseMs: 2, capMs: 20 };

interface BusyServer {
  emulator: Emulator;
  /** Most that were answered at the same time, and how often a request was refused. */
  seen: { most: number; refused: number };
}

interface BusyOptions extends EmulatorOptions {
  atOnce: number;
  retryAfter?: number;
  /** The first answers come when a request has been refused. */
  holds?: boolean;
}

/** Answers a few at a time and refuses the others with a 429. */
async function startBusyServer({ atOnce, retryAfter, holds, ...options }: BusyOptions): Promise<BusyServer> {
  const seen = { most: 0, refused: 0 };
  const refused = Promise.withResolvers<void>();
  if (!holds) refused.resolve();
  let open = 0;
  const emulator = await startEmulator({
    async respond({ turn }) {
      await refused.promise;
      return turn < 2 ? { tool_use: [{ name: 'Nothing', input: {} }] } : { text: 'done' };
    },
    latency: { baseMs: 3 },
    fault() {
      if (open >= atOnce) {
        seen.refused += 1;
        refused.resolve();
        return { kind: 'status', status: 429, retryAfter };
      }
      open += 1;
      seen.most = Math.max(seen.most, open);
      return undefined;
    },
    onRequest({ status }) {
      if (status === 200) open -= 1;
    },
    ...options,
  });
  onTestFinished(() => emulator.close());
  return { emulator, seen };
}

function providerOf({ url }: Emulator) {
  return anthropicProvider({ baseUrl: new URL(url), apiKey: 'test', env: {} });
}

/** Runs that many agents of one session side by side. */
async function runMany({ agent, runtime }: EngineFixture, count: number): Promise<AgentResult[]> {
  const runs = Array.from({ length: count }, async (_, index) => {
    const id = agentId(runtime.journal.session, index + 2);
    await using child = Agent.start(runtime, { ...agent.spec, id, parent: agent.spec.id });
    child.say('prompt', [freezeBlock({ type: 'text', text: `task ${index}` })]);
    return (await runToEnd(child)).result;
  });
  return Promise.all(runs);
}

function statuses(events: readonly JournalEvent[]) {
  return events.flatMap((event) =>
    event.type === 'status.changed' ? [{ status: event.status, cause: event.cause }] : [],
  );
}

describe('LAUNCH-2: many agents on a server that takes five at a time', () => {
  test.each([
    ['says nothing more', {}],
    ['says when to come back', { retryAfter: 0.02 }],
  ])('none fails when the refusal %s', async (_, refusal) => {
    const { emulator, seen } = await startBusyServer({ atOnce: 5, holds: true, ...refusal });
    const engine = await startEngine({ provider: providerOf(emulator), runtime: { retry: BRISK } });
    const results = await runMany(engine, 50);
    expect(results.filter(({ status }) => status !== 'done')).toEqual([]);
    expect(seen.most).toBe(5);
    expect(seen.refused).toBeGreaterThan(0);
    const failures = engine.recorded().filter(({ type }) => type === 'request.failed');
    expect(failures).toHaveLength(seen.refused);
  });

  test('each one that waited says so, and that it continues', async () => {
    const { emulator } = await startBusyServer({ atOnce: 5, holds: true });
    const engine = await startEngine({ provider: providerOf(emulator), runtime: { retry: BRISK } });
    await runMany(engine, 20);
    const seen = statuses(engine.recorded());
    const waiting = seen.filter(({ status }) => status === 'waiting');
    expect(waiting.length).toBeGreaterThan(0);
    expect(new Set(waiting.map(({ cause }) => cause))).toEqual(new Set(['limit']));
    expect(seen.filter(({ status }) => status === 'running')).toHaveLength(waiting.length);
  });

  test('with room for all nobody waits', async () => {
    const { emulator, seen } = await startBusyServer({ atOnce: 50 });
    const engine = await startEngine({ provider: providerOf(emulator), runtime: { retry: BRISK } });
    await runMany(engine, 20);
    expect(seen.refused).toBe(0);
    expect(statuses(engine.recorded())).toEqual([]);
  });

  test('a bound of its own keeps a session below what the server takes', async () => {
    // Long enough for three to meet on a busy machine.
    const { emulator, seen } = await startBusyServer({ atOnce: 5, latency: { baseMs: 30 } });
    const provider = providerOf(emulator);
    const rate = createRateWindow({ provider, clock: systemClock, policy: BRISK, concurrentRequests: 3 });
    const engine = await startEngine({ provider, runtime: { retry: BRISK, rate } });
    const results = await runMany(engine, 20);
    expect(results.every(({ status }) => status === 'done')).toBe(true);
    expect(seen).toEqual({ most: 3, refused: 0 });
  });
});

describe('LAUNCH-2: an agent that waits for a limit', () => {
  test('sends nothing before the reset that used-up headers name', async () => {
    const start = Date.now();
    const clock = simulatedClock(start);
    const { emulator } = await startBusyServer({
      atOnce: 5,
      rateLimits: { requests: 1, inputTokens: 1e6, outputTokens: 1e6 },
      clock: { ...clock, sleep: async () => {} },
    });
    const { run, recorded } = await startEngine({ provider: providerOf(emulator), runtime: { clock } });
    const running = run('x');
    for (let pause = 1; pause <= 2; pause++) {
      await clock.whenSleeping();
      expect(emulator.requests).toHaveLength(pause);
      await clock.advance(60_000);
    }
    expect((await running).result).toMatchObject({ status: 'done' });
    expect(emulator.requests).toHaveLength(3);
    expect(statuses(recorded()).map(({ status }) => status)).toEqual([
      'waiting',
      'running',
      'waiting',
      'running',
    ]);
  });

  test('is interrupted at once, and holds up nobody', async () => {
    const clock = simulatedClock(Date.now());
    const { emulator } = await startBusyServer({ atOnce: 0, retryAfter: 60 });
    const { run, runtime } = await startEngine({
      provider: providerOf(emulator),
      runtime: { clock, retry: DEFAULT_RETRY },
    });
    const stop = new AbortController();
    const running = run('x', stop.signal);
    await clock.whenSleeping();
    stop.abort('user');
    expect((await running).result).toMatchObject({ status: 'interrupted', cause: 'user' });
    expect(clock.due()).toEqual([]);
    const other = runtime.rate.request('claude-sonnet-5').acquire(new AbortController().signal);
    await clock.advance(60_000);
    (await other).release({ kind: 'failed' });
  });
});

describe('agents that a usage limit stops', () => {
  /** Refuses everything for two hours after a call of `limit`. */
  async function startLimitedServer() {
    const clock = simulatedClock(Date.now());
    let until = 0;
    const { emulator } = await startBusyServer({
      atOnce: 100,
      fault: () => {
        const left = until - clock.now();
        return left > 0 ? { kind: 'status', status: 429, retryAfter: left / 1_000 } : undefined;
      },
    });
    const limit = (): number => {
      until = clock.now() + 7_200_000;
      return until;
    };
    return { emulator, clock, limit };
  }

  test('all say until when, send nothing meanwhile, and end as if nothing had been', async () => {
    const { emulator, clock, limit } = await startLimitedServer();
    const until = limit();
    const engine = await startEngine({ provider: providerOf(emulator), runtime: { clock } });
    const running = runMany(engine, 5);
    const told = () =>
      engine.recorded().filter((event) => event.type === 'status.changed' && event.until === until);
    await vi.waitUntil(() => told().length === 5);
    const refused = emulator.requests.length;
    await clock.advance(7_190_000);
    expect(emulator.requests).toHaveLength(refused);
    await clock.advance(10_000);
    const results = await running;
    expect(results.map(({ status }) => status)).toEqual(Array(5).fill('done'));
    expect(emulator.requests.filter(({ status }) => status === 200)).toHaveLength(15);
    const [first, second] = emulator.requests.slice(refused);
    expect(first?.status).toBe(200);
    expect(second?.status).toBe(200);
  });

  test('after a sleep past the end of the pause, requests continue at once', async () => {
    const clock = simulatedClock(Date.now());
    let limited = true;
    let sleptMs = 0;
    const { emulator } = await startBusyServer({
      atOnce: 100,
      fault: () => (limited ? { kind: 'status', status: 429, retryAfter: 7_200 } : undefined),
    });
    const { run } = await startEngine({
      provider: providerOf(emulator),
      runtime: { clock: { ...clock, now: () => clock.now() + sleptMs } },
    });
    const running = run('x');
    await clock.whenSleeping();
    sleptMs = 7_200_000;
    limited = false;
    await clock.advance(5_000);
    expect((await running).result.status).toBe('done');
    expect(emulator.requests.filter(({ status }) => status === 429)).toHaveLength(1);
  });

  test('one that has another model to fall back to does not wait', async () => {
    const clock = simulatedClock(Date.now());
    const { emulator } = await startBusyServer({
      atOnce: 100,
      fault: ({ request }) =>
        request.model === 'claude-sonnet-5' ? { kind: 'status', status: 429, retryAfter: 7_200 } : undefined,
    });
    const { run } = await startEngine({
      provider: providerOf(emulator),
      runtime: { clock },
      spec: { fallbackModel: 'claude-haiku-4-5' },
    });
    expect((await run('x')).result).toMatchObject({ status: 'done', model: 'claude-haiku-4-5' });
    expect(emulator.requests.filter(({ status }) => status === 429)).toHaveLength(1);
  });
});
