/**
 * Which words of a command may name a file that it writes, for rules that take rights away. Of a program that is not
 * known that is every word. Narrowed here is only what is certain: what cp copies from, what git only looks at or
 * puts into its index, and what a test runner or an interpreter runs.
 */
import { basename } from 'node:path';
import { gitOperands } from './git-operands.ts';
import { isOperand, isOutput, type WrittenOperands } from './operand-words.ts';
import type { ShellWord } from './reading/shell-word.ts';
import { runOperands } from './run-operands.ts';

const REMOVES_WHOLE =
  /^(?:rm|rmdir|find|chmod|chown|chgrp|trash|shred|gzip|gunzip|bzip2|bunzip2|xz|unxz|zstd|unzstd)$/;
const COPIES = /^(?:cp|install|scp|rsync)$/;
/** A link is another name of the file: writing there writes here. */
const LINKS = /^-[a-zA-Z]*[ls]|^--(?:link|symbolic-link|remove-source-files)$/;

export function writtenOperands(program: string, given: readonly ShellWord[]): WrittenOperands {
  const name = basename(program);
  const words = withoutSettings(name, given);
  // The shell reads it where it stands, and it may write what it is given, like a script of an interpreter.
  if (name === 'source' || name === '.') return { words: words.slice(1), whole: [] };
  if (name === 'git') return gitOperands(words);
  if (REMOVES_WHOLE.test(name)) return { words, whole: words };
  if (name === 'mv') return { words, whole: hasTarget(words) ? words : words.slice(0, -1) };
  if (COPIES.test(name)) return { words: copied(words), whole: [] };
  if (/^g?sed$/.test(name)) return { words: [...words, ...words.flatMap(sedTargets)], whole: [] };
  return runOperands(name, words);
}

const SETTINGS = /^--env-file(?:-if-exists)?$/;
const LOADERS = /^(?:dotenv|dotenvx|env-cmd)$/;
const LOADED = /^(?:-e|-f|--file|--env-file)$/;

/** Without files that only become variables: `--env-file .env` of any program, `dotenv -e .env -- x`. */
function withoutSettings(name: string, words: readonly ShellWord[]): readonly ShellWord[] {
  const loader = LOADERS.test(name) ? -1 : words.findIndex(({ value }) => LOADERS.test(value ?? ''));
  const isLoader = loader !== -1 || LOADERS.test(name);
  const behind = words.slice(loader + 1).filter((word, at, all) => !isGiven(word, all[at - 1], LOADED));
  // Else it may be told to change the file: `dotenvx set`.
  const command = behind.find((word) => isOperand(word) && word.value !== 'run')?.value ?? '';
  const loads = isLoader && !/^(?:set|unset|get|list|encrypt|decrypt|rotate|ext|keypair|ls)$/.test(command);
  const end = loads ? words.findIndex(({ value }, at) => at > loader && value === command) : -1;
  return words.filter(
    (word, at) =>
      !isGiven(word, words[at - 1], SETTINGS) &&
      !(loads && at > loader && (end === -1 || at < end) && isGiven(word, words[at - 1], LOADED)),
  );
}

/** The value of such an option, or an option with its value. */
function isGiven({ value, start }: ShellWord, before: ShellWord | undefined, options: RegExp): boolean {
  const text = value ?? start;
  return (
    options.test(before?.value ?? '') || (text.includes('=') && options.test(text.split('=', 1)[0] ?? ''))
  );
}

function hasTarget(words: readonly ShellWord[]): boolean {
  return words.some(({ start }) => /^-[a-zA-Z]*t|^--t(?:a[a-z-]*)?(?:=|$)/.test(start));
}

/** Where files are copied to; `named-files.ts` adds the names that they get there. */
function copied(words: readonly ShellWord[]): readonly ShellWord[] {
  // A word that is known only then may become none, and the one before it is the last.
  if (words.some(({ start, value }) => LINKS.test(start) || value === null)) return words;
  const outputs = words.filter((word, index) => !isOperand(word) || isOutput(word, index, words));
  return hasTarget(words) ? outputs : [...outputs, ...words.filter(isOperand).slice(-1)];
}

const MOST_TARGETS = 200;

/** What any `w` in a sed script could write to: the rest of its line. */
function sedTargets({ value }: ShellWord): ShellWord[] {
  const lines = (value ?? '').split('\n');
  const names = lines.flatMap((line) =>
    [...line.matchAll(/[wW]/g)].slice(0, MOST_TARGETS).map(({ index }) => line.slice(index + 1).trim()),
  );
  return names.filter((name) => name !== '').map((name) => ({ source: name, value: name, start: name }));
}
