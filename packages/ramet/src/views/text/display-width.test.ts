import { describe, expect, test } from 'vitest';
import { displayWidth, fitText, graphemesOf, graphemeWidth } from './format.ts';

describe('the width of text on a terminal', () => {
  test.for<[string, number]>([
    ['', 0],
    ['plain', 5],
    ['é', 1],
    ['e\u0301', 1],
    ['日本語', 6],
    ['한국', 4],
    ['😀', 2],
    ['👩‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['\u200b', 0],
    ['\ud800', 0],
    ['a日b', 4],
    ['䷀', 2],
    ['☰', 2],
    ['①', 1],
    ['❤️', 2],
  ])('%j takes %i columns', ([text, width]) => {
    expect(displayWidth(text)).toBe(width);
  });

  test('signs of our own rows take one column each, and join with nothing that could stand beside them', () => {
    const signs = [...'·»–—•…←→─│✓✗⠋⠙⣿'];
    const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
    for (const sign of signs) {
      expect(graphemeWidth(sign), sign).toBe(1);
      for (const other of ['a', ' ', ...signs]) {
        expect(displayWidth(sign + other)).toBe(2);
        expect([...segmenter.segment(sign + other)]).toHaveLength(2);
      }
      expect(graphemesOf(`${sign}\u0301`)).toHaveLength(1);
    }
  });

  test('a family emoji is one character to a reader', () => {
    expect(graphemesOf('a👩‍👩‍👧b')).toEqual(['a', '👩‍👩‍👧', 'b']);
  });

  test.for<[string, number, string]>([
    ['short', 10, 'short'],
    ['exactly', 7, 'exactly'],
    ['too long', 5, 'too …'],
    ['日本語', 5, '日本…'],
    ['日本語', 4, '日…'],
    ['x', 0, ''],
  ])('%j in %i columns is %j', ([text, columns, fitted]) => {
    expect(fitText(text, columns)).toBe(fitted);
  });
});
