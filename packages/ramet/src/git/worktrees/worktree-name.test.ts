import fc from 'fast-check';
import { expect, test } from 'vitest';
import { worktreeName } from './worktree-name.ts';

test.each([
  ['task 1', 'task-1'],
  ['fix: the parser, again!', 'fix-the-parser-again'],
  ['a/b\\c\td', 'a-b-c-d'],
  ['..hidden.lock', 'hidden'],
  ['Überprüfung № 7', 'Überprüfung-7'],
  ['日本語 の 作業', '日本語-の-作業'],
  ['e\u0301tude', 'étude'],
])('%j becomes %j', (wanted, name) => {
  expect(worktreeName(wanted)).toBe(name);
});

test('a name of plain characters is what it is beside others', () => {
  const text = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(text, (plain) => {
      // With a letter from elsewhere the whole name goes the other way.
      expect(worktreeName(`é${plain}x`)).toBe(`é${worktreeName(`x${plain}x`).slice(1)}`);
    }),
  );
});

test.each(['', '...', '- -', '\u200b'])('no worktree can be named %j', (wanted) => {
  expect(() => worktreeName(wanted)).toThrow('use at least one letter or digit');
});
