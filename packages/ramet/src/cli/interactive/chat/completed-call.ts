/** What stays of a tool call: its line, and below it what it changed, why it failed, or the end of its output. Pure. */
import type { ToolResultBlock } from '../../../schema/content.ts';
import type { CallDetails } from '../../../schema/tool-access.ts';
import type { SessionEvent } from '../../../sdk/session/session.ts';
import { changedLines, type DiffLine, lineDiff } from '../../../system/text/line-diff.ts';
import { duration, fitText, safeLine, safeText, visibleText } from '../../../views/text/format.ts';
import type { TextStyle } from '../screen/text-style.ts';
import { callTitle } from './agents/agent-board.ts';

const MOST_LINES = 16;
/** Of the output. */
const TAIL_LINES = 3;

/** Longer texts are not compared: a person would not read them here either. */
const LONGEST_TEXT = 200_000;

export type CompletedCall = SessionEvent & { type: 'tool_completed' };

/** What is needed of it, told or recorded. */
type ShownCall = Pick<CompletedCall, 'result' | 'durationMs' | 'details'> & {
  readonly call: Pick<CompletedCall['call'], 'name' | 'input'>;
};

export interface CallShape {
  readonly columns: number;
  readonly style: TextStyle;
  /** Its change was shown with the question whether it may run. */
  readonly isChangeShown: boolean;
}

export function completedCall(event: ShownCall, { columns, style, isChangeShown }: CallShape): string {
  const { call, result, durationMs, details } = event;
  const failed = result.is_error === true;
  const took = ` ${duration(durationMs)}`;
  const title = fitText(callTitle(call, details), Math.max(8, columns - took.length - 2));
  const head = `${failed ? style.red('✗') : style.green('•')} ${title}${style.dim(took)}`;
  const change = failed || isChangeShown ? [] : changeLines(details, columns - 4, style);
  const below = details?.change === undefined || failed ? outputLines(event, columns - 4, style) : change;
  return [head, ...below.map((text) => `    ${text}`)].join('\n');
}

/** What it did stays in sight by itself. */
export function isInSight({ call, result }: CompletedCall): boolean {
  return call.name === 'TodoWrite' && result.is_error !== true;
}

/** All that the call gave back, as text. */
export function outputOf({ content }: ToolResultBlock): string {
  if (typeof content === 'string') return safeText(content).trimEnd();
  const parts = content.map((block) => (block.type === 'text' ? block.text : `(${block.type})`));
  return safeText(parts.join('\n')).trimEnd();
}

/** The end of the output; of a file that was read, how long it is. A failure begins with its reason. */
function outputLines({ call, result }: ShownCall, columns: number, style: TextStyle): string[] {
  const lines = outputOf(result)
    .split('\n')
    .filter((line) => line.trim() !== '');
  if (lines.length === 0) return [];
  const count = (many: number): string => `${many} line${many === 1 ? '' : 's'}`;
  const fitted = (line: string): string =>
    fitText(line.slice(0, 1_000).replaceAll('\t', '  ').trimEnd(), columns);
  if (result.is_error === true && lines.length <= TAIL_LINES)
    return [style.red(fitted(safeLine(lines.join(' '))))];
  if (call.name === 'Read' && result.is_error !== true)
    return [style.dim(fitted(`${count(lines.length)} (Ctrl-O)`))];
  const paint = result.is_error === true ? style.red : style.dim;
  const tail = lines.slice(-TAIL_LINES).map((line) => paint(fitted(line)));
  const rest = lines.length - tail.length;
  return rest === 0
    ? tail
    : [style.dim(fitted(`(${rest} more ${rest === 1 ? 'line' : 'lines'}: Ctrl-O)`)), ...tail];
}

/** The change that a call makes to a file, as a bounded diff. Other calls change nothing that is shown. */
function changeLines(details: CallDetails | undefined, columns: number, style: TextStyle): string[] {
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
