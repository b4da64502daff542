import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeTextFile, encodeTextFile } from './text-file.ts';

function edit(before: string | Uint8Array, change: (text: string) => string): Buffer {
  const file = decodeTextFile(Buffer.from(before));
  if (file === null) throw new Error('not text');
  return Buffer.from(encodeTextFile(change(file.text), file));
}

describe('text on disk and text in a conversation', () => {
  test.for([
    ['LF', 'a\nb\n', 'a\nX\n'],
    ['CRLF', 'a\r\nb\r\n', 'a\r\nX\r\n'],
    ['mixed, line count kept', 'a\r\nb\nc\r\n', 'a\r\nX\nc\r\n'],
    ['no final line end', 'a\r\nb', 'a\r\nX'],
    ['a lone carriage return', 'a\rz\nb\n', 'a\rz\nX\n'],
    ['a byte-order mark', '\ufeffa\nb\n', '\ufeffa\nX\n'],
  ] as const)('an edit keeps the form of the file: %s', ([, before, after]) => {
    expect(edit(before, (text) => text.replace('b', 'X')).toString()).toBe(after);
  });

  test('lines around a grown region of a mixed file keep their own ends', () => {
    expect(edit('a\r\nb\nc\nd\r\ne\n', (text) => text.replace('c\n', 'c\nX\n')).toString()).toBe(
      'a\r\nb\nc\nX\nd\r\ne\n',
    );
  });

  test('CRLF given for a CRLF file is not doubled', () => {
    expect(edit('a\r\n', () => 'x\r\ny\n').toString()).toBe('x\r\ny\r\n');
  });

  test.for(['utf16le', 'utf16be'] as const)('%s with its mark is text and stays so', (encoding) => {
    const wide = (text: string): Buffer => {
      const bytes = Buffer.from(`\ufeff${text}`, 'utf16le');
      return encoding === 'utf16be' ? bytes.swap16() : bytes;
    };
    expect(edit(wide('grün\r\n'), (text) => text.replace('ü', 'u'))).toEqual(wide('grun\r\n'));
  });

  test.for([
    ['Latin-1', [0x63, 0xe9]],
    ['a NUL byte', [0x61, 0, 0x62]],
    ['UTF-16 cut in the middle of a pair', [0xff, 0xfe, 0x3d, 0xd8]],
    ['a cut UTF-8 sequence', [0x61, 0xe2, 0x82]],
  ] as const)('%s is not text', ([, bytes]) => {
    expect(decodeTextFile(Uint8Array.from(bytes))).toBeNull();
  });

  test('no change gives back the same bytes, whatever the mix of line ends', () => {
    const piece = fc.constantFrom('a', 'b', '\r', '\n', '\r\n', '\ufeff', 'é');
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        expect(edit(pieces.join(''), (text) => text).toString()).toBe(pieces.join(''));
      }),
    );
  });
});
