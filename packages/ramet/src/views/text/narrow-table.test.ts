import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { displayWidth } from './format.ts';
import { fittedTable, wrapLines, wrapWords } from './narrow-table.ts';

const ROWS = [
  ['KEY', 'VALUE', 'FROM'],
  ['limits.concurrentRequests', '100', 'default'],
  ['model', 'sonnet', 'the file settings.json of this repository'],
];

function widest(text: string): number {
  return Math.max(...text.split('\n').map(displayWidth));
}

describe('UI-1: tables on a narrow screen', () => {
  test('a table that fits is as it is without a screen', () => {
    expect(fittedTable(ROWS, 120)).toBe(fittedTable(ROWS, null));
  });

  test('a long last cell continues below itself', () => {
    expect(fittedTable(ROWS, 60).split('\n').slice(2)).toEqual([
      'model                      sonnet  the file settings.json of',
      '                                   this repository',
      '',
    ]);
  });

  test('cells that have no room stand below', () => {
    expect(fittedTable(ROWS, 40).split('\n')).toEqual([
      'KEY  VALUE  FROM',
      'limits.concurrentRequests  100  default',
      'model  sonnet',
      '  the file settings.json of this',
      '  repository',
      '',
    ]);
  });

  test('at any width nothing is wider than the screen, and no word is lost or broken that fits', () => {
    const word = fc.stringMatching(/^[a-z]{1,12}$/);
    const cell = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '));
    const table = fc
      .integer({ min: 1, max: 5 })
      .chain((count) =>
        fc.array(fc.array(cell, { minLength: count, maxLength: count }), { minLength: 1, maxLength: 4 }),
      );
    fc.assert(
      fc.property(table, fc.integer({ min: 16, max: 100 }), (rows, columns) => {
        const shown = fittedTable(rows, columns);
        expect(widest(shown)).toBeLessThanOrEqual(columns);
        const sorted = (text: string): string[] => (text.match(/\S+/g) ?? []).toSorted();
        expect(sorted(shown)).toEqual(sorted(rows.flat().join(' ')));
      }),
    );
  });

  test('a line is wrapped between its words, and only what is wider than a row is broken', () => {
    expect(wrapWords('one  two three', 9)).toEqual(['one  two', 'three']);
    expect(wrapWords('a abcdefghij b', 6, '  ')).toEqual(['a', '  abcd', '  efgh', '  ij b']);
    expect(wrapWords('abcdefghij b', 6, '  ')).toEqual(['abcd', '  efgh', '  ij b']);
    expect(wrapLines('  a b c d\nlonger than that\n', 8)).toBe('  a b c\n    d\nlonger\n  than\n  that\n');
  });
});
