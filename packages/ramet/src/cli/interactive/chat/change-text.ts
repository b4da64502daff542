/** The change that a call makes to a file, as a bounded diff. Other calls change nothing that is shown. */

import type { CallDetails } from '../../../schema/tool-access.ts';
import { changedLines, type DiffLine, lineDiff } from '../../../system/text/line-diff.ts';
import { visibleText } from '../../../system/text/visible-text.ts';
import { fitText } from '../../../views/text/display-width.ts';
import type { TextStyle } from '../screen/text-style.ts';

const MOST_LINES = 16;
/** Longer texts are not compared: a person would not read them here either. */
const LONGEST_TEXT = 200_000;

export function changeLines(details: CallDetails | undefined, columns: number, style: TextStyle): string[] {
  // What a whole file held before is not known here: all of it counts as added.
  const { before, after } = details?.change ?? {};
  if (after === undefined || Math.max(after.length, before?.length ?? 0) > LONGEST_TEXT) return [];
  const lines = changedLines(lineDiff(before ?? '', after));
  const shown = lines.slice(0, MOST_LINES).map((line) => diffRow(line, columns, style));
  const rest = lines.length - shown.length;
  return rest > 0 ? [...shown, style.dim(`(${rest} more line${rest === 1 ? '' : 's'})`)] : shown;
}

function diffRow(line: DiffLine | null, columns: number, style: TextStyle): string {
  if (line === null) return style.dim('⋮');
  const text = fitText(visibleText(line.text.slice(0, 1_000)).replaceAll('\t', '  '), columns - 2);
  if (line.kind === 'added') return style.green(`+ ${text}`);
  return line.kind === 'removed' ? style.red(`- ${text}`) : style.dim(`  ${text}`);
}
