import { expect, test } from 'vitest';
import { startEngine, toolOf } from '../../../test/fixtures/engine.ts';
import { contentOf } from '../../conversation/frozen-block.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { MAY_HAVE_RUN } from '../agent/notices.ts';
import { runCalls } from './tool-runner.ts';

test('RES-6: an aborted call that does not end is given up after its grace, by the clock of the session', async () => {
  const clock = simulatedClock();
  const begun = Promise.withResolvers<void>();
  const stuck = toolOf('Stuck', 'execute', () => {
    begun.resolve();
    return new Promise(() => {});
  });
  const { agent, runtime, recorded } = await startEngine({
    provider: scriptedModel(),
    tools: [stuck],
    runtime: { clock },
  });
  const abort = new AbortController();
  const call = { type: 'tool_use', id: 'c', name: 'Stuck', input: {} } as const;
  const running = runCalls({ agent, signal: abort.signal }, [call]);
  await begun.promise;
  await clock.advance(1_000);
  abort.abort('stopped');
  await clock.advance(5_000);
  const result = (await running).get('c');
  expect(result && contentOf(result)).toMatchObject({ content: MAY_HAVE_RUN, is_error: true });
  expect(clock.due()).toEqual([]);
  await runtime.journal.commit('written');
  expect(recorded()).toContainEqual(expect.objectContaining({ type: 'tool.completed', durationMs: 6_000 }));
});

test('RES-6: an aborted call that ends within its grace keeps its own outcome, and no timer is left', async () => {
  const clock = simulatedClock();
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const slow = toolOf('Slow', 'execute', async () => {
    begun.resolve();
    await end.promise;
    return { content: 'ended by itself' };
  });
  const { agent } = await startEngine({ provider: scriptedModel(), tools: [slow], runtime: { clock } });
  const abort = new AbortController();
  const call = { type: 'tool_use', id: 'c', name: 'Slow', input: {} } as const;
  const running = runCalls({ agent, signal: abort.signal }, [call]);
  await begun.promise;
  abort.abort('stopped');
  await clock.whenSleeping();
  end.resolve();
  const result = (await running).get('c');
  expect(result && contentOf(result)).toMatchObject({ content: 'ended by itself' });
  expect(clock.due()).toEqual([]);
});
