import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { displayWidth } from '../../../views/text/format.ts';
import { layoutInput } from './input-layout.ts';
import { EMPTY_EDITOR, editorOf, insertPaste, moveTo, pasteLabel } from './line-editor.ts';

const options = { columns: 10, maxRows: 5, prompt: '> ' };

describe('UI-1: the input on the screen', () => {
  test('an empty line shows the prompt', () => {
    expect(layoutInput(EMPTY_EDITOR, options)).toEqual({ rows: ['> '], cursorRow: 0, cursorColumn: 2 });
  });

  test('long lines are broken and indented', () => {
    expect(layoutInput(editorOf('abcdefghijk'), options)).toEqual({
      rows: ['> abcdefgh', '  ijk'],
      cursorRow: 1,
      cursorColumn: 5,
    });
  });

  test('a cursor after a full row is in the next one', () => {
    expect(layoutInput(editorOf('abcdefgh'), options)).toMatchObject({ cursorRow: 1, cursorColumn: 2 });
  });

  test('a wide character is not cut in two', () => {
    expect(layoutInput(editorOf('abcdefg日'), options).rows).toEqual(['> abcdefg', '  日']);
  });

  test('of many lines those around the cursor are shown', () => {
    const editor = editorOf('1\n2\n3\n4\n5\n6');
    expect(layoutInput(editor, { ...options, maxRows: 2 })).toMatchObject({
      rows: ['  5', '  6'],
      cursorRow: 1,
    });
    expect(layoutInput(moveTo(editor, 0), { ...options, maxRows: 2 })).toMatchObject({
      rows: ['> 1', '  2'],
      cursorRow: 0,
    });
  });

  test('a long paste is shown by its size', () => {
    const pasted = `${'x'.repeat(404)}\n`.repeat(12_345);
    expect(pasteLabel(pasted)).toBe('[pasted 5.0 MB, 12,345 lines]');
    const { rows } = layoutInput(insertPaste(EMPTY_EDITOR, pasted), { ...options, columns: 80 });
    expect(rows).toEqual(['> [pasted 5.0 MB, 12,345 lines]']);
  });

  test('no row is wider than the screen and the cursor is always on it', () => {
    const property = fc.property(
      fc.string({ unit: 'grapheme', maxLength: 200 }),
      fc.nat(220),
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 30 }),
      (text, cursor, columns, maxRows) => {
        const layout = layoutInput(moveTo(editorOf(text), cursor), { columns, maxRows, prompt: '> ' });
        const width = Math.max(4, columns);
        for (const row of layout.rows) expect(displayWidth(row)).toBeLessThanOrEqual(width);
        expect(layout.rows.length).toBeLessThanOrEqual(maxRows);
        expect(layout.cursorRow).toBeLessThan(layout.rows.length);
        expect(layout.cursorColumn).toBeLessThan(width);
      },
    );
    fc.assert(property);
  });
});
