/** Which words of a git command may name files that it writes in the work tree. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { HERE, isOperand, isOutput, type WrittenOperands } from './operand-words.ts';
import { mayBeOption, type ShellWord } from './reading/shell-word.ts';
import { writtenFolders } from './written-folders.ts';

const KEEPS =
  /^(?:add|stage|commit|diff|difftool|log|show|blame|annotate|status|grep|ls-files|ls-tree|check-ignore|check-attr|shortlog|push|fetch|rev-list|rev-parse|cat-file|tag|branch|notes)$/;
/** Options with which these change the index alone. Any other, also cut short, may touch files. */
const INDEX_ONLY: Readonly<Record<string, RegExp>> = {
  reset: /^(?:-q|--quiet|--mixed|--soft|-N|--intent-to-add|--)$/,
  restore: /^(?:-S|--staged|-q|--quiet|-s|--source(?:=.*)?|--)$/,
  rm: /^(?:--cached|-q|--quiet|-r|-f|--force|--)$/,
};
const NEEDED: Readonly<Record<string, RegExp>> = { restore: /^(?:-S|--staged)$/, rm: /^--cached$/ };

/** `words` begin with the subcommand. */
export function gitOperands(words: readonly ShellWord[]): WrittenOperands {
  const operands = withoutMessages(words);
  const [subcommand, ...rest] = operands;
  const name = subcommand?.value ?? '';
  if (KEEPS.test(name) || isIndexOnly(name, rest)) return { words: operands.filter(isOutput), whole: [] };
  const everything = name === 'clean' ? cleansAll(rest) : takesList(rest);
  if (everything === 'nothing') return { words: [], whole: [] };
  const inside = isTrial(rest) ? [] : writtenFolders('git', operands);
  return { words: operands, whole: everything ? [...operands, HERE] : operands, inside, patterns: true };
}

/** `git commit -m "Change README.md"` says a name and touches no such file. */
function withoutMessages(words: readonly ShellWord[]): ShellWord[] {
  return words.filter((_, index) => !/^(?:-[a-z]*m|--message)$/.test(words[index - 1]?.value ?? ''));
}

function isIndexOnly(name: string, words: readonly ShellWord[]): boolean {
  const known = Object.hasOwn(INDEX_ONLY, name) ? INDEX_ONLY[name] : undefined;
  if (known === undefined) return false;
  const options = beforeDashes(words).filter(mayBeOption);
  const needed = NEEDED[name];
  return (
    options.every(({ value }) => value !== null && known.test(value)) &&
    (needed === undefined || options.some(({ value }) => needed.test(value ?? '')))
  );
}

/** Behind `--` nothing is an option. */
function beforeDashes(words: readonly ShellWord[]): readonly ShellWord[] {
  const at = words.findIndex(({ value }) => value === '--');
  return at === -1 ? words : words.slice(0, at);
}

/** Without a name `git clean` takes all that is not tracked; with `-n` it only tells. */
function cleansAll(words: readonly ShellWord[]): boolean | 'nothing' {
  const own = words.filter((_, index) => !/^(?:-[a-zA-Z]*e|--exclude)$/.test(words[index - 1]?.value ?? ''));
  const isDry = beforeDashes(own).some(({ value }) =>
    /^(?:-[dfqxX]*n[dfqxXn]*|--dry-run)$/.test(value ?? ''),
  );
  if (isDry && !own.some(({ value, start }) => value === null || start.startsWith('--no-'))) return 'nothing';
  return !own.some(isOperand);
}

/** `git apply --check` only tells. */
function isTrial(words: readonly ShellWord[]): boolean {
  const has = (option: RegExp): boolean => words.some(({ value }) => value === null || option.test(value));
  return (
    words.some(({ value }) => /^--(?:check|stat|numstat|summary|cached)$/.test(value ?? '')) &&
    !has(/^(?:--apply|--index|-3|--3way)$/)
  );
}

function takesList(words: readonly ShellWord[]): boolean {
  return words.some(({ start }) => start.startsWith('--pathspec-from'));
}

/**
 * A pathspec as the path that git takes it for: `:/docs` starts from the top of the repository. One that leaves
 * something out stands for everything.
 */
export function pathOfSpec(spec: string, place: string): string {
  const [, long, short = '', rest = ''] = /^:(?:\(([^)]*)\)|([/!^]*):?)(.*)$/s.exec(spec) ?? [];
  if (!spec.startsWith(':')) return spec;
  const magic = long?.split(',') ?? [];
  if (magic.includes('exclude') || /[!^]/.test(short)) return topOf(place);
  return magic.includes('top') || short.includes('/') || rest === '' ? join(topOf(place), rest) : rest;
}

/** The checkout that a place is in, else the place. */
export function topOf(place: string): string {
  for (let folder = place; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder;
    if (dirname(folder) === folder) return place;
  }
}
