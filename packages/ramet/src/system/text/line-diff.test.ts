import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changedLines, changedWords, type DiffLine, lineDiff, numberedLines } from './line-diff.ts';

const MARKS = { same: ' ', removed: '-', added: '+' } as const;
const shown = (diff: readonly (DiffLine | null)[]): string[] =>
  diff.map((line) => (line === null ? '...' : `${MARKS[line.kind]}${line.text}`));

describe('what changed between two texts', () => {
  test.for<[string, string, string[]]>([
    ['', '', []],
    ['', 'a\nb\n', ['+a', '+b']],
    ['a\nb', '', ['-a', '-b']],
    ['a\nb\nc', 'a\nx\nc', [' a', '-b', '+x', ' c']],
    ['a\nb\nc', 'b\nc\nd', ['-a', ' b', ' c', '+d']],
    ['a', 'a\n', [' a']],
  ])('from %j to %j', ([before, after, lines]) => {
    expect(shown(lineDiff(before, after))).toEqual(lines);
  });

  test('only what is near a change is kept', () => {
    const before = '1\n2\n3\n4\n5\n6\n7\n8\n9';
    const after = '1\nx\n3\n4\n5\n6\n7\n8\ny';
    expect(shown(changedLines(lineDiff(before, after)))).toEqual([
      ' 1',
      '-2',
      '+x',
      ' 3',
      '...',
      ' 8',
      '-9',
      '+y',
    ]);
  });

  test('texts that differ in very many lines are removed and added', () => {
    const before = Array.from({ length: 2_000 }, (_, line) => `old ${line}`).join('\n');
    const after = Array.from({ length: 2_000 }, (_, line) => `new ${line}`).join('\n');
    const diff = lineDiff(before, after);
    expect(diff.map(({ kind }) => kind).lastIndexOf('removed')).toBe(1_999);
    expect(diff).toHaveLength(4_000);
  });

  test('few changes far apart in a long text are told one by one', () => {
    const before = Array.from({ length: 5_000 }, (_, line) => `line ${line}`);
    const after = before.map((line, index) => (index % 1_000 === 500 ? `${line}!` : line));
    const changed = lineDiff(before.join('\n'), after.join('\n')).filter(({ kind }) => kind !== 'same');
    expect(changed).toHaveLength(10);
  });

  test('what is the same at both ends stays so however much differs between', () => {
    const many = (word: string): string =>
      Array.from({ length: 1_000 }, (_, line) => `${word} ${line}`).join('\n');
    const diff = lineDiff(`first\n${many('old')}\nlast`, `first\n${many('new')}\nlast`);
    expect([diff.length, diff.at(0)?.kind, diff.at(-1)?.kind]).toEqual([2_002, 'same', 'same']);
  });

  test('both texts can be read from it', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', ''))
      .map((lines) => lines.map((line) => `${line}\n`).join(''));
    const property = fc.property(text, text, (before, after) => {
      const diff = lineDiff(before, after);
      const side = (other: DiffLine['kind']): string =>
        diff
          .filter(({ kind }) => kind !== other)
          .map((line) => `${line.text}\n`)
          .join('');
      expect(side('added')).toBe(before);
      expect(side('removed')).toBe(after);
    });
    fc.assert(property);
  });

  test('a line has the number that it has in its own text', () => {
    const lines = numberedLines(lineDiff('a\nb\nc\nd', 'a\nx\ny\nc\nd'));
    expect(lines.map(({ text, number }) => `${text}${number}`)).toEqual(['a1', 'b2', 'x2', 'y3', 'c4', 'd5']);
  });
});

describe('which words of two lines differ', () => {
  const marked = (before: string, after: string): string[] | null => {
    const words = changedWords(before, after);
    const show = (parts: readonly { text: string; isChanged: boolean }[]): string =>
      parts.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join('');
    return words && [show(words.removed), show(words.added)];
  };

  test.for<[string, string, string[] | null]>([
    [
      'return first + second;',
      'return first - second;',
      ['return first [+] second;', 'return first [-] second;'],
    ],
    ['a b', 'a b c', ['a b', 'a b[ c]']],
    ['one two three', 'something entirely different', null],
    ['', 'text', null],
  ])('%j and %j', ([before, after, expected]) => {
    expect(marked(before, after)).toEqual(expected);
  });

  test('very long lines are not compared', () => {
    expect(changedWords(`${'a '.repeat(600)}b`, `${'a '.repeat(600)}c`)).toBeNull();
  });

  test('both lines can be read from it', () => {
    const line = fc.array(fc.constantFrom('a', 'b', ' ', '(', '\t', '日')).map((parts) => parts.join(''));
    const property = fc.property(line, line, (before, after) => {
      const words = changedWords(before, after);
      if (words === null) return;
      expect(words.removed.map(({ text }) => text).join('')).toBe(before);
      expect(words.added.map(({ text }) => text).join('')).toBe(after);
    });
    fc.assert(property);
  });
});
