/** Programs that the configuration of a repository has git run: filters, drivers, monitors, editors. */
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { readSmallText } from '../../../system/regular-file.ts';
import { linkedPaths } from '../linked-paths.ts';
import { isDirectory } from '../repository-look.ts';

/** Subcommands of git that run no hook. */
export const LOOKS: RegExp =
  /^(?:status|log|diff|show|rev-parse|branch|ls-files|blame|describe|remote|config|grep|stash)$/;

/** Of a linked worktree, its own and that of the repository. */
export function gitDirectories(top: string): { own: string; shared: string } {
  const path = join(top, '.git');
  if (isDirectory(path)) return { own: path, shared: path };
  try {
    const [, named = '.git'] = /^gitdir: (.+)$/m.exec(readSmallText(path)) ?? [];
    const own = resolve(top, named);
    return { own, shared: /\/worktrees\/[^/]+$/.test(own) ? dirname(dirname(own)) : own };
  } catch {
    return { own: path, shared: path };
  }
}

export interface GitPrograms {
  /** Each is a script for the shell, which git starts at the top of the checkout. */
  readonly scripts: readonly string[];
  /** Folders of hooks. */
  readonly hooks: readonly string[];
  /** Files that the configuration includes: they can name more. */
  readonly included: readonly string[];
  /** What words stand for, in small letters. */
  readonly aliases: ReadonlyMap<string, string>;
}

const RUNS =
  /^(?:core\.(?:fsmonitor|editor|pager|askpass|alternaterefscommand)|sequence\.editor|pager\..+|interactive\.difffilter|diff\.external|diff\..+\.(?:command|textconv)|filter\..+\.(?:clean|smudge|process)|merge\..+\.driver|(?:diff|merge)tool\..+\.cmd|gpg\.(?:.+\.)?program|trailer\..+\.(?:command|cmd))$/;
/** Only where git talks to another repository. */
const RUNS_AWAY =
  /^(?:core\.(?:sshcommand|gitproxy)|credential\.(?:.+\.)?helper|remote\..+\.(?:uploadpack|receivepack|vcs))$/;
const GOES_AWAY = /^(?:clone|fetch|lfs|ls-remote|maintenance|pull|push|remote|submodule)$/;
const SWITCH = /^(?:true|false|yes|no|on|off|\d*)$/i;
const DEEPEST = 4;

/** Besides the configuration of the repository. */
export interface GitGiven {
  /** Of settings; nothing needs to be there. */
  readonly files: readonly string[];
  /** They count whole. */
  readonly folders: readonly string[];
  /** Keys in small letters. */
  readonly settings: readonly (readonly [key: string, value: string])[];
}

const NOTHING: GitGiven = { files: [], folders: [], settings: [] };

export function gitPrograms(top: string, words: readonly string[], given: GitGiven = NOTHING): GitPrograms {
  const { own, shared } = gitDirectories(top);
  const found = { scripts: new Set<string>(), hooks: new Set<string>(), included: new Set<string>() };
  const aliases = new Map<string, string>();
  const runsHooks = !words.some((word) => LOOKS.test(word));
  const isAway = words.some((word) => GOES_AWAY.test(word));
  const take = (settings: GitGiven['settings'], folder: string, depth: number): void => {
    for (const [key, value] of settings) {
      if (/^include(?:if\..+)?\.path$/.test(key) && depth < DEEPEST) {
        for (const path of linkedPaths(folder, value.replace(/^~(?=\/)/, homedir()))) {
          if (found.included.has(path)) continue;
          found.included.add(path);
          take(settingsIn(path), dirname(path), depth + 1);
        }
      } else if (key === 'core.hookspath' || key === 'init.templatedir') {
        for (const path of runsHooks ? linkedPaths(top, value) : []) found.hooks.add(path);
      } else if ((RUNS.test(key) || (isAway && RUNS_AWAY.test(key))) && !SWITCH.test(value))
        found.scripts.add(key.startsWith('credential.') ? helperScript(value) : value);
      else if (key.startsWith('alias.')) aliases.set(key.slice('alias.'.length), value);
    }
  };
  const files = [join(shared, 'config'), join(own, 'config.worktree')];
  for (const file of new Set([...files, ...given.files])) take(settingsIn(file), dirname(file), 0);
  take(given.settings, top, 0);
  const { scripts, hooks, included } = found;
  return { scripts: [...scripts], hooks: [...hooks], included: [...included], aliases };
}

/** `!x` is a script, a path a program, and any other the name of one of git's own. */
export function helperScript(value: string): string {
  if (value.startsWith('!')) return value.slice(1);
  return value.includes('/') ? value : `git-credential-${value}`;
}

/** Keys in small letters, as git compares them, with the value as it gives it. */
function settingsIn(file: string): [key: string, value: string][] {
  const found: [string, string][] = [];
  let section = '';
  for (const line of readText(file)
    .replace(/\\\r?\n/g, '')
    .split(/\r?\n/)) {
    const [whole = '', name = '', part] = /^\s*\[([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\]/.exec(line) ?? [];
    if (whole !== '') section = part === undefined ? name : `${name}.${part}`;
    const [, key = '', value = ''] = /^\s*([A-Za-z][\w-]*)\s*=\s*(.*)$/.exec(line.slice(whole.length)) ?? [];
    if (key !== '') found.push([`${section}.${key}`.toLowerCase(), plainValue(value)]);
  }
  return found;
}

function plainValue(text: string): string {
  const parts = text.match(/"(?:[^"\\]|\\.)*"?|\\.|[#;].*|[^"\\#;]+/gs) ?? [];
  return parts
    .filter((part) => !/^[#;]/.test(part))
    .map((part) => part.replace(/^"|(?<!\\)"$/g, '').replace(/\\(.)/gs, '$1'))
    .join('')
    .trim();
}

/** Empty for what cannot be read. */
export function readText(file: string): string {
  try {
    return readSmallText(file);
  } catch {
    return '';
  }
}
