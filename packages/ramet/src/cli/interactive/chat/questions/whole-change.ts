/**
 * All that a call would change in a file, as rows of a terminal: numbers of lines, signs, and the words that differ. Nothing
 * is cut: long lines are wrapped. Pure, but for the file that the change is compared with.
 */
import { type AskedChange, askedChange, type ShownLine } from '../../../../views/asked-change.ts';
import { visibleName, visibleText, wrapText } from '../../../../views/text/format.ts';
import type { TextStyle } from '../../screen/text-style.ts';

const SIGNS = { added: '+', removed: '-', same: ' ' } as const;
/** On a narrower screen the numbers of lines would take too much of it. */
const LEAST_COLUMNS = 30;

type Paint = (text: string) => string;

/** Empty for calls that change no file by themselves. */
export function wholeChange(question: AskedChange, columns: number, style: TextStyle): string[] {
  const change = askedChange(question);
  if (change === null) return [];
  const last = change.lines.reduce((most, line) => Math.max(most, line?.number ?? 0), 0);
  const digits = last === 0 || columns < LEAST_COLUMNS ? 0 : String(last).length;
  const rows = change.lines.flatMap((line) => diffRows(line, { columns, digits, style }));
  const missing = change.missing === null ? [] : [style.red(visibleName(change.missing))];
  const none = rows.length === 0 && missing.length === 0 ? [style.dim('(no line changes)')] : [];
  return [...missing, ...rows, ...none];
}

interface DiffShape {
  readonly columns: number;
  /** Columns for numbers of lines; 0 for none. */
  readonly digits: number;
  readonly style: TextStyle;
}

/** `12 + text`, and `   +…text` for what did not fit into the row above. */
function diffRows(line: ShownLine | null, { columns, digits, style }: DiffShape): string[] {
  const indent = digits === 0 ? '' : ' '.repeat(digits + 1);
  if (line === null) return [style.dim(`${indent}⋮`)];
  const { kind, number } = line;
  const paint = { added: style.green, removed: style.red, same: style.dim }[kind];
  const parts = (line.words ?? [{ text: line.text, isChanged: false }]).map(({ text, isChanged }) => ({
    text: visibleText(text).replaceAll('\t', '  '),
    paint: isChanged ? (shown: string) => style.inverse(shown) : (shown: string) => shown,
  }));
  const whole = parts.map(({ text }) => text).join('');
  const rows = wrapText(whole, Math.max(8, columns - indent.length - 2));
  const painted = paintRows(rows, parts);
  return painted.map((row, index) => {
    const start = index === 0 && digits > 0 ? `${String(number ?? '').padStart(digits)} ` : indent;
    return `${style.dim(start)}${paint(`${SIGNS[kind]}${index === 0 ? ' ' : '…'}${row}`)}`;
  });
}

/** The rows are the parts one after the other: each part is painted in every row that holds some of it. */
function paintRows(rows: readonly string[], parts: readonly { text: string; paint: Paint }[]): string[] {
  const left = parts.map((part) => ({ ...part }));
  return rows.map((row) => {
    let shown = '';
    for (let room = row.length; room > 0; ) {
      const part = left[0];
      if (part === undefined) break;
      const taken = part.text.slice(0, room);
      shown += part.paint(taken);
      room -= taken.length;
      part.text = part.text.slice(taken.length);
      if (part.text === '') left.shift();
    }
    return shown;
  });
}
