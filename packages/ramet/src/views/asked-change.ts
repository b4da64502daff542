/**
 * All that a call would change in a file, for the person who is asked about it: compared with the file as it is now, so
 * that what disappears and every place of a replacement is seen. A part that cannot be shown is named.
 */
import { constants, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { PermissionQuestion } from '../permission/broker.ts';
import { systemCode } from '../schema/errors.ts';
import {
  changedLines,
  changedWords,
  type DiffLine,
  lineDiff,
  numberedLines,
  type WordPart,
} from '../system/text/line-diff.ts';
import { decodeTextFile } from '../system/text/text-file.ts';
import { replaceText } from '../tools/files/replace-text.ts';

export type AskedChange = Pick<PermissionQuestion, 'details' | 'cwd'>;

/** A larger file is not compared: the person who is asked must not wait for it. */
const LARGEST_FILE = 4 * 1024 * 1024;

interface TextChange {
  readonly before: string;
  readonly after: string;
  /** What cannot be shown of it. */
  readonly missing: string | null;
  /** Both are parts of a file, from a line that is not known. */
  readonly isPart?: true;
}

export interface ShownLine extends DiffLine {
  /** In the file: as it is now for a line that goes, else as it will be. Null if that is not known. */
  readonly number: number | null;
  /** The line in parts, if it replaces a similar one or is replaced by one. */
  readonly words: readonly WordPart[] | null;
}

/** Lines around a change. */
const CONTEXT = 3;
/** Of how many pairs of lines the words are compared. */
const MOST_PAIRS = 500;

export interface ShownChange {
  /** The lines that change with some around them; null where others are left out. */
  readonly lines: readonly (ShownLine | null)[];
  /** What cannot be shown of it. */
  readonly missing: string | null;
}

/** Null for calls that change no file by themselves. */
export function askedChange(question: AskedChange): ShownChange | null {
  const change = changeOf(question);
  if (change === null) return null;
  const { before, after, missing, isPart = false } = change;
  const kept = changedLines(numberedLines(lineDiff(before, after)), CONTEXT);
  const lines = kept.map((line) => line && { ...line, words: null, ...(isPart && { number: null }) });
  return { lines: withWords(lines), missing };
}

/** Where as many lines come as go, each is compared with its counterpart. */
function withWords(lines: readonly (ShownLine | null)[]): (ShownLine | null)[] {
  const shown = [...lines];
  let pairs = 0;
  for (let start = 0; start < lines.length && pairs < MOST_PAIRS; ) {
    const removed = runOf(lines, start, 'removed');
    const added = runOf(lines, start + removed, 'added');
    if (removed === added) pairs += removed;
    for (let index = start; removed === added && index < start + removed; index++) {
      const [old, now] = [lines[index], lines[index + removed]];
      const words = old && now && changedWords(old.text, now.text);
      if (!words) continue;
      shown[index] = { ...old, words: words.removed };
      shown[index + removed] = { ...now, words: words.added };
    }
    start += Math.max(1, removed + added);
  }
  return shown;
}

function runOf(lines: readonly (ShownLine | null)[], start: number, kind: DiffLine['kind']): number {
  let end = start;
  while (lines[end]?.kind === kind) end++;
  return end - start;
}

function changeOf({ details, cwd }: AskedChange): TextChange | null {
  const change = details?.change;
  if (change === undefined) return null;
  const file = textNow(resolve(cwd, change.path));
  const { before, after, everywhere } = change;
  return before === null ? writeChange(file, after) : editChange(file, before, after, everywhere);
}

function writeChange(file: TextNow | string, content: string): TextChange {
  if (typeof file !== 'string') return { before: file.text, after: unified(content), missing: null };
  return { before: '', after: content, missing: `what the file holds now is not shown: ${file}` };
}

function editChange(
  file: TextNow | string,
  oldText: string,
  newText: string,
  replaceAll: boolean,
): TextChange {
  const [oldString, newString] = [unified(oldText), unified(newText)];
  const everywhere = replaceAll ? 'it is replaced everywhere in the file' : null;
  const missing = typeof file === 'string' ? `the file is not shown: ${file}` : everywhere;
  if (typeof file !== 'string' && oldString !== '') {
    const result = replaceText(file.text, { oldString, newString, replaceAll });
    if (result.ok) return { before: file.text, after: result.text, missing: null };
  }
  return { before: oldString, after: newString, missing, isPart: true };
}

function unified(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

interface TextNow {
  readonly text: string;
}

/** The content of the file, empty for a missing one; else why it is not known. */
function textNow(path: string): TextNow | string {
  try {
    const stat = statSync(path);
    if (!stat.isFile()) return 'it is no regular file';
    if (stat.size > LARGEST_FILE) return `it has ${stat.size} bytes`;
    const decoded = decodeTextFile(readFileSync(path, { flag: constants.O_RDONLY | constants.O_NONBLOCK }));
    return decoded === null ? `it is no text (${stat.size} bytes)` : { text: unified(decoded.text) };
  } catch (error) {
    const code = systemCode(error);
    return code === 'ENOENT' ? { text: '' } : `it cannot be read (${code ?? 'unknown'})`;
  }
}
