import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonMistake, parsePositionedJson } from './positioned-json.ts';

function mistakeOf(text: string): { line: number; message: string } {
  try {
    parsePositionedJson(text);
  } catch (error) {
    if (error instanceof JsonMistake) return { line: error.line, message: error.message };
    throw error;
  }
  throw new Error('no mistake was found');
}

describe('reading', () => {
  test('takes every JSON text for what JSON.parse takes it for', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.boolean(), (value, indented) => {
        const text = JSON.stringify(value, null, indented ? 2 : 0);
        fc.pre(!text.includes('"__proto__"'));
        expect(parsePositionedJson(text).value).toEqual(JSON.parse(text));
      }),
    );
  });

  test('allows comments and trailing commas', () => {
    const text = '// first\n{ /* a\nb */ "a": [1, 2,], // "c": 3\n "b//": "/* no */",\n}\n// last';
    expect(parsePositionedJson(text).value).toEqual({ a: [1, 2], 'b//': '/* no */' });
  });

  test('knows the line of every value, and of what surrounds one it does not have', () => {
    const { lineOf } = parsePositionedJson('{\n "a": {\n\n  "b": [1,\n 2] },\n "c": 3 }');
    expect([['a'], ['a', 'b'], ['a', 'b', 0], ['a', 'b', 1], ['c']].map(lineOf)).toEqual([2, 4, 4, 5, 6]);
    expect([['a', 'x'], ['y'], []].map(lineOf)).toEqual([2, 1, 1]);
  });
});

describe('mistakes', () => {
  test.each<[string, number, string]>([
    ['', 1, 'it is empty: write {} or remove it'],
    ['\n// only this\n', 3, 'it is empty'],
    ['{\n"a": 1,\n"a": 2}', 3, 'the key "a" stands twice (first on line 2): keep one'],
    ['{"__proto__": {}}', 1, 'the key "__proto__" is not allowed'],
    ['{"a" 1}', 1, 'a colon is missing after "a"'],
    ['{"a": 1\n"b": 2}', 2, 'a comma is missing before "\\""'],
    ['[1 2]', 1, 'a comma is missing before "2"'],
    ['{\n"a": [1,\n', 3, 'the bracket of line 2 is not closed'],
    ['{,}', 1, 'a key in quotes should be here: ","'],
    ['[,]', 1, 'a value should be here: ","'],
    ['[1,,]', 1, 'a value should be here: ","'],
    ["{'a': 1}", 1, 'a key in quotes should be here'],
    ['{a: 1}', 1, 'a key in quotes should be here'],
    ['[undefined]', 1, 'a value should be here: "u"'],
    ['[nullish]', 1, 'a value should be here: "n"'],
    ['[01]', 1, 'a comma is missing before "1"'],
    ['[+1]', 1, 'a value should be here: "+"'],
    ['[1.]', 1, 'a comma is missing before "."'],
    ['["a\nb"]', 1, 'a string is not closed on its line'],
    ['["a', 1, 'a string is not closed on its line'],
    ['["\\x41"]', 1, 'a backslash that stands for nothing'],
    ['{} {}', 1, 'there is more after the end: "{"'],
    ['{} /* open', 1, 'a comment is not closed'],
    ['[\u009b]', 1, 'a value should be here: "\\u009b"'],
  ])('%j', (text, line, message) => {
    const mistake = mistakeOf(text);
    expect(mistake.message).toContain(message);
    expect(mistake.line).toBe(line);
  });

  test('nesting is bounded', () => {
    expect(mistakeOf('['.repeat(100_000)).message).toBe('it is nested deeper than 32 levels');
  });

  test('any text is read or is a mistake', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '1',
      '//',
      '/*',
      '*/',
      '\n',
      'true',
      '\\',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string())), (parts) => {
        try {
          parsePositionedJson(parts.join(''));
        } catch (error) {
          expect(error).toBeInstanceOf(JsonMistake);
        }
      }),
    );
  });

  test('a large file is read in one pass', () => {
    const entries = Array.from({ length: 30_000 }, (_, index) => `"key${index}": "${'v'.repeat(20)}"`);
    expect(parsePositionedJson(`{\n${entries.join(',\n')}\n}`).lineOf(['key29999'])).toBe(30_001);
  });

  test('a large file on one line is read in one pass too, within two seconds of work', () => {
    const entries = Array.from({ length: 60_000 }, () => `"${'v'.repeat(200)}"`);
    const before = process.cpuUsage();
    expect(parsePositionedJson(`[\n${entries.join(',')}]`).lineOf(['59999'])).toBe(2);
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
  });
});
