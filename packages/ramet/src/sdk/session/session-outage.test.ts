import { describe, expect, test } from 'vitest';
import { temporaryDirectory, temporaryRepository } from '../../../test/fixtures/temporary.ts';
import type { ModelProvider } from '../../model/provider.ts';
import { ModelError } from '../../schema/errors.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { openSession } from './session.ts';

/** A session whose provider has answered once and is then away, until the test says that it is back. */
async function startAway() {
  const clock = simulatedClock(1_000_000);
  const state = { isAway: false, asked: 0 };
  const model = scriptedModel({ text: 'first' }, { text: 'back again' });
  const provider: ModelProvider = {
    name: 'test',
    close() {},
    async send(request, options) {
      state.asked += 1;
      if (state.isAway) throw new ModelError('connection', 'retryable', 'the connection was lost');
      return model.send(request, options);
    },
  };
  const env = { RAMET_HOME: temporaryDirectory(), PATH: process.env.PATH };
  const session = await openSession({ cwd: temporaryRepository(), env, provider, clock });
  await session.ask('one');
  state.isAway = true;
  return { clock, state, session };
}

describe('MODEL-2: a person and a provider that was away', () => {
  test('a prompt tries at once, whatever pause an earlier prompt has met', async () => {
    const { clock, state, session } = await startAway();
    await using _open = session;
    const stopped = new AbortController();
    const earlier = session.ask('two', { signal: stopped.signal });
    while (state.asked < 6) {
      await clock.whenSleeping();
      await clock.advance(1_000);
    }
    stopped.abort('SIGINT');
    await expect(earlier).rejects.toThrow('interrupted');
    state.isAway = false;
    expect(await session.ask('three')).toMatchObject({ status: 'done', text: 'back again' });
  });

  test('tryNow ends the present pause', async () => {
    const { clock, state, session } = await startAway();
    await using _open = session;
    const running = session.ask('two');
    while (state.asked < 6) {
      await clock.whenSleeping();
      await clock.advance(1_000);
    }
    await clock.whenSleeping();
    state.isAway = false;
    session.tryNow();
    expect(await running).toMatchObject({ status: 'done', text: 'back again' });
  });
});
