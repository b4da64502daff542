/**
 * The modules that a script in Python imports, and those that these import, as far as they lie in the folders where Python
 * looks first. Where one lies elsewhere, nobody here knows what it imports in turn: then each module of those folders may
 * take the place of one, and counts.
 */
import { join } from 'node:path';
import type { SearchGround } from '../module-files.ts';
import { contentOf } from '../trusted-content.ts';

const NAME = '[A-Za-z_][\\w.]*';
const AS = '(?:\\s+as\\s+\\w+)?';
/** At the beginning of a statement, also where a shell quotes the script or writes its lines as `\n`. */
const BEGINS = '(?:^|[;:"\'`\\n]|\\\\n)\\s*';
const IMPORT = new RegExp(
  `${BEGINS}import\\s+(${NAME}${AS}(?:\\s*,\\s*${NAME}${AS})*)[ \\t]*(?=$|[;#"'\`\\n\\r\\\\])`,
  'g',
);
const FROM = new RegExp(`${BEGINS}from\\s+(\\.*)(${NAME})?\\s+import\\s+([^;#\\n]*)`, 'g');
const CALLED = new RegExp(`(?:__import__|import_module)\\s*\\(\\s*\\\\?["'](${NAME})`, 'g');

/** Whole names, with dots. What a package imports of itself (`from . import x`) is `.x`. */
export function importsOf(text: string): string[] {
  const plain = Array.from(text.matchAll(IMPORT), ([, list = '']) =>
    list.split(',').map((one) => one.trim().replace(/\s.*$/s, '')),
  ).flat();
  const parts = Array.from(text.matchAll(FROM), ([, dots = '', from = '', list = '']) => {
    const names = list.match(/[A-Za-z_]\w*/g) ?? [];
    const before = `${dots === '' ? '' : '.'}${from}`;
    return [before, ...names.map((name) => (/^\.?$/.test(before) ? `.${name}` : `${before}.${name}`))];
  }).flat();
  const called = Array.from(text.matchAll(CALLED), ([, name = '']) => name);
  return [...new Set([...plain, ...parts, ...called])].filter((name) => !/^\.*$/.test(name));
}

export interface ImportGround {
  readonly places: Iterable<string>;
  /** Python has a module of this name itself, or what it loads is not asked for. */
  isKnown(name: string): boolean;
}

const MOST_MODULES = 500;
const MODULE = /\.(?:pyc?|so|pyd)$/;
const START = /^__init__\..*(?:pyc?|so|pyd)$/;

/** Files that count for a script with these imports. */
export function importedFiles(
  imports: readonly string[],
  ground: ImportGround,
  search: SearchGround,
): string[] {
  const found = new Set<string>();
  const names = new Set(imports);
  const places = [...ground.places];
  let isForeign = false;
  for (const name of names) {
    const files = places.flatMap((place) => filesOfModule(name, place, search));
    const [top = ''] = name.split('.');
    if (files.length === 0 && top !== '' && !ground.isKnown(top))
      isForeign ||= !places.some((place) => hasModule(top, place, search));
    for (const file of files) {
      if (found.has(file) || found.size >= MOST_MODULES) continue;
      found.add(file);
      for (const inner of importsOf(contentOf(file)?.bytes.toString('utf8') ?? '')) names.add(inner);
    }
  }
  if (isForeign) for (const place of places) for (const file of modulesIn(place, search)) found.add(file);
  return [...found];
}

/** The module, and the beginnings of the packages on the way to it. */
function filesOfModule(name: string, place: string, search: SearchGround): string[] {
  const found: string[] = [];
  let folder = place;
  for (const part of name.split('.').filter((one) => one !== '')) {
    for (const entry of search.list(folder))
      if (MODULE.test(entry.name) && entry.name.replace(/\..*$/s, '') === part)
        found.push(join(folder, entry.name));
    folder = join(folder, part);
    for (const entry of search.list(folder)) if (START.test(entry.name)) found.push(join(folder, entry.name));
  }
  return found;
}

function hasModule(top: string, place: string, search: SearchGround): boolean {
  return filesOfModule(top, place, search).length > 0;
}

function modulesIn(place: string, search: SearchGround): string[] {
  return search.list(place).flatMap(({ name }) => {
    if (MODULE.test(name)) return [join(place, name)];
    if (name.includes('.')) return [];
    const inner = join(place, name);
    return search
      .list(inner)
      .filter((entry) => START.test(entry.name))
      .map((entry) => join(inner, entry.name));
  });
}
