/** How a question whether a call may run is put to a person, and which key is which answer. Pure. */
import type { PermissionAnswer, PermissionQuestion } from '../../../sdk/index.ts';
import { visibleLine, visibleText } from '../../../views/text/format.ts';
import type { Key } from '../editor/key-parser.ts';
import type { TextStyle } from '../screen/text-style.ts';
import { wholeChange } from './whole-change.ts';

/** All of a command is shown: what is hidden could be what matters. Beyond this a person reads nothing anyway. */
const LONGEST_SUMMARY = 20_000;

export function questionText(question: PermissionQuestion, columns: number, style: TextStyle): string {
  const { summary, reason, suggestedRules } = question;
  const rest = summary.length - LONGEST_SUMMARY;
  const cut = rest > 0 ? [style.red(`(${rest} more characters are not shown)`)] : [];
  const shown = visibleText(summary.slice(0, LONGEST_SUMMARY)).split('\n');
  const body = [...shown, ...cut, ...wholeChange(question, columns - 5, style)];
  return [
    `${style.yellow('?')} ${style.bold(titleOf(question))}`,
    ...body.map((line) => `    ${line}`),
    `  ${style.dim(visibleLine(reason))}`,
    ...suggestedRules.map((rule) => `  ${style.dim(`"always" allows ${visibleLine(rule)}`)}`),
    '',
  ].join('\n');
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
export function answerHint({ suggestedRules }: PermissionQuestion, state: QuestionState): string {
  const keys = `y once · ${suggestedRules.length === 0 ? '' : 'a always · '}n no`;
  if (state === 'new') return 'a question';
  if (state === 'confirming') return 'Enter: always · any other key: not';
  return state === 'writing' ? `Esc no · empty the input for ${keys}` : keys;
}

/**
 * `new`: it has just appeared, and no key answers it. `writing`: there is text in the input, and letters belong to
 * that. `confirming`: `a` was pressed, which grants nothing by itself.
 */
export type QuestionState = 'new' | 'open' | 'writing' | 'confirming';

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
      return 'denied';
  }
}

function denied(): PermissionAnswer {
  return { kind: 'denied', reason: 'the user said no.' };
}
