/**
 * The few lines that teach a shell to ask `ramet complete`. They hold no commands or flags, so a script that was
 * installed once stays right while Ramet stays where it is. `complete` answers a line per suggestion, `text<TAB>description`, and `:files`
 * where file names are wanted.
 */
import { readFileSync } from 'node:fs';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The scripts know it too. */
export const FILES_MARK = ':files';

export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: readFileSync(new URL('./ramet.bash', import.meta.url), 'utf8'),
  zsh: readFileSync(new URL('./ramet.zsh', import.meta.url), 'utf8'),
  fish: readFileSync(new URL('./ramet.fish', import.meta.url), 'utf8'),
};

/**
 * The script for a shell, with the program to ask written out: an alias or a function by the name of `ramet` is known to
 * the user's shell alone, and not where completion runs it.
 */
export function completionScript(shell: Shell, command: readonly string[]): string {
  const words = command.map((word) => (shell === 'fish' ? fishQuoted(word) : shQuoted(word)));
  return COMPLETION_SCRIPTS[shell].replaceAll('COMMAND_TO_ASK', () => words.join(' '));
}

function shQuoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function fishQuoted(word: string): string {
  return `'${word.replaceAll(/['\\]/g, '\\$&')}'`;
}
