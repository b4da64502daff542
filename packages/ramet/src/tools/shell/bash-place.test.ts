import { describe, expect } from 'vitest';
import { test } from '../../../test/fixtures/temporary-directory.ts';
import { testAgent } from '../../../test/fixtures/tool-context.ts';
import type { HeavyPlace } from '../tool.ts';
import { bashTool } from './bash.ts';

/** A place, and whether it is held. */
function newPlace(): { place: HeavyPlace; states: string[] } {
  const states: string[] = ['held'];
  const free = (): void => void states.push('free');
  const place: HeavyPlace = {
    environment: { RAMET_CHECK_SLOT: 'check-1' },
    keepUntil: (ended) => {
      states.push('kept');
      void ended.then(free);
    },
    [Symbol.dispose]: free,
  };
  return { place, states };
}

describe('OP-3: a heavy command', () => {
  test('is told its place, and frees it when it has ended', async ({ directory }) => {
    const { place, states } = newPlace();
    const agent = testAgent(directory, { heavyPlace: async () => place });
    expect(await agent.text(bashTool, { command: 'echo $RAMET_CHECK_SLOT' })).toBe('check-1');
    expect(states).toEqual(['held', 'free']);
  });

  test('frees it when it cannot be started', async ({ directory }) => {
    const { place, states } = newPlace();
    const shell = async () => ({ program: '/nowhere/bash', arguments: [], confined: false, environment: {} });
    for (const run_in_background of [false, true]) {
      const agent = testAgent(directory, { heavyPlace: async () => place, shell });
      expect(await agent.text(bashTool, { command: 'true', run_in_background })).toMatch(
        /could not be started/,
      );
    }
    expect(states).toEqual(['held', 'free', 'free']);
  });

  test('in the background keeps it until it ends', async ({ directory }) => {
    const { place, states } = newPlace();
    const agent = testAgent(directory, { heavyPlace: async () => place });
    const started = await agent.text(bashTool, {
      command: 'echo $RAMET_CHECK_SLOT; cat',
      run_in_background: true,
    });
    expect(started).toMatch(/^Started bash-1/);
    await agent.context.tasks.find('bash-1')?.ended;
    expect(states).toEqual(['held', 'kept', 'free']);
    await agent.end();
  });

  test('that is interrupted while it waits has not begun, also if its place comes at that moment', async ({
    directory,
  }) => {
    for (const gets of [true, false]) {
      const { place, states } = newPlace();
      const agent = testAgent(directory, {
        heavyPlace: async () => {
          agent.abort();
          return gets ? place : null;
        },
      });
      const outcome = await agent.run(bashTool, { command: 'echo x > begun' });
      expect(outcome).toMatchObject({ isError: true, isNotBegun: true });
      expect(states).toEqual(gets ? ['held', 'free'] : ['held']);
    }
  });
});
