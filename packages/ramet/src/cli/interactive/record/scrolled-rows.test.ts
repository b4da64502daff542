import { describe, expect, test } from 'vitest';
import { lineBlocks } from '../markdown/blocks.ts';
import { ScrolledRows } from './scrolled-rows.ts';

const SIZE = { columns: 20, height: 4 };

function numbered(from: number, to: number): string {
  return Array.from({ length: to - from + 1 }, (_, index) => `row ${from + index}\n`).join('');
}

function shown(rows: ScrolledRows, size = SIZE, unfinished = ''): string[] {
  const end = unfinished === '' ? [] : [{ text: unfinished, width: unfinished.length }];
  return rows.shown(size, end).rows.map(({ text }) => text);
}

describe('UI-3: the rows of a conversation that is scrolled', () => {
  test('show the end, which what is added moves', () => {
    const rows = new ScrolledRows();
    expect(shown(rows)).toEqual(['', '', '', '']);
    rows.add(lineBlocks(numbered(1, 6)));
    expect(shown(rows, SIZE, 'now')).toEqual(['row 4', 'row 5', 'row 6', 'now']);
  });

  test('stay where a person has scrolled to, and follow again at the end', () => {
    const rows = new ScrolledRows();
    rows.add(lineBlocks(numbered(1, 9)));
    shown(rows);
    rows.page(-1);
    expect(rows.shown(SIZE, []).below).toBe(3);
    const seen = shown(rows);
    expect(seen).toEqual(['row 3', 'row 4', 'row 5', 'row 6']);
    rows.add(lineBlocks(numbered(10, 20)));
    expect(shown(rows)).toEqual(seen);
    rows.scroll(1_000);
    expect(shown(rows)).toEqual(['row 17', 'row 18', 'row 19', 'row 20']);
    rows.add(lineBlocks(numbered(21, 21)));
    expect(shown(rows).at(-1)).toBe('row 21');
    rows.toStart();
    rows.scroll(-5);
    expect(shown(rows)[0]).toBe('row 1');
  });

  test('are wrapped again for another width', () => {
    const rows = new ScrolledRows();
    rows.add(lineBlocks('some words that do not fit\n'));
    expect(shown(rows, { columns: 40, height: 2 })).toEqual(['some words that do not fit', '']);
    expect(shown(rows, { columns: 12, height: 3 })).toEqual(['some words', 'that do not', 'fit']);
  });

  test('a hundred thousand of them are bounded', () => {
    const rows = new ScrolledRows();
    for (let part = 0; part < 100; part++) {
      rows.add(lineBlocks(numbered(part * 1_000 + 1, part * 1_000 + 1_000)));
      shown(rows);
    }
    expect(shown(rows).at(-1)).toBe('row 100000');
    rows.toStart();
    expect(shown(rows)[0]).not.toBe('row 1');
  });
});
