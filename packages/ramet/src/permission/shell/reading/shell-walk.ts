/** What the readers of the parts of a script share, so that each can hand on what belongs to another. */
import type { ShellPlaces } from './follow-directory.ts';
import type { ShellNode } from './parse-shell.ts';
import type { ShellReading } from './shell-reading.ts';
import type { ShellWord } from './shell-word.ts';

export interface ShellWalk extends ShellReading {
  /** Where the shell may be by now. */
  places: ShellPlaces;
  /** What bash will evaluate as arithmetic: must turn out to hold numbers only. */
  evaluated: string[];
  statements(nodes: readonly ShellNode[]): void;
  /** A word, with the commands inside it. */
  argument(node: ShellNode): ShellWord;
  /** The commands inside a word, a body or an expression. */
  inside(node: ShellNode): void;
}

const WORDS: ReadonlySet<string> = new Set([
  'word',
  'number',
  'string',
  'raw_string',
  'ansi_c_string',
  'concatenation',
  'simple_expansion',
  'expansion',
  'command_substitution',
  'process_substitution',
  'arithmetic_expansion',
  'brace_expression',
]);

export function isWord({ type }: ShellNode): boolean {
  return WORDS.has(type);
}
