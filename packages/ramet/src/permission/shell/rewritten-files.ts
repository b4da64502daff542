/** Files and folders that a formatter or a fixer is told to put right: `prettier --write src`, `eslint --fix .`, `black src/a.py`. */
import { basename } from 'node:path';
import { HERE, isOperand } from './operand-words.ts';
import type { ShellWord } from './reading/shell-word.ts';

/** Of any program: the words say it. */
const FIXES =
  /^--(?:write|fix(?:-only)?|in-?place|apply(?:-unsafe)?|auto-?correct(?:-all)?)(?:=(?!false$).*)?$/;
/** It says what it would change, and changes nothing. */
const ONLY_LOOKS = /^(?:-{1,2}(?:check|check-only|diff|list-different|help|version|dry-run|no-fix)|-[chd])$/;

interface Formatter {
  programs: RegExp;
  /** Without one of them it only prints. */
  option?: RegExp;
  /** What it is asked to do, for programs that do many things. */
  subcommand?: RegExp;
}

const FORMATTERS: readonly Formatter[] = [
  { programs: /^(?:gofmt|gofumpt|goimports|shfmt)$/, option: /^-[a-z]*w[a-z]*$/ },
  { programs: /^(?:clang-format|autopep8|yapf)$/, option: /^-[a-z]*i[a-z]*$/ },
  { programs: /^prettier$/, option: /^-[a-z]*w[a-z]*$/ },
  { programs: /^rubocop$/, option: /^-[a-zA-Z]*[aAx][a-zA-Z]*$/ },
  { programs: /^(?:black|isort|rustfmt|swiftformat)$/ },
  { programs: /^(?:ruff|go|cargo|terraform|tofu|dart|deno)$/, subcommand: /^(?:fmt|format|fix)$/ },
];

/** They start the program that follows. */
const STARTERS = /^(?:npx|pnpx|bunx|uvx|pipx|-m|run|exec|dlx|x)$/;

export function rewrittenBy(words: readonly ShellWord[]): ShellWord[] {
  const names = words.map(({ value }) => basename(value ?? ''));
  const isFixed = names.some((name) => FIXES.test(name));
  const at = names.findIndex((name, index) => isProgram(names, index) && formatterOf(name) !== undefined);
  const formatter = formatterOf(names[at] ?? '');
  if (!isFixed && (formatter === undefined || !isAsked(formatter, names.slice(at + 1)))) return [];
  const rest = words.slice(Math.max(at, 0) + 1 + (formatter?.subcommand === undefined ? 0 : 1));
  // Of `npx eslint` and `npm run lint --`, nothing is a file.
  const starts = (index: number): boolean => STARTERS.test(names[words.length - rest.length + index] ?? '');
  const named = rest
    .filter((word, index) => isOperand(word) && !(at === -1 && (starts(index) || starts(index - 1))))
    .map(placeOf);
  return named.length === 0 && (isFixed || formatter?.subcommand !== undefined) ? [HERE] : named;
}

function isProgram(names: readonly string[], index: number): boolean {
  return index === 0 || STARTERS.test(names[index - 1] ?? '');
}

function formatterOf(name: string): Formatter | undefined {
  return FORMATTERS.find(({ programs }) => programs.test(name));
}

function isAsked({ option, subcommand }: Formatter, names: readonly string[]): boolean {
  if (subcommand !== undefined && !subcommand.test(names[0] ?? '')) return false;
  return option === undefined
    ? !names.some((name) => ONLY_LOOKS.test(name))
    : names.some((name) => option.test(name));
}

/** Programs read patterns themselves, and `./...` is every package below: such a word is the folder in which what it means begins. */
function placeOf(word: ShellWord): ShellWord {
  const known = word.value ?? word.start;
  const open = known.search(/[*?[{(!]|\.\.\.$/);
  if (open === -1) return word;
  const folder = /^.*\//s.exec(known.slice(0, open))?.[0] ?? HERE.start;
  return { source: folder, value: folder, start: folder };
}
