import { describe, expect, test } from 'vitest';
import { readAhead } from './read-ahead.ts';

const never = new AbortController().signal;

async function* numbers(most: number, seen: number[] = []): AsyncGenerator<number> {
  for (let number = 1; number <= most; number += 1) {
    seen.push(number);
    yield number;
  }
}

describe('UI-4: reading ahead', () => {
  test('keeps the order, without what is taken at once, while the reader is at work', async () => {
    const taken: number[] = [];
    const takes = (number: number): boolean => number % 2 === 0 && taken.push(number) > 0;
    const read: number[] = [];
    for await (const number of readAhead(numbers(5), takes, never)) {
      if (read.length === 0) await new Promise(setImmediate);
      if (read.length === 0) expect(taken).toEqual([2, 4]);
      read.push(number);
    }
    expect(read).toEqual([1, 3, 5]);
  });

  test('begins before anybody asks for a line', async () => {
    const seen: number[] = [];
    const lines = readAhead(numbers(3, seen), () => false, never);
    await new Promise(setImmediate);
    expect(seen).toEqual([1, 2, 3]);
    expect(await lines.next()).toEqual({ done: false, value: 1 });
  });

  test('holds no more than a thousand', async () => {
    const seen: number[] = [];
    const lines = readAhead(numbers(5_000, seen), () => false, never);
    await lines.next();
    await new Promise(setImmediate);
    expect(seen.length).toBeLessThanOrEqual(1_002);
    let count = 1;
    for await (const _ of lines) count += 1;
    expect(count).toBe(5_000);
  });

  test('ends when it is aborted, and passes on what fails', async () => {
    const end = new AbortController();
    const open = (async function* () {
      yield 1;
      await new Promise(() => {});
    })();
    const lines = readAhead(open, () => false, end.signal);
    expect(await lines.next()).toEqual({ done: false, value: 1 });
    const next = lines.next();
    end.abort();
    expect(await next).toEqual({ done: true, value: undefined });
    const broken: AsyncIterable<number> = {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('no disk')) }),
    };
    await expect(readAhead(broken, () => false, never).next()).rejects.toThrow('no disk');
  });
});
