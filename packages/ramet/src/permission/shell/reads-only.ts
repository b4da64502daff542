/** Does a command only read (TYPE-2)? The innermost command is asked about, after wrappers were looked through. */
import { gitReadsOnly } from './read-only-git.ts';
import { programReadsOnly } from './read-only-programs.ts';
import type { ShellCommand } from './shell-reading.ts';

export function readsOnly({ words, directories }: ShellCommand, cwd: string): boolean {
  const [name, ...rest] = words;
  if (name === undefined) return true; // assignments alone: they are judged as variables
  if (name.value === null) return false;
  if (name.value === 'git' && gitReadsOnly(rest, { directories, cwd })) return true;
  return programReadsOnly(name.value, rest);
}
