import { describe, expect, test } from 'vitest';
import { startEngine } from '../../../test/fixtures/engine.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { StallWatch } from '../children/family.ts';

async function watched() {
  const clock = simulatedClock();
  const { agent } = await startEngine({ provider: scriptedModel(), runtime: { clock } });
  const stalls: number[] = [];
  const watch = new StallWatch(1_000, (_, silentMs) => stalls.push(silentMs));
  return { agent, clock, stalls, watch };
}

describe('AGENT-7: an agent that is silent', () => {
  test('stalls once for each silence', async () => {
    const { agent, clock, stalls, watch } = await watched();
    using _ = watch;
    watch.noteLife(agent);
    await clock.advance(999);
    watch.look();
    expect(stalls).toEqual([]);
    await clock.advance(1);
    watch.look();
    await clock.advance(5_000);
    watch.look();
    expect(stalls).toEqual([1_000]);
    watch.noteLife(agent);
    await clock.advance(2_000);
    watch.look();
    expect(stalls).toEqual([1_000, 2_000]);
  });

  test('does not while it waits for others or once it has ended', async () => {
    const { agent, clock, stalls, watch } = await watched();
    using _ = watch;
    watch.noteLife(agent);
    watch.forget(agent);
    await clock.advance(5_000);
    watch.look();
    expect(stalls).toEqual([]);
  });
});
