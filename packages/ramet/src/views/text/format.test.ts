import { describe, expect, test } from 'vitest';
import { codeLine, duration, excerpt, printable } from './format.ts';

describe('UI-1: text of models on a terminal', () => {
  test('an excerpt is one line without escape sequences', () => {
    expect(excerpt('a \u001b[31mred\u001b[0m\u0007\n  fox', 20)).toBe('a red fox');
    expect(excerpt('abcdef', 4)).toBe('abc…');
  });

  test('nothing moves the cursor or turns the direction of writing', () => {
    expect(printable('a\u001b[2Kb\u009bc\u202ed\u2066e\u200ff')).toBe('a[2Kbcdef');
    expect(printable('line\n\tשלום')).toBe('line\n\tשלום');
  });
});

test('a time is never less than none, where a clock was set back', () => {
  expect(duration(-599_656)).toBe('0 ms');
  expect(duration(1_500)).toBe('1.5 s');
});

test('a line of code keeps its indentation, and loses what could move the cursor', () => {
  expect(codeLine('    if (a  ===  b)\u001b[2J  ', 80)).toBe('    if (a  ===  b)');
  expect(codeLine(`  ${'x'.repeat(20)}`, 10)).toBe('  xxxxxxx…');
});
