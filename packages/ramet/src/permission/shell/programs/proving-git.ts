/**
 * What may be run of git where behaviour is proved and nothing is repaired: commands that look, those that write beside the
 * checkout, and `add` and `commit`. Whatever else there is moves HEAD or a branch, changes commits, or takes work out of files.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { openedPath } from '../../../system/landing-path.ts';
import { isOperand } from '../operand-words.ts';
import type { ShellCommand } from '../reading/shell-reading.ts';
import type { ShellWord } from '../reading/shell-word.ts';
import { subcommandReads } from './read-only-git.ts';

/** Whatever their options; a file that they write is judged as one that is named. */
const LOOKS = new Set(
  (
    'annotate archive blame bundle cat-file check-attr check-ignore check-mailmap check-ref-format cherry count-objects describe diff ' +
    'diff-files diff-index diff-tree for-each-ref format-patch fsck get-tar-commit-id grep hash-object help log ls-files ' +
    'ls-remote ls-tree merge-base merge-tree name-rev patch-id range-diff request-pull rev-list rev-parse shortlog show show-branch ' +
    'show-ref status stripspace var verify-commit verify-tag version whatchanged'
  ).split(' '),
);
const KEEPS = new Set(['add', 'stage', 'init', 'clone']);

type Check = (has: (pattern: RegExp) => boolean, operands: readonly string[]) => boolean;

/** It says what it would do. */
const isDry: Check = (has) => has(/^(?:--dry|-[a-z]*n)/);

/** Of long names git takes any beginning. */
const CHECKS: Readonly<Record<string, Check>> = {
  commit: (has) => !has(/^--am/) || has(/^--dry/),
  pull: (has) => has(/^--dry/),
  ...{ push: isDry, rm: isDry, mv: isDry, prune: isDry },
  apply: (has) => has(/^--(?:check|stat|numstat|summary)$/) && !has(/^(?:--app|--ind|--3|-[a-z]*3)/),
  'checkout-index': (has) => has(/^--prefix=[^.]/),
  clean: (has) => has(/^(?:-[dfiqx]*[nX][dfinqxX]*|--dry-run)$/),
  fetch: (has, operands) => !has(/^--(?:std|refm|update-h)|^-[a-z]*u/) && !operands.slice(1).some(isRefspec),
  remote: (_, [action = 'show']) => /^(?:show|get-url)$/.test(action),
  'update-index': (has, operands) =>
    has(/^--(?:really-)?refresh$/) && !has(/^-[^q-]|^--[^rq]/) && !operands[0],
  worktree: (has, [action = '']) =>
    /^(?:list|prune)$/.test(action) || (/^(?:add|remove)$/.test(action) && !has(/^(?:-[a-zA-Z]*[fB]|--f)/)),
};

function isRefspec(word: string): boolean {
  return word.includes(':');
}

/** `words` begin with the subcommand. */
export function isProofByGit(words: readonly ShellWord[]): boolean {
  const [subcommand, ...rest] = words;
  if (subcommand === undefined) return true;
  const name = subcommand.value ?? '';
  if (asksHow(rest)) return true;
  if (LOOKS.has(name) || KEEPS.has(name)) return true;
  const check = Object.hasOwn(CHECKS, name) ? CHECKS[name] : undefined;
  const options = withoutMessages(rest);
  const has = (pattern: RegExp): boolean => options.some(({ value, start }) => pattern.test(value ?? start));
  const operands = options.filter(isOperand).map(({ value, start }) => value ?? start);
  return check?.(has, operands) === true || (check === undefined && subcommandReads(words));
}

/** `git commit -h`, `git worktree add --help`. */
function asksHow(words: readonly ShellWord[]): boolean {
  return words.length <= 2 && /^(?:-h|--help)$/.test(words.at(-1)?.value ?? '');
}

/** `git commit -m "--amend"` says a word. */
function withoutMessages(words: readonly ShellWord[]): ShellWord[] {
  return words.filter((_, index) => !/^(?:-[a-z]*m|--message)$/.test(words[index - 1]?.value ?? ''));
}

/** Folders that the command makes repositories of their own. */
export function repositoriesMade(words: readonly ShellWord[], place: string): string[] {
  const [subcommand, ...rest] = words;
  const operands = rest.filter(isOperand).flatMap(({ value }) => value ?? []);
  const made = {
    init: operands.at(-1) ?? '.',
    clone: operands[1] ?? basename(operands[0] ?? '', '.git'),
  }[subcommand?.value ?? ''];
  const path = made === undefined ? null : openedPath(place, made);
  return path === null || existsSync(join(path, '.git')) ? [] : [path];
}

const MOST_SUBMODULES = 1_000;

/** `submodule update` where no submodule is there yet: then there is nothing in them to be moved. */
export function fillsSubmodules(words: readonly ShellWord[], top: string): boolean {
  const [subcommand, action] = words.map(({ value }) => value);
  if (subcommand !== 'submodule' || !/^(?:init|update)$/.test(action ?? '')) return false;
  const list = join(top, '.gitmodules');
  const listed = existsSync(list)
    ? readFileSync(list, 'utf8').matchAll(/^[ \t]*path[ \t]*=[ \t]*(.+?)[ \t]*$/gm)
    : [];
  return [...Iterator.from(listed).take(MOST_SUBMODULES)].every(
    ([, path = '']) => !existsSync(join(top, path, '.git')),
  );
}

/** Of acting commands that are git. */
export function isGit({ words: [program] }: ShellCommand): boolean {
  return basename(program?.value ?? '') === 'git';
}
