/**
 * The few lines that teach a shell to ask `ramet complete`. They hold no commands or flags, so a script that was
 * installed once stays right. `complete` answers a line per suggestion, `text<TAB>description`, and `:files`
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
