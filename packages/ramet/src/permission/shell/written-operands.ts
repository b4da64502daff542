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

export function writtenOperands(program: string, words: readonly ShellWord[]): WrittenOperands {
  const name = basename(program);
  if (name === 'git') return gitOperands(words);
  if (REMOVES_WHOLE.test(name)) return { words, whole: words };
  if (name === 'mv') return { words, whole: hasTarget(words) ? words : words.slice(0, -1) };
  if (COPIES.test(name)) return { words: copied(words), whole: [] };
  if (/^g?sed$/.test(name)) return { words: [...words, ...words.flatMap(sedTargets)], whole: [] };
  return runOperands(name, words);
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
