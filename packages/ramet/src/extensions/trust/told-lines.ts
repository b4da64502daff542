/** Files that hold commands in a form of their own (`justfile`, `lefthook.yml`, `.npmrc`): each line and each value is read as one. */
import { contentOf } from './trusted-content.ts';

const MOST_LINES = 300;
const LONGEST_LINE = 500;
const COMMENT = /^(?:#(?!!)|\/\/)/;
/** `- key: value`, `key = value`, with quotes and commas around it. */
const KEY = /^(?:-\s+)?["']?[\w.@/-]+["']?\s*[:=]\s*/;
const MARKS = /^["'[\s@-]+|["'\],\s]+$/g;

export function toldLines(path: string): string[] {
  const text = contentOf(path)?.bytes.toString('utf8') ?? '';
  const lines = text
    .split(/\r?\n/, MOST_LINES)
    .map((line) => line.trim())
    .filter((line) => line !== '' && line.length <= LONGEST_LINE && !COMMENT.test(line));
  const read = lines.flatMap((line) => {
    const value = line.replace(KEY, '');
    return [line, value].map((one) => one.replace(MARKS, ''));
  });
  return [...new Set(read)].filter((one) => /[a-z]/i.test(one));
}

/** Texts that such a file names, and that run nothing. */
export const IS_TEXT: RegExp = /\.(?:md|mdx|rst|txt|html?|css|svg|png|jpe?g|lock|csv)$/i;
