/** What a person can do about a task: in one line, and with each command on a line of its own that runs as it stands. */
import { ANSWER_WORDS, answerCommand, type TaskState, taskWord } from '../../operator/run/operator-state.ts';
import { visibleLine } from '../../system/text/visible-text.ts';
import { isAway, plainLine } from './run-summary.ts';

export interface PersonStep {
  /** What is asked, or to be repaired first; empty for nothing. */
  what: string;
  /** To shorten a step, shorten `what`: half a command is of no use. */
  command: string;
  /** The whole, if it takes several lines. */
  lines: readonly StepLine[] | null;
}

export interface StepLine {
  text: string;
  isCommand: boolean;
}

/** What a person can do about it, with the command; null when there is nothing. */
export function stepOf({ person, question, status, cause, task }: TaskState): PersonStep | null {
  if (question !== null) {
    const what = `${question.tool} ${question.summary} (${question.reason})`;
    return { what, command: answerCommand(question.id), lines: null };
  }
  if (status === 'blocked' && cause === 'gate') {
    const what = task.gate ?? 'start it when it is time';
    return { what, command: `ramet operate start ${taskWord(task.id)}`, lines: null };
  }
  if (person === null) return null;
  if (person.includes('\n')) {
    const what = 'resolve it with the steps of ramet operate status, or let an agent do it again';
    return {
      what,
      command: `ramet operate retry ${taskWord(task.id)}`,
      lines: linesOf(person),
    };
  }
  // Our own text: what is to be repaired, and then the command.
  const at = person.indexOf('ramet operate ');
  return at < 0
    ? { what: person, command: '', lines: null }
    : { what: person.slice(0, at).replace(/:\s*$/, ''), command: person.slice(at), lines: null };
}

/** Of a text of several lines: one that begins with two spaces is a command. */
export function linesOf(text: string): StepLine[] {
  return text.split('\n').map((line) => ({ text: line.trim(), isCommand: line.startsWith('  ') }));
}

/** The whole step, a command on each line: those that are alternatives have a word between them. */
export function stepLines(task: TaskState): StepLine[] {
  const step = stepOf(task);
  if (step === null) return [];
  if (step.lines !== null) return [...step.lines];
  const { what, command } = step;
  const first = what === '' ? [] : [{ text: what, isCommand: false }];
  const others =
    task.question === null
      ? alternatives(command, taskWord(task.task.id))
      : ANSWER_WORDS.map((word) => `ramet operate answer ${task.question?.id} ${word}`);
  const commands = others.flatMap((text, index) => [
    ...(index === 0 ? [] : [{ text: 'or', isCommand: false }]),
    { text, isCommand: true },
  ]);
  return [...first, ...commands];
}

function alternatives(command: string, word: string): string[] {
  if (command === '') return [];
  // The id of a task is anybody's text.
  return word.includes('ramet operate') ? [command] : command.split(/,(?: or)? (?=ramet operate )/);
}

/** The same as text. What comes before the command has at most `length` characters of one line, if that is given. */
export function nextStep(task: TaskState, length?: number): string | null {
  const step = stepOf(task);
  if (step === null) return null;
  const { what, command, lines } = step;
  if (length === undefined && lines !== null) return task.person;
  const said = length === undefined ? what : plainLine(what, length);
  return [said, length === undefined ? command : visibleLine(command)]
    .filter((part) => part !== '')
    .join(': ');
}

/** Why it is not done and what to do about it, on one line if it can be; none for one that has nothing to tell. */
export function troubleOf(task: TaskState, length: number): string[] {
  if (task.status === 'done' || task.status === 'skipped') return [];
  const { message } = task;
  const step = stepOf(task);
  // A step of a gate says what the message says.
  const isSaid = message === null || isAway(task) || (step?.what ?? '') === message;
  const why = isSaid ? null : plainLine(message, length);
  const lines = step?.lines ?? null;
  if (lines !== null) {
    const below = lines.map(({ text, isCommand }) => `${isCommand ? '    ' : '  '}${visibleLine(text)}`);
    return [why ?? 'it needs you', ...below];
  }
  const said = [why, nextStep(task, length)].filter((text) => text !== null);
  return said.length === 0 ? [] : [said.join('; ')];
}
