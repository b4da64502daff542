/**
 * Programs that print and do nothing else, with every option that the strict judge knows of them. An option that is not
 * here is a question: it may be new, or the beginning of a longer name that writes or runs something.
 */
import { mayBeOption, type ShellWord } from '../reading/shell-word.ts';

interface KnownOptions {
  /** Letters without a value; digits always are. */
  readonly flags: string;
  /** Letters that take the rest of the word, or the next one. */
  readonly valued: string;
  /** Long names, written out. */
  readonly names: ReadonlySet<string>;
}

type Row = readonly [flags: string, valued?: string, names?: string];

const SUMS: Row = [
  'bctzw',
  '',
  'binary check tag text zero ignore-missing quiet status strict warn length algorithm',
];
const GREP: Row = [
  'EFGPivwxyzsbnHhoqaIrRLlcTZUV',
  'efmdDABC',
  'extended-regexp fixed-strings basic-regexp perl-regexp regexp file ignore-case no-ignore-case word-regexp line-regexp ' +
    'null-data no-messages invert-match max-count byte-offset line-number line-buffered with-filename no-filename label ' +
    'only-matching quiet silent binary-files text directories devices recursive dereference-recursive include exclude ' +
    'exclude-from exclude-dir files-without-match files-with-matches count initial-tab null before-context after-context ' +
    'context group-separator no-group-separator color colour binary',
];
const LS: Row = [
  'aAbBcCdDfFgGhHiklLmnNopqQrRsStuUvxXZ@eOW',
  'ITw',
  'all almost-all author escape block-size ignore-backups color directory dired classify file-type format full-time ' +
    'group-directories-first no-group human-readable si dereference-command-line dereference-command-line-symlink-to-dir ' +
    'hide hyperlink indicator-style inode ignore kibibytes dereference numeric-uid-gid literal hide-control-chars ' +
    'show-control-chars quote-name quoting-style reverse recursive size sort time time-style tabsize width context zero',
];

/** None of their options writes, runs or fetches anything, so a word that is known only later may be one of them. */
const OPEN: Readonly<Record<string, Row>> = {
  arch: [''],
  basename: ['az', 's', 'multiple suffix zero'],
  bc: ['hilqswv', '', 'interactive mathlib quiet standard warn'],
  bzcat: ['dkftcqvsL', '', 'decompress keep force test stdout quiet verbose small'],
  cal: ['AbBdhHjJmMnNopsSwyY', ''],
  cat: [
    'AbeEnstTuv',
    '',
    'show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting',
  ],
  cksum: ['czw', 'al', `${SUMS[2]} untagged debug raw base64`],
  cmp: ['bls', 'in', 'print-bytes ignore-initial verbose bytes quiet silent'],
  column: [
    'tdeLJxn',
    'NOlEHRTWripcosS',
    'table table-name table-order table-columns table-columns-limit table-noextreme table-noheadings table-header-repeat ' +
      'table-hide table-right table-truncate table-wrap keep-empty-lines json tree tree-id tree-parent output-width ' +
      'output-separator separator fillrows columns',
  ],
  comm: ['z', '', 'check-order nocheck-order output-delimiter total zero-terminated'],
  cut: [
    'nsz',
    'bcdf',
    'bytes characters delimiter fields complement only-delimited output-delimiter zero-terminated',
  ],
  // Without -l and --paginate, which run another program.
  diff: [
    'qsenyptTrNPiEZbwBadcu',
    'WFxXSIDUCL',
    'normal brief report-identical-files context unified ed rcs side-by-side width left-column suppress-common-lines ' +
      'show-c-function show-function-line label expand-tabs initial-tab tabsize suppress-blank-empty recursive ' +
      'no-dereference new-file unidirectional-new-file ignore-file-name-case no-ignore-file-name-case exclude exclude-from ' +
      'starting-file from-file to-file ignore-case ignore-tab-expansion ignore-trailing-space ignore-space-change ' +
      'ignore-all-space ignore-blank-lines ignore-matching-lines text strip-trailing-cr ifdef line-format old-line-format ' +
      'new-line-format unchanged-line-format minimal horizon-lines speed-large-files color palette',
  ],
  dir: LS,
  dirname: ['z', '', 'zero'],
  du: [
    'abcDHhkLlmPSsx',
    'BdtXI',
    'null all apparent-size block-size bytes total dereference-args max-depth summarize files0-from human-readable inodes ' +
      'dereference count-links no-dereference separate-dirs si threshold time time-style exclude-from exclude one-file-system',
  ],
  egrep: GREP,
  expand: ['i', 't', 'initial tabs'],
  fgrep: GREP,
  fmt: ['cstu', 'pwg', 'crown-margin prefix split-only tagged-paragraph uniform-spacing width goal'],
  fold: ['bs', 'w', 'bytes spaces width'],
  getconf: ['a'],
  grep: GREP,
  head: ['qvz', 'cn', 'bytes lines quiet silent verbose zero-terminated'],
  hexdump: [
    'bcCdoxv',
    'efnsL',
    'one-byte-octal one-byte-char canonical two-bytes-decimal two-bytes-octal two-bytes-hex color format format-file ' +
      'length skip no-squeezing',
  ],
  join: ['iz', 'aejotv', 'ignore-case check-order nocheck-order header zero-terminated'],
  locale: ['amckv', '', 'all-locales charmaps category-name keyword-name verbose'],
  ls: LS,
  md5sum: SUMS,
  namei: ['xmolnv', '', 'mountpoints modes owners long nosymlinks vertical'],
  nl: [
    'p',
    'bdfhilnsvw',
    'body-numbering section-delimiter footer-numbering header-numbering line-increment join-blank-lines number-format ' +
      'no-renumber number-separator starting-line-number number-width',
  ],
  nproc: ['', '', 'all ignore'],
  numfmt: [
    'z',
    'd',
    'debug delimiter field format from from-unit grouping header invalid padding round suffix to to-unit zero-terminated',
  ],
  od: [
    'vabcdfilosxSw',
    'AjNt',
    'address-radix endian skip-bytes read-bytes strings format output-duplicates width traditional',
  ],
  paste: ['sz', 'd', 'delimiters serial zero-terminated'],
  pr: [
    'acdFfJmrtTv',
    'DhlNowW',
    'columns across show-control-chars double-space date-format form-feed header join-lines length merge ' +
      'first-line-number indent no-file-warnings omit-header omit-pagination show-nonprinting width page-width',
  ],
  printenv: ['', '', 'null'],
  pwd: ['LP', '', 'logical physical'],
  readlink: [
    'femnqsvz',
    '',
    'canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero',
  ],
  realpath: [
    'emLPqsz',
    '',
    'canonicalize-existing canonicalize-missing logical physical quiet relative-to relative-base strip no-symlinks zero',
  ],
  rev: ['', '', 'zero'],
  sha1sum: SUMS,
  sha224sum: SUMS,
  sha256sum: SUMS,
  sha384sum: SUMS,
  sha512sum: SUMS,
  b2sum: [SUMS[0], 'l', SUMS[2] ?? ''],
  stat: ['Lftnqrsx', 'c', 'dereference file-system cached format printf terse'],
  sum: ['rs', '', 'sysv'],
  tac: ['br', 's', 'before regex separator'],
  tail: [
    'fFqrvz',
    'cns',
    'bytes follow lines max-unchanged-stats pid quiet silent retry sleep-interval verbose zero-terminated',
  ],
  tr: ['cCdst', '', 'complement delete squeeze-repeats truncate-set1'],
  tsort: [''],
  tty: ['s', '', 'silent quiet'],
  uname: [
    'asnrvmpio',
    '',
    'all kernel-name nodename kernel-release kernel-version machine processor hardware-platform operating-system',
  ],
  unexpand: ['a', 't', 'all first-only tabs'],
  vdir: LS,
  wc: ['cmlLw', '', 'bytes chars lines files0-from max-line-length words total'],
  whereis: ['bmsful', 'BMS'],
  which: ['as', '', 'all'],
  whoami: [''],
  xzcat: ['kfcdtqv', '', 'decompress test keep force stdout quiet verbose'],
  zcat: ['cdfklqrtv', 'S', 'stdout decompress force keep list quiet recursive suffix test verbose'],
};

/** Another option of theirs writes a file, loads a plug-in or runs a program; `@name` would be a file full of options. */
const CLOSED: Readonly<Record<string, Row>> = {
  diff3: [
    'AeExXimaT',
    'L',
    'show-all ed show-overlap easy-only overlap-only merge text strip-trailing-cr initial-tab label',
  ],
  nm: [
    'aABCDgnopPrSsuvjU',
    'ft',
    'debug-syms print-file-name demangle no-demangle dynamic format extern-only just-symbols numeric-sort no-sort ' +
      'portability reverse-sort print-size print-armap size-sort special-syms synthetic radix undefined-only defined-only no-weak',
  ],
  size: ['ABGdoxtf', '', 'format radix common totals'],
  strings: [
    'adfwo',
    'ntes',
    'all data print-file-name bytes radix include-all-whitespace encoding output-separator',
  ],
  yq: ['reMNPCjn', 'op', 'raw-output exit-status no-colors no-doc prettyPrint colors null-input'],
  zstdcat: ['cdfqv', '', 'stdout decompress force quiet verbose'],
};

/** They take any word for what it says. */
const WORDS_ONLY: ReadonlySet<string> = new Set(
  'cd echo expr factor false jq seq sleep true : exit return break continue shift'.split(' '),
);

/** With any option it prints, as far as the wall reaches. */
export function isPrinter(name: string): boolean {
  return WORDS_ONLY.has(name) || rowOf(OPEN, name) !== undefined || rowOf(CLOSED, name) !== undefined;
}

export function hasOnlyHarmlessOptions(name: string, words: readonly ShellWord[]): boolean {
  if (WORDS_ONLY.has(name)) return true;
  const open = rowOf(OPEN, name);
  const row = open ?? rowOf(CLOSED, name);
  if (row === undefined) return false;
  if (words.length === 1 && /^--(?:help|version)$/.test(words[0]?.value ?? '')) return true;
  return areKnown(words, knownFrom(row), open !== undefined);
}

function rowOf(rows: Readonly<Record<string, Row>>, name: string): Row | undefined {
  return Object.hasOwn(rows, name) ? rows[name] : undefined;
}

function knownFrom([flags, valued = '', names = '']: Row): KnownOptions {
  return { flags, valued, names: new Set(names.split(' ')) };
}

function areKnown(words: readonly ShellWord[], known: KnownOptions, isOpen: boolean): boolean {
  for (let index = 0; index < words.length; index++) {
    const word = words[index];
    if (word === undefined) continue;
    if (!isOpen && word.start.startsWith('@')) return false;
    if (!mayBeOption(word)) continue;
    if (word.value === null) {
      if (isOpen && !word.start.startsWith('-')) continue;
      if (word.splits || !isKnownStart(word.start, known)) return false;
      continue;
    }
    // After `--name` it may be its value, so what follows is still looked at.
    if (word.value === '--' && !/^--[^=]+$/.test(words[index - 1]?.value ?? ''))
      return isOpen || words.slice(index + 1).every(({ start }) => !start.startsWith('@'));
    const reading = word.value === '--' ? 'known' : readOption(word.value, known);
    if (reading === 'unknown') return false;
    // In doubt the next word is no value but an option.
    if (reading === 'takes next' && isOpen) index++;
  }
  return true;
}

function readOption(
  word: string,
  { flags, valued, names }: KnownOptions,
): 'known' | 'unknown' | 'takes next' {
  if (word.startsWith('--')) return names.has(word.slice(2).split('=')[0] ?? '') ? 'known' : 'unknown';
  for (let at = 1; at < word.length; at++) {
    const letter = word[at] ?? '';
    if (valued.includes(letter)) return at === word.length - 1 ? 'takes next' : 'known';
    if (!flags.includes(letter) && !/\d/.test(letter)) return 'unknown';
  }
  return 'known';
}

/** An option whose end is open, such as `--color=$x` or `-n$x`. */
function isKnownStart(start: string, { valued, names }: KnownOptions): boolean {
  if (start.startsWith('--')) return start.includes('=') && names.has(start.slice(2).split('=')[0] ?? '');
  return start[1] !== undefined && valued.includes(start[1]);
}
