/**
 * Which words of a command may name a file that it writes, for rules that take rights away. Of a program that is not
 * known that is every word. Narrowed here is only what is certain: what cp copies from, what git only looks at or
 * puts into its index, and what a test runner or an interpreter runs.
 */
import { basename } from 'node:path';
import type { ShellWord } from './reading/shell-word.ts';

export interface WrittenOperands {
  /** Words that may name a written file. */
  words: readonly ShellWord[];
  /** Those of them that, as folders, are changed with all they hold: `rm -r docs`. */
  whole: readonly ShellWord[];
}

const REMOVES_WHOLE = /^(?:rm|find|chmod|chown|chgrp|trash|shred)$/;
const COPIES = /^(?:cp|install|scp|rsync)$/;
/** A link is another name of the file: writing there writes here. */
const LINKS = /^-[a-zA-Z]*[ls]|^--(?:link|symbolic-link|remove-source-files)$/;
const GIT_KEEPS =
  /^(?:add|stage|commit|diff|difftool|log|show|blame|annotate|status|grep|ls-files|ls-tree|check-ignore|check-attr|shortlog|push|fetch|rev-list|rev-parse|cat-file|tag|branch|notes)$/;
const GIT_VALUED = /^(?:-C|-c|--git-dir|--work-tree|--namespace)$/;

export function writtenOperands(program: string, words: readonly ShellWord[]): WrittenOperands {
  const name = basename(program);
  if (program === 'git') return byGit(words);
  if (REMOVES_WHOLE.test(name)) return { words, whole: words };
  if (name === 'mv') return { words, whole: hasTarget(words) ? words : words.slice(0, -1) };
  if (COPIES.test(name)) return { words: copied(words), whole: [] };
  return { words: withoutRun(name, words), whole: [] };
}

function byGit(words: readonly ShellWord[]): WrittenOperands {
  const operands = withoutMessages(words);
  const at = operands.findIndex(
    ({ value, start }, index) =>
      !(value ?? start).startsWith('-') && !GIT_VALUED.test(operands[index - 1]?.value ?? ''),
  );
  if (!GIT_KEEPS.test(operands[at]?.value ?? '')) return { words: operands, whole: operands };
  return { words: operands.filter(isOutput), whole: [] };
}

/** `git commit -m "Change README.md"` says a name and touches no such file. */
function withoutMessages(words: readonly ShellWord[]): ShellWord[] {
  return words.filter((_, index) => !/^(?:-[a-z]*m|--message)$/.test(words[index - 1]?.value ?? ''));
}

function hasTarget(words: readonly ShellWord[]): boolean {
  return words.some(({ start }) => /^-[a-zA-Z]*t|^--target-directory/.test(start));
}

/** Where files are copied to; `named-files.ts` adds the names that they get there. */
function copied(words: readonly ShellWord[]): readonly ShellWord[] {
  // A word that is known only then may become none, and the one before it is the last.
  if (words.some(({ start, value }) => LINKS.test(start) || value === null)) return words;
  const outputs = words.filter(isOutput);
  return hasTarget(words) ? outputs : [...outputs, ...words.filter(isOperand).slice(-1)];
}

const OUTPUT =
  /^(?:-o|-t|--(?:[\w.-]*(?:output|outfile|out-?dir|xml|report|log|dest|save|write|profile|trace|target-directory)[\w.-]*))$/i;

/** An option with a value attached, or what stands behind one that names an output. */
function isOutput({ value, start }: ShellWord, index: number, all: readonly ShellWord[]): boolean {
  const text = value ?? start;
  return text.startsWith('-') || OUTPUT.test(all[index - 1]?.value ?? '');
}

const RUNNERS =
  /^(?:vitest|jest|mocha|ava|tap|uvu|playwright|cypress|pytest|rspec|phpunit|nose2|tox|eslint|prettier|biome|stylelint|oxlint|ruff|mypy|pyright|flake8|shellcheck)$/;
const INTERPRETERS = /^(?:node|tsx|ts-node|python|python3|ruby|php|bash|sh|dash|zsh|deno|bun)$/;
const LAUNCHERS = /^(?:npx|bunx|pnpx)$/;
const MANAGERS = /^(?:npm|pnpm|yarn|bun)$/;
/** With these a checker changes what it is shown. */
const CHANGES =
  /^(?:-w|-i|-[a-z]*u|--(?:[\w-]*(?:fix|write|update|in-?place|apply)[\w-]*))(?:=|$)|^(?:format|migrate)$/;

/** Without the files that a test runner runs, a checker looks at, or an interpreter reads its script from. */
function withoutRun(name: string, words: readonly ShellWord[]): readonly ShellWord[] {
  if (LAUNCHERS.test(name)) return behindLauncher(words);
  if (MANAGERS.test(name) && words.some(({ value }) => /^(?:exec|x|dlx)$/.test(value ?? '')))
    return behindLauncher(words.slice(1));
  const isTest = MANAGERS.test(name) && /^(?:test|t)$/.test(words.find(isOperand)?.value ?? '');
  if (isTest || RUNNERS.test(name)) return shown(words);
  return INTERPRETERS.test(name) ? withoutScript(name, words) : words;
}

function behindLauncher(words: readonly ShellWord[]): readonly ShellWord[] {
  const at = words.findIndex(isOperand);
  const { value } = words[at] ?? {};
  // A flag with a value of its own may name another program.
  const isPlain = words
    .slice(0, at)
    .every((word) => /^(?:-y|--yes|--no|--no-install|--)$/.test(word.value ?? ''));
  if (value === undefined || value === null || !isPlain) return words;
  const inner = withoutRun(value, words.slice(at + 1));
  return [...words.slice(0, at + 1), ...inner];
}

function shown(words: readonly ShellWord[]): readonly ShellWord[] {
  return words.some(({ start }) => CHANGES.test(start)) ? words : words.filter(isOutput);
}

/** `node a.js out` reads a.js and may write out; with `-e` nothing is a script; `node --test` runs all it names. */
function withoutScript(name: string, words: readonly ShellWord[]): readonly ShellWord[] {
  const [first, second] = words;
  if (name === 'node' && first?.value === '--test') return shown(words);
  if (/^python3?$/.test(name) && first?.value === '-m')
    return second?.value === 'pytest' ? shown(words.slice(2)) : words;
  return first !== undefined && isOperand(first) ? words.slice(1) : words;
}

function isOperand({ value, start }: ShellWord): boolean {
  return !(value ?? start).startsWith('-');
}
