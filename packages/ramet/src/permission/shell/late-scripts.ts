/**
 * Scripts whose words a text spells out, but puts together only when it runs: with the words that a script or a function is
 * given, with variables that it sets itself, with braces, over a continued line.
 */
import { basename } from 'node:path';
import { bracesExpanded } from './brace-operands.ts';
import { launcherNamed } from './programs/launchers.ts';
import type { ShellCommand } from './reading/shell-reading.ts';
import type { ShellWord } from './reading/shell-word.ts';
import { valuesIn, withValues } from './reading/spelled-values.ts';
import type { CommandLayers } from './reading/understand-script.ts';

const RUNS_TEXT = /^(?:eval|trap|source|\.|git|find|fd|(?:ba|da|z|k|a)?sh)$/;
const PARAMETER = /\$[@*\d]|\$\{[@*\d]/;
const FUNCTIONS = /(?:^|[\s;&|({])(?:function\s+([\w.:-]+)|([\w.:-]+)\s*\(\s*\))/g;
const MOST_LISTS = 50;

/** As words of a script. */
export function quoted(words: readonly ShellWord[]): string {
  return words
    .map(({ value, source }) => (value === null ? source : `'${value.replaceAll("'", "'\\''")}'`))
    .join(' ');
}

/** A script with the words that it is given in the places of `$1` and `"$@"`; the first of them is `$0`. */
export function withParameters(script: string, words: readonly ShellWord[]): string[] {
  if (!PARAMETER.test(script)) return [];
  const all = quoted(words.slice(1));
  const one = (digits: string): string => {
    const word = words[Number(digits)];
    return word === undefined ? '' : (word.value ?? word.source);
  };
  return [
    script
      .replace(/"\$(?:[@*]|\{[@*][^}]*\})"|\$(?:[@*]|\{[@*][^}]*\})/g, () => all)
      .replace(/\$(?:(\d)|\{(\d+)\})/g, (_, plain?: string, braced?: string) => one(plain ?? braced ?? '')),
  ];
}

export function lateScripts(text: string, commands: readonly CommandLayers[]): string[] {
  const outer = commands.map(({ layers: [first] }) => first);
  const found = text.includes('\\\n') ? [text.replaceAll('\\\n', '')] : [];
  const late = commands.flatMap(({ layers }) => layers).filter(isLate);
  if (late.length === 0) return found;
  const values = valuesIn(text);
  const lists = parameterLists(text, outer);
  for (const command of late) {
    const { source, words } = command;
    const given = withValues(source, values) ?? [];
    const made = [source, ...given].flatMap((one) => lists.flatMap((list) => withParameters(one, list)));
    found.push(...given, ...made, ...given.map((one) => withoutWordQuotes(one)));
    if (words.some(isBraced))
      found.push(
        bracesExpanded(words, '/')
          .map(({ value, source: written }) => value ?? written)
          .join(' '),
      );
  }
  return found;
}

/** `"$X"` as a program is one word, and as a script of `eval` or a shell several. */
function withoutWordQuotes(script: string): string {
  return script.replace(/^"([^"]*)"$/, '$1');
}

/** What it runs is put together: it is the program, or words of something that runs words. */
function isLate({ words, source }: ShellCommand): boolean {
  const [program] = words;
  if (program === undefined) return false;
  if (program.value === null) return /[$`{]/.test(program.source);
  const name = basename(program.value);
  return (
    (source.includes('$') || words.some(isBraced)) && (RUNS_TEXT.test(name) || launcherNamed(name) !== null)
  );
}

function isBraced({ value, source }: ShellWord): boolean {
  return value === null && source.includes('{');
}

/** What `$1` and those behind it may be: after `set --`, and in functions that are called with words. */
function parameterLists(text: string, commands: readonly ShellCommand[]): (readonly ShellWord[])[] {
  const names = new Set(Array.from(text.matchAll(FUNCTIONS), ([, one, other]) => one ?? other ?? ''));
  const lists = commands.flatMap(({ words }): (readonly ShellWord[])[] => {
    const [program, ...rest] = words;
    if (program?.value === 'set') {
      const at = rest.findIndex(({ value }) => value === '--');
      const from = at === -1 ? rest.findIndex(({ start }) => !/^[-+]/.test(start)) : at + 1;
      return from === -1 ? [] : [[program, ...rest.slice(from)]];
    }
    return program !== undefined && names.has(program.value ?? '') && rest.length > 0 ? [words] : [];
  });
  return lists.slice(0, MOST_LISTS);
}
