/** What a script would do, as far as its syntax tells: the commands it runs and the files it writes. */
import type { ShellWord } from './shell-word.ts';

export interface ShellAssignment {
  name: string;
  /** Null when only known at run time. */
  value: string | null;
  /** What it begins with in any case, where that is known. */
  start?: string;
  /** As it is written, where it is known which word gives it. */
  source?: string;
  /** Programs that run afterwards see it. */
  exported?: boolean;
}

export interface ShellCommand {
  /** The program or builtin first. */
  words: readonly ShellWord[];
  assignments: readonly ShellAssignment[];
  /** As written, with its assignments and without its redirects. */
  source: string;
  /** Where it may run; null when that is not known. */
  directories: readonly string[] | null;
}

/** A file that the shell itself opens. */
export interface ShellFile {
  word: ShellWord;
  access: 'read' | 'write';
  directories: readonly string[] | null;
}

export interface ShellReading {
  commands: ShellCommand[];
  files: ShellFile[];
  /** Assignments that stand alone, and variables that loops and `read` set. */
  variables: ShellAssignment[];
  /** What cannot be understood, in words that follow "cannot be judged:". */
  unclear: string[];
}
