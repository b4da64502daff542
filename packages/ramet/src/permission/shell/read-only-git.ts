/**
 * Git commands that only look. Git runs programs that its configuration names, so options that set configuration,
 * and repositories other than the session's own, are not looked through.
 */
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { hasDangerousOption } from './option-check.ts';
import type { ArgumentCheck } from './read-only-programs.ts';
import { mayBeOption, type ShellWord } from './shell-word.ts';

const GLOBAL_FLAGS =
  /^(?:--no-pager|-P|--no-optional-locks|--literal-pathspecs|--no-replace-objects|--bare)$/;
const HARMLESS_SETTING = /^(?:color\.[\w.]+|core\.quote[pP]ath)=/;

const OUTPUT = { names: ['output', 'output-directory', 'ext-diff'] };

const looks: ArgumentCheck = (words) => !hasDangerousOption(words, OUTPUT);
const only =
  (...first: string[]): ArgumentCheck =>
  (words) =>
    first.includes(words[0]?.value ?? '') && looks(words);
const flagsOnly =
  (pattern: RegExp): ArgumentCheck =>
  (words) =>
    words.every(({ value }) => value !== null && pattern.test(value));

const COMMANDS: Readonly<Record<string, ArgumentCheck>> = {
  status: looks,
  log: looks,
  diff: looks,
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
  grep: (words) =>
    !hasDangerousOption(words, {
      letters: 'O',
      valued: 'efABCm',
      names: ['open-files-in-pager', 'ext-grep'],
    }),
  branch: (words) =>
    words.length === 0 ||
    (/^(?:-a|-r|-v|-vv|-av|-avv|-l|--list|--all|--remotes|--show-current|--contains|--no-contains|--merged|--no-merged|--sort=.+|--format=.+)$/.test(
      words[0]?.value ?? '',
    ) &&
      words.every(
        (word) =>
          !mayBeOption(word) ||
          /^(?:-[arvl]+|--(?:list|all|remotes|show-current|contains|no-contains|merged|no-merged|sort=.+|format=.+|points-at))$/.test(
            word.value ?? '',
          ),
      ) &&
      (words.every(mayBeOption) ||
        words.some(({ value }) =>
          /^(?:-l|--list|--contains|--no-contains|--merged|--no-merged)$/.test(value ?? ''),
        ))),
  tag: (words) =>
    words.length === 0 ||
    (/^(?:-l|--list|-n\d*|--sort=.+|--contains|--points-at|--merged)$/.test(words[0]?.value ?? '') &&
      words.every(
        (word) =>
          !mayBeOption(word) ||
          /^(?:-l|-n\d*|--(?:list|sort=.+|contains|points-at|merged|format=.+))$/.test(word.value ?? ''),
      )),
  remote: (words) =>
    words.length === 0 ||
    (words.length === 1 && /^(?:-v|--verbose)$/.test(words[0]?.value ?? '')) ||
    (words[0]?.value === 'get-url' && words.length === 2),
  stash: only('list', 'show'),
  worktree: only('list'),
  notes: only('list', 'show'),
  reflog: (words) =>
    words.length === 0 ||
    words[0]?.value === 'show' ||
    (words[0] !== undefined && mayBeOption(words[0]) && looks(words)),
  config: (words) =>
    /^(?:--get|--get-all|--get-regexp|--list|-l|get|list)$/.test(words[0]?.value ?? '') &&
    words
      .slice(1)
      .every(
        (word) => !mayBeOption(word) || /^--(?:show-origin|show-scope|name-only)$/.test(word.value ?? ''),
      ),
  'symbolic-ref': (words) =>
    words.filter((word) => !mayBeOption(word)).length === 1 &&
    flagsOnly(/^(?:-q|--short|--quiet|[^-].*)$/)(words),
};

/** `directories` is where git may run, `cwd` the session's own directory. */
export function gitReadsOnly(
  words: readonly ShellWord[],
  { directories, cwd }: { directories: readonly string[] | null; cwd: string },
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
      if (!GLOBAL_FLAGS.test(value) || value === '--bare') return false;
    } else {
      const check = Object.hasOwn(COMMANDS, value) ? COMMANDS[value] : undefined;
      return check !== undefined && isOwnRepository(places, cwd) && check(words.slice(index + 1));
    }
  }
  return false;
}

/** A directory below with a repository of its own, or with files that look like one, brings its configuration. */
function isOwnRepository(places: readonly string[] | null, cwd: string): boolean {
  return places?.every((place) => belongsTo(place, cwd)) ?? false;
}

function belongsTo(place: string, cwd: string): boolean {
  for (let current = place; current !== cwd; current = dirname(current)) {
    if (relative(cwd, current).startsWith('..') || current === dirname(current)) return false;
    if (existsSync(join(current, '.git')) || existsSync(join(current, 'HEAD'))) return false;
  }
  return true;
}
