/** What git runs where a script calls it: by its configuration, its words, and hooks. */
import { join } from 'node:path';
import type { ScriptWord } from '../../permission/shell/script-words.ts';
import { gitDirectories, gitPrograms, LOOKS, readText } from './programs/git-config.ts';
import { gitRuns } from './programs/git-runs.ts';
import { gitGiven } from './programs/git-variables.ts';
import type { CalledGit } from './programs/shell-finds.ts';
import { entriesOf, everyFile, isDirectory } from './repository-look.ts';

export interface GitLoads {
  /** For a shell, each with the file that holds it. */
  readonly scripts: readonly { readonly path: string; readonly text: string }[];
  /** Settings that are read from the repository. */
  readonly paths: readonly string[];
  /** Hooks, and programs of git that lie elsewhere. */
  readonly programs: readonly string[];
  /** Only the running git knows all that it runs. */
  readonly isOpen: boolean;
}

const MOST_HOOKS = 100;
const GIT: ScriptWord = { texts: ['git'], open: null, start: 'git' };
/** Hooks of an extension for large files: they run git again, and nothing of the repository. */
const OF_LFS = /\bgit[ -]lfs\b/;

/** `top`: of the checkout that it is called in. */
export function gitLoads(call: CalledGit, top: string, places: readonly string[]): GitLoads {
  const words = [GIT, ...call.words];
  const from = gitGiven({ words, assignments: call.assignments }, places);
  const given = { ...from, settings: [...from.settings, ...call.settings] };
  // Of a word that is not known, all is possible.
  const commands = call.command === null ? ['push'] : [call.command];
  const { scripts, hooks, included, aliases } = gitPrograms(top, commands, given);
  const { alias } = gitRuns(words, []);
  const meant = alias === null ? undefined : aliases.get(alias.toLowerCase());
  const isScript = meant?.startsWith('!') === true;
  // Those of husky start others, which lie above them.
  const folders = [...hooks.map((one) => one.replace(/\/_$/, '')), ...given.folders].filter(isDirectory);
  const files = folders.map((folder) => everyFile(folder, MOST_HOOKS));
  const path = join(top, '.git/config');
  const runsHooks = hooks.length === 0 && !commands.some((one) => LOOKS.test(one));
  const own = runsHooks ? ownHooks(top) : [];
  const isOfLfs = (file: string): boolean => OF_LFS.test(readText(file));
  return {
    scripts: [...scripts, ...(isScript ? [meant.slice(1)] : [])].map((text) => ({ path, text })),
    paths: [...included, ...given.files, ...own.filter(isOfLfs)],
    programs: [
      ...files.flatMap((all) => (all ?? []).map((one) => one.path)),
      ...own.filter((file) => !isOfLfs(file)),
    ],
    isOpen: files.includes(null) || (alias !== null && !isScript && !isCommand(meant)),
  };
}

/** `st = status -sb` */
function isCommand(meant: string | undefined): boolean {
  if (meant === undefined) return false;
  const words = meant.split(/\s+/).map((text): ScriptWord => ({ texts: [text], open: null, start: text }));
  return gitRuns([GIT, ...words], []).alias === null && !/(?:^|\s)-/.test(meant.slice(0, 2));
}

/** Hooks that lie where git keeps them. */
export function ownHooks(top: string): string[] {
  const folder = join(gitDirectories(top).shared, 'hooks');
  return entriesOf(folder)
    .filter((entry) => !entry.isDirectory() && !entry.name.endsWith('.sample'))
    .map(({ name }) => join(folder, name));
}
