/** What a reader collects before the ids are resolved, and how it tells what it did with every line. */

import type { IgnoredLine, LineReading, ListedTask, TaskProblem, TaskReference } from './listed-task.ts';
import type { DrawnEdge, PhaseLine, Wave } from './markdown/dependency-graphs.ts';

/** Ids and titles are printed and go into prompts: no control characters, nothing that turns the direction of writing. */
const UNSAFE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed.
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff]/g;

const LONGEST_TITLE = 500;

export function safeText(text: string, longest: number = LONGEST_TITLE): string {
  const clean = text.replace(UNSAFE, ' ').replace(/\s+/g, ' ').trim().toWellFormed();
  return clean.length > longest ? `${clean.slice(0, longest - 1).toWellFormed()}…` : clean;
}

/** A path as a task names it. */
interface FileName {
  task: ListedTask;
  path: string;
  line: number;
  column: number;
  /** From a field such as `Files:`, where nothing else can be meant. */
  sure: boolean;
}

/** A sentence that names the tasks which a person must let through, and those that are to be approved for that. */
interface DrawnGate {
  text: string;
  held: TaskReference[];
  approved: TaskReference[];
}

export class TaskDraft {
  readonly file: string;
  readonly tasks: ListedTask[] = [];
  readonly edges: DrawnEdge[] = [];
  readonly waves: Wave[] = [];
  readonly phases: PhaseLine[] = [];
  readonly fileNames: FileName[] = [];
  readonly gates: DrawnGate[] = [];
  readonly problems: TaskProblem[] = [];
  readonly ignored: IgnoredLine[] = [];
  readonly readings: LineReading[] = [];
  /** Whether tasks that say nothing follow the one before them. */
  ordered = true;

  constructor(file: string) {
    this.file = file;
  }

  problem(
    at: { line: number; column?: number; file?: string },
    message: string,
    level: TaskProblem['level'] = 'error',
  ): void {
    const { line, column = 1, file = this.file } = at;
    this.problems.push({ file, line, column, level, message: safeText(message, 1000) });
  }

  /** A line of its own in the explanation. */
  read(line: number, what: string): void {
    const last = this.readings.at(-1);
    if (last !== undefined && last.what === what && last.line + last.count === line) last.count += 1;
    else this.readings.push({ line, count: 1, what });
  }

  /** A line that says nothing about tasks, or nothing that is understood. Neighbours with one reason are one entry. */
  ignore(line: number, why: string): void {
    const last = this.readings.at(-1);
    const what = `not read: ${safeText(why, 300)}`;
    if (last === undefined || last.what !== what || last.line + last.count !== line)
      this.ignored.push({ line, why: safeText(why, 300) });
    this.read(line, what);
  }
}
