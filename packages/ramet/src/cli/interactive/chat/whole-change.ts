/** All that a call would change in a file, on a terminal. Nothing is cut: long lines are wrapped. */
import { visibleText } from '../../../system/text/visible-text.ts';
import { type AskedChange, askedChange, type ShownChange } from '../../../views/asked-change.ts';
import { wrapText } from '../../../views/text/display-width.ts';
import type { TextStyle } from '../screen/text-style.ts';

/** Empty for calls that change no file by themselves. */
export function wholeChange(question: AskedChange, columns: number, style: TextStyle): string[] {
  const change = askedChange(question);
  if (change === null) return [];
  const rows = change.lines.flatMap((line) => diffRows(line, columns, style));
  const missing = change.missing === null ? [] : [style.red(visibleText(change.missing))];
  const none = rows.length === 0 && missing.length === 0 ? [style.dim('(no line changes)')] : [];
  return [...missing, ...rows, ...none];
}

const SIGNS = { added: '+', removed: '-', same: ' ' } as const;

/** `+ text`, and `+…text` for what did not fit into the row above. */
function diffRows(line: ShownChange['lines'][number], columns: number, style: TextStyle): string[] {
  if (line === null) return [style.dim('⋮')];
  const paint = { added: style.green, removed: style.red, same: style.dim }[line.kind];
  const sign = SIGNS[line.kind];
  const rows = wrapText(visibleText(line.text).replaceAll('\t', '  '), Math.max(8, columns - 2));
  return rows.map((row, index) => paint(`${sign}${index === 0 ? ' ' : '…'}${row}`));
}
