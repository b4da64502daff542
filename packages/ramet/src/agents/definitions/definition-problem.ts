/** What is wrong with a definition file, or worth knowing about it. */

/** `error`: the file is not used; `warning`: it is, but not as written; `note`: nothing is lost by it. */
export type ProblemLevel = 'error' | 'warning' | 'note';

export interface DefinitionProblem {
  path: string;
  /** Counted from 1; null when it is about the whole file. */
  line: number | null;
  field: string | null;
  level: ProblemLevel;
  /** What is wrong and what to do; goes on from "FILE:LINE: ". */
  message: string;
}

/** A problem before it is known in which file it is. */
export type FieldProblem = Omit<DefinitionProblem, 'path'>;

export function definitionProblemText({ path, line, field, message }: DefinitionProblem): string {
  return `${path}${line === null ? '' : `:${line}`}: ${field === null ? '' : `${field}: `}${message}`;
}
