/** The commands that a run tells people. Each names its run: another one may have a task of the same id. */
import type { OperatorAction, OperatorRun } from '../../schema/operator-events.ts';
import { visibleLine } from '../../system/text/visible-text.ts';

/** Null where nothing is known of a run. */
export type NamedRun = Pick<OperatorRun, 'integration'> | null;

/** Its private ref is named after the session. */
function sessionOption(run: NamedRun): string {
  const session = /^refs\/ramet\/operator\/([a-z0-9]+)/i.exec(run?.integration ?? '')?.[1];
  return session === undefined ? '' : ` --session ${session}`;
}

/** `ramet operate retry T002 --session k3v9x2ab`. */
export function operateCommand(
  run: NamedRun,
  kind: Exclude<OperatorAction['kind'], 'answer' | 'stop'> | 'status',
  task?: string,
): string {
  const session = sessionOption(run);
  if (task === undefined) return `ramet operate ${kind}${session}`;
  const word = taskWord(task);
  // Nothing after two dashes is an option.
  return task.startsWith('-')
    ? `ramet operate ${kind}${session} ${word}`
    : `ramet operate ${kind} ${word}${session}`;
}

/** Continues a run that nobody runs; with `usd`, with that budget. */
export function resumeCommand(run: NamedRun, usd: number | null = null): string {
  const session = sessionOption(run).replace(' --session', '');
  return `ramet operate --resume${session}${usd === null ? '' : ` --max-budget-usd ${usd}`}`;
}

/** Commands of which one is enough, on one line: `person-step.ts` takes them apart again. */
export function eitherOf(commands: readonly string[]): string {
  const last = commands.at(-1) ?? '';
  return commands.length < 2 ? last : `${commands.slice(0, -1).join(', ')}, or ${last}`;
}

/** The id of a task as a word of a command: what a shell or the command would read in another way is quoted. */
export function taskWord(id: string): string {
  const word = /^[\w./:@%+=,-]+$/.test(id) ? id : `'${visibleLine(id).replaceAll("'", "'\\''")}'`;
  return id.startsWith('-') ? `-- ${word}` : word;
}

/** The answers to a question, as words of the command. The first does no harm: a line that is pasted whole gives it. */
const ANSWER_WORDS = ['denied', 'once', 'always'] as const;

/** One for each answer. */
export function answerCommands(run: NamedRun, question: string): string[] {
  return ANSWER_WORDS.map((word) => `ramet operate answer ${question} ${word}${sessionOption(run)}`);
}

/** The same on one line. */
export function answerCommand(run: NamedRun, question: string): string {
  const [, ...others] = ANSWER_WORDS;
  return `${answerCommands(run, question)[0]} # or ${others.join(', or ')}`;
}
