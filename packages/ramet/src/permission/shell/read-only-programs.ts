/**
 * Programs that only read, with what must be watched in their arguments. A program is on this list when every option
 * it has was looked up; one that is missing costs a question, one that is here by mistake costs more.
 */
import { awkOnlyPrints } from './awk-program.ts';
import { type DangerousOptions, hasDangerousOption, operandsOf } from './option-check.ts';
import { sedOnlyPrints } from './sed-script.ts';
import { mayBeOption, type ShellWord } from './shell-word.ts';

/** Decides over the words after the program's name. */
export type ArgumentCheck = (words: readonly ShellWord[]) => boolean;

/** No argument of theirs writes a file, runs a program or reaches the network. */
const HARMLESS =
  'arch basename cat cd cksum cmp column comm cut df diff dirname du echo egrep expand false fgrep fold fmt free ' +
  'grep groups head id join jq ls md5sum nl nproc od paste pgrep pidof printenv ps pwd readlink realpath rev seq ' +
  'sha1sum sha224sum sha256sum sha384sum sha512sum b2sum sleep stat strings sum tac tail tr true tty uname unexpand ' +
  'uptime wc whereis which whoami zcat hexdump : exit return break continue shift';

const WATCHED: Readonly<Record<string, DangerousOptions>> = {
  base64: { letters: 'o', valued: 'w', names: ['output'] },
  fd: { letters: 'xX', valued: 'edEtScjoC', names: ['exec', 'exec-batch'] },
  file: { letters: 'C', valued: 'mfFPe', names: ['compile'] },
  rg: { letters: 'z', valued: 'ABCEefgjMmrtTd', names: ['pre', 'pre-glob', 'hostname-bin', 'search-zip'] },
  sort: { letters: 'o', valued: 'kStT', names: ['output', 'compress-program', 'files0-from'] },
  tree: { letters: 'oR', valued: 'LPIHT', names: ['output'] },
};

const VERSION = /^(?:--version|-v|-V|--help|-version|version)$/;
const VERSIONED =
  'node npm npx yarn pnpm bun deno tsc python python3 pip pip3 ruby gem php java javac go cargo rustc rustup gcc g++ clang ' +
  'make cmake docker kubectl terraform git gh bash zsh curl wget jq rg sqlite3 psql mysql dotnet mvn gradle perl vitest ' +
  'eslint prettier biome jest';

const CHECKS: Readonly<Record<string, ArgumentCheck>> = {
  // `jobs -x` runs a command, and `wait -p` evaluates the name it is given.
  jobs: (words) => words.every(({ value }) => /^(?:-[lnprs]+|%?\d+)$/.test(value ?? '')),
  wait: (words) =>
    words.every(({ value, source }) => /^(?:-[nf]+|%?\d+)$/.test(value ?? '') || /^"?\$!"?$/.test(source)),
  printf: ([format]) => format !== undefined && !mayBeOption(format),
  test: testsOnly,
  '[': testsOnly,
  read: (words) =>
    words.every(({ value }) => value !== null && /^(?:-[rsa]+|-[dpntu]|-?\d+|,|:|[a-z_]\w*|)$/.test(value)),
  set: (words) =>
    words.every(
      ({ value }) => value !== null && /^(?:[-+][eux]+o?|[-+]o|pipefail|errexit|nounset|xtrace)$/.test(value),
    ),
  shopt: (words) =>
    words.every(({ value }) => value !== null && /^(?:-[su]|nullglob|globstar|dotglob|extglob)$/.test(value)),
  type: (words) => words.every(({ value }) => value !== null),
  hostname: (words) => words.every(({ value }) => /^-[fisIdA]$/.test(value ?? '')),
  date: isDateShown,
  uniq: (words) => atMostOneOperand(words, 'fswN'),
  // Its options are words and not letters: `-ps` takes no value, `-s` does.
  xxd: (words) =>
    words.every((word) => !mayBeOption(word) || isXxdOption(word)) && atMostOneOperand(words, 'lscgo'),
  find: findsOnly,
  sed: sedReads,
  awk: awkReads,
  gawk: awkReads,
  mawk: awkReads,
  tar: listsArchive,
  unzip: (words) =>
    /^-(?:l|v|Z1|Z|p|lq)$/.test(words[0]?.value ?? '') && words.slice(1).every((word) => !mayBeOption(word)),
  env: (words) => words.length === 0,
  command: (words) => /^-[vV]$/.test(words[0]?.value ?? ''),
  npm: (words) =>
    ['ls', 'list', 'root', 'prefix'].includes(words[0]?.value ?? '') &&
    words.every((word) => !mayBeOption(word) || NPM_OPTION.test(word.value ?? '')),
  pip: (words) =>
    ['list', 'show', 'freeze'].includes(words[0]?.value ?? '') && words.every((word) => !mayBeOption(word)),
  docker: (words) => ['ps', 'images', 'version', 'info'].includes(words[0]?.value ?? ''),
};

/** Any other may say where npm keeps its logs or finds its configuration. */
const NPM_OPTION =
  /^(?:--(?:all|json|long|parseable|global|link|production|dev|depth|depth=\d+|(?:omit|include)=\w+)|-[agl]+)$/;

function isXxdOption({ value }: ShellWord): boolean {
  return value !== null && /^-(?:[abeEipru]|[lscgo](?:0x)?[\da-fA-F]*)$/.test(value);
}

const harmless: ReadonlySet<string> = new Set(HARMLESS.split(' '));
const versioned: ReadonlySet<string> = new Set(VERSIONED.split(' '));

/** `name` without a path: what is started by path may be anything. */
export function programReadsOnly(name: string, words: readonly ShellWord[]): boolean {
  if (harmless.has(name)) return true;
  if (versioned.has(name) && words.length === 1 && VERSION.test(words[0]?.value ?? '')) return true;
  const watched = Object.hasOwn(WATCHED, name) ? WATCHED[name] : undefined;
  if (watched !== undefined) return !hasDangerousOption(words, watched);
  const check = Object.hasOwn(CHECKS, name) ? CHECKS[name] : undefined;
  return check?.(words) ?? false;
}

/** `-v` evaluates the subscript it is given, which can hold a command; an unquoted expansion can become a `-v`. */
function testsOnly(words: readonly ShellWord[]): boolean {
  return words.every(({ value, source, splits = false }) =>
    value === null ? source.startsWith('"') && !splits : !/^-[vR]$/.test(value),
  );
}

/** Without `+` an operand is the time to set. */
function isDateShown(words: readonly ShellWord[]): boolean {
  if (hasDangerousOption(words, { letters: 's', valued: 'dfr', names: ['set'] })) return false;
  return operandsOf(words, 'dfr')?.every(({ start }) => start.startsWith('+')) ?? false;
}

/** A second operand is the file they write. */
function atMostOneOperand(words: readonly ShellWord[], valued: string): boolean {
  const operands = operandsOf(words, valued);
  return (
    operands !== null &&
    operands.length <= 1 &&
    operands.every(({ value, source }) => value !== null || !/[*?[{]/.test(source))
  );
}

const FIND_ACTION = /^-(?:execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls)$/;

/** What `-exec` runs is looked at like any program, with `{}` as a word that nobody knows. */
function findsOnly(words: readonly ShellWord[]): boolean {
  const action = words.findIndex(({ value }) => value === '-exec');
  if (action === -1) return words.every((word) => !mayBeOption(word) || isFindTest(word));
  const length = words.slice(action).findIndex(({ value }) => value === ';' || value === '+');
  const [name, ...rest] = words.slice(action + 1, action + length).map(openPlaceholder);
  if (length === -1 || name?.value == null || !programReadsOnly(name.value, rest)) return false;
  return findsOnly([...words.slice(0, action), ...words.slice(action + length + 1)]);
}

function isFindTest({ value }: ShellWord): boolean {
  return value !== null && !FIND_ACTION.test(value);
}

function openPlaceholder(word: ShellWord): ShellWord {
  const at = word.value?.indexOf('{}') ?? -1;
  return at === -1 ? word : { ...word, value: null, start: word.start.slice(0, at) };
}

function sedReads(words: readonly ShellWord[]): boolean {
  const scripts: (string | null)[] = [];
  const operands: ShellWord[] = [];
  for (let index = 0; index < words.length; index++) {
    const { value } = words[index] ?? { value: null };
    const word = words[index];
    if (value !== null && /^(?:-[nEruz]*e|--expression)$/.test(value))
      scripts.push(words[++index]?.value ?? null);
    else if (
      value !== null &&
      /^-(?:[nEruz]+|-quiet|-silent|-regexp-extended|-null-data|-unbuffered)$/.test(value)
    )
      continue;
    else if (word !== undefined && mayBeOption(word)) return false;
    else if (word !== undefined) operands.push(word);
  }
  if (scripts.length === 0) scripts.push(operands[0]?.value ?? null);
  return scripts.every((script) => script !== null && sedOnlyPrints(script));
}

function awkReads(words: readonly ShellWord[]): boolean {
  for (let index = 0; index < words.length; index++) {
    const word = words[index];
    if (word === undefined) continue;
    if (word.splits) return false;
    if (word.value === '-F' || word.value === '-v') {
      if (words[++index]?.splits) return false;
    } else if (/^-[Fv]./.test(word.start)) continue;
    else if (mayBeOption(word)) return false;
    // What follows the program are files and assignments; an option there is read as a file.
    else return word.value !== null && awkOnlyPrints(word.value);
  }
  return false;
}

function listsArchive(words: readonly ShellWord[]): boolean {
  const [mode, archive, ...members] = words;
  if (!/^-?(?=[vzjJf]*t)[tvzjJ]+f$/.test(mode?.value ?? '')) return false;
  // A colon makes it the archive of another machine.
  if (archive?.value === null || archive?.value === undefined || archive.value.includes(':')) return false;
  return !mayBeOption(archive) && members.every((word) => !mayBeOption(word));
}
