import { describe, expect, test } from 'vitest';
import { startEngine } from '../../../test/fixtures/engine.ts';
import type { ModelProvider } from '../../model/provider.ts';
import { EndpointHealth } from '../../model/rate/endpoint-health.ts';
import type { RateRequest } from '../../model/rate/rate-window.ts';
import { DEFAULT_RETRY } from '../../model/rate/retry.ts';
import { steadyClock } from '../../schema/clock.ts';
import { ModelError } from '../../schema/errors.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { hosted } from '../agent/agent.ts';
import type { AgentSpec } from '../agent/runtime.ts';
import { ProviderWait, RateTurn } from './rate-turn.ts';

/** An engine whose provider is away until the test says that it is back. */
async function startAway({ patienceMs = Number.POSITIVE_INFINITY, spec = {} as Partial<AgentSpec> } = {}) {
  const clock = simulatedClock(1_000_000);
  const state = { isAway: true, asked: 0 };
  const model = scriptedModel({ text: 'back again' });
  const provider: ModelProvider = {
    name: 'test',
    close() {},
    async send(request, options) {
      state.asked += 1;
      if (state.isAway) throw new ModelError('connection', 'retryable', 'the connection was lost');
      return model.send(request, options);
    },
  };
  const tooLong: string[] = [];
  const health = new EndpointHealth({
    memory: { isRecent: () => true, note() {} },
    hadAnswer: () => false,
    patienceMs,
    onTooLong: ({ message }) => void tooLong.push(message),
  });
  const engine = await startEngine({
    provider,
    spec,
    runtime: { clock: steadyClock(clock), retry: DEFAULT_RETRY, health },
  });
  const causes = () =>
    engine
      .recorded()
      .flatMap((event) =>
        event.type === 'status.changed' ? [`${event.status}: ${event.cause ?? 'nothing'}`] : [],
      );
  return { clock, state, engine, tooLong, causes };
}

describe('MODEL-2: an agent whose provider is away', () => {
  test('waits for hours, says so once, and ends as if nothing had been', async () => {
    const { clock, state, engine, causes } = await startAway();
    const running = engine.run('go');
    await clock.whenSleeping();
    await clock.advance(4 * 3_600_000);
    expect(state.asked).toBeLessThan(700);
    state.isAway = false;
    await clock.advance(60_000);
    expect((await running).result).toMatchObject({ status: 'done', text: 'back again' });
    expect(causes()).toEqual(['waiting: provider', 'running: nothing']);
  });

  test('is interrupted, never failed, when the run may wait no longer', async () => {
    const { clock, engine, tooLong } = await startAway({ patienceMs: 1_800_000 });
    let isRunning = true;
    const running = engine.run('go').finally(() => {
      isRunning = false;
    });
    // In small steps: of a leap that came while nobody slept, only a part would count as an outage.
    while (isRunning) {
      await Promise.race([clock.whenSleeping(), running]);
      await clock.advance(5_000);
    }
    expect((await running).result).toMatchObject({
      status: 'interrupted',
      cause: 'provider',
      message: expect.stringMatching(/^the connection was lost \(waited 3\d min\)$/),
    });
    expect(tooLong).toHaveLength(1);
  });

  test('ends when its budget of seconds is spent', async () => {
    const { clock, engine } = await startAway({ spec: { budget: { seconds: 100 } } });
    const running = engine.run('go');
    await clock.whenSleeping(2);
    await clock.advance(100_000);
    expect((await running).result).toMatchObject({ status: 'timed_out', cause: 'budget' });
  });

  test('ends at once when it is stopped', async () => {
    const { clock, engine } = await startAway();
    const stop = new AbortController();
    const running = engine.run('go', stop.signal);
    await clock.whenSleeping();
    stop.abort('SIGINT');
    expect((await running).result).toMatchObject({ status: 'interrupted', cause: 'SIGINT' });
    expect(clock.due()).toEqual([]);
  });

  test('asks at once after a sleep of the machine, and no later after its clock is set back', async () => {
    const { clock, state, engine } = await startAway();
    const running = engine.run('go');
    await clock.whenSleeping();
    await clock.advance(600_000);
    state.isAway = false;
    clock.set(-3_600_000);
    clock.set(3_600_000 + 600_000);
    await clock.advance(5_000);
    expect((await running).result.status).toBe('done');
  });
});

describe('MODEL-2: the status of an agent that waits for a limit and then for its provider', () => {
  test('is that of the last wait, also while it looks', async () => {
    const { engine, causes } = await startAway();
    const wait = new ProviderWait(engine.agent);
    const ticket = { looks: true, began() {}, release() {} };
    const told: [number | null, 'limit' | 'provider'][] = [
      [9, 'limit'],
      [null, 'provider'],
    ];
    const acquire: RateRequest['acquire'] = async (_, onWait) => {
      for (const [until, cause] of told) onWait?.(until, cause);
      return ticket;
    };
    const request = { ...engine.runtime.rate.request('m'), acquire };
    const { signal } = new AbortController();
    using _first = await RateTurn.take(hosted(engine.agent), request, wait, signal);
    wait.failed();
    await engine.runtime.journal.commit('written');
    expect(causes()).toEqual(['waiting: limit', 'waiting: provider']);
    told.reverse();
    using _second = await RateTurn.take(hosted(engine.agent), request, wait, signal);
    wait.failed();
    await engine.runtime.journal.commit('written');
    expect(causes().slice(2)).toEqual(['waiting: limit', 'running: nothing', 'waiting: provider']);
  });
});
