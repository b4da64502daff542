import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { displayWidth } from '../../../views/text/format.ts';
import { statusRows } from './status-rows.ts';

const SHAPE = { columns: 20, most: 3, colours: true, padding: 0 };

function textOf(line: string, shape: Partial<typeof SHAPE> = {}): string | undefined {
  return statusRows([line], { ...SHAPE, ...shape })[0]?.text;
}

describe('UI-3: a line that a command wrote for the status line', () => {
  test('keeps its colours and ends them, and is indented', () => {
    expect(textOf('\u001b[1;38;5;208mmain\u001b[0m ok', { padding: 2 })).toBe(
      '  \u001b[1;38;5;208mmain\u001b[0m ok\u001b[0m',
    );
    expect(textOf('\u001b[31mred', { colours: false })).toBe('red');
  });

  test.for([
    ['\u001b[2J\u001b[H\u001b[5Agone', 'gone'],
    ['\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\', 'alink'],
    ['a\u001b[?1049hb\u001bcc\u0008\r\u009b31md\u001b', 'abc31md'],
    ['\u001bP1$r\u001b\\x\u202ey', 'xy'],
    ['a\tb', 'a  b'],
  ] as const)('loses every other control: %j', ([line, text]) => {
    expect(textOf(line)).toBe(text);
  });

  test('is never wider than the screen, whatever was written', () => {
    const part = fc.constantFrom(
      '\u001b[31m',
      '\u001b[',
      '\u001b]',
      'x'.repeat(9),
      '日本',
      '\u0007',
      ' ',
      'm',
    );
    fc.assert(
      fc.property(fc.array(part), fc.integer({ min: 1, max: 30 }), fc.nat(20), (parts, columns, padding) => {
        for (const { text, width } of statusRows([parts.join('')], { ...SHAPE, columns, padding })) {
          // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with Escape
          const plain = text.replace(/\u001b\[[0-9;:]*m/g, '');
          // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left
          expect(plain).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
          expect(displayWidth(plain)).toBe(width);
          expect(width).toBeLessThanOrEqual(columns);
        }
      }),
    );
  });

  test('a long one is cut, and more than fit are left out', () => {
    expect(textOf('x'.repeat(100_000))).toBe(`${'x'.repeat(19)}…`);
    expect(statusRows(['1', '2', '3'], { ...SHAPE, most: 1 })).toHaveLength(1);
  });
});
