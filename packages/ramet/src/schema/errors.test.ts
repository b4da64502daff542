import { describe, expect, test } from 'vitest';
import { describeError, firstError, UserMistake } from './errors.ts';

/** Something that fails, in the scope of something that then cannot be released. */
function fail(error: Error): void {
  using _held = {
    [Symbol.dispose]() {
      throw new Error('the disk is full, again');
    },
  };
  throw error;
}

function thrownBy(work: () => void): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return null;
}

describe('LOG-1: an error that another one followed', () => {
  test('is the one that is told, and the one that decides', () => {
    const first = new UserMistake('full', 'the disk is full');
    const thrown = thrownBy(() => fail(first));
    expect(thrown).not.toBe(first);
    expect(firstError(thrown)).toBe(first);
    expect(describeError(thrown)).toBe('the disk is full');
  });

  test('any other is itself', () => {
    for (const thrown of [new Error('one'), 'two', null, undefined]) expect(firstError(thrown)).toBe(thrown);
  });
});

test('what is thrown and is no error is told as JSON, or by what it is', () => {
  const circle: Record<string, unknown> = {};
  circle.own = circle;
  const told = [{ code: 7 }, 'text', null, circle, Object.create(null)].map(describeError);
  const nothing = 'a value without a text was thrown';
  expect(told).toEqual(['{"code":7}', 'text', 'null', '[object Object]', nothing]);
});
