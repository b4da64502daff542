import { describe, expect, test } from 'vitest';
import { excerpt, printable } from './format.ts';

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
