/** What git runs besides itself: hooks that are committed, settings that it is given, aliases. And what it brings. */
import { join } from 'node:path';
import type { ScriptWord } from '../../../permission/shell/script-words.ts';
import { checkoutOf, entriesOf, isDirectory } from '../repository-look.ts';
import { gitDirectories, LOOKS, readText } from './git-config.ts';

/** Folders that git runs programs from, by habit of those who commit hooks. */
const HOOK_FOLDERS: readonly string[] = ['.husky', '.githooks'];

/** Those of git itself. Another word is an alias, which runs what a configuration says. */
const COMMANDS: RegExp =
  /^(?:add|am|annotate|apply|archive|bisect|blame|branch|bundle|cat-file|check-\w[\w-]*|checkout|cherry|cherry-pick|clean|clone|commit|commit-tree|config|count-objects|describe|diff|diff-files|diff-index|diff-tree|fetch|for-each-ref|format-patch|fsck|gc|grep|hash-object|help|init|interpret-trailers|lfs|log|ls-files|ls-remote|ls-tree|maintenance|merge|merge-base|merge-tree|mv|name-rev|notes|pack-refs|prune|pull|push|range-diff|read-tree|rebase|reflog|remote|repack|replace|request-pull|reset|restore|rev-list|rev-parse|revert|rm|shortlog|show|show-branch|show-ref|sparse-checkout|stash|status|stripspace|submodule|switch|symbolic-ref|tag|update-index|update-ref|var|verify-commit|version|whatchanged|worktree|write-tree)$/;

/** They print content of commits, of the index or of a stash. */
const PRINTS: RegExp = /^(?:archive|blame|bundle|cat-file|diff|format-patch|grep|log|show|whatchanged)$/;
/** With these they print names and numbers. */
const NAMES_ONLY: RegExp =
  /^--(?:name-only|name-status|numstat|shortstat|stat|quiet|files-with-matches|count)$/;
/** They write it into files. */
const WRITES: RegExp =
  /^(?:checkout|checkout-index|cherry-pick|read-tree|reset|restore|revert|stash|switch|worktree)$/;

/** The first word that is no option. */
function commandIn(words: readonly string[]): string | undefined {
  return words.find((text, at) => !text.startsWith('-') && !/^-[cC]$/.test(words[at - 1] ?? ''));
}

/** The word that git looks up among its aliases; null for a command of git. */
function aliasIn(texts: readonly string[]): string | null {
  const command = commandIn(texts.slice(texts.indexOf('git') + 1));
  return command === undefined || COMMANDS.test(command) ? null : command;
}

/** Whether the words behind `git` make it write files of a commit. */
export function gitWrites(rest: readonly ScriptWord[]): boolean {
  return WRITES.test(commandIn(rest.flatMap(({ texts }) => texts)) ?? '');
}

export interface GitContent {
  readonly paths: readonly string[];
  /** They count whole. */
  readonly folders: readonly string[];
}

/** What decides which content git prints or writes: the index, and what each branch, tag and stash is. */
export function gitContent(rest: readonly ScriptWord[], starts: readonly string[]): GitContent {
  const texts = rest.flatMap((word) => word.texts);
  const command = commandIn(texts) ?? '';
  if (texts.some((text) => NAMES_ONLY.test(text))) return { paths: [], folders: [] };
  if (!PRINTS.test(command) && !WRITES.test(command)) return { paths: [], folders: [] };
  const places = starts.map(checkoutOf).map(gitDirectories);
  const isAny = rest.some(({ open }) => open === 'unknown') || texts.some((text) => ANY_REF.test(text));
  const refs = places.map((place) => refsIn(place, isAny));
  return {
    paths: [
      ...places.flatMap(({ own, shared }) => [
        ...['HEAD', 'index'].map((name) => join(own, name)),
        join(shared, 'packed-refs'),
      ]),
      ...refs.flatMap((one) => one.paths),
    ],
    folders: refs.flatMap((one) => one.folders),
  };
}

/** They can lead to what Ramet itself writes. */
const ANY_REF =
  /ramet|^-$|^:\/|\^\{\/|@\{|^--(?:all|branches|glob|reflog|walk-reflogs|alternate-refs|bisect)|^-g$/;

/** Without those that Ramet writes while its agents work, unless `isAny`. */
function refsIn({ own, shared }: ReturnType<typeof gitDirectories>, isAny: boolean): GitContent {
  const refs = join(shared, 'refs');
  if (isAny) return { paths: [], folders: [refs].filter(isDirectory) };
  const listed = [refs, join(refs, 'heads')].flatMap((folder) =>
    entriesOf(folder)
      .map(({ name }) => join(folder, name))
      .filter((path) => path !== join(refs, 'heads') && path !== join(folder, 'ramet')),
  );
  const head = readText(join(own, 'HEAD')).replace(/^ref:\s*/, '');
  return {
    paths: [...listed.filter((path) => !isDirectory(path)), join(shared, head.trim())],
    folders: listed.filter(isDirectory),
  };
}

export interface GitRuns {
  /** They count whole where they lead to a folder: `git -c core.hooksPath=x`. */
  readonly names: readonly string[];
  /** They count whole. */
  readonly folders: readonly string[];
  readonly alias: string | null;
}

export function gitRuns(words: readonly ScriptWord[], starts: readonly string[]): GitRuns {
  const texts = words.flatMap((word) => word.texts);
  const names = texts
    .filter((text) => /^[\w.-]+=/.test(text))
    .map((text) => text.slice(text.indexOf('=') + 1));
  const tops = texts.some((text) => LOOKS.test(text)) ? [] : starts.map(checkoutOf);
  const folders = tops.flatMap((top) => HOOK_FOLDERS.map((folder) => join(top, folder))).filter(isDirectory);
  return { names, folders, alias: aliasIn(texts) };
}
