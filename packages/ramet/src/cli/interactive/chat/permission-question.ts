/** How a question whether a call may run is put to a person, and which key is which answer. Pure. */
import type { PermissionAnswer, PermissionQuestion } from '../../../sdk/index.ts';
import { displayWidth, visibleLine, visibleText } from '../../../views/text/format.ts';
import type { Key } from '../editor/key-parser.ts';
import { colouredSpans } from '../markdown/wrapped-rows.ts';
import type { TextStyle } from '../screen/text-style.ts';
import { wholeChange } from './whole-change.ts';

/** All of a command is shown: what is hidden could be what matters. Beyond this a person reads nothing anyway. */
const LONGEST_SUMMARY = 20_000;

export interface QuestionShape {
  readonly columns: number;
  /** Of the whole screen. */
  readonly rows: number;
  readonly style: TextStyle;
}

export interface QuestionText {
  readonly text: string;
  /** Lines of what would happen that did not fit on the screen. */
  readonly rest: readonly string[];
}

/** Rows of the screen that are taken by what stands around what would happen. */
const ROWS_AROUND = 9;
const LEAST_LINES = 4;
/** So few are not worth a key. */
const FEW_LINES = 3;

export function questionText(question: PermissionQuestion, shape: QuestionShape): QuestionText {
  const { summary, reason, suggestedRules } = question;
  const { columns, rows, style } = shape;
  const hidden = summary.length - LONGEST_SUMMARY;
  const cut = hidden > 0 ? [style.red(`(${hidden} more characters are not shown)`)] : [];
  const shown = visibleText(summary.slice(0, LONGEST_SUMMARY)).split('\n');
  const body = [...shown, ...cut, ...wholeChange(question, columns - 5, style)].map((line) => `    ${line}`);
  const [first, rest] = pageOf(body, columns, Math.max(LEAST_LINES, rows - ROWS_AROUND));
  const text = [
    `${style.yellow('?')} ${style.bold(titleOf(question))}`,
    ...first,
    ...moreLine(rest, style),
    `  ${style.dim(visibleLine(reason))}`,
    ...suggestedRules.map((rule) => `  ${style.dim(`"always" allows ${visibleLine(rule)}`)}`),
    '',
  ].join('\n');
  return { text, rest };
}

/** The next lines, or all of them. */
export function furtherLines(
  lines: readonly string[],
  { columns, rows, style }: QuestionShape,
  isAll: boolean,
): QuestionText {
  const [next, rest] = isAll ? [lines, []] : pageOf(lines, columns, Math.max(LEAST_LINES, rows - 5));
  return { text: [...next, ...moreLine(rest, style), ''].join('\n'), rest };
}

function moreLine({ length }: readonly string[], style: TextStyle): string[] {
  return length === 0 ? [] : [`    ${style.yellow(`(${length} more lines: Space; all of them: Ctrl-O)`)}`];
}

function widthOf(line: string): number {
  return colouredSpans(line).reduce((sum, { text }) => sum + displayWidth(text), 0);
}

/** As many lines as take this many rows, and the others. */
function pageOf(
  lines: readonly string[],
  columns: number,
  rows: number,
): [readonly string[], readonly string[]] {
  let left = rows;
  const end = lines.findIndex((line) => {
    left -= Math.max(1, Math.ceil(widthOf(line) / Math.max(1, columns)));
    return left < 0;
  });
  const at = Math.max(1, end);
  if (end === -1 || lines.length - at <= FEW_LINES) return [lines, []];
  return [lines.slice(0, at), lines.slice(at)];
}

/** One row that stays in sight, for a question that other output may push away. */
export function questionTitle({ tool, agentName, summary }: PermissionQuestion): string {
  return visibleLine(`agent "${agentName ?? ''}" asks: ${tool} ${summary.slice(0, LONGEST_TITLE)}`);
}

const LONGEST_TITLE = 500;

function titleOf({ tool, agentName }: PermissionQuestion): string {
  if (agentName === null) return `${visibleLine(tool)} asks for permission`;
  return `agent "${visibleLine(agentName)}" asks for permission: ${visibleLine(tool)}`;
}

/** The keys, for the row where the input otherwise is: short, for they must fit any screen. */
export function answerHint(
  { suggestedRules }: PermissionQuestion,
  state: QuestionState,
  hasRest = false,
): string {
  const keys = `y once · ${suggestedRules.length === 0 ? '' : 'a always · '}n no`;
  if (state === 'new') return 'a question';
  if (state === 'writing') return `Esc no · empty the input for ${keys}`;
  return `${keys} · Tab reason${hasRest ? ' · Space more' : ''}`;
}

/** `new`: it has just appeared, and no key answers it. `writing`: there is text in the input, and letters belong to that. */
export type QuestionState = 'new' | 'open' | 'writing';

/** A key pressed this shortly before or after a question appeared was not meant for it. */
const UNAWARE_MS = 700;

export function isNew(sinceShownMs: number): boolean {
  return sinceShownMs < UNAWARE_MS;
}

/** A letter that follows another one closely is part of a word. */
export function isPartOfWord(sinceLastLetterMs: number): boolean {
  return sinceLastLetterMs < UNAWARE_MS;
}

/** After a question went away by itself, a key may still be meant for it and not for the one that took its place. */
export function isMeantForThis(sinceWithdrawalMs: number): boolean {
  return sinceWithdrawalMs >= UNAWARE_MS;
}

/** Null when the key is no answer. */
export function answerOf(key: Key, { suggestedRules }: PermissionQuestion): PermissionAnswer | null {
  if (key.type === 'press') return key.name === 'escape' ? denied() : null;
  switch (key.type === 'text' ? key.text.toLowerCase() : '') {
    case 'y':
      return { kind: 'once' };
    case 'a':
      return suggestedRules.length === 0 ? null : { kind: 'always', rules: suggestedRules };
    case 'n':
      return denied();
    default:
      return null;
  }
}

export function answerText(answer: PermissionAnswer): string {
  switch (answer.kind) {
    case 'once':
      return 'allowed once';
    case 'always':
      return `allowed from now on: ${visibleLine(answer.rules.join(', '))}`;
    case 'denied':
      return visibleLine(`denied${answer.reason.slice(NO.length).replace(/\.$/, '')}`);
  }
}

const NO = 'the user said no';

export function denied(reason = ''): PermissionAnswer {
  return { kind: 'denied', reason: reason === '' ? `${NO}.` : `${NO}: ${reason}` };
}
