import { describe, expect, test } from 'vitest';
import { never, provider } from '../../../test/fixtures/rate-senders.ts';
import { ModelError } from '../../schema/errors.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { createRateWindow } from './rate-window.ts';
import { DEFAULT_RETRY, withRetries } from './retry.ts';

const HOUR_MS = 3_600_000;

/** A provider that stays away, and a run that waits for a minute; with a window or without. */
function runAway({ shared = true, during = (_: number): void => {} } = {}) {
  const clock = simulatedClock(1_000_000);
  const window = createRateWindow({ provider, clock, policy: DEFAULT_RETRY, outageMs: 60_000 });
  const rate = shared ? window.request('m') : undefined;
  const run = { clock, looks: 0, outcome: null as unknown, pass };
  async function pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      if (run.outcome === null) await clock.whenSleeping();
      await clock.advance(1_000);
    }
  }
  void withRetries(
    async () => {
      const ticket = await rate?.acquire(never);
      run.looks += 1;
      during(run.looks);
      ticket?.release({ kind: 'failed' }, 'away');
      throw new ModelError('connection', 'retryable', 'lost');
    },
    {
      ...{ policy: DEFAULT_RETRY, clock, signal: never, onFailure: () => {}, limits: rate },
      health: { patienceMs: 60_000, verdict: () => 'wait', tooLong: () => {} },
    },
  ).catch((error: unknown) => {
    run.outcome = error;
  });
  return run;
}

const INTERRUPTED = { name: 'ProviderAway', message: 'lost (waited 1 min)' };

describe('MODEL-2: time asleep during an outage uses up no patience', () => {
  test.each([
    ['between two looks for everybody', true],
    ['in a pause of one request', false],
  ])('%s', async (_, shared) => {
    const run = runAway({ shared });
    await run.pass(20);
    const before = run.looks;
    run.clock.set(HOUR_MS);
    await run.pass(30);
    expect(run.looks).toBeGreaterThan(before);
    expect(run.outcome).toBeNull();
    await run.pass(40);
    expect(run.outcome).toMatchObject(INTERRUPTED);
  });

  test('in the middle of a look', async () => {
    const run = runAway({
      during(look) {
        if (look === 4) run.clock.set(HOUR_MS);
      },
    });
    await run.pass(40);
    expect(run.looks).toBeGreaterThan(4);
    expect(run.outcome).toBeNull();
    await run.pass(40);
    expect(run.outcome).toMatchObject(INTERRUPTED);
  });

  test('and without any the run waits no longer than it may', async () => {
    const run = runAway();
    await run.pass(58);
    expect(run.outcome).toBeNull();
    await run.pass(4);
    expect(run.outcome).toMatchObject(INTERRUPTED);
  });
});
