import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { onAbort } from './on-abort.ts';

describe('many wait for one signal', () => {
  test('all are called once when it aborts, in the order in which they came', () => {
    const abort = new AbortController();
    const called: number[] = [];
    for (const number of [1, 2, 3]) onAbort(abort.signal, () => called.push(number));
    abort.abort();
    expect(called).toEqual([1, 2, 3]);
  });

  test('they share one listener, and the last to leave takes it away', () => {
    const { signal } = new AbortController();
    const callback = (): void => {};
    const ways = [onAbort(signal, callback), onAbort(signal, callback)];
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    ways[0]?.();
    ways[0]?.();
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    ways[1]?.();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  test('who comes again after all have left is called', () => {
    const abort = new AbortController();
    onAbort(abort.signal, () => {})();
    let called = 0;
    onAbort(abort.signal, () => {
      called += 1;
    });
    abort.abort();
    expect(called).toBe(1);
  });

  test('who has left is not called, and who comes too late is called at once', () => {
    const abort = new AbortController();
    const called: string[] = [];
    onAbort(abort.signal, () => called.push('left'))();
    onAbort(abort.signal, () => called.push('stayed'));
    abort.abort();
    onAbort(abort.signal, () => called.push('late'));
    expect(called).toEqual(['stayed', 'late']);
  });
});
