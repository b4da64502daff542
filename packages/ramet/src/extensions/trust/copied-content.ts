/**
 * Whether a script can run what it reads: it gives it to a program that runs it, or writes it into a file that it runs
 * afterwards or that is out of the reach of agents. A script that only looks at files cannot.
 */
import { basename, resolve } from 'node:path';
import type { ScriptCommand, ScriptWord, ScriptWords } from '../../permission/shell/script-words.ts';
import { isInside } from '../../system/landing-path.ts';
import { gitWrites } from './programs/git-runs.ts';
import { isPlain, manifestsOf, RUNS_SCRIPTS } from './programs/known-programs.ts';
import { sedRuns } from './programs/sed-script.ts';
import { isTemporary } from './repository-look.ts';
import { type StartedProgram, scriptOf, startedPrograms } from './started-programs.ts';
import type { WrittenAs } from './word-names.ts';

/** They write what they read to where their last operand says. */
export const COPIES: RegExp = /^(?:cp|mv|ln|install|rsync|scp|ditto)$/;
/** They write files whose names only they know. */
const UNPACKS = /^(?:unzip|cpio|pax|patch|split|csplit|7z|7za|gunzip|unxz|bunzip2)$/;
const WHOLE_FOLDERS = /^-(?:-recursive|-archive|-symbolic|[a-zA-Z]*[rRas])/;
const STREAMS = /^\/dev\/(?:null|stdout|stderr|tty|fd\/\d+)$/;

export interface CopyGround {
  readonly root: string;
  /** It runs none of what it is given. */
  onlyReads(program: StartedProgram): boolean;
}

export interface CopiedContent {
  /** A file that the script writes is one that it runs. */
  readonly isRun: boolean;
  /** It writes where agents cannot, so that something else may run it. */
  readonly leaves: boolean;
  /** What it writes into temporary folders, by the names that the script uses. */
  readonly written: ReadonlyMap<string, WrittenAs>;
}

export function copiedContent(
  text: string,
  { commands, outputs }: Pick<ScriptWords, 'commands' | 'outputs'>,
  ground: CopyGround,
): CopiedContent {
  const targets = outputs.filter(({ open }) => open === null).flatMap(({ texts }) => texts);
  let isAny = false;
  for (const program of commands.flatMap(({ words }) => startedPrograms(words).programs)) {
    targets.push(...targetsOf(program));
    isAny ||= writesFolder(program);
  }
  const written = targets.filter((text) => !STREAMS.test(text));
  return {
    isRun: (isAny || written.length > 0) && commands.some((one) => runs(one, { written, isAny, ground })),
    leaves: written.some((one) => isAway(one, ground.root)),
    written: new Map([
      ...written.filter((one) => isTemporary(one)).map((one) => [one, 'copied'] as const),
      ...replacedFiles(text).map((one) => [one, 'replaced'] as const),
    ]),
  };
}

const REPLACES = /(?<![>&\d<])(?:>\|?|\btee\s)\s*(["']?)(\/[\w./-]+)\1(?![\w./-])/g;
/** Before it, nothing that could pass it over; behind it, the command is at its end before the next begins. */
const UNSURE =
  /&&|\|\||[(){}`]|\b(?:if|for|while|until|case|then|do|else|exit|return|exec|trap|alias)\b|noclobber|\bset\s+-\w*C/;
const ENDS = /^(?:[^;\n&|]|\d?>&\d)*(?:;|\n|&&|$)/;

/** Files that are written whole before anything else is done with them. */
function replacedFiles(text: string): string[] {
  return Array.from(text.matchAll(REPLACES)).flatMap(({ 0: whole, 2: path = '', index }) => {
    const isFirst = text.indexOf(path) === index + whole.indexOf(path);
    const isSure = !UNSURE.test(text.slice(0, index)) && ENDS.test(text.slice(index + whole.length));
    return isFirst && isSure && isTemporary(path) ? [path] : [];
  });
}

/** Their second operand is a file that they write. */
const WRITES_LAST = /^(?:uniq|xxd)$/;
const WRITES_OPTION = /^(?:sort|shuf|base64|find|tree)$/;

function optionValues(texts: readonly string[]): string[] {
  return texts.flatMap((text, at) => {
    if (/^(?:-\w*o|--output|-f(?:printf?0?|ls))$/.test(texts[at - 1] ?? '')) return text;
    return /^(?:-o|--output=)(.+)$/s.exec(text)?.[1] ?? [];
  });
}

function targetsOf({ name, rest }: StartedProgram): string[] {
  const operands = rest.filter(({ start }) => !start.startsWith('-'));
  if (name === 'tee') return textsOf(operands);
  if (/^g?sed$/.test(name)) {
    const inPlace = rest.some(({ start }) => /^-(?:\w*i|-in-place)/.test(start)) ? textsOf(operands) : [];
    return [...inPlace, ...sedRuns(rest, () => []).writes];
  }
  if (WRITES_LAST.test(name)) return textsOf(operands.slice(1));
  if (WRITES_OPTION.test(name)) return optionValues(textsOf(rest));
  if (name === 'dd') return textsOf(rest).flatMap((text) => /^of=(.+)$/s.exec(text)?.[1] ?? []);
  if (!COPIES.test(name)) return [];
  const target = textsOf(operands.slice(-1));
  const sources = textsOf(operands.slice(0, -1)).map((text) => basename(text));
  // Into a folder everything goes under its own name.
  return [...target, ...target.flatMap((folder) => sources.map((name) => `${folder}/${name}`))];
}

/** Which files that makes is not known. */
function writesFolder({ name, rest }: StartedProgram): boolean {
  const [first = ''] = rest[0]?.texts ?? [];
  if (name === 'git') return gitWrites(rest);
  if (name === 'tar')
    return /^-?\w*x/.test(first) || textsOf(rest).some((text) => /^(?:-x|--extract|--get)/.test(text));
  if (COPIES.test(name)) {
    const operands = rest.filter(({ start }) => !start.startsWith('-'));
    const isInto = operands.at(-1)?.open === null;
    const isOpen = isInto && operands.slice(0, -1).some(({ open }) => open !== null);
    return isOpen || rest.some(({ start }) => WHOLE_FOLDERS.test(start));
  }
  return UNPACKS.test(name);
}

interface Written {
  readonly written: readonly string[];
  readonly isAny: boolean;
  readonly ground: CopyGround;
}

function runs({ words }: ScriptCommand, { written, isAny, ground }: Written): boolean {
  return startedPrograms(words).programs.some((program) => {
    const { name, rest } = program;
    if (ground.onlyReads(program)) return false;
    const isScript = RUNS_SCRIPTS.test(name);
    if (isPlain(name) && !isScript) return false;
    if (isAny) return true;
    const { folders, patterns } = scriptOf(name, rest);
    const own = textsOf(words.slice(0, words.length - rest.length));
    const run = isScript ? [...folders, ...patterns] : [...own, ...textsOf(rest), ...manifestsOf(name)];
    return run.some((text) => written.some((target) => isSame(text, target)));
  });
}

/** By its own name, since it may be called from elsewhere, or as a part of the folder that was written. */
function isSame(run: string, target: string): boolean {
  if (/[*?[]/.test(run)) return true;
  return basename(run) === basename(target) || run.startsWith(`${target.replace(/\/+$/, '')}/`);
}

/** Not where agents write by themselves: out of the repository, or where git looks for programs. */
function isAway(target: string, root: string): boolean {
  const path = resolve(root, target);
  if (isInside(path, resolve(root, '.git'))) return true;
  return !isInside(path, root) && !isTemporary(path);
}

function textsOf(words: readonly ScriptWord[]): string[] {
  return words.flatMap(({ texts }) => texts);
}

/** What of a copy is read: the last operand is where it goes. */
export function readOperands({ name, rest }: StartedProgram): readonly ScriptWord[] {
  const operands = rest.filter(({ start }) => !start.startsWith('-'));
  const isInto = COPIES.test(name) && !rest.some(({ start }) => /^(?:-\w*t|--target-directory)/.test(start));
  return isInto ? operands.slice(0, -1) : operands;
}
