import { closeSync, openSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bringsInput } from '../io.ts';
import { joinPrompt } from './print.ts';

describe('UI-4: standard input', () => {
  test('counts where it is a file or a pipe, and not where it is a device or closed', () => {
    const file = openSync(import.meta.filename, 'r');
    const device = openSync('/dev/null', 'r');
    expect(bringsInput(file)).toBe(true);
    expect(bringsInput(device)).toBe(false);
    closeSync(file);
    closeSync(device);
    expect(bringsInput(9_999)).toBe(false);
  });

  test.for([
    ['review this', 'diff --git\n', 'review this\n\ndiff --git'],
    ['review this', ' \n', 'review this'],
    ['', ' what to do\n', 'what to do'],
    ['review this', '  indented\n', 'review this\n\n  indented'],
  ])('%j joined with %j is %j', ([argument = '', piped = '', prompt]) => {
    expect(joinPrompt(argument, piped)).toBe(prompt);
  });
});
