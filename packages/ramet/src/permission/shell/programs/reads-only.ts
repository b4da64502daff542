/** Does a command only read (TYPE-2)? The innermost command is asked about, after wrappers were looked through. */

import type { ShellCommand } from '../reading/shell-reading.ts';
import { mayBeOption, type ShellWord } from '../reading/shell-word.ts';
import { gitReadsOnly } from './read-only-git.ts';
import { type JudgeKind, programReadsOnly } from './read-only-programs.ts';

export function readsOnly(
  { words, directories }: ShellCommand,
  cwd: string,
  kind: JudgeKind = 'strict',
): boolean {
  const [name, ...rest] = kind === 'walled' ? words.map(asOperand) : words;
  if (name === undefined) return true; // assignments alone: they are judged as variables
  if (name.value === null) return false;
  if (name.value === 'git' && gitReadsOnly(rest, { directories, cwd, kind })) return true;
  return programReadsOnly(name.value, rest, kind);
}

/** Where an option that nobody foresaw can write nothing, a word that is not known counts as what it mostly is. */
function asOperand(word: ShellWord): ShellWord {
  if (word.value !== null || !mayBeOption(word) || word.start.startsWith('-')) return word;
  return { source: word.source, value: null, start: './' };
}
