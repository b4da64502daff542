/**
 * Compilers and bundlers: what they write is made of sources that no word names. Where the command runs what they wrote, it
 * runs those sources.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { ScriptWord } from '../../../permission/shell/script-words.ts';
import { checkoutOf, entriesOf } from '../repository-look.ts';
import type { CommandReach } from '../word-names.ts';
import { gitDirectories } from './git-config.ts';
import { RUNS_COMMANDS, RUNS_SCRIPTS } from './known-programs.ts';

const COMPILERS =
  /^(?:tsc|vue-tsc|tspc|ttsc|esbuild|swc|spack|babel|webpack|rspack|rsbuild|rollup|rolldown|parcel|tsup|tsdown|unbuild|ncc|microbundle|browserify|coffee|elm|javac|kotlinc|scalac|rustc|gleam|wasm-pack|cc|gcc|g\+\+|c\+\+|clang|clang\+\+|ld|as|f77|gfortran|nasm|ocamlopt|ghc|nim|dmd|fpc)$/;
/** By their first operand. */
const BUILDS: Readonly<Record<string, RegExp>> = {
  vite: /^build$/,
  next: /^build$/,
  nuxt: /^(?:build|generate)$/,
  astro: /^build$/,
  nest: /^build$/,
  ng: /^build$/,
  bun: /^build$/,
  deno: /^(?:compile|bundle)$/,
  go: /^(?:build|install)$/,
  cargo: /^(?:b|build|install)$/,
  dotnet: /^(?:build|publish|msbuild)$/,
  swift: /^build$/,
  zig: /^build(?:-exe|-lib)?$/,
};
/** They build and run in one. */
const RUNS: Readonly<Record<string, RegExp>> = {
  cargo: /^(?:r|run|bench|xtask)$/,
  dotnet: /^(?:run|watch)$/,
  swift: /^run$/,
  zig: /^run$/,
  go: /^generate$/,
};
const WRITES_NOTHING =
  /^(?:-fsyntax-only|--noEmit|--showConfig|--listFilesOnly|--init|--version|--help|-v|-h)$/;

export interface Compiling {
  readonly tool: string;
  /** It also runs what it made. */
  readonly runs: boolean;
}

/** Whether a program, by itself or as the script of an interpreter, writes what it makes of sources. */
export function compilerIn(program: string, words: readonly ScriptWord[]): Compiling | null {
  const texts = words.flatMap(({ texts: [text = ''] }) => text);
  if (texts.some((text) => WRITES_NOTHING.test(text))) return null;
  const at = texts.findIndex((text) => basename(text) === program);
  const operands = texts.slice(at + 1).filter((text) => !text.startsWith('-'));
  const isRunner = RUNS_COMMANDS.test(program) || RUNS_SCRIPTS.test(program);
  // `node node_modules/typescript/bin/tsc`, `yarn vite build`, `pnpm exec tsc`.
  const named = [program, ...(isRunner ? operands.slice(0, 2) : [])].map(plainName);
  for (const [index, tool] of named.entries()) {
    const next = operands[index] ?? '';
    if (COMPILERS.test(tool) || BUILDS[tool]?.test(next) === true) return { tool, runs: false };
    if (RUNS[tool]?.test(next) === true) return { tool, runs: true };
  }
  return null;
}

function plainName(text: string): string {
  return basename(text).replace(/\.(?:[cm]?js|cmd|exe)$/, '');
}

const OUTPUT =
  /^(?:(?:dist|build|out|target|output|compiled|generated)(?:[-_.].*)?|esm|cjs|\.(?:next|nuxt|output|build))$/;
const NOT_MADE = /^(?:\.\.|\.git|node_modules)(?:\/|$)|\/node_modules\//;

export type ExecutedFile = CommandReach['executed'][number];

export interface OutputGround {
  readonly starts: readonly string[];
  /** Files and folders that compilers are told to write. */
  readonly outputs: ReadonlySet<string>;
}

/**
 * Whether a compiler may have written a file that the command runs: it is not there yet, git does not know it, a compiler or its
 * configuration names it or its folder, a source of the same name lies beside it, or its folder is called like those that
 * compilers write. `named`: all files that the command names.
 */
export function runsOutput(
  named: Iterable<string>,
  executed: readonly ExecutedFile[],
  { starts, outputs }: OutputGround,
): boolean {
  const tops = [...new Set(starts.map(checkoutOf))].map((top) => ({ top, index: indexOf(top) }));
  const inTops = (path: string): { inside: string; index: Buffer | null }[] =>
    tops
      .map(({ top, index }) => ({ inside: relative(top, path), index }))
      .filter(({ inside }) => !NOT_MADE.test(inside));
  const isBuilt = (path: string): boolean =>
    inTops(path).some(
      ({ inside, index }) =>
        folderNames(inside).some((folder) => OUTPUT.test(folder)) ||
        (index !== null && isFile(path) && !index.includes(`${inside}\0`)),
    );
  const isWritten = ({ paths }: ExecutedFile): boolean => {
    const own = paths.filter((path) => inTops(path).length > 0);
    const there = own.filter((path) => existsSync(path));
    if (own.length > 0 && own.length === paths.length && there.length === 0) return true;
    return there.some(
      (path) => hasSource(path) || [...outputs].some((one) => path === one || path.startsWith(`${one}/`)),
    );
  };
  return Array.from(named).some(isBuilt) || executed.some(isWritten);
}

function folderNames(path: string): string[] {
  return path.split('/').slice(0, -1);
}

const SOURCE =
  /\.(?:[cm]?tsx?|jsx|coffee|vue|svelte|rs|go|c|cc|cpp|java|kt|scala|swift|zig|elm|gleam|civet)$/;

/** `x.ts` beside `x.js`. */
function hasSource(path: string): boolean {
  if (!isFile(path)) return false;
  const stem = basename(path).replace(/\.\w+$/, '');
  return entriesOf(dirname(path)).some(
    ({ name }) => name !== basename(path) && SOURCE.test(name) && name.replace(SOURCE, '') === stem,
  );
}

function indexOf(top: string): Buffer | null {
  try {
    return readFileSync(join(gitDirectories(top).own, 'index'));
  } catch {
    return null;
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
