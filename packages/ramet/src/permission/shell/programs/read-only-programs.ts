/**
 * Programs that only read, with what must be watched in their arguments. A program is on this list when every option
 * it has was looked up; one that is missing costs a question, one that is here by mistake costs more.
 *
 * Two judges share it. The strict one stands alone: it knows programs that read no configuration of the project, and
 * takes every word that is not written out for an option. Behind the generous one there is a sandbox.
 */

import { mayBeOption, type ShellWord } from '../reading/shell-word.ts';
import { hasOnlyHarmlessOptions, isPrinter } from './harmless-options.ts';
import { hostProgramLooks } from './host-programs.ts';
import { type DangerousOptions, hasDangerousOption } from './option-check.ts';
import {
  type ArgumentCheck,
  atMostOneOperand,
  awkReads,
  decompresses,
  everyWord,
  findsOnly,
  knownOptions,
  listsArchive,
  pages,
  printsOnly,
  sedReads,
  showsDate,
  showsManual,
  testsOnly,
} from './read-only-checks.ts';

/** `walled`: what passes runs where it can write nothing and reach nobody. */
export type JudgeKind = 'strict' | 'walled';

/** They print, but for configuration of the project that they read, or programs that they start. */
const HARMLESS_WALLED = 'cloc exa eza lsd objdump readelf scc tokei xzgrep zgrep bzgrep';

const WATCHED: Readonly<Record<string, DangerousOptions>> = {
  base64: { letters: 'o', valued: 'w', names: ['output'] },
  base32: { valued: 'w' },
  fd: { letters: 'xX', valued: 'edEtScjoC', names: ['exec', 'exec-batch'] },
  file: {
    letters: 'CzZSp',
    valued: 'mfFPe',
    names: ['compile', 'uncompress', 'uncompress-noreport', 'no-sandbox', 'preserve-date'],
  },
  iconv: { letters: 'o', valued: 'ft', names: ['output'] },
  rg: { letters: 'z', valued: 'ABCEefgjMmrtTd', names: ['pre', 'pre-glob', 'hostname-bin', 'search-zip'] },
  shuf: { letters: 'o', valued: 'in', names: ['output'] },
  sort: { letters: 'o', valued: 'kStT', names: ['output', 'compress-program', 'files0-from'] },
};

/** Nothing of the directory that they are started in has a say in what these print. */
const VERSIONED =
  'node java javac python python3 ruby perl gcc g++ clang make cmake git bash zsh curl wget jq rg';
/** These may look at files of the project, write notes or ask for news before they do. */
const VERSIONED_WALLED =
  'npm npx pnpm bun deno tsc pip pip3 gem php java javac go cargo rustc rustup docker kubectl gh sqlite3 psql mysql ' +
  'dotnet vitest eslint prettier biome jest';

const TREE_OPTION =
  /^(?:-[adlfxQpsughDFqNinrtcUvAXJSC]*(?:L\d*|[PI])?|--(?:gitignore|ignore-case|matchdirs|metafirst|prune|noreport|dirsfirst|filesfirst|filelimit|charset|timefmt|sort|du|si|inodes|device)(?:=.*)?)$/;

/** `@name` would be a file full of options. */
function withoutResponseFiles(options: RegExp): ArgumentCheck {
  return (words) => knownOptions(options)(words) && words.every(({ start }) => !start.startsWith('@'));
}

const CHECKS: Readonly<Record<string, ArgumentCheck>> = {
  // `jobs -x` runs a command, and `wait -p` evaluates the name it is given.
  jobs: everyWord(/^(?:-[lnprs]+|%?\d+)$/),
  wait: (words) =>
    words.every(({ value, source }) => /^(?:-[nf]+|%?\d+)$/.test(value ?? '') || /^"?\$!"?$/.test(source)),
  printf: printsOnly,
  test: testsOnly,
  '[': testsOnly,
  read: everyWord(/^(?:-[rs]+|-[dpntu]|-?\d+|,|:|[A-Za-z_]\w*|)$/),
  unset: everyWord(/^[A-Za-z_]\w*$/),
  set: everyWord(/^(?:[-+][eux]+o?|[-+]o|pipefail|errexit|nounset|xtrace)$/),
  shopt: everyWord(/^(?:-[su]|nullglob|globstar|dotglob|extglob)$/),
  type: (words) => words.every(({ value }) => value !== null),
  hostname: everyWord(/^-[fisIdA]$/),
  ulimit: everyWord(/^-a$/),
  date: showsDate,
  getent: ([database, ...rest]) =>
    /^(?:passwd|group|services|protocols)$/.test(database?.value ?? '') && everyWord(/^[\w.-]+$/)(rest),
  uniq: (words) => atMostOneOperand(words, 'fswN'),
  // Its options are words and not letters: `-ps` takes no value, `-s` does.
  xxd: (words) =>
    knownOptions(/^-(?:[abeEipru]|[lscgo](?:0x)?[\da-fA-F]*)$/)(words) && atMostOneOperand(words, 'lscgo'),
  sed: sedReads,
  awk: awkReads,
  gawk: awkReads,
  mawk: awkReads,
  tar: listsArchive,
  gzip: decompresses,
  gunzip: decompresses,
  bzip2: decompresses,
  bunzip2: decompresses,
  xz: decompresses,
  zstd: decompresses,
  man: showsManual,
  less: pages,
  more: pages,
  unzip: (words) =>
    /^-(?:l|v|Z1|Z|p|lq)$/.test(words[0]?.value ?? '') && words.slice(1).every((word) => !mayBeOption(word)),
  zipinfo: knownOptions(/^-[12smlvht]+$/),
  command: (words) => /^-[vV]$/.test(words[0]?.value ?? ''),
  // A letter's value is the next word, whatever else is in its own.
  tree: knownOptions(TREE_OPTION),
  // An address would be fetched, and so would what a document is to be checked against.
  xmllint: (words) =>
    knownOptions(/^--(?:format|noout|xpath|nonet)$/)(words) &&
    words.every(({ start }) => !start.includes('://')),
  // `org.openssl.engine:…` as a file loads a library.
  openssl: ([name, ...rest]) =>
    rest.every(({ start }) => !start.includes(':')) &&
    /^(?:version|x509|dgst|rsa|pkey|req|asn1parse)$/.test(name?.value ?? '') &&
    knownOptions(
      /^-(?:in|noout|text|subject|issuer|dates|enddate|fingerprint|sha\d+|md5|modulus|serial|a|pubin)$/,
    )(rest),
  readelf: withoutResponseFiles(/^-[hlSsdnrWaV]+$/),
  // With sources it would look for them in the network.
  objdump: withoutResponseFiles(/^-[dhtxpTrfC]+$/),
  pip: showsPackage,
  pip3: showsPackage,
};

/** Any other option may say where npm keeps its logs or finds its configuration. */
const NPM_OPTION =
  /^(?:--(?:all|json|long|parseable|global|link|production|dev|depth|depth=\d+|(?:omit|include)=\w+)|-[agl]+)$/;

const CHECKS_WALLED: Readonly<Record<string, ArgumentCheck>> = {
  '[': everyWordBut(/^-[vR]$/),
  test: everyWordBut(/^-[vR]$/),
  npm: (words) =>
    (/^(?:ls|list|ll|la|root|prefix|explain|why|query)$/.test(words[0]?.value ?? '') ||
      /^(?:config (?:get|list|ls)|pkg get)\b/.test(firstTwo(words)) ||
      (words.length === 1 && words[0]?.value === 'run')) &&
    knownOptions(NPM_OPTION)(words),
  pnpm: ([name, ...rest]) =>
    /^(?:ls|list|why|root)$/.test(name?.value ?? '') && knownOptions(NPM_OPTION)(rest),
  pip: packages,
  pip3: packages,
  gem: ([name, ...rest]) => name?.value === 'list' && knownOptions(/^--local$/)(rest),
  go: ([name, ...rest]) =>
    /^(?:version|env|doc|list)$/.test(name?.value ?? '') &&
    knownOptions(/^-(?:m|json|f|deps|test|find|e|all|short)$/)(rest),
  rustup: (words) => /^(?:show|toolchain list|target list)/.test(firstTwo(words)),
  kubectl: (words) =>
    /^config (?:view|current-context|get-contexts|get-clusters)$/.test(firstTwo(words)) ||
    /^version --client/.test(firstTwo(words)),
  bat: knownOptions(
    /^-(?:[pnA]+|-(?:plain|number|style=\w+|color=\w+|paging=never|language=\w+|line-range=[\d:]+))$/,
  ),
};

function everyWordBut(pattern: RegExp): ArgumentCheck {
  return (words) => words.every(({ value }) => !pattern.test(value ?? ''));
}

function packages([name, ...rest]: readonly ShellWord[]): boolean {
  return /^(?:list|show|freeze)$/.test(name?.value ?? '') && rest.every((word) => !mayBeOption(word));
}

/** A list of all packages would ask whether there is a newer pip. */
function showsPackage([name, ...rest]: readonly ShellWord[]): boolean {
  return name?.value === 'show' && rest.every((word) => !mayBeOption(word));
}

function firstTwo(words: readonly ShellWord[]): string {
  return words
    .slice(0, 2)
    .map(({ value }) => value ?? '')
    .join(' ');
}

const setOf = (names: string): ReadonlySet<string> => new Set(names.split(' '));
const harmlessWalled = setOf(HARMLESS_WALLED);
const versioned = setOf(VERSIONED);
const versionedWalled = setOf(VERSIONED_WALLED);
const VERSION_WALLED = /^(?:--version|-V|--help|-version)$/;

/** No option but those that choose how it is read, then a text in quotes with a variable in it. */
const OPEN_SCRIPT = /^(?:-(?:[nErsz]+|F ?\S+|v \S+) )*"[^"]*\$[^"]*"(?: [^-\s]\S*)*$/;

/** `name` without a path: what is started by path may be anything. */
export function programReadsOnly(name: string, words: readonly ShellWord[], kind: JudgeKind): boolean {
  if (hasOnlyHarmlessOptions(name, words) || hostProgramLooks(name, words)) return true;
  if (words.length === 1 && showsVersion(name, words[0]?.value ?? '')) return true;
  if (kind === 'walled' && readsOnlyWalled(name, words)) return true;
  if (name === 'find') return findsOnly(words, (inner, rest) => programReadsOnly(inner, rest, kind));
  const watched = Object.hasOwn(WATCHED, name) ? WATCHED[name] : undefined;
  if (watched !== undefined) return !hasDangerousOption(words, watched);
  const check = Object.hasOwn(CHECKS, name) ? CHECKS[name] : undefined;
  return check?.(words) ?? false;
}

function showsVersion(name: string, option: string): boolean {
  if (option === '--version') return versioned.has(name);
  return /^(?:node -v|python3? -V|javac? -version|openssl version|git version)$/.test(`${name} ${option}`);
}

function readsOnlyWalled(name: string, words: readonly ShellWord[]): boolean {
  if (harmlessWalled.has(name) || isPrinter(name)) return true;
  const version = words.length === 1 && VERSION_WALLED.test(words[0]?.value ?? '');
  if (version && (versioned.has(name) || versionedWalled.has(name))) return true;
  if (words.length === 1 && words[0]?.value === '-v' && name === 'npm') return true;
  // A script that is put together only then: `sed -n "${i}p"`.
  if (/^(?:sed|[gm]?awk)$/.test(name)) return OPEN_SCRIPT.test(words.map(({ source }) => source).join(' '));
  return Object.hasOwn(CHECKS_WALLED, name) && CHECKS_WALLED[name]?.(words) === true;
}
