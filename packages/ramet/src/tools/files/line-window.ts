/**
 * The part of a text that one Read shows: from `offset`, at most `limit` lines, at most about 100 KB, long lines cut.
 * Lines come one by one, so the text may be far larger than what is kept of it.
 */
import { headOf } from '../../system/text/visible-text.ts';

const SNIPPET_LINE_LENGTH = 500;

export const LINE_LIMIT = 2_000;
const LINE_LENGTH_LIMIT = 2_000;
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
      return full ? `${lines.join('\n')}\n(More follows: continue with offset ${next}.)` : lines.join('\n');
    },
  };
}

function cutLine(line: string, length: number): string {
  const head = headOf(line, LINE_LENGTH_LIMIT);
  return `${head}... [${length - head.length} more characters in this line]`;
}

const LINE_END = 10;
const KEPT_OF_LINE = LINE_LENGTH_LIMIT * 4;
const NOTHING: Buffer = Buffer.alloc(0);

/** Feeds chunks of UTF-8 to a window, holding no more than the beginning of one line. */
export function createLineSplitter(window: LineWindow): {
  take(chunk: Uint8Array): 'more' | 'enough';
  end(): void;
} {
  let start = NOTHING;
  let length = 0;
  const extend = (bytes: Uint8Array, from: number, to: number): void => {
    length += to - from;
    if (!window.wants() || start.length >= KEPT_OF_LINE) return;
    start = Buffer.concat([start, bytes.subarray(from, Math.min(to, from + KEPT_OF_LINE - start.length))]);
  };
  const finishLine = (): 'more' | 'enough' => {
    const text =
      start === NOTHING
        ? ''
        : start
            .toString()
            .replace(/^\ufeff/, '')
            .replace(/\r$/, '');
    const answer = window.add(text, length > KEPT_OF_LINE ? length : text.length);
    start = NOTHING;
    length = 0;
    return answer;
  };
  return {
    take(chunk) {
      let from = 0;
      // A plain loop: lines before the window are many and short, and a search call for each costs more than the look.
      for (let index = 0; index < chunk.length; index++) {
        if (chunk[index] !== LINE_END) continue;
        extend(chunk, from, index);
        if (finishLine() === 'enough') return 'enough';
        from = index + 1;
      }
      extend(chunk, from, chunk.length);
      return 'more';
    },
    end() {
      if (length > 0) finishLine();
    },
  };
}

/** Lines as `cat -n` shows them: what Read prints and what every other tool that shows file text prints too. */
function numberedLine(number: number, text: string): string {
  return `${String(number).padStart(6)}\t${text}`;
}

/** A few lines to show a place in a file; of a long line its beginning. */
export function numberedSnippet(lines: readonly string[], first: number): string {
  const cut = (line: string): string =>
    line.length > SNIPPET_LINE_LENGTH ? `${headOf(line, SNIPPET_LINE_LENGTH)}...` : line;
  return lines.map((line, index) => numberedLine(first + index, cut(line))).join('\n');
}

/** The lines of a text; a final line end closes the last line and opens no new one. */
export function linesOf(text: string): string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}
