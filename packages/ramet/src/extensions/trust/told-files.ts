/** Files that tell a program what to run although no word names them: `package.json`, a `Makefile`, a configuration. */
import { basename, dirname, join, resolve } from 'node:path';
import type { ScriptCommand, ScriptWord } from '../../permission/shell/script-words.ts';
import { ownHooks } from './git-loads.ts';
import { linkedPaths } from './linked-paths.ts';
import type { SearchGround } from './module-files.ts';
import { compilerIn } from './programs/compiled-output.ts';
import { compilerPlaces } from './programs/compiler-places.ts';
import { gitPrograms, LOOKS } from './programs/git-config.ts';
import { gitGiven } from './programs/git-variables.ts';
import {
  HOLDS_COMMANDS,
  isConfigurationOf,
  manifestsOf,
  RUNS_PACKAGE_SCRIPTS,
  TELLS_COMMANDS,
  taskFolders,
} from './programs/known-programs.ts';
import { ownRules } from './programs/make-own-rules.ts';
import { makeRecipes } from './programs/make-recipes.ts';
import type { ReachFinds } from './reach-finds.ts';
import { checkoutOf, everyFile, isDirectory, MOST_LISTED, nearest, scriptsOf } from './repository-look.ts';
import { isAboutWorkspaces, packageOperands } from './started-programs.ts';
import { contentOf } from './trusted-content.ts';
import { type CommandReach, namesIn } from './word-names.ts';

export interface ToldGround {
  readonly ground: SearchGround;
  readonly root: string;
  readonly found: ReachFinds;
  /** Scripts in those files are not read any more. */
  readonly isDeepest: boolean;
  /** The command itself is in a file that is told by another. */
  readonly isNested: boolean;
  /** The command with what it sets for itself. */
  readonly command: ScriptCommand;
  follow(script: string, directory: string): CommandReach;
}

/** They look for their configuration beside each file that they work on, and run it. */
const LOOKS_BESIDE: RegExp =
  /^(?:prettierd?|eslint(?:_d)?|stylelint|xo|markdownlint-cli2|babel|cspell|lint-staged|remark|rubocop)$/;
/** It may be in these as well. */
const HOLDS_CONFIGURATION: RegExp = /^package\.(?:json|ya?ml)$/;

/** Hooks of git that they have set up look into these files. */
const HOOK_MANAGERS: readonly string[] = ['lefthook', 'pre-commit'];

/** Texts that such a file names, and that run nothing. */
const IS_TEXT: RegExp = /\.(?:md|mdx|rst|txt|html?|css|svg|png|jpe?g|lock|csv)$/i;

const MOST_LINES = 300;
const LONGEST_LINE = 500;
const COMMENT = /^(?:#(?!!)|\/\/)/;
/** `- key: value`, `key = value`, with quotes and commas around it. */
const KEY = /^(?:-\s+)?["']?[\w.@/-]+["']?\s*[:=]\s*/;
const MARKS = /^["'[\s@-]+|["'\],\s]+$/g;

export function toldFiles(program: string, words: readonly ScriptWord[], told: ToldGround): void {
  const { found, ground } = told;
  const compiling = compilerIn(program, words);
  if (compiling?.runs === true) found.unclear.add(`what ${compiling.tool} runs`);
  else if (compiling !== null) {
    for (const set of [found.built, found.unknown]) set.add(compiling.tool);
    for (const path of compilerPlaces(compiling.tool, words, ground)) found.outputs.add(path);
  }
  if (program === 'git') configured(words, told);
  if (program === 'git' && !words.some(({ texts }) => texts.some((text) => LOOKS.test(text))))
    for (const manager of HOOK_MANAGERS) toldFiles(manager, words, told);
  if (/^g?make$/.test(program))
    ownRules(
      words.flatMap(({ texts }) => texts),
      ground,
      found,
    );
  const isPackaged = RUNS_PACKAGE_SCRIPTS.test(program);
  if (isPackaged && isAboutWorkspaces(program, words)) {
    const all = filesOfCheckouts(told);
    if (all === null) found.unclear.add('packages that it does not name');
    for (const path of all ?? []) if (basename(path) === 'package.json') packageScripts(path, words, told);
  }
  for (const directory of ground.directories) {
    for (const name of manifestsOf(program)) {
      const path = nearest(directory, name);
      if (path === null) continue;
      found.add(path);
      if (TELLS_COMMANDS.test(program)) found.unknown.add(program);
      if (/^g?make$/.test(program)) recipes(path, words, told);
      else commandsOfFile(program, path, told);
      if (name === 'package.json' && isPackaged) packageScripts(path, words, told);
    }
    for (const name of taskFolders(program)) {
      const folder = nearest(directory, name);
      if (folder !== null && isDirectory(folder)) found.folders.add(folder);
    }
    for (const { name } of ground.list(directory))
      if (isConfigurationOf(program, name)) {
        found.add(join(directory, name));
        commandsOfFile(program, join(directory, name), told);
      }
  }
  if (LOOKS_BESIDE.test(program)) configurations(program, told);
}

/** Its other lines are no commands, so what is not clear in them says nothing. */
function commandsOfFile(program: string, path: string, { found, isNested, follow }: ToldGround): void {
  if (isNested || !HOLDS_COMMANDS.test(basename(path))) return;
  for (const line of toldLines(path)) {
    // The same file again.
    if (line.split(/\s/).includes(program)) continue;
    const inner = follow(line, dirname(path));
    const paths = inner.paths.filter((one) => !IS_TEXT.test(one.path));
    found.take({ ...inner, paths, unknown: [], loads: [] });
  }
}

/** In every folder, and so also those that an agent has made beside a file. */
function configurations(program: string, told: ToldGround): void {
  const all = filesOfCheckouts(told);
  if (all === null) told.found.unknown.add(program);
  const own = program.replace(/^(prettier|eslint)_?d$/, '$1').replace(/-cli2$/, '');
  for (const path of all ?? []) {
    const name = basename(path);
    const isOwn = [program, own, own.replace('-', '')].some((one) => isConfigurationOf(one, name));
    if (isOwn || HOLDS_CONFIGURATION.test(name)) told.found.add(path);
  }
}

/** Of the root, and of each worktree that the command may run in; null for too many. */
function filesOfCheckouts({ ground, root }: ToldGround): readonly string[] | null {
  const directories = [root, ...[...ground.directories].filter(ground.isOurs)];
  const listed = [...new Set(directories.map(checkoutOf))].map((top) => everyFile(top, MOST_LISTED));
  return listed.includes(null) ? null : listed.flatMap((all) => (all ?? []).map(({ path }) => path));
}

/** Those that a word of the command names, with what runs before and after them. */
function packageScripts(path: string, words: readonly ScriptWord[], told: ToldGround): void {
  const { found } = told;
  found.add(path);
  const asked = words.flatMap(({ texts }) => texts);
  const isPackage = packageOperands(asked).some((text) =>
    namesIn(text).some((one) =>
      [...told.ground.directories].some((folder) => linkedPaths(folder, one).includes(dirname(path))),
    ),
  );
  for (const [name, script] of scriptsOf(path, asked, isPackage)) {
    if (told.isDeepest) return void found.unclear.add('scripts that call scripts');
    const inner = told.follow(script, dirname(path));
    found.take(inner);
    // `npm run build -- --outDir x`
    for (const tool of inner.built)
      for (const place of compilerPlaces(tool, words, told.ground)) found.outputs.add(place);
    if (inner.unclear === null) continue;
    found.unclear.add(`${inner.unclear} in the script ${name}`);
    for (const folder of inner.folders) found.folders.add(folder);
  }
}

const RUNS_UNKNOWN = /^what .+ (?:runs|writes)$|^a script inside it$/;

/** What the configuration of a repository has git run, from the top of its checkout. */
function configured(
  words: readonly ScriptWord[],
  { ground, found, isDeepest, command, follow }: ToldGround,
): void {
  if (isDeepest) return;
  const texts = words.flatMap((word) => word.texts);
  const given = gitGiven(command, ground.directories);
  for (const path of given.files.filter(ground.isOurs)) found.add(path);
  for (const folder of given.folders)
    if (ground.isOurs(folder) && isDirectory(folder)) found.folders.add(folder);
  for (const top of new Set([...ground.directories].filter(ground.isOurs).map(checkoutOf))) {
    const { scripts, hooks, included } = gitPrograms(top, texts, given);
    for (const path of included) found.add(path);
    if (hooks.length === 0 && !texts.some((text) => LOOKS.test(text)))
      for (const path of ownHooks(top)) found.add(path);
    for (const folder of hooks) if (ground.isOurs(folder) && isDirectory(folder)) found.folders.add(folder);
    for (const script of scripts) {
      const inner = follow(script, top);
      found.take({ ...inner, unknown: [], loads: [] });
      if (RUNS_UNKNOWN.test(inner.unclear ?? '')) found.unclear.add(`${inner.unclear} for git`);
    }
  }
}

/** Of a Makefile. What else is not clear in it is listed only: recipes are full of words that make fills in. */
function recipes(path: string, words: readonly ScriptWord[], told: ToldGround): void {
  const bytes = told.isDeepest ? undefined : contentOf(path)?.bytes;
  if (bytes === undefined) return;
  const asked = words.flatMap(({ texts }) => texts);
  const { scripts, includes, unruled } = makeRecipes(bytes.toString('utf8'), asked);
  ownRules([basename(path), ...unruled, ...includes], told.ground, told.found);
  for (const script of scripts) {
    const inner = told.follow(script, dirname(path));
    told.found.take(inner);
    if (RUNS_UNKNOWN.test(inner.unclear ?? ''))
      told.found.unclear.add(`${inner.unclear} in ${basename(path)}`);
  }
  for (const name of includes) {
    const included = resolve(dirname(path), name);
    if (/[*?[]/.test(name)) told.found.folders.add(dirname(included));
    else if (!told.found.has(included)) {
      told.found.add(included);
      recipes(included, words, told);
    }
  }
}

/** A file that holds commands in a form of its own (`justfile`, `lefthook.yml`, `.npmrc`): each line and each value is read as one. */
function toldLines(path: string): string[] {
  const text = contentOf(path)?.bytes.toString('utf8') ?? '';
  const lines = text
    .split(/\r?\n/, MOST_LINES)
    .map((line) => line.trim())
    .filter((line) => line !== '' && line.length <= LONGEST_LINE && !COMMENT.test(line));
  const read = lines.flatMap((line) => {
    const value = line.replace(KEY, '');
    return [line, value].map((one) => one.replace(MARKS, ''));
  });
  return [...new Set(read)].filter((one) => /[a-z]/i.test(one));
}
