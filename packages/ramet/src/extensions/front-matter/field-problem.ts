/** What reading a file that a user brings comes to: its fields, and what is wrong with them. */
import type { FieldMap } from './plain-fields.ts';

/**
 * What is wrong with a file, or worth knowing about it.
 *
 * `error`: the file is not used; `warning`: it is, but not as written; `inactive`: a field means something elsewhere, and
 * nothing here; `note`: nothing is lost by it.
 */
export type ProblemLevel = 'error' | 'warning' | 'inactive' | 'note';

/** Something to put right; the rest is worth knowing. */
export function isMistake({ level }: { readonly level: ProblemLevel }): boolean {
  return level === 'error' || level === 'warning';
}

/** A problem before it is known in which file it is. */
export interface FieldProblem {
  /** Counted from 1; null when it is about the whole file. */
  line: number | null;
  field: string | null;
  level: ProblemLevel;
  /** What is wrong and what to do; follows "FILE:LINE: ". */
  message: string;
}

export interface FileProblem extends FieldProblem {
  path: string;
}

export function fileProblemText({ path, line, field, message }: FileProblem): string {
  return `${path}${line === null ? '' : `:${line}`}: ${field === null ? '' : `${field}: `}${message}`;
}

export interface FieldReading {
  fields: FieldMap;
  problems: FieldProblem[];
}
