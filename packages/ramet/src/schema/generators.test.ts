import { expect, test } from 'vitest';
import { drain, mapped } from './generators.ts';

async function* counted(most: number): AsyncGenerator<number, string> {
  for (let number = 1; number <= most; number += 1) yield number;
  return 'the end';
}

test('every event is handed on in order, and what comes last is returned', async () => {
  const taken: number[] = [];
  expect(await drain(counted(3), (number) => taken.push(number))).toBe('the end');
  expect(taken).toEqual([1, 2, 3]);
  const doubled: number[] = [];
  const events = mapped(counted(3), (number) => number * 2);
  expect(await drain(events, (number) => doubled.push(number))).toBe('the end');
  expect(doubled).toEqual([2, 4, 6]);
});

test('what the generator or the taker throws is thrown', async () => {
  const taker = drain(counted(3), () => {
    throw new Error('no more');
  });
  await expect(taker).rejects.toThrow('no more');
  const failing = mapped(counted(1), () => {
    throw new Error('not this');
  });
  await expect(drain(failing, () => {})).rejects.toThrow('not this');
});
