/**
 * The part of a text that one Read shows: from `offset`, at most `limit` lines, at most about 100 KB, long lines cut.
 * Lines come one by one, so the text may be far larger than what is kept of it.
 */
import { headOf } from './cut-text.ts';
import { numberedLine } from './numbered-lines.ts';

export const LINE_LIMIT = 2_000;
export const LINE_LENGTH_LIMIT = 2_000;
const TOTAL_LIMIT = 100_000;

export interface LineWindow {
  /** Whether the next line would be shown; lines before the window need not be decoded. */
  wants(): boolean;
  /** `length` is the line's true length where `line` holds only its beginning. */
  add(line: string, length?: number): 'more' | 'enough';
  render(options: { numbered: boolean }): string;
}

export function createLineWindow(offset: number, limit: number): LineWindow {
  const shown: string[] = [];
  let passed = 0;
  let size = 0;
  let full = false;
  return {
    wants: () => passed + 1 >= offset && !full,
    add(line, length = line.length) {
      const number = passed + 1;
      if (number >= offset && !full) {
        const text = length > LINE_LENGTH_LIMIT ? cutLine(line, length) : line;
        size += text.length + 8;
        full = shown.length >= limit || (size > TOTAL_LIMIT && shown.length > 0);
        if (!full) shown.push(text);
      }
      passed = number;
      return full ? 'enough' : 'more';
    },
    render({ numbered }) {
      if (passed === 0) return '(The file is empty.)';
      if (shown.length === 0) return `(The file has ${passed} lines: offset ${offset} is past its end.)`;
      const lines = numbered ? shown.map((line, index) => numberedLine(offset + index, line)) : shown;
      const next = offset + shown.length;
      return full ? `${lines.join('\n')}\n(More follows: go on with offset ${next}.)` : lines.join('\n');
    },
  };
}

function cutLine(line: string, length: number): string {
  const head = headOf(line, LINE_LENGTH_LIMIT);
  return `${head}... [${length - head.length} more characters in this line]`;
}

const LINE_END = 10;

/** Feeds chunks of UTF-8 to a window, holding no more than the beginning of one line. */
export function createLineSplitter(window: LineWindow): {
  take(chunk: Uint8Array): 'more' | 'enough';
  end(): void;
} {
  const keep = LINE_LENGTH_LIMIT * 4;
  let start = Buffer.alloc(0);
  let length = 0;
  const finishLine = (): 'more' | 'enough' => {
    const text = window.wants()
      ? start
          .toString()
          .replace(/\r$/, '')
          .replace(/^\ufeff/, '')
      : '';
    const answer = window.add(text, length > keep ? length : text.length);
    start = Buffer.alloc(0);
    length = 0;
    return answer;
  };
  const extend = (piece: Buffer): void => {
    length += piece.length;
    if (window.wants() && start.length < keep)
      start = Buffer.concat([start, piece.subarray(0, keep - start.length)]);
  };
  return {
    take(chunk) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      let from = 0;
      for (let end = bytes.indexOf(LINE_END); end !== -1; end = bytes.indexOf(LINE_END, from)) {
        extend(bytes.subarray(from, end));
        if (finishLine() === 'enough') return 'enough';
        from = end + 1;
      }
      extend(bytes.subarray(from));
      return 'more';
    },
    end() {
      if (length > 0) finishLine();
    },
  };
}
