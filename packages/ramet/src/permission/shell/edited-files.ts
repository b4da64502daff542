/**
 * Files that a script certainly changes: those it redirects to, and those that it names to a program whose purpose is to write them. What
 * a program writes by itself, such as a test or a build, is not known. For refusals where commands may run and nothing is to be repaired.
 */
import { glob } from 'node:fs/promises';
import { basename } from 'node:path';
import { openedPath } from '../../system/landing-path.ts';
import { actingCommand } from './acting-command.ts';
import { pathOfSpec } from './git-operands.ts';
import { isOperand } from './operand-words.ts';
import type { ShellCommand } from './reading/shell-reading.ts';
import type { ShellWord } from './reading/shell-word.ts';
import { understandScript } from './reading/understand-script.ts';

/** Absolute paths, links followed. Whether they exist is not asked, except for patterns. */
interface EditedPaths {
  files: string[];
  /** Folders of which everything may change: `git checkout src`, `git stash`. */
  trees: string[];
}

/** What of a command is changed; git reads the words for trees itself. */
interface EditedWords {
  files: readonly ShellWord[];
  trees?: readonly string[];
}

/** No more matches of a pattern are read. */
const MOST_MATCHES = 1_000;

export async function editedPaths(script: string, cwd: string): Promise<EditedPaths> {
  const { commands, files } = await understandScript(script, { directories: [cwd] });
  const named = [
    ...files
      .filter(({ access }) => access === 'write')
      .map(({ word, directories }) => ({ files: [word], trees: [], directories })),
    ...commands.map(({ layers: [outer] }) => {
      const acting = actingCommand(outer);
      return { trees: [], ...editedBy(acting), directories: acting.directories };
    }),
  ];
  const [found, trees] = [new Set<string>(), new Set<string>()];
  for (const { directories, ...words } of named)
    for (const directory of directories ?? []) {
      for (const word of words.files) for (const path of await namedBy(word, directory)) found.add(path);
      for (const spec of words.trees)
        trees.add(openedPath(directory, folderOf(spec, directory)) ?? directory);
    }
  return { files: [...found], trees: [...trees] };
}

/** Of a pattern of git, which may match anywhere below, the folder it begins in. */
function folderOf(spec: string, directory: string): string {
  return /[*?[]/.test(spec) ? '.' : pathOfSpec(spec, directory);
}

async function namedBy({ value, source, splits }: ShellWord, directory: string): Promise<string[]> {
  const opened = (path: string): string[] => {
    const place = openedPath(directory, path);
    return place === null ? [] : [place];
  };
  if (value !== null) return opened(value);
  // Without a variable or quotes the shell puts in what matches, and `**` is `*` to it.
  if (splits === true || /[$`'"\\~]/.test(source) || !/[*?[{]/.test(source)) return [];
  const paths: string[] = [];
  for await (const path of glob(source.replace(/\*+/g, '*'), { cwd: directory })) {
    paths.push(...opened(path));
    if (paths.length >= MOST_MATCHES) break;
  }
  return paths;
}

type Edits = (operands: readonly ShellWord[], options: readonly ShellWord[]) => readonly ShellWord[];

const all: Edits = (operands) => operands;
const last: Edits = (operands) => operands.slice(-1);
const withOption =
  (pattern: RegExp): Edits =>
  (operands, options) =>
    options.some(({ start, value }) => pattern.test(value ?? start)) ? operands : [];

const EDITORS: Readonly<Record<string, Edits>> = {
  sed: withOption(/^(?:-[a-zA-Z]*i|--in-place)/),
  gsed: withOption(/^(?:-[a-zA-Z]*i|--in-place)/),
  perl: withOption(/^-[a-zA-Z0-9]*i/),
  ruby: withOption(/^-[a-zA-Z0-9]*i/),
  ...{ tee: all, truncate: all, ed: all, ex: all, patch: all },
  ...{ cp: last, mv: all, install: last, ln: last },
  dd: (operands) => attached(operands, /^of=(.+)$/),
};

/** What is attached to the words that have it. */
function attached(words: readonly ShellWord[], pattern: RegExp): ShellWord[] {
  return words.flatMap((word) => {
    const value = pattern.exec(word.value ?? '')?.[1];
    return value === undefined ? [] : [{ ...word, value }];
  });
}

function editedBy({ words }: ShellCommand): EditedWords {
  const [program, ...rest] = words;
  const name = basename(program?.value ?? '');
  if (name === 'git') return editedByGit(rest);
  if (name === 'sort') {
    const behind = rest.filter((_, index) => /^-[a-zA-Z]*o$/.test(rest[index - 1]?.value ?? ''));
    return { files: [...behind, ...attached(rest, /^(?:-o|--output=)(.+)$/)] };
  }
  const edits = Object.hasOwn(EDITORS, name) ? EDITORS[name] : undefined;
  const options = rest.filter((word) => !isOperand(word));
  return { files: edits?.(rest.filter(isOperand), options) ?? [] };
}

const WHOLE = ':/';

/** Commands of git that put other content into the work tree, or take what is not committed out of it. */
function editedByGit([subcommand, ...rest]: readonly ShellWord[]): EditedWords {
  const has = (pattern: RegExp): boolean => rest.some(({ value }) => pattern.test(value ?? ''));
  const operands = rest.filter(isOperand);
  const specs = operands.flatMap(({ value }) => value ?? []);
  switch (subcommand?.value) {
    case 'checkout': {
      const whole = has(/^(?:-[a-z]*f[a-z]*|--force)$/) ? [WHOLE] : [];
      if (has(/^(?:-[bB]|--orphan)$/)) return { files: [], trees: whole };
      return { files: operands, trees: [...whole, ...specs] };
    }
    case 'restore':
      return has(/^(?:-S|--staged)$/) && !has(/^(?:-[a-zA-Z]*W[a-zA-Z]*|--worktree)$/)
        ? { files: [] }
        : { files: operands, trees: specs };
    case 'rm':
    case 'mv':
      return { files: operands, trees: specs };
    case 'reset':
      return { files: [], trees: has(/^--(?:hard|merge|keep)$/) ? [WHOLE] : [] };
    case 'read-tree':
      return { files: [], trees: has(/^-[a-z]*u[a-z]*$/) ? [WHOLE] : [] };
    case 'checkout-index':
      // Without force it leaves files alone that are there; with a prefix it writes elsewhere.
      if (!has(/^(?:-[a-z]*f[a-z]*|--force)$/) || has(/^--prefix/)) return { files: [] };
      return { files: operands, trees: has(/^(?:-[a-z]*a[a-z]*|--all|--stdin)$/) ? [WHOLE] : specs };
    case 'switch':
      return { files: [], trees: has(/^(?:-f|--force|--discard-changes)$/) ? [WHOLE] : [] };
    case 'stash':
      return {
        files: [],
        trees: /^(?:list|show|drop|clear|create|store)$/.test(specs[0] ?? '') ? [] : [WHOLE],
      };
    case 'clean':
      if (has(/^(?:-[a-zA-Z]*[nX][a-zA-Z]*|--dry-run)$/)) return { files: [] };
      return { files: operands, trees: specs.length === 0 ? ['.'] : specs };
    default:
      return { files: [] };
  }
}
