/** Whether the argument of `ramet operate` is a goal in words, and no name of a file. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

const TASK_FILE = /\.(?:md|markdown|ya?ml|jsonc?|txt)$/i;

/** A name that is only misspelt must not start an agent: words with a path or an ending of task files are no goal. */
export function isGoal(argument: string, cwd: string): boolean {
  const text = argument.trim();
  const words = text.split(/\s+/);
  const last = words.at(-1) ?? '';
  if (words.length < 2 || existsSync(resolve(cwd, argument))) return false;
  if (/^(?:[.~]{0,2}\/|[A-Za-z]:\\)/.test(text)) return false;
  if (/[.!?]$/.test(text)) return true;
  // "Describe it in README.md" is a goal where that file is there; "my tsaks.md" is none.
  if (TASK_FILE.test(last)) return words.length > 2 && existsSync(resolve(cwd, last));
  // "docs/my tasks": the path of a folder.
  return words.length > 2 || !text.includes('/');
}
