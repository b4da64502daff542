/** Files that tell a program what to run although no word names them: `package.json`, a `Makefile`, a configuration. */
import { basename, dirname, join, resolve } from 'node:path';
import type { ScriptWord } from '../../permission/shell/script-words.ts';
import { isConfigurationOf, manifestsOf, RUNS_PACKAGE_SCRIPTS, TELLS_COMMANDS } from './known-programs.ts';
import { makeRecipes } from './make-recipes.ts';
import type { SearchGround } from './module-files.ts';
import type { ReachFinds } from './reach-finds.ts';
import { checkoutOf, everyFile, MOST_LISTED, nearest, scriptsOf } from './repository-look.ts';
import { isAboutWorkspaces } from './started-programs.ts';
import { contentOf } from './trusted-content.ts';
import type { CommandReach } from './word-names.ts';

export interface ToldGround {
  readonly ground: SearchGround;
  readonly root: string;
  readonly found: ReachFinds;
  /** Scripts in those files are not read any more. */
  readonly isDeepest: boolean;
  follow(script: string, directory: string): CommandReach;
}

/** They look for their configuration beside each file that they work on, and run it. */
const LOOKS_BESIDE: RegExp = /^(?:prettier|eslint|stylelint|xo|markdownlint-cli2)$/;

export function toldFiles(program: string, words: readonly ScriptWord[], told: ToldGround): void {
  const { found, ground, root } = told;
  const isPackaged = RUNS_PACKAGE_SCRIPTS.test(program);
  if (isPackaged && isAboutWorkspaces(program, words)) {
    const all = everyFile(checkoutOf(root), MOST_LISTED);
    if (all === null) found.unclear.add('packages that it does not name');
    for (const { path } of all ?? [])
      if (basename(path) === 'package.json') packageScripts(path, words, told);
  }
  for (const directory of ground.directories) {
    for (const name of manifestsOf(program)) {
      const path = nearest(directory, name);
      if (path === null) continue;
      found.add(path);
      if (TELLS_COMMANDS.test(program)) found.unknown.add(program);
      if (/^g?make$/.test(program)) recipes(path, words, told);
      if (name === 'package.json' && isPackaged) packageScripts(path, words, told);
    }
    for (const { name } of ground.list(directory))
      if (isConfigurationOf(program, name)) found.add(join(directory, name));
  }
  if (!LOOKS_BESIDE.test(program)) return;
  const all = everyFile(checkoutOf(root), MOST_LISTED);
  if (all === null) found.unknown.add(program);
  for (const { path } of all ?? []) if (isConfigurationOf(program, basename(path))) found.add(path);
}

/** Those that a word of the command names, with what runs before and after them. */
function packageScripts(path: string, words: readonly ScriptWord[], told: ToldGround): void {
  const { found } = told;
  found.add(path);
  const asked = words.flatMap(({ texts }) => texts);
  for (const [name, script] of scriptsOf(path, asked)) {
    if (told.isDeepest) return void found.unclear.add('scripts that call scripts');
    const inner = told.follow(script, dirname(path));
    found.take(inner);
    if (inner.unclear === null) continue;
    found.unclear.add(`${inner.unclear} in the script ${name}`);
    for (const folder of inner.folders) found.folders.add(folder);
  }
}

const RUNS_UNKNOWN = /^what \S+ runs$|^a script inside it$/;

/** Of a Makefile. What else is not clear in it is listed only: recipes are full of words that make fills in. */
function recipes(path: string, words: readonly ScriptWord[], told: ToldGround): void {
  const bytes = told.isDeepest ? undefined : contentOf(path)?.bytes;
  if (bytes === undefined) return;
  const asked = words.flatMap(({ texts }) => texts);
  const { scripts, includes } = makeRecipes(bytes.toString('utf8'), asked);
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
