import { expect, test } from 'vitest';
import { simulatedClock } from '../../../testing/simulated-clock.ts';
import { LaterLooks } from './later-looks.ts';

test('UI-3: a record that reaches the disk late is read again, also after the view was left and opened', async () => {
  const clock = simulatedClock();
  let looks = 0;
  const earlier = new LaterLooks(() => looks++, clock);
  earlier.begin();
  await clock.advance(50);
  earlier[Symbol.dispose]();
  const opened = new LaterLooks(() => looks++, clock);
  opened.begin();
  await clock.advance(99);
  expect(looks).toBe(0);
  await clock.advance(1);
  expect(looks).toBe(1);
  await clock.advance(2_000);
  expect(looks).toBe(5);
  await clock.advance(60_000);
  expect(looks).toBe(7);
  expect(clock.due()).toEqual([]);
});

test('UI-3: every event is followed by a look, however quickly they come', async () => {
  const clock = simulatedClock();
  const lookedAt: number[] = [];
  const looks = new LaterLooks(() => lookedAt.push(clock.now()), clock);
  for (let event = 0; event < 20; event++) {
    looks.begin();
    await clock.advance(10);
  }
  await clock.advance(100);
  expect(lookedAt).toEqual([290]);
  looks[Symbol.dispose]();
  await clock.advance(60_000);
  expect(lookedAt).toEqual([290]);
});
