/** What a person can do about a task: in one line, and with each command on a line of its own that runs as it stands. */
import {
  answerCommand,
  answerCommands,
  eitherOf,
  type NamedRun,
  operateCommand,
  taskWord,
} from '../../operator/run/operate-command.ts';
import type { OperatorState, TaskState } from '../../operator/run/operator-state.ts';
import { visibleLine } from '../../system/text/visible-text.ts';
import { isAway, plainLine } from './run-summary.ts';

export interface PersonStep {
  /** What is asked, or to be repaired first; empty for nothing. */
  what: string;
  /** On one line. To shorten a step, shorten `what`: half a command is of no use. */
  command: string;
  /** Each alone; one of them is enough. */
  commands: readonly string[];
  /** The whole, if it takes several lines. */
  lines: readonly StepLine[] | null;
}

export interface StepLine {
  text: string;
  isCommand: boolean;
}

type StepState = Pick<OperatorState, 'run'>;

/** What a person can do about it, with the command; null when there is nothing. */
export function stepOf(
  { person, question, status, cause, task }: TaskState,
  { run }: StepState,
): PersonStep | null {
  if (question !== null) {
    const what = `${question.tool} ${question.summary} (${question.reason})`;
    const commands = answerCommands(run, question.id);
    return { what, command: answerCommand(run, question.id), commands, lines: null };
  }
  if (status === 'blocked' && cause === 'gate')
    return oneOf(task.gate ?? 'start it when it is time', [operateCommand(run, 'start', task.id)]);
  if (person === null) return null;
  if (person.includes('\n')) {
    const commands = [operateCommand(run, 'retry', task.id)];
    return { ...oneOf(manySteps(run, cause), commands), lines: linesOf(person) };
  }
  // Our own text: what is to be repaired, and then the command.
  const at = person.indexOf('ramet operate ');
  if (at < 0) return oneOf(person, []);
  const commands = alternatives(person.slice(at), taskWord(task.id));
  return oneOf(person.slice(0, at).replace(/:\s*$/, ''), commands);
}

function manySteps(run: NamedRun, cause: string | null): string {
  const verb = cause === 'removed' ? 'put it back' : cause === 'submodule' ? 'push it' : 'resolve it';
  return `${verb} with the steps of ${operateCommand(run, 'status')}, or let an agent do it again`;
}

function oneOf(what: string, commands: readonly string[]): PersonStep {
  return { what, command: eitherOf(commands), commands, lines: null };
}

/** Of a text of several lines: one that begins with two spaces is a command. */
export function linesOf(text: string): StepLine[] {
  return text.split('\n').map((line) => ({ text: line.trim(), isCommand: line.startsWith('  ') }));
}

/** The whole step, a command on each line: those that are alternatives have a word between them. */
export function stepLines(task: TaskState, state: StepState): StepLine[] {
  const step = stepOf(task, state);
  if (step === null) return [];
  if (step.lines !== null) return [...step.lines];
  const { what, commands } = step;
  const first = what === '' ? [] : [{ text: what, isCommand: false }];
  const others = commands.flatMap((text, index) => [
    ...(index === 0 ? [] : [{ text: 'or', isCommand: false }]),
    { text, isCommand: true },
  ]);
  return [...first, ...others];
}

function alternatives(command: string, word: string): string[] {
  // The id of a task is anybody's text.
  return word.includes('ramet operate') ? [command] : command.split(/,(?: or)? (?=ramet operate )/);
}

/** The same as text. What comes before the command has at most `length` characters of one line, if that is given. */
export function nextStep(task: TaskState, state: StepState, length?: number): string | null {
  const step = stepOf(task, state);
  if (step === null) return null;
  const { what, command, lines } = step;
  if (length === undefined && lines !== null) return task.person;
  const said = length === undefined ? what : plainLine(what, length);
  return [said, length === undefined ? command : visibleLine(command)]
    .filter((part) => part !== '')
    .join(': ');
}

/** Why it is not done and what to do about it, on one line if it can be; none for one that has nothing to tell. */
export function troubleOf(task: TaskState, state: StepState, length: number): string[] {
  if (task.status === 'done' || task.status === 'skipped') return [];
  const { message } = task;
  const step = stepOf(task, state);
  // A step of a gate says what the message says.
  const isSaid = message === null || isAway(task) || (step?.what ?? '') === message;
  const why = isSaid ? null : plainLine(message, length);
  const lines = step?.lines ?? null;
  if (lines !== null) {
    const below = lines.map(({ text, isCommand }) => `${isCommand ? '    ' : '  '}${visibleLine(text)}`);
    return [why ?? 'it needs you', ...below];
  }
  const said = [why, nextStep(task, state, length)].filter((text) => text !== null);
  return said.length === 0 ? [] : [said.join('; ')];
}
