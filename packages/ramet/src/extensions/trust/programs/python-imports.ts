/**
 * The modules that a script in Python imports, and those that these import, as far as they lie in the folders where Python
 * looks first. Where one lies elsewhere, nobody here knows what it imports in turn: then each module of those folders may
 * take the place of one, and counts.
 */
import { basename, dirname, join } from 'node:path';
import type { SearchGround } from '../module-files.ts';
import { contentOf } from '../trusted-content.ts';
import { hasOpenImports } from './open-imports.ts';

const BLANKS = '[ \\t\\f]*';
const NAME = `[A-Za-z_]\\w*(?:${BLANKS}\\.${BLANKS}[A-Za-z_]\\w*)*`;
const AS = '(?:[ \\t\\f]+as[ \\t\\f]+\\w+)?';
/** At the beginning of a statement, also where a shell quotes the script or writes its lines as `\n`. */
const BEGINS = '(?:^|[;:"\'`\\n]|\\\\n)\\s*(?:lazy[ \\t\\f]+)?';
const IMPORT = new RegExp(
  `${BEGINS}import[ \\t\\f]+(${NAME}${AS}(?:${BLANKS},${BLANKS}${NAME}${AS})*)${BLANKS}(?=$|[;#"'\`\\n\\r\\\\])`,
  'g',
);
const LIST = '\\((?:[^()#]|#[^\\n]*\\n)*\\)|[^;#\\n]*';
const FROM = new RegExp(
  `${BEGINS}from(?:[ \\t\\f]+|(?=\\.))((?:\\.${BLANKS})*)(${NAME})?${BLANKS}import(?=[\\s*(\\\\])${BLANKS}(${LIST})`,
  'g',
);
const CALLED = /(?:__import__|import_module|find_spec)\s*\(\s*\\?["']([A-Za-z_][\w.]*)/g;
const CONTINUED = /\\\r?\n/g;

/** Whole names, with dots. What a package imports of itself (`from . import x`) is `.x`; all of a module is `x.*`. */
export function importsOf(text: string): string[] {
  // A comment has no next line, so that both ways to read it count.
  const texts = new Set([text, text.replace(CONTINUED, ' ')].map((one) => one.replace(/\r\n?/g, '\n')));
  return [...new Set([...texts].flatMap(importedNames))].filter((name) => !/^\.*$/.test(name));
}

function importedNames(text: string): string[] {
  const plain = Array.from(text.matchAll(IMPORT), ([, list = '']) =>
    list.split(',').map((one) => bare(one.trim().replace(/\s+as\s.*$/s, ''))),
  ).flat();
  const parts = Array.from(text.matchAll(FROM), ([, dots = '', from = '', list = '']) => {
    const names = list.replace(/#[^\n]*/g, '').match(/[A-Za-z_]\w*|^\*/g) ?? [];
    const before = `${dots === '' ? '' : '.'}${bare(from)}`;
    return [before, ...names.map((name) => (/^\.?$/.test(before) ? `.${name}` : `${before}.${name}`))];
  }).flat();
  const called = Array.from(text.matchAll(CALLED), ([, name = '']) => name);
  return [...plain, ...parts, ...called];
}

function bare(name: string): string {
  return name.replace(/\s/g, '');
}

export interface ImportGround {
  readonly places: Iterable<string>;
  /** Python has a module of this name itself, or what it loads is not asked for. */
  isKnown(name: string): boolean;
}

export interface ImportedFiles {
  readonly files: readonly string[];
  /** Those whose imports only the running program knows. */
  readonly open: readonly string[];
}

const MOST_MODULES = 500;
const COMPILED = /\.(?:pyc|so|pyd)$/;
const MODULE = /\.(?:pyc?|so|pyd)$/;
const START = /^__init__\..*(?:pyc?|so|pyd)$/;

/** Files that count for a script with these imports. */
export function importedFiles(
  imports: readonly string[],
  ground: ImportGround,
  search: SearchGround,
): ImportedFiles {
  const found = new Set<string>();
  const places = [...ground.places];
  const open: string[] = [];
  let isForeign = false;
  /** By their names and, for names that a package gives its own modules, the file that has them. */
  const wanted = new Map(imports.map((name) => [name, { name, within: places }]));
  for (const { name, within } of wanted.values()) {
    const files = within.flatMap((place) => filesOfModule(name, place, search));
    const [top = ''] = name.split('.');
    // Its `__all__` names modules, too.
    if (name.endsWith('.*')) open.push(...files.filter((file) => START.test(basename(file))));
    if (files.length === 0 && top !== '' && !ground.isKnown(top))
      isForeign ||= !places.some((place) => hasModule(top, place, search));
    for (const file of files) {
      if (found.has(file) || found.size >= MOST_MODULES) continue;
      found.add(file);
      const { imports: inner, isOpen } = pythonFile(file, places);
      for (const one of inner)
        if (!one.startsWith('.')) wanted.set(one, { name: one, within: places });
        else wanted.set(`${dirname(file)} ${one}`, { name: one, within: foldersAbove(file, places, search) });
      if (isOpen) open.push(file);
    }
  }
  if (isForeign) for (const place of places) for (const file of modulesIn(place, search)) found.add(file);
  if (found.size >= MOST_MODULES) open.push(...[...found].slice(-1));
  return { files: [...found], open };
}

/** Up to where Python has begun to look. */
function foldersAbove(file: string, places: readonly string[], { isOurs }: SearchGround): string[] {
  const found = [dirname(file)];
  for (const folder of found) {
    const above = dirname(folder);
    if (!places.includes(folder) && above !== folder && isOurs(above)) found.push(above);
  }
  return found;
}

/** What one file imports. `places`: folders where Python looks anyway. */
export function pythonFile(
  path: string,
  places: Iterable<string>,
): { readonly imports: readonly string[]; readonly isOpen: boolean } {
  const bytes = contentOf(path)?.bytes;
  if (bytes === undefined) return { imports: [], isOpen: false };
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  return {
    imports: importsOf(text),
    isOpen: COMPILED.test(path) || hasOpenImports(text, [...places].includes(dirname(path))),
  };
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
