/**
 * Files that a script certainly changes: those it redirects to, and those that it names to a program whose purpose is to write them. What
 * a program writes by itself, such as a test or a build, is not known. For refusals where commands may run and nothing is to be repaired.
 */
import { glob } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isInside, landingPath, openedPath } from '../../system/landing-path.ts';
import { actingCommand } from './acting-command.ts';
import { downloadedFiles } from './downloaded-files.ts';
import { gitCall, gitWrites } from './fence/fence-git.ts';
import { isWriter, valuesOf, writtenNames } from './fence/written-names.ts';
import { topOf } from './git-operands.ts';
import { isOperand } from './operand-words.ts';
import { isGit, isProofByGit, repositoriesMade } from './programs/proving-git.ts';
import type { ShellCommand } from './reading/shell-reading.ts';
import type { ShellWord } from './reading/shell-word.ts';
import { understandScript } from './reading/understand-script.ts';
import { innerScript } from './reading/unwrap-command.ts';

interface EditedPaths {
  /** Absolute paths, links followed. Whether they exist is not asked, except for patterns. */
  files: string[];
  /** What other programs, such as a build, are told to write their output to. */
  outputs: string[];
  /** Commands of git that do more than look, with the checkout that they run in. */
  git: { command: string; top: string }[];
}

interface EditedWords {
  files: readonly ShellWord[];
  outputs?: readonly ShellWord[];
}

/** No more matches of a pattern are read. */
const MOST_MATCHES = 1_000;

export async function editedPaths(script: string, cwd: string): Promise<EditedPaths> {
  const { commands, files } = await understandScript(script, { directories: [cwd] });
  const acting = commands.map(({ layers: [outer] }) => actingCommand(outer));
  const named = [
    ...files
      .filter(({ access }) => access === 'write')
      .map(({ word, directories }): EditedWords & Pick<ShellCommand, 'directories'> => ({
        ...{ files: [word], directories },
      })),
    ...acting.map((command) => ({ ...editedBy(command), directories: command.directories })),
  ];
  const [found, outputs] = [new Set<string>(), new Set<string>()];
  for (const { directories, ...words } of named)
    for (const directory of directories ?? []) {
      for (const word of words.files) for (const path of await namedBy(word, directory)) found.add(path);
      for (const word of words.outputs ?? [])
        for (const path of await namedBy(word, directory)) outputs.add(path);
    }
  const git = changesByGit(acting.filter(isGit));
  for (const command of acting) {
    const inner = carriedBy(command);
    for (const directory of inner === null ? [] : (command.directories ?? [])) {
      const edited = await editedPaths(inner ?? '', directory);
      for (const path of edited.files) found.add(path);
      for (const path of edited.outputs) outputs.add(path);
      git.push(...edited.git);
    }
  }
  return { files: [...found], outputs: [...outputs], git };
}

/**
 * A script behind options of a shell that the reading leaves alone, since they may change what it means (`bash -lc`): for a refusal
 * its words are enough.
 */
function carriedBy(command: ShellCommand): string | null {
  const read = innerScript(command, 'bash');
  // Behind `-c` there may be further options: `bash -c -- "..."`.
  if (read === null || (read.script !== null && !read.script.startsWith('-'))) return null;
  const words = command.words.slice(1).map(({ value }) => value ?? '');
  const flag = words.findIndex((word) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(word));
  return flag === -1 ? null : (words.slice(flag + 1).find((word) => !/^(?:[-+]\w*|--)$/.test(word)) ?? null);
}

function changesByGit(commands: readonly ShellCommand[]): EditedPaths['git'] {
  const made: string[] = [];
  return commands.flatMap(({ words: [, ...words], directories }) => {
    const places = (directories ?? []).flatMap((place) => landingPath(place) ?? []);
    made.push(...places.flatMap((place) => repositoriesMade(words, place)));
    const [subcommand] = words;
    if (subcommand === undefined || isProofByGit(words)) return [];
    const command = subcommand.value ?? subcommand.source;
    return places
      .filter((place) => !made.some((repository) => isInside(place, repository)))
      .map((place) => ({ command, top: topOf(place) }));
  });
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

/** Short ones mean too many things: `grep -o`. */
const OUTPUT = /^--(?:output|output-?file|out|out-?file)$/i;

/** Not those that only take a file away, or change what is known about it. */
const NO_CONTENT =
  /^(?:rm|rmdir|unlink|touch|mkdir|mkfifo|mknod|mktemp|chmod|chown|chgrp|chattr|setfacl|setfattr|find|fd)$/;

function editedBy({ words }: ShellCommand): EditedWords {
  const [program, ...rest] = words;
  const name = basename(program?.value ?? '');
  if (name === 'git')
    return { files: gitWrites(gitCall({ program: name, words: rest, fed: false, place: null })) };
  if (name === 'sort') {
    const behind = rest.filter((_, index) => /^-[a-zA-Z]*o$/.test(rest[index - 1]?.value ?? ''));
    return { files: [...behind, ...attached(rest, /^(?:-o|--output=)(.+)$/)] };
  }
  const downloaded = downloadedFiles(name, rest);
  if (downloaded !== null) return { files: downloaded };
  const options = rest.filter((word) => !isOperand(word));
  const operands = rest.filter(isOperand);
  if (/^(?:cp|mv|install|ln)$/.test(name)) return { files: placed(EDITORS[name] ?? all, rest) };
  if (Object.hasOwn(EDITORS, name)) return { files: EDITORS[name]?.(operands, options) ?? [] };
  if (NO_CONTENT.test(name)) return { files: [] };
  if (!isWriter(name)) return { files: [], outputs: valuesOf(rest, OUTPUT) };
  return { files: [], outputs: writtenNames({ program: name, words: rest, fed: false, place: null }) };
}

/** With the names that files get in a folder that they are put into. */
function placed(edits: Edits, words: readonly ShellWord[]): ShellWord[] {
  const operands = words.filter(isOperand);
  const [folder] = valuesOf(words, /^(?:-[a-zA-Z]*t|--target-directory)$/);
  const target = folder ?? operands.at(-1);
  const sources = operands.filter((word) => word !== target);
  const inside = sources.flatMap(({ value }) => {
    if (value === null || typeof target?.value !== 'string') return [];
    const path = join(target.value, basename(value));
    return [{ source: path, value: path, start: path }];
  });
  return [...(folder === undefined ? edits(operands, []) : [folder]), ...inside];
}
