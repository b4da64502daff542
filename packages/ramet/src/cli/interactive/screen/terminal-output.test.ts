import { describe, expect, test } from 'vitest';
import { simulatedClock } from '../../../testing/simulated-clock.ts';
import { createTerminalOutput } from './terminal-output.ts';

/** Takes `room` bytes, then nothing until there is room again. */
function terminal() {
  const clock = simulatedClock();
  const state = { room: Number.POSITIVE_INFINITY, seen: '', isGone: false, gone: 0 };
  const output = createTerminalOutput(
    (bytes) => {
      if (state.isGone) throw new Error('EIO');
      const taken = Math.min(state.room, bytes.length);
      state.room -= taken;
      state.seen += bytes.subarray(0, taken).toString('latin1');
      return taken;
    },
    () => {
      state.gone += 1;
    },
    clock,
  );
  return { state, output, clock };
}

describe('UI-1: a terminal that stops reading', () => {
  test('gets all bytes in order once it reads again, and no write waits', async () => {
    const { state, output, clock } = terminal();
    output.write('one ');
    state.room = 3;
    output.write('two three ');
    output.write('four');
    expect([state.seen, output.isBehind]).toEqual(['one two', true]);
    await clock.advance(200);
    expect(state.seen).toBe('one two');
    state.room = 2;
    await clock.advance(50);
    expect(state.seen).toBe('one two t');
    state.room = Number.POSITIVE_INFINITY;
    await clock.advance(50);
    expect([state.seen, output.isBehind]).toEqual(['one two three four', false]);
    output.write('!');
    expect(state.seen).toBe('one two three four!');
  });

  test('that is gone is told, and what it did not take is dropped', async () => {
    const { state, output, clock } = terminal();
    state.room = 0;
    output.write('lost');
    state.isGone = true;
    await clock.advance(50);
    expect([state.gone, output.isBehind]).toEqual([1, false]);
    output[Symbol.dispose]();
  });
});
