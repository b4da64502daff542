import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stripAnsi } from '../../../system/text/visible-text.ts';
import { displayWidth } from '../../../views/text/format.ts';
import { brokenRows, colouredSpans, plainSpan, wrapLine, wrapSpans } from './wrapped-rows.ts';

const texts = (text: string, columns: number): string[] =>
  wrapSpans([plainSpan(text)], columns).map((row) => row.text);

const WORDS = fc.array(
  fc.oneof(
    fc.stringMatching(/^[a-z]{1,12}$/),
    fc.constantFrom('日本語', '😀', 'e\u0301', 'x'.repeat(30), '한국어', 'ok。', '-', '「引用」', '👩‍👩‍👧'),
  ),
  { maxLength: 30 },
);

describe('UI-1: text is broken between words', () => {
  test('a row ends before the word that does not fit', () => {
    expect(texts('the quick brown fox', 10)).toEqual(['the quick', 'brown fox']);
    expect(texts('more than one line', 12)).toEqual(['more than', 'one line']);
  });

  test('a word that is wider than a row is broken, and no other', () => {
    expect(texts('see https://example.com/path now', 12)).toEqual([
      'see',
      'https://exam',
      'ple.com/path',
      'now',
    ]);
  });

  test('wide characters count two columns, combining marks none', () => {
    expect(texts('日本語です', 6)).toEqual(['日本語', 'です']);
    expect(texts('これは、本', 6)).toEqual(['これ', 'は、本']);
    expect(texts('ne\u0301e\u0301 ne\u0301', 6)).toEqual(['ne\u0301e\u0301 ne\u0301']);
    expect(texts('한국어 한국어', 8)).toEqual(['한국어', '한국어']);
  });

  test('blanks at the end of a span and at the start of the next are all there', () => {
    const rows = wrapSpans([plainSpan('1 '), plainSpan('  two'), plainSpan(' '), plainSpan('\tend')], 40);
    expect(rows.map(({ text, width }) => [text, width])).toEqual([['1   two         end', 19]]);
  });

  test('line breaks and empty lines stay', () => {
    expect(texts('a\n\n  b c', 4)).toEqual(['a', '', '  b', 'c']);
  });

  test('a line of Ramet continues as far in as it begins, in its colours', () => {
    expect(wrapLine(colouredSpans('  \u001b[2maa bb cc\u001b[22m d'), 7).map((row) => row.text)).toEqual([
      '  \u001b[2maa bb\u001b[22m',
      '  \u001b[2mcc\u001b[22m d',
    ]);
  });

  test('no row is wider than asked for, no word is lost, and none that fits is broken', () => {
    const property = fc.property(WORDS, fc.integer({ min: 4, max: 50 }), (words, columns) => {
      const rows = texts(words.join(' '), columns);
      expect(rows.every((row) => displayWidth(row) <= columns)).toBe(true);
      expect(rows.join('').replaceAll(' ', '')).toBe(words.join(''));
      const latin = words.filter((word) => /^[a-z]+$/.test(word) && word.length <= columns);
      for (const word of latin)
        expect(rows.some((row) => row.split(' ').some((part) => part.includes(word)))).toBe(true);
    });
    fc.assert(property);
  });

  test('text that grows changes only its last row', () => {
    const property = fc.property(WORDS, fc.integer({ min: 4, max: 50 }), (words, columns) => {
      const whole = texts(words.join(' '), columns);
      const part = texts(words.slice(0, -1).join(' '), columns);
      expect(whole.slice(0, part.length - 1)).toEqual(part.slice(0, -1));
    });
    fc.assert(property);
  });

  test('a row that is too wide is broken into rows with all of it', () => {
    const text = '\u001b[32mab日cd\u001b[39mefg';
    const rows = brokenRows({ text, width: 9 }, 4);
    expect(rows.map((row) => stripAnsi(row.text))).toEqual(['ab日', 'cdef', 'g']);
    expect(rows.every((row) => row.width <= 4)).toBe(true);
    expect(colouredSpans(rows[1]?.text ?? '')[0]?.open).toBe('\u001b[32m');
  });
});
