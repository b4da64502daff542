/**
 * Compilers and bundlers: what they write is made of sources that no word names. Where the command runs what they wrote, it
 * runs those sources.
 */
import { readFileSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { ScriptWord } from '../../permission/shell/script-words.ts';
import { gitDirectories } from './git-config.ts';
import { RUNS_COMMANDS, RUNS_SCRIPTS } from './known-programs.ts';
import { checkoutOf } from './repository-look.ts';

const COMPILERS =
  /^(?:tsc|vue-tsc|tspc|ttsc|esbuild|swc|spack|babel|webpack|rspack|rsbuild|rollup|rolldown|parcel|tsup|tsdown|unbuild|ncc|microbundle|browserify|coffee|elm|javac|kotlinc|scalac|rustc|gleam|wasm-pack)$/;
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
const WRITES_NOTHING = /^(?:--noEmit|--showConfig|--listFilesOnly|--init|--version|--help|-v|-h)$/;

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

/** Whether one of the files that a command may run is one that a compiler writes: by its folder, or since git does not know it. */
export function runsOutput(paths: Iterable<string>, starts: readonly string[]): boolean {
  const tops = [...new Set(starts.map(checkoutOf))].map((top) => ({ top, index: indexOf(top) }));
  for (const path of paths)
    for (const { top, index } of tops) {
      const inside = relative(top, path);
      if (NOT_MADE.test(inside)) continue;
      if (
        inside
          .split('/')
          .slice(0, -1)
          .some((folder) => OUTPUT.test(folder))
      )
        return true;
      if (index !== null && isFile(path) && !index.includes(`${inside}\0`)) return true;
    }
  return false;
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
