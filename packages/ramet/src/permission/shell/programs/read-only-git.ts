/**
 * Git commands that only look. Git runs programs that its configuration names, so options that set configuration,
 * and repositories other than the session's own, are not looked through.
 */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { landingPath, placeInside } from '../../../system/landing-path.ts';
import type { ShellCommand } from '../reading/shell-reading.ts';
import { mayBeOption, type ShellWord } from '../reading/shell-word.ts';
import { hasDangerousOption } from './option-check.ts';
import type { ArgumentCheck } from './read-only-checks.ts';
import { type JudgeKind, programReadsOnly } from './read-only-programs.ts';

const GLOBAL_FLAGS = /^(?:--no-pager|-P|--no-optional-locks|--literal-pathspecs|--no-replace-objects)$/;
const HARMLESS_SETTING = /^(?:color\.[\w.]+|core\.quote[pP]ath)=/;

/** The last four run a program that configuration names. */
const OUTPUT = {
  names: [
    ...['output', 'output-directory', 'ext-diff', 'textconv', 'filters', 'show-signature', 'lost-found'],
    // A submodule has a configuration of its own.
    'submodule',
  ],
  separatorFirst: true,
};

/** `%G?` in a format asks the program that checks signatures. */
const looks: ArgumentCheck = (words) =>
  !hasDangerousOption(words, OUTPUT) && !words.some(({ source }) => /%G/.test(source));
const only =
  (...first: string[]): ArgumentCheck =>
  (words) =>
    first.includes(words[0]?.value ?? '') && looks(words);

/** These make `branch` and `tag` list what matches; without one of them a name is one to create. */
const CHOICE = /^(?:-l|--list|--(?:no-)?(?:contains|merged)|--points-at)$/;

const lists =
  (options: RegExp): ArgumentCheck =>
  (words) => {
    const names = words.filter((word) => !mayBeOption(word));
    const chosen = words.some(({ value }) => CHOICE.test(value ?? ''));
    const known = words.every(
      (word) =>
        !mayBeOption(word) || (word.value !== null && (CHOICE.test(word.value) || options.test(word.value))),
    );
    return known && (names.length === 0 || chosen);
  };

const PLAIN_FLAG =
  /^(?:[^-].*|--(?:stat|shortstat|numstat|dirstat|summary|name-only|name-status|cached|staged|merge-base|check|raw|patch|no-patch|no-color|color|no-ext-diff|no-textconv|no-renames|minimal|histogram|patience|word-diff|color-words|exit-code|quiet|text|binary|ignore-\w+(?:-\w+)*|.*=.*)|-[pwbaszRBMCD]+|-U\d+)$/;

/** Of files outside the repository git compares without looking for `--` first: an option before it may take it. */
function separatesPlainly(words: readonly ShellWord[]): boolean {
  const at = words.findIndex(({ value }) => value === '--');
  const before = words[at - 1];
  if (at === -1 || before === undefined) return true;
  return before.value === null ? !mayBeOption(before) : PLAIN_FLAG.test(before.value);
}

/** Words one by one against patterns; further words match nothing, missing ones need no match. */
function matchesAll(words: readonly ShellWord[], patterns: readonly RegExp[]): boolean {
  return (
    words.length <= patterns.length &&
    words.every(({ value }, index) => patterns[index]?.test(value ?? '-') === true)
  );
}

const CONFIG_SCOPE =
  /^--(?:global|local|system|worktree|show-origin|show-scope|name-only|bool|int|path|includes|null)$/;
const CONFIG_READ = /^(?:--get|--get-all|--get-regexp|--list|-l|get|list)$/;

/** The word that says that it reads comes first, or behind flags that only choose what is read. */
function readsSetting(words: readonly ShellWord[]): boolean {
  const at = words.findIndex(({ value }) => !CONFIG_SCOPE.test(value ?? ''));
  const rest = words.slice(at + 1);
  return (
    CONFIG_READ.test(words[at]?.value ?? '') &&
    rest.every((word) => !mayBeOption(word) || CONFIG_SCOPE.test(word.value ?? ''))
  );
}

const COMMANDS: Readonly<Record<string, ArgumentCheck>> = {
  status: looks,
  log: looks,
  diff: (words) => looks(words) && separatesPlainly(words),
  show: looks,
  shortlog: looks,
  whatchanged: looks,
  blame: looks,
  annotate: looks,
  describe: looks,
  'rev-parse': looks,
  'rev-list': looks,
  'ls-files': looks,
  'ls-tree': looks,
  'cat-file': looks,
  'merge-base': looks,
  'name-rev': looks,
  'for-each-ref': looks,
  'show-ref': looks,
  'show-branch': looks,
  'check-ignore': looks,
  'check-attr': looks,
  'count-objects': looks,
  'diff-tree': looks,
  'diff-index': looks,
  'diff-files': looks,
  'range-diff': looks,
  cherry: looks,
  version: looks,
  fsck: looks,
  var: looks,
  'check-mailmap': looks,
  submodule: (words) => words.length === 0 || matchesAll(words, [/^(?:status|summary)$/]),
  bisect: only('log'),
  grep: (words) =>
    !hasDangerousOption(words, {
      letters: 'O',
      valued: 'efABCm',
      names: ['open-files-in-pager', 'ext-grep'],
    }),
  branch: lists(/^(?:-[arvl]+|--(?:list|all|remotes|verbose|show-current|sort=.+|format=.+))$/),
  tag: lists(/^(?:-l|-n\d*|--(?:list|sort=.+|format=.+))$/),
  remote: (words) => matchesAll(words, [/^(?:-v|--verbose)$/]) || matchesAll(words, [/^get-url$/, /^[^-]/]),
  stash: only('list', 'show'),
  worktree: only('list'),
  notes: only('list', 'show'),
  reflog: (words) =>
    words.length === 0 ||
    ((words[0]?.value === 'show' || words[0]?.value?.startsWith('-') === true) && looks(words)),
  config: (words) =>
    readsSetting(words) ||
    matchesAll(
      words.filter(({ value }) => !CONFIG_SCOPE.test(value ?? '')),
      [/^[\w-]+\.[\w./:-]+$/],
    ),
  'symbolic-ref': (words) =>
    matchesAll(words, [/^(?:-q|--short|--quiet)$/, /^[^-]/]) || matchesAll(words, [/^[^-]/]),
};

/** Of `words`, which begin with the subcommand. Options of git itself and where it runs are for the caller. */
export function subcommandReads([name, ...rest]: readonly ShellWord[]): boolean {
  const command = name?.value ?? '';
  return Object.hasOwn(COMMANDS, command) && COMMANDS[command]?.(rest) === true;
}

/** `directories` is where git may run, `cwd` the session's own directory. */
function gitReadsOnly(
  words: readonly ShellWord[],
  { directories, cwd, kind }: { directories: readonly string[] | null; cwd: string; kind: JudgeKind },
): boolean {
  let places = directories;
  for (let index = 0; index < words.length; index++) {
    const value = words[index]?.value ?? null;
    if (value === null) return false;
    if (value === '-C') {
      const to = words[++index]?.value ?? null;
      places = to === null ? null : (places?.map((place) => resolve(place, to)) ?? null);
    } else if (value === '-c') {
      if (!HARMLESS_SETTING.test(words[++index]?.value ?? '')) return false;
    } else if (value.startsWith('-')) {
      if (!GLOBAL_FLAGS.test(value)) return false;
    } else {
      const check = Object.hasOwn(COMMANDS, value) ? COMMANDS[value] : undefined;
      const here = kind === 'walled' || isOwnRepository(places, cwd);
      return check !== undefined && here && check(words.slice(index + 1));
    }
  }
  return false;
}

/** A directory below with a repository of its own, or with files that look like one, brings its configuration. */
function isOwnRepository(places: readonly string[] | null, cwd: string): boolean {
  return places?.every((place) => belongsTo(place, cwd)) ?? false;
}

function belongsTo(place: string, cwd: string): boolean {
  const [landing, root] = [landingPath(place), landingPath(cwd)];
  if (landing === null || root === null || placeInside(place, cwd) === null) return false;
  for (let current = landing; current !== root; current = dirname(current)) {
    if (existsSync(join(current, '.git')) || existsSync(join(current, 'HEAD'))) return false;
  }
  return true;
}

/** Does a command only read (TYPE-2)? The innermost command is asked about, after wrappers were looked through. */
export function readsOnly(
  { words, directories }: ShellCommand,
  cwd: string,
  kind: JudgeKind = 'strict',
): boolean {
  const [name, ...rest] = kind === 'walled' ? words.map(asOperand) : words;
  if (name === undefined) return true; // assignments alone: they are judged as variables
  if (name.value === null) return false;
  if (name.value === 'git' && gitReadsOnly(rest, { directories, cwd, kind })) return true;
  return programReadsOnly(name.value, rest, kind);
}

/** Where an option that nobody foresaw can write nothing, a word that is not known counts as what it mostly is. */
function asOperand(word: ShellWord): ShellWord {
  if (word.value !== null || !mayBeOption(word) || word.start.startsWith('-')) return word;
  return { source: word.source, value: null, start: './' };
}
