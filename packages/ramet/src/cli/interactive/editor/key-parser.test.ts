import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createKeyParser, type Key, type KeyName } from './key-parser.ts';

const press = (name: KeyName): Key => ({ type: 'press', name });
const text = (typed: string): Key => ({ type: 'text', text: typed });

function parse(...chunks: string[]): Key[] {
  const parser = createKeyParser();
  return [...chunks.flatMap((chunk) => parser.feed(chunk)), ...parser.flush()];
}

/** Neighbouring text as one: how it was cut into chunks does not matter. */
function joined(keys: Key[]): Key[] {
  const result: Key[] = [];
  for (const key of keys) {
    const last = result.at(-1);
    if (key.type === 'text' && last?.type === 'text') last.text += key.text;
    else result.push({ ...key });
  }
  return result;
}

describe('keys of a terminal', () => {
  test.for<[string, Key[]]>([
    ['héllo\r', [text('héllo'), press('enter')]],
    ['\u001b[A\u001bOB', [press('up'), press('down')]],
    ['\u001b\r', [press('newline')]],
    ['\u001b[13;2u', [press('newline')]],
    ['\u0003\u0004', [press('interrupt'), press('end-of-input')]],
    ['a\u001b[1;5Db', [text('a'), press('word-left'), text('b')]],
    ['\u001b', [press('escape')]],
    ['\u001b\u001b', [press('escape'), press('escape')]],
    ['\u001b[99;99X', []],
    ['\u001b[200~one\r\ntwo\u0003\u001b[201~x', [{ type: 'paste', text: 'one\r\ntwo\u0003' }, text('x')]],
  ])('%j', ([input, keys]) => {
    expect(parse(input)).toEqual(keys);
  });

  test('a lone Escape waits for what may follow it', () => {
    const parser = createKeyParser();
    expect(parser.feed('\u001b')).toEqual([]);
    expect(parser.waiting).toBe('escape');
    expect(parser.feed('[D')).toEqual([press('left')]);
    expect(parser.waiting).toBe(null);
  });

  describe('a paste whose end does not come', () => {
    const cutOff = (chunk: string | null): { parser: ReturnType<typeof createKeyParser>; keys: Key[] } => {
      const parser = createKeyParser();
      expect(parser.feed('\u001b[200~one\rtw')).toEqual([]);
      expect(parser.waiting).toBe('paste');
      return { parser, keys: chunk === null ? parser.flush() : parser.feed(chunk) };
    };
    const ways: [string, string | null][] = [
      ['Ctrl-C', '\u0003'],
      ['silence', null],
    ];

    test.for(ways)('%s ends it, what came is kept, and keys are keys again', ([, chunk]) => {
      const { parser, keys } = cutOff(chunk);
      expect(keys).toEqual([{ type: 'paste', text: 'one\rtw' }]);
      expect(parser.waiting).toBe(null);
      expect(parser.feed('x')).toEqual([text('x')]);
      expect(parser.feed('\r')).toEqual([press('enter')]);
      expect(parser.feed('\u0003')).toEqual([press('interrupt')]);
    });

    test.for(ways)('after %s the rest of it submits nothing', ([, chunk]) => {
      const { parser } = cutOff(chunk);
      expect(parser.feed('o\rthree\r')).toEqual([{ type: 'paste', text: 'o\rthree\r' }]);
      expect(parser.feed('four\r\u001b[201~\r')).toEqual([{ type: 'paste', text: 'four\r' }, press('enter')]);
      expect(parser.feed('a\r')).toEqual([text('a'), press('enter')]);
    });

    test('only a Ctrl-C that comes by itself ends it', () => {
      const { keys } = cutOff('o\u0003');
      expect(keys).toEqual([]);
    });
  });

  test('a sequence without end is dropped, and typing continues', () => {
    expect(parse(`\u001b[${'1'.repeat(100)}`, 'm', 'x')).toContainEqual(text('x'));
  });

  test('a paste of 5 MB in small pieces is one key', () => {
    const pasted = 'line of text, 32 characters, ok\n'.repeat(160_000);
    const sent = `\u001b[200~${pasted}\u001b[201~`;
    const parser = createKeyParser();
    const keys: Key[] = [];
    for (let at = 0; at < sent.length; at += 4_095) keys.push(...parser.feed(sent.slice(at, at + 4_095)));
    expect(keys).toHaveLength(1);
    expect(keys[0]?.type === 'paste' && keys[0].text === pasted).toBe(true);
  });

  test('how the input is cut into pieces does not matter', () => {
    const piece = fc.constantFrom(
      'a',
      '日',
      '\u001b[A',
      '\u001b[200~x\ny\u001b[201~',
      '\r',
      '\u001b[3~',
      '\u0001',
    );
    const property = fc.property(fc.array(piece), fc.array(fc.nat(40)), (pieces, cuts) => {
      const input = pieces.join('');
      const places = [
        0,
        ...cuts.map((cut) => Math.min(cut, input.length)).sort((a, b) => a - b),
        input.length,
      ];
      const chunks = places.slice(1).map((end, index) => input.slice(places[index], end));
      expect(joined(parse(...chunks))).toEqual(joined(parse(input)));
    });
    fc.assert(property);
  });
});
