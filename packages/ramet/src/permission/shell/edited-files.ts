/**
 * Files that a script certainly changes: those it redirects to, and those that it names to a program whose purpose is to write them. What
 * a program writes by itself, such as a test or a build, is not known. For refusals where commands may run and nothing is to be repaired.
 */
import { readFileSync, statSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isInside, landingPath, openedPath } from '../../system/landing-path.ts';
import { actingCommand } from './acting-command.ts';
import { downloadedFiles } from './downloaded-files.ts';
import { type FedScript, fedScripts, readsFedScript } from './fed-scripts.ts';
import { gitCall, gitWrites } from './fence/fence-git.ts';
import { isWriter, valuesOf, writtenNames } from './fence/written-names.ts';
import { topOf } from './git-operands.ts';
import { carriedIn } from './launched-commands.ts';
import { isOperand } from './operand-words.ts';
import { fillsSubmodules, isGit, isProofByGit, repositoriesMade } from './programs/proving-git.ts';
import type { ShellCommand } from './reading/shell-reading.ts';
import type { ShellWord } from './reading/shell-word.ts';
import { understandScript } from './reading/understand-script.ts';
import { innerScript } from './reading/unwrap-command.ts';
import { rewrittenBy } from './rewritten-files.ts';

interface EditedPaths {
  /** Absolute paths, links followed. Whether they exist is not asked, except for patterns. */
  files: string[];
  /** What other programs, such as a build, are told to write their output to. */
  outputs: string[];
  /** Files and folders that a program is told to put right: one that is not there is not made. */
  rewritten: string[];
  /** Commands of git that do more than look, with the checkout that they run in. */
  git: { command: string; top: string }[];
  /** Scripts that a shell reads and nobody knows before they run. */
  unread: Pick<FedScript, 'shell' | 'source'>[];
}

interface EditedWords {
  files: readonly ShellWord[];
  outputs?: readonly ShellWord[];
  rewritten?: readonly ShellWord[];
}

/** No more matches of a pattern are read. */
const MOST_MATCHES = 1_000;

/** Scripts inside scripts. */
const DEEPEST = 5;

export async function editedPaths(script: string, cwd: string, depth = 0): Promise<EditedPaths> {
  const { commands, files } = await understandScript(script, { directories: [cwd] });
  const acting = commands.map(({ layers: [outer] }) => actingCommand(outer));
  const opened = files.filter(({ access }) => access === 'write');
  const named: (EditedWords & Pick<ShellCommand, 'directories'>)[] = [
    ...opened.map(({ word, directories }) => ({ files: [word], directories })),
    ...acting.map((command) => ({ ...editedBy(command), directories: command.directories })),
  ];
  const paths = async (words: keyof EditedWords): Promise<string[]> => {
    const found = new Set<string>();
    for (const { directories, [words]: some = [] } of named)
      for (const directory of directories ?? [])
        for (const word of some) for (const path of await namedBy(word, directory)) found.add(path);
    return [...found];
  };
  const edited: EditedPaths = {
    ...{
      files: [...(await paths('files')), ...(await placedMatches(acting))],
      outputs: await paths('outputs'),
      rewritten: await paths('rewritten'),
    },
    ...{ git: changesByGit(acting.filter(isGit)), unread: [] },
  };
  const inner = acting.flatMap((command) =>
    (command.directories ?? []).map((directory) => ({ script: carriedBy(command), directory })),
  );
  const { texts, unread } = await fedTo(acting, [script, ...carriedIn(commands)]);
  edited.unread.push(...unread);
  for (const { script: text, directory } of [...inner, ...texts])
    if (text !== null && depth < DEEPEST) addTo(edited, await editedPaths(text, directory, depth + 1));
  return edited;
}

function addTo(all: EditedPaths, more: EditedPaths): void {
  for (const part of ['files', 'outputs', 'rewritten'] as const)
    all[part] = [...new Set([...all[part], ...more[part]])];
  all.git.push(...more.git);
  all.unread.push(...more.unread);
}

interface FedTexts {
  texts: { script: string; directory: string }[];
  unread: EditedPaths['unread'];
}

/** What shells among the commands are given to read, wherever one of them may stand. */
async function fedTo(acting: readonly ShellCommand[], scripts: readonly string[]): Promise<FedTexts> {
  const shells = acting.filter(readsFedScript);
  const directories = [...new Set(shells.flatMap((shell) => shell.directories ?? []))];
  const fed: FedTexts = { texts: [], unread: [] };
  if (shells.length === 0) return fed;
  for (const script of scripts)
    for (const { shell, parts, source } of await fedScripts(script)) {
      const texts = directories.map((directory) => ({ script: textOf(parts, directory), directory }));
      if (texts.length === 0 || texts.some(({ script }) => script === null))
        fed.unread.push({ shell, source });
      fed.texts.push(
        ...texts.flatMap(({ script, directory }) => (script === null ? [] : [{ script, directory }])),
      );
    }
  return fed;
}

const LONGEST_FILE = 64 * 1024;

/** Null where a part of it is not known. */
function textOf(parts: FedScript['parts'], directory: string): string | null {
  const texts = parts?.map((part) =>
    'text' in part ? part.text : (textIn(part.file.value, directory) ?? (part.sourced === true ? '' : null)),
  );
  return texts === undefined || texts.includes(null) ? null : texts.join('');
}

function textIn(name: string | null, directory: string): string | null {
  const path = name === null ? null : openedPath(directory, name);
  const stats = path === null ? undefined : statSync(path, { throwIfNoEntry: false });
  if (path === null || stats?.isFile() !== true || stats.size > LONGEST_FILE) return null;
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
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
      .filter((place) => !fillsSubmodules(words, topOf(place)))
      .filter((place) => !made.some((repository) => isInside(place, repository)))
      .map((place) => ({ command, top: topOf(place) }));
  });
}

async function namedBy(word: ShellWord, directory: string): Promise<string[]> {
  const names = word.value === null ? await matchesOf(word, directory) : [word.value];
  return names.flatMap((name) => placeOf(directory, name));
}

function placeOf(directory: string, name: string): string[] {
  const place = openedPath(directory, name);
  return place === null ? [] : [place];
}

/** Without a variable or quotes the shell puts in what matches, and `**` is `*` to it. */
async function matchesOf({ source, splits }: ShellWord, directory: string): Promise<string[]> {
  if (splits === true || /[$`'"\\~]/.test(source) || !/[*?[{]/.test(source)) return [];
  const found: string[] = [];
  for await (const path of glob(source.replace(/\*+/g, '*'), { cwd: directory })) {
    found.push(path);
    if (found.length >= MOST_MATCHES) break;
  }
  return found;
}

/** What the matches of a pattern become in the folder that they are put into: `cp lib/* src`. */
async function placedMatches(commands: readonly ShellCommand[]): Promise<string[]> {
  const found: string[] = [];
  for (const { words, directories } of commands) {
    if (!PLACERS.test(basename(words[0]?.value ?? ''))) continue;
    const { target, sources } = placement(words.slice(1));
    for (const directory of directories ?? [])
      for (const source of sources)
        for (const name of source.value === null ? await matchesOf(source, directory) : [])
          found.push(...placeOf(directory, join(target?.value ?? '', basename(name))));
  }
  return found;
}

const PLACERS = /^(?:cp|mv|install|ln)$/;

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
  ...{ tee: all, truncate: all, patch: all, ...{ ed: all, ex: all, vi: all, vim: all, nvim: all } },
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
  if (PLACERS.test(name)) return { files: placed(EDITORS[name] ?? all, rest) };
  if (Object.hasOwn(EDITORS, name)) return { files: EDITORS[name]?.(operands, options) ?? [] };
  if (NO_CONTENT.test(name)) return { files: [] };
  const rewritten = rewrittenBy(words);
  if (!isWriter(name) || rewritten.length > 0)
    return { files: [], outputs: valuesOf(rest, OUTPUT), rewritten };
  return { files: [], outputs: writtenNames({ program: name, words: rest, fed: false, place: null }) };
}

/** With the names that files get in a folder that they are put into. */
function placed(edits: Edits, words: readonly ShellWord[]): ShellWord[] {
  const { folder, target, sources } = placement(words);
  const inside = sources.flatMap(({ value }) => {
    if (value === null || typeof target?.value !== 'string') return [];
    const path = join(target.value, basename(value));
    return [{ source: path, value: path, start: path }];
  });
  return [...(folder === undefined ? edits(words.filter(isOperand), []) : [folder]), ...inside];
}

function placement(words: readonly ShellWord[]): {
  folder: ShellWord | undefined;
  target: ShellWord | undefined;
  sources: ShellWord[];
} {
  const operands = words.filter(isOperand);
  const [folder] = valuesOf(words, /^(?:-[a-zA-Z]*t|--target-directory)$/);
  const target = folder ?? operands.at(-1);
  return { folder, target, sources: operands.filter((word) => word !== target) };
}
