/** How a question whether a call may run is put to a person, and which key is which answer. Pure. */
import type { PermissionAnswer, PermissionQuestion } from '../../../../sdk/index.ts';
import {
  displayWidth,
  fitText,
  visibleLine,
  visibleName,
  visibleText,
  wrapText,
} from '../../../../views/text/format.ts';
import { wrapWords } from '../../../../views/text/narrow-table.ts';
import type { Key } from '../../editor/key-parser.ts';
import { colouredSpans } from '../../markdown/wrapped-rows.ts';
import type { TextStyle } from '../../screen/text-style.ts';
import { wholeChange } from './whole-change.ts';

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

/** On a lower screen every row counts: the title should be in sight with what it is about. */
const LOW_ROWS = 16;
/** So low that the rule of an "always" has no row of its own. */
const LOWEST_ROWS = 8;
/** What is being done, the keys, and the figures. */
const LIVE_ROWS = 3;
const LEAST_LINES = 4;
/** So few are not worth a key. */
const FEW_LINES = 3;

/** All of a command is shown, page by page if it is long: what is hidden could be what matters. */
export function questionText(question: PermissionQuestion, shape: QuestionShape): QuestionText {
  const { reason } = question;
  const { columns, rows, style } = shape;
  const change = wholeChange(question, columns - 5, style).map((line) => `    ${line}`);
  const body = [...summaryLines(question, columns), ...change];
  const title = `${style.yellow('?')} ${style.bold(titleOf(question))}`;
  // One for each part of a command: the command comes first.
  const why = style.dim(fitText(`  ${visibleLine(reason)}`, mostBeside(rows) * columns));
  const always = alwaysLines(question, shape);
  const others = LIVE_ROWS + (question.parent === null && rows < LOW_ROWS ? 0 : 1) + 1;
  const around = others + heightOf([title, why], columns) + (rows < LOW_ROWS ? 0 : always.length + 1);
  const [first, rest] = pageOf(body, shape, Math.max(rows < LOW_ROWS ? 2 : LEAST_LINES, rows - around));
  const text = [title, ...first, ...moreLine(rest, shape), why, ...always, ''].join('\n');
  return { text, rest };
}

/** What an "always" would allow, so far as the command stays in sight. */
function alwaysLines(
  { suggestedRules }: PermissionQuestion,
  { columns, rows, style }: QuestionShape,
): string[] {
  if (rows >= LOWEST_ROWS && rows < LOW_ROWS) return [];
  const lines = suggestedRules.map((rule) => fitText(ruleLine(rule), columns));
  const most = mostBeside(rows);
  const left = lines.length - most;
  const shown = left <= 0 ? lines : [...lines.slice(0, most), `  and ${left} more: a shows all`];
  return shown.map(style.dim);
}

/** Rows for what stands beside a command. */
function mostBeside(rows: number): number {
  return Math.max(1, Math.floor(rows / 8));
}

/** All rules of an "always", for the one who chooses it; empty where the rows around the input show them. */
export function allRules(rules: readonly string[], { columns, rows, style }: QuestionShape): string {
  const lines = rules.map(ruleLine);
  if (heightOf(lines, columns) <= rows / 4) return '';
  return `${lines.map(style.dim).join('\n')}\n`;
}

function ruleLine(rule: string): string {
  return `  "always" allows ${visibleLine(rule)}`;
}

/**
 * A command may have line breaks; in a path, an address or an input they are written out, or it could look like a question
 * of its own. Long lines are wrapped here: what is paged begins at its beginning.
 */
function summaryLines({ summary, command, isText }: PermissionQuestion, columns: number): string[] {
  if (isText === true)
    return visibleText(summary)
      .split('\n')
      .flatMap((line) => wrapWords(line, Math.max(8, columns - 5), '  ').map((row) => `    ${row}`));
  const lines = command === undefined ? [visibleName(summary)] : visibleText(summary).split('\n');
  return lines.flatMap((line) =>
    wrapText(line, Math.max(8, columns - 5)).map((row, index) => `${index === 0 ? '    ' : '   …'}${row}`),
  );
}

/** The next lines, or all of them. */
export function furtherLines(lines: readonly string[], shape: QuestionShape, isAll: boolean): QuestionText {
  const [next, rest] = isAll ? [lines, []] : pageOf(lines, shape, Math.max(LEAST_LINES, shape.rows - 5));
  return { text: [...next, ...moreLine(rest, shape), ''].join('\n'), rest };
}

function moreLine({ length }: readonly string[], { columns, style }: QuestionShape): string[] {
  if (length === 0) return [];
  const whole = `    (${length} more lines: Space; all of them: Ctrl-O)`;
  return [style.yellow(whole.length <= columns ? whole : `    (${length} more: Space, Ctrl-O)`)];
}

/** Rows that lines take. */
function heightOf(lines: readonly string[], columns: number): number {
  const widths = lines.map((line) =>
    colouredSpans(line).reduce((sum, { text }) => sum + displayWidth(text), 0),
  );
  return widths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / Math.max(1, columns))), 0);
}

/** As many lines as take this many rows, and the others. */
function pageOf(
  lines: readonly string[],
  { columns, rows: height }: QuestionShape,
  rows: number,
): [readonly string[], readonly string[]] {
  let left = rows;
  const end = lines.findIndex((line) => {
    left -= heightOf([line], columns);
    return left < 0;
  });
  const at = Math.max(1, end);
  const few = height < LOW_ROWS ? 1 : FEW_LINES;
  if (end === -1 || lines.length - at <= few) return [lines, []];
  return [lines.slice(0, at), lines.slice(at)];
}

/** One row that stays in sight, for a question that other output may push away. */
export function questionTitle({ tool, agentName, summary }: PermissionQuestion): string {
  const what = visibleName(summary.slice(0, LONGEST_TITLE));
  return visibleLine(`agent "${agentName ?? ''}" asks: ${tool} ${what}`);
}

const LONGEST_TITLE = 500;

function titleOf({ tool, agentName }: PermissionQuestion): string {
  if (agentName === null) return `${visibleLine(tool)} asks for permission`;
  return `agent "${visibleLine(agentName)}" asks for permission: ${visibleLine(tool)}`;
}

export interface HintShape {
  /** Lines that are not shown yet. */
  readonly rest: number;
  readonly columns: number;
  /** Esc is no answer here. */
  readonly isEscapeTaken?: boolean;
}

/** The keys, for the row where the input otherwise is: in fewer words where the screen is narrow. */
export function answerHint(
  { suggestedRules }: PermissionQuestion,
  state: QuestionState,
  { rest, columns, isEscapeTaken }: HintShape,
): string {
  const always = suggestedRules.length === 0 ? '' : 'a always · ';
  const keys = `y once · ${always}n no`;
  if (state === 'new') return 'a question';
  if (state === 'choosing') return 'a question: Esc closes the list first';
  const no = isEscapeTaken ? '' : 'Esc no · ';
  const forms =
    state === 'writing'
      ? [`${no}empty the input for ${keys}`, `${no}empty the input for keys`]
      : rest === 0
        ? [`${keys} · Tab reason`, `${keys} · Tab why`]
        : [
            `${rest} more lines: Space · ${keys} · Tab reason`,
            `${rest} more: Space · ${keys}`,
            `${rest} more: Space · ${keys.replace('a always', 'a')}`,
          ];
  // Before them stand a sign and a blank.
  return forms.find((form) => form.length <= columns - 2) ?? 'y once · n no';
}

/**
 * `new`: it has just appeared, and no key answers it. `writing`: there is text in the input, and letters belong to that.
 * `choosing`: a list is open, and every key belongs to that.
 */
export type QuestionState = 'new' | 'open' | 'writing' | 'choosing';

/** A key pressed this shortly before or after a question appeared was not meant for it. */
const UNAWARE_MS = 700;

export function isNew(sinceShownMs: number): boolean {
  return sinceShownMs < UNAWARE_MS;
}

/** A letter that follows another one closely is part of a word. */
export function isPartOfWord(sinceLastLetterMs: number): boolean {
  return sinceLastLetterMs < UNAWARE_MS;
}

/** A letter counts as an answer after this long without another key: it may begin a word. */
export const SETTLE_MS = 300;

/** No hand is quicker: keys that are less apart came in one piece, as from a paste that is not marked as one. */
const HAND_MS = 50;

export function isByHand(sinceLastKeyMs: number): boolean {
  return sinceLastKeyMs >= HAND_MS;
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

/** `covers`: the rules of an "always" allow the call itself. */
export function answerText(answer: PermissionAnswer, covers = true): string {
  switch (answer.kind) {
    case 'once':
      return 'allowed once';
    case 'always':
      return `allowed ${covers ? '' : 'once; '}from now on: ${visibleLine(answer.rules.join(', '))}`;
    case 'denied':
      return visibleLine(`denied${answer.reason.slice(NO.length).replace(/\.$/, '')}`);
  }
}

const NO = 'the user said no';

export function denied(reason = ''): PermissionAnswer {
  return { kind: 'denied', reason: reason === '' ? `${NO}.` : `${NO}: ${reason}` };
}
