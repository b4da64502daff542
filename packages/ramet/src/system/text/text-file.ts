/**
 * Text as agents see it (`\n` line ends, no byte-order mark) and as it lies on disk. What an edit does not touch
 * comes back as the same bytes: encoding, mark and line ends, also in a file that mixes them.
 */
import { isUtf8 } from 'node:buffer';

type TextEncodingName = 'utf-8' | 'utf-16le' | 'utf-16be';

export interface TextFile {
  /** With `\n` line ends. */
  text: string;
  /** As on disk, mark removed. */
  original: string;
  encoding: TextEncodingName;
  mark: boolean;
  /** `kept`: the text is the original, carriage returns and all. */
  lineEnds: 'kept' | 'crlf' | 'mixed';
}

/** Null when the bytes are not text: neither valid UTF-8 without NUL nor UTF-16 with its byte-order mark. */
export function decodeTextFile(bytes: Uint8Array): TextFile | null {
  const encoding = encodingOf(bytes);
  if (encoding === null) return null;
  const decoded = decode(bytes, encoding);
  if (decoded === null) return null;
  const mark = decoded.charCodeAt(0) === 0xfeff;
  const original = mark ? decoded.slice(1) : decoded;
  const lineEnds = lineEndsOf(original);
  const text = lineEnds === 'kept' ? original : original.replaceAll('\r\n', '\n');
  return { text, original, encoding, mark, lineEnds };
}

/** `text` as bytes in the form of the file it replaces; a new file is plain UTF-8, line ends as given. */
export function encodeTextFile(text: string, like: TextFile | null): Uint8Array {
  if (like === null) return Buffer.from(text);
  const ended =
    like.lineEnds === 'kept'
      ? text
      : like.lineEnds === 'crlf'
        ? text.replace(/\r?\n/g, '\r\n')
        : restoreMixedLineEnds(like.original, text.replaceAll('\r\n', '\n'));
  const marked = like.mark ? `\ufeff${ended}` : ended;
  if (like.encoding === 'utf-8') return Buffer.from(marked);
  const wide = Buffer.from(marked, 'utf16le');
  return like.encoding === 'utf-16be' ? wide.swap16() : wide;
}

function encodingOf(bytes: Uint8Array): TextEncodingName | null {
  if (bytes.length % 2 === 0 && bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes.length % 2 === 0 && bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return isUtf8(bytes) && !bytes.includes(0) ? 'utf-8' : null;
}

function decode(bytes: Uint8Array, encoding: TextEncodingName): string | null {
  if (encoding === 'utf-8') return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** `\r\r\n`, a damage some tools leave, would read as a line end again once shortened: such a file is left as it is. */
function lineEndsOf(text: string): TextFile['lineEnds'] {
  if (!text.includes('\r\n') || text.includes('\r\r\n')) return 'kept';
  return /(?<!\r)\n/.test(text) ? 'mixed' : 'crlf';
}

/**
 * Lines before the first and after the last change keep their own ends; so do changed lines when their number
 * stayed the same. Lines of a region that grew or shrank take the file's more frequent end.
 */
function restoreMixedLineEnds(original: string, text: string): string {
  const before = original.split('\n').map((line) => ({
    crlf: line.endsWith('\r'),
    text: line.endsWith('\r') ? line.slice(0, -1) : line,
  }));
  const after = text.split('\n');
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head]?.text === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail)?.text === after.at(-1 - tail)) tail++;
  const frequent = before.filter((line) => line.crlf).length * 2 >= before.length;
  const aligned = before.length === after.length;
  const isCrlf = (index: number): boolean => {
    if (aligned || index < head) return before[index]?.crlf ?? frequent;
    if (index >= after.length - tail) return before[index - after.length + before.length]?.crlf ?? frequent;
    return frequent;
  };
  const last = after.length - 1;
  return after
    .map((line, index) => (index === last ? line : `${line}${isCrlf(index) ? '\r\n' : '\n'}`))
    .join('');
}
