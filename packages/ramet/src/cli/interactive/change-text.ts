/** The change that an Edit or a Write makes, as a bounded diff. Other calls change nothing that is shown. */
import { visibleText } from '../../permission/visible-text.ts';
import type { ToolUseBlock } from '../../schema/content.ts';
import { fitText } from '../../views/text/display-width.ts';
import { changedLines, type DiffLine, lineDiff } from '../../workspace/line-diff.ts';
import type { TextStyle } from './text-style.ts';

const MOST_LINES = 16;
/** Longer texts are not compared: a person would not read them here either. */
const LONGEST_TEXT = 200_000;

export function changeLines(
  call: Pick<ToolUseBlock, 'name' | 'input'>,
  columns: number,
  style: TextStyle,
): string[] {
  const change = changeOf(call);
  if (change === null) return [];
  const lines = changedLines(lineDiff(change.before, change.after));
  const shown = lines.slice(0, MOST_LINES).map((line) => diffRow(line, columns, style));
  const rest = lines.length - shown.length;
  return rest > 0 ? [...shown, style.dim(`(${rest} more line${rest === 1 ? '' : 's'})`)] : shown;
}

/** What a file held before a Write is not known here: all of it counts as added. */
function changeOf({
  name,
  input,
}: Pick<ToolUseBlock, 'name' | 'input'>): { before: string; after: string } | null {
  if (typeof input !== 'object' || input === null) return null;
  const field = (key: string): string | null => {
    const value: unknown = Object.hasOwn(input, key) ? Reflect.get(input, key) : null;
    return typeof value === 'string' && value.length <= LONGEST_TEXT ? value : null;
  };
  const [before, after] =
    name === 'Edit'
      ? [field('old_string'), field('new_string')]
      : name === 'Write'
        ? ['', field('content')]
        : [];
  return typeof before === 'string' && typeof after === 'string' ? { before, after } : null;
}

function diffRow(line: DiffLine | null, columns: number, style: TextStyle): string {
  if (line === null) return style.dim('⋮');
  const text = fitText(visibleText(line.text.slice(0, 1_000)).replaceAll('\t', '  '), columns - 2);
  if (line.kind === 'added') return style.green(`+ ${text}`);
  return line.kind === 'removed' ? style.red(`- ${text}`) : style.dim(`  ${text}`);
}
