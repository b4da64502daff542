/**
 * The words of a script that name what it works on, not what it runs: `tail CHANGELOG.md`, `npx prettier --write src/a.js`,
 * `node --test test/`. A word counts as data only where nothing in the script can run what was read: who pipes a file into
 * a shell, or copies it and runs the copy, runs it.
 */
import { basename } from 'node:path';
import type { ScriptCommand, ScriptWord } from '../../permission/shell/script-words.ts';
import { argumentData, dataIn, quietCode } from './argument-data.ts';
import { type CopiedContent, copiedContent } from './copied-content.ts';
import { evaluates } from './programs/computed-code.ts';
import { FEEDS, isInline, isPlain, PASSES_ON, RUNS_SCRIPTS, SHELLS } from './programs/known-programs.ts';
import { scriptOf, startedPrograms } from './started-programs.ts';
import { roughWords } from './word-names.ts';

const setOf = (names: string): ReadonlySet<string> => new Set(names.split(' '));
/** They print what they read, or something about it. */
const READS = setOf(
  ': [ [[ base64 basename cat cksum cmp column comm cut date diff dirname du echo egrep exit false fgrep file fmt fold grep head hexdump jq ls md5sum nl od paste printf pwd readlink realpath rg sha1sum sha256sum shasum sleep sort stat strings sum tac tail test tr tree true uniq wc xxd yq',
);
/** They judge it or write it in another form. */
const CHECKS = setOf(
  'actionlint biome black clang-format dprint eslint flake8 gofmt goimports hadolint isort markdownlint markdownlint-cli2 mypy oxlint prettier pyright ruff rustfmt shellcheck shfmt stylelint stylua taplo tsc yamllint',
);
const TESTS = setOf('ava bats ctest jest mocha nose2 phpunit playwright pytest py.test rspec tap uvu vitest');
const TEST_WORDS: Readonly<Record<string, RegExp>> = {
  go: /^(?:test|vet|fmt)$/,
  deno: /^(?:test|lint|fmt|check)$/,
  bun: /^test$/,
  cargo: /^(?:test|nextest|clippy|fmt|check)$/,
  swift: /^test$/,
  dotnet: /^(?:test|format)$/,
};
/** What they load is not followed, and listed. */
export const TEST_MODULES: RegExp =
  /^(?:pytest|unittest|nose2|ruff|black|isort|mypy|flake8|py_compile|compileall)$/;

/** The word behind such an option is no data: a list of patterns, a configuration, code that is loaded. */
const LOADS: RegExp =
  /^--[\w-]*(?:program|from|config|file|plugin|parser|resolve|rule|format|require|import|load|project|pre|module|path|setup|reporter)[\w-]*$|^-[cfrLpP]$/;
const READS_LOAD: RegExp = /^--[\w-]*(?:program|from|file|pre)[\w-]*$/;
const FILTERS: RegExp = /^(?:[ef]?grep|rg|jq|yq|file)$/;

/** What runs a script of tests, or checks sources in a way that runs some of them; null for all others. */
export function testRunner({ name, rest }: Started): string | null {
  if (TESTS.has(name)) return name;
  const operands = rest.map(({ texts: [text = ''] }) => text);
  const first = operands.find((text) => !text.startsWith('-')) ?? '';
  if (TEST_WORDS[name]?.test(first) === true) return `${name} ${first}`;
  if (/^node(?:js)?$/.test(name) && operands.includes('--test')) return 'node --test';
  const module = operands[operands.indexOf('-m') + 1] ?? '';
  const isModule = /^python[\d.]*$/.test(name) && operands.includes('-m') && TEST_MODULES.test(module);
  return isModule ? module : null;
}

/** It reads a program, and does not run it: `bash -n x`, `node --check x`. */
export function onlyChecks({ name, rest }: Started): boolean {
  const [first = ''] = rest[0]?.texts ?? [];
  if (/^node(?:js)?$/.test(name)) {
    // It finds its tests by itself.
    const isBareTest =
      rest.some(({ start }) => start === '--test') && rest.every(({ start }) => start.startsWith('-'));
    return isBareTest || /^(?:--check|-c)$/.test(first);
  }
  return SHELLS.test(name) && first === '-n';
}

interface Started {
  readonly name: string;
  readonly rest: readonly ScriptWord[];
}

/** The program that a command is about; null if it may be more than one, or is not known. */
function programOf({ words }: ScriptCommand): Started | null {
  const { programs, isOpen } = startedPrograms(words);
  const own = programs.filter(({ name }) => !PASSES_ON.test(name) && !/^\d+[smh]?$/.test(name));
  const isFed = programs.some(({ name }) => FEEDS.test(name));
  const [program = null] = own;
  if (isOpen || isFed || program === null) return null;
  // What follows a program of tests or a check is named like a program by chance.
  return own.length === 1 || READS.has(program.name) || CHECKS.has(program.name) ? program : null;
}

function worksOnData(program: Started): boolean {
  const { name } = program;
  return READS.has(name) || CHECKS.has(name) || testRunner(program) !== null || onlyChecks(program);
}

/** What it reads from a pipe is no program for it. */
function takesData(program: Started): boolean {
  const { name, rest } = program;
  if (worksOnData(program)) return true;
  if (!RUNS_SCRIPTS.test(name) || scriptOf(name, rest).end !== 'known') return false;
  const texts = rest.flatMap((word) => word.texts);
  const isCode = (text: string, at: number): boolean =>
    isInline(name, texts[at - 1] ?? '') || (/awk$/.test(name) && !text.startsWith('-'));
  return !texts.some((text, at) => isCode(text, at) && evaluates(name, text));
}

export interface DataWords {
  /** The script itself. */
  readonly text: string;
  readonly words: ReadonlySet<ScriptWord>;
  /** Given as data to a program that runs something else. */
  readonly given: ReadonlySet<ScriptWord>;
  /** Code that runs nothing that it reads. */
  readonly codes: ReadonlySet<ScriptWord>;
  /** The same as `roughWords` gives them. */
  readonly names: ReadonlySet<string>;
  /** Nothing in the script runs anything: what redirects read is data too. */
  readonly isAll: boolean;
  /** What the script reads can come to run. */
  readonly carries: boolean;
  /** It does so as a file that the script writes and runs. */
  readonly runsCopies: boolean;
  readonly written: CopiedContent['written'];
  /** It reads, checks or formats what it is given. */
  isReader(program: Started): boolean;
}

/** Ways from what is read to what runs. */
const CARRIES = /\$\(|`|<\(|<</;
const WRITES = /(?<![<=&-])>{1,2}(?!\s*(?:&|\/dev\/null))/;
const PIPE = /(?<!\|)\|(?!\|)/;
const CARRIERS = /^(?:eval|source|\.|exec|trap|alias|export|declare|read|mapfile|readarray)$/;

interface DataGround {
  readonly root: string;
  /** What it prints decides about calls, so that files that it prints are no data. */
  readonly answers: boolean;
  /** Files that redirects write. */
  readonly outputs: readonly ScriptWord[];
  /** Nothing in the script is unclear. */
  readonly isWhole: boolean;
}

export function dataWords(
  text: string,
  commands: readonly ScriptCommand[],
  { root, answers, outputs, isWhole }: DataGround,
): DataWords {
  const programs = commands.map(programOf);
  const copied = copiedContent(text, { commands, outputs }, { root, onlyReads: worksOnData });
  const isPiped = PIPE.test(text);
  const isTaken = isPiped && !programs.every((one) => one !== null && passesOver(one));
  const carries = copied.isRun || copied.leaves || (isTaken && pipesInto(text));
  const isOnce = (one: string): boolean => text.split(one).length === 2;
  const named = commands
    .flatMap((one) => startedPrograms(one.words).programs.flatMap(namedOperands))
    .filter(({ texts: [one = ''] }) => !CARRIES.test(text) || isOnce(one));
  // What is printed runs only where a file is made of it, or a here-document: of a pipe nobody knows what comes out, which is said there.
  const printed =
    copied.isRun || copied.leaves || text.includes('<<')
      ? []
      : commands.flatMap((one) => startedPrograms(one.words).programs.flatMap(printedWords));
  const given = commands
    .flatMap(argumentData)
    .filter(({ texts: [one = ''] }) => !CARRIES.test(text) || isOnce(one));
  const codes = new Set(commands.flatMap(quietCode));
  const names = new Set([
    ...namesOf([...named, ...given], root),
    ...(isWhole ? assignedNames(text, root) : []),
    ...[...codes].flatMap(dataIn).filter(isOnce),
  ]);
  const none: DataWords = {
    ...{
      words: new Set([...named, ...printed]),
      given: new Set(given),
      codes,
      names,
      isAll: false,
      isReader: worksOnData,
    },
    ...{ text, carries, runsCopies: copied.isRun, written: copied.written },
  };
  if (commands.some(({ assignments }) => assignments.some(({ open }) => open !== null))) return none;
  const isAll =
    !copied.isRun &&
    !copied.leaves &&
    programs.every((one) => one !== null && (READS.has(one.name) || CHECKS.has(one.name)));
  const isSafe =
    !copied.isRun &&
    !CARRIES.test(text) &&
    !WRITES.test(text) &&
    !commands.some(({ words: [first] }) => CARRIERS.test(basename(first?.texts[0] ?? ''))) &&
    (!isPiped || programs.every((one) => one !== null && takesData(one)));
  if (!isAll && !isSafe) return none;
  const words = programs.flatMap((program) =>
    program === null || !worksOnData(program) || (answers && READS.has(program.name))
      ? []
      : operandsOf(program),
  );
  const all = [...named, ...printed, ...words];
  return {
    ...none,
    words: new Set(all),
    names: new Set([...names, ...namesOf(all, root)]),
    isAll: isAll && !answers,
  };
}

const ASSIGNED =
  /(?:^|[;\n{]|&&)[ \t]*([A-Za-z_]\w*)=("[^"`\\]*"|'[^']*'|[^\s;&|()<>"'`\\]+)[ \t]*(?=[;\n]|&&|$)/g;
/** They make variables known to programs, or to code that names them in other ways. */
const GIVES_VARIABLES =
  /\bset\s+[-+]\w*a|allexport|\$\{!|\beval\b|\b(?:export|declare|typeset|local|readonly)\b/;

/** Values of variables of the shell alone: they count where the script uses them, as what its words become. */
function assignedNames(text: string, root: string): string[] {
  if (GIVES_VARIABLES.test(text)) return [];
  return Array.from(text.matchAll(ASSIGNED)).flatMap(([, , quoted = '']) => {
    const value = quoted.replace(/^["']|["']$/g, '');
    return value !== '' && text.split(value).length === 2 ? [value, ...roughWords(value, root)] : [];
  });
}

function namesOf(words: readonly ScriptWord[], root: string): Set<string> {
  return new Set(words.flatMap(({ texts }) => texts.flatMap((one) => [one, ...roughWords(one, root)])));
}

const NAMES = /^(?:chmod|chown|mkdir|rm|rmdir|tee|touch|unlink)$/;
/** The first is what they lock or write. */
const NAMES_FIRST = /^(?:flock|sqlite3|zip)$/;
const HAS_VALUE = /^-(?:init|cmd|\w*T)/;

/** What a program makes, removes or locks, and neither reads nor runs. */
function namedOperands({ name, rest }: Started): readonly ScriptWord[] {
  const operands = rest.filter(({ texts: [text = ''], open }) => open === null && !/^-|^\d+$/.test(text));
  if (NAMES.test(name)) return operands;
  if (NAMES_FIRST.test(name) && !rest.some(({ start }) => HAS_VALUE.test(start))) return operands.slice(0, 1);
  const isPacked = name === 'tar' && /^-?[a-zA-Z]*c[a-zA-Z]*f$/.test(rest[0]?.texts[0] ?? '');
  return isPacked ? rest.slice(1, 2) : [];
}

function printedWords({ name, rest }: Started): readonly ScriptWord[] {
  return /^(?:echo|printf)$/.test(name) ? rest : [];
}

/** Whether a pipe leads to anything but a program that only reads. */
function pipesInto(text: string): boolean {
  const ends = Array.from(text.matchAll(/(?<!\|)\|(?!\|)&?\s*([\w.-]*)/g), ([, name = '']) => name);
  return !ends.every((name) => READS.has(name) || (isPlain(name) && !RUNS_SCRIPTS.test(name)));
}

/** What it reads from a pipe does not run. */
function passesOver(program: Started): boolean {
  return takesData(program) || (isPlain(program.name) && !RUNS_SCRIPTS.test(program.name));
}

function operandsOf({ name, rest }: Started): ScriptWord[] {
  const loads = READS.has(name) ? READS_LOAD : LOADS;
  const module = /^python/.test(name) ? rest.findIndex(({ texts: [text] }) => text === '-m') + 1 : -1;
  return rest.filter(({ texts: [text = ''], open }, at) => {
    const [before = ''] = rest[at - 1]?.texts ?? [];
    const isLoaded = loads.test(before) || (FILTERS.test(name) && /^-\w*[fL]$/.test(before));
    return open !== 'unknown' && !text.startsWith('-') && !isLoaded && at > module;
  });
}
