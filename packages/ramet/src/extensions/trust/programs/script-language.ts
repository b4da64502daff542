/** In which language a script is written: by its ending, its first line, or what runs it. */
import { basename } from 'node:path';
import { contentOf } from '../trusted-content.ts';
import { SHELLS } from './known-programs.ts';
import { MODULE_ENDING } from './module-imports.ts';

const SHELL_ENDING = /\.(?:sh|bash|zsh|ksh|dash|bats)$/;
const OTHERS = /\.(?:rb|pl|pm|php|lua|awk|tcl|exp|R|jl|ps1|fish)$/;

/** Null for what is no script. */
export type ScriptLanguage = 'shell' | 'module' | 'python' | 'other' | null;

/** `by`: the program that runs it; `line` stands behind its `#!`. */
export function languageOf(path: string, by: string | null, line: string | null): ScriptLanguage {
  const name = basename(path);
  const program =
    by === null || by === 'kernel' || by === 'variable' ? (programIn(line ?? startOf(path, by)) ?? by) : by;
  if (MODULE_ENDING.test(name)) return 'module';
  if (SHELL_ENDING.test(name)) return 'shell';
  if (/\.pyw?$/.test(name)) return 'python';
  if (OTHERS.test(name)) return 'other';
  if (program === null || program === 'variable') return null;
  if (SHELLS.test(program) || /^(?:kernel|\.|source)$/.test(program)) return 'shell';
  if (/^(?:node(?:js)?|bun|deno|tsx|ts-node)$/.test(program)) return 'module';
  if (/^(?:python|pypy)[\d.]*$/.test(program)) return 'python';
  return 'other';
}

/** Of a file without an ending that tells. */
function startOf(path: string, by: string | null): string | null {
  if (by === null) return null;
  const start = contentOf(path)?.bytes.toString('latin1', 0, 256) ?? '';
  if (start.includes('\0')) return 'none';
  return start.startsWith('#!') ? (start.slice(2).split('\n', 1)[0] ?? null) : null;
}

function programIn(line: string | null): string | null {
  const words = line?.trim().split(/\s+/) ?? [];
  const named = /(?:^|\/)env$/.test(words[0] ?? '')
    ? words.slice(1).find((one) => !/^-|=/.test(one))
    : words[0];
  return named === undefined || named === '' ? null : basename(named);
}
