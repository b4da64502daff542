/** The heart of Edit, on plain strings with `\n` line ends. */
import { explainMismatch } from './explain-mismatch.ts';

export interface TextReplacement {
  ok: true;
  text: string;
  count: number;
  /** Where the first replacement begins, in the old text and the new. */
  index: number;
}

export type TextMismatch = { ok: false; reason: string };

export interface ReplaceTextOptions {
  oldString: string;
  newString: string;
  replaceAll: boolean;
}

export function replaceText(text: string, options: ReplaceTextOptions): TextReplacement | TextMismatch {
  const { oldString, newString, replaceAll } = options;
  const pieces = text.split(oldString);
  const count = pieces.length - 1;
  if (count === 0) return { ok: false, reason: explainMismatch(text, oldString) };
  if (count > 1 && !replaceAll) return { ok: false, reason: ambiguous(text, oldString, count) };
  return { ok: true, text: pieces.join(newString), count, index: pieces[0]?.length ?? 0 };
}

const LISTED = 8;

function ambiguous(text: string, oldString: string, count: number): string {
  const lines: number[] = [];
  let index = text.indexOf(oldString);
  while (index !== -1 && lines.length < LISTED) {
    lines.push(lineAt(text, index));
    index = text.indexOf(oldString, index + oldString.length);
  }
  const listed = `${lines.join(', ')}${count > LISTED ? ', ...' : ''}`;
  return `old_string occurs ${count} times (lines ${listed}). Add lines around it to make it unique, or set replace_all.`;
}

/** The number of the line that holds the character at `index`. */
export function lineAt(text: string, index: number): number {
  let line = 1;
  for (let end = text.indexOf('\n'); end !== -1 && end < index; end = text.indexOf('\n', end + 1)) line++;
  return line;
}
