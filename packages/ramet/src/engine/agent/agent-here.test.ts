import { describe, expect, test } from 'vitest';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { ComingAnswer, WaitedTime } from './agent-here.ts';

describe('UI-3: the answer that an agent is writing', () => {
  test('is kept as far as it has come, and at most its end', () => {
    const answer = new ComingAnswer();
    for (const piece of ['Hello ', 'wor', 'ld']) answer.add(piece);
    expect(answer.text).toBe('Hello world');
    for (let count = 0; count < 100; count++) answer.add('x'.repeat(9_999) + String(count % 10));
    expect(answer.text.length).toBe(200_000);
    expect(answer.text).toMatch(/^x.*x9$/);
    answer.clear();
    expect(answer.text).toBe('');
  });
});

test('UI-3: time in which several questions wait counts once, also while one still waits or fails', async () => {
  const clock = simulatedClock();
  const waited = new WaitedTime(clock);
  const waits = [waited.during(() => clock.sleep(100)), waited.during(() => clock.sleep(300))];
  await clock.advance(200);
  expect(waited.totalMs).toBe(200);
  await clock.advance(500);
  await Promise.all(waits);
  expect(waited.totalMs).toBe(300);
  const failed = waited.during(async () => {
    await clock.sleep(50);
    throw new Error('no');
  });
  void failed.catch(() => {});
  await clock.advance(50);
  await expect(failed).rejects.toThrow('no');
  expect(waited.totalMs).toBe(350);
});
