import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VirtualTerminal } from '../../../../test/fixtures/virtual-terminal.ts';
import { createScreen, type LiveRows } from './screen.ts';

function live(...texts: string[]): LiveRows {
  return {
    rows: texts.map((text) => ({ text, width: text.length })),
    cursorRow: 0,
    cursorColumn: texts[0]?.length ?? 0,
  };
}

/** What a terminal shows of text that is simply written to it. */
function written(text: string, columns: number): string {
  const terminal = new VirtualTerminal(columns, 1_000);
  terminal.write(text.replaceAll('\n', '\r\n'));
  return terminal.text;
}

describe('UI-1: output above, live rows below', () => {
  test('a line that comes in pieces continues where it stopped', () => {
    const terminal = new VirtualTerminal(20, 10);
    const screen = createScreen((bytes) => terminal.write(bytes), 20);
    for (const piece of ['Hel', 'lo ', 'there.\nNext']) {
      screen.append(piece);
      screen.draw(live('> ', 'status'));
    }
    expect(terminal.text).toBe('Hello there.\nNext\n>\nstatus');
    expect(terminal.cursor).toEqual({ row: 2, column: 2 });
  });

  test('the live rows alone are drawn again when they change', () => {
    const terminal = new VirtualTerminal(20, 10);
    const screen = createScreen((bytes) => terminal.write(bytes), 20);
    screen.append('output\n');
    screen.draw(live('> one', 'two', 'three'));
    screen.draw(live('> o', 'status'));
    expect(terminal.text).toBe('output\n> o\nstatus');
  });

  test('they are gone when it is closed, and the output stays', () => {
    const terminal = new VirtualTerminal(20, 10);
    const screen = createScreen((bytes) => terminal.write(bytes), 20);
    screen.append('unfinished');
    screen.draw(live('> x', 'status'));
    screen.append(' line');
    screen.close();
    expect(terminal.text).toBe('unfinished line');
    expect(terminal.cursor).toEqual({ row: 1, column: 0 });
  });

  test('after a change of size the rows that were there are erased, and the output stays', () => {
    const terminal = new VirtualTerminal(20, 10);
    const screen = createScreen((bytes) => terminal.write(bytes), 20);
    screen.append('output\n');
    screen.draw(live('> one', 'two', 'three'));
    screen.resized(20);
    expect(terminal.text).toBe('output');
    screen.draw(live('> one', 'status'));
    expect(terminal.text).toBe('output\n> one\nstatus');
  });

  test('tabs become blanks and colours take no room', () => {
    const terminal = new VirtualTerminal(20, 10);
    const screen = createScreen((bytes) => terminal.write(bytes), 20);
    screen.append('a\t\u001b[31mb\u001b[39m');
    screen.draw(live('> '));
    screen.append('c');
    screen.draw(live('> '));
    expect(terminal.text).toBe('a       bc\n>');
  });

  test('a wide character that does not fit leaves the last column empty', () => {
    const terminal = new VirtualTerminal(5, 10);
    const screen = createScreen((bytes) => terminal.write(bytes), 5);
    for (const piece of ['    😀', 'a', 'bcd']) {
      screen.append(piece);
      screen.draw(live('> '));
    }
    expect(terminal.text).toBe('\n😀abc\nd\n>');
  });

  test('output in any pieces, at any width, looks as if it had been written at once', () => {
    const piece = fc.oneof(
      fc.stringMatching(/^[a-z ]{0,30}$/),
      fc.constantFrom('\n', '\n\n', '日本', '😀', 'x'.repeat(10), 'e\u0301'),
    );
    const rows = fc.array(fc.constantFrom('> ', '> abc', 'st'), { minLength: 1, maxLength: 4 });
    const property = fc.property(
      fc.integer({ min: 6, max: 40 }),
      fc.array(fc.tuple(piece, rows), { maxLength: 20 }),
      (columns, steps) => {
        const terminal = new VirtualTerminal(columns, 10);
        const screen = createScreen((bytes) => terminal.write(bytes), columns);
        for (const [text, below] of steps) {
          screen.append(text);
          screen.draw(live(...below));
        }
        screen.close();
        expect(terminal.text).toBe(written(steps.map(([text]) => text).join(''), columns));
      },
    );
    fc.assert(property);
  });
});
