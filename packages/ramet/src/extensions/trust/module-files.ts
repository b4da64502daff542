/** Files that interpreters find by less than their name: without the ending, by the name of a module, or in its folder. */
import type { Dirent } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isInside } from '../../system/landing-path.ts';
import { linkedPaths } from './linked-paths.ts';
import { BEGINS_FOLDER } from './programs/known-programs.ts';
import { entriesOf, isDirectory } from './repository-look.ts';
import { isName, namesIn } from './word-names.ts';

/** Where they are looked for. */
export interface SearchGround {
  readonly directories: ReadonlySet<string>;
  isOurs(path: string): boolean;
  list(directory: string): readonly Dirent[];
}

export function searchGround(directories: ReadonlySet<string>, tops: readonly string[]): SearchGround {
  const listings = new Map<string, readonly Dirent[]>();
  return {
    directories,
    isOurs: (path) => tops.some((top) => isInside(path, top)),
    list(directory) {
      const found = listings.get(directory) ?? entriesOf(directory);
      listings.set(directory, found);
      return found;
    },
  };
}

const NAMES = /[\w./@-]+/g;

/** A file may be named without its ending, and a module with dots for slashes. */
export function stemFiles(text: string, { directories, isOurs, list }: SearchGround): string[] {
  // `-r./a`, `-Mx::y`
  const written = [text, text.replaceAll('::', '/')].flatMap((one) => one.match(NAMES) ?? []);
  const names = written.flatMap((one) => (one.startsWith('-') ? namesIn(one) : [one]));
  const spelled = [...new Set([...names, ...names.map((one) => one.replaceAll('.', '/'))])];
  return spelled
    .filter((name) => isName(name) && !name.startsWith('-'))
    .flatMap((name) => [...directories].flatMap((directory) => linkedPaths(directory, name)))
    .filter(isOurs)
    .flatMap((path) =>
      list(dirname(path))
        .filter((entry) => entry.name.startsWith(`${basename(path)}.`))
        .map((entry) => join(dirname(path), entry.name)),
    );
}

/** What is loaded with a module: the beginning of its folder, and of each folder on the way to it. */
export function packageFiles(text: string, { directories, isOurs, list }: SearchGround): string[] {
  const found: string[] = [];
  for (const name of text.match(NAMES)?.filter(isName) ?? [])
    for (const top of directories)
      for (const start of [...linkedPaths(top, name), resolve(top, name.replaceAll('.', '/'))])
        for (let at = start; at !== top && isOurs(at); at = dirname(at))
          for (const file of list(at)) if (BEGINS_FOLDER.test(file.name)) found.push(join(at, file.name));
  return found;
}

/** What Python has compiled lies beside its modules, and counts in their place. */
export function compiledFolders(paths: Iterable<string>, { directories, isOurs }: SearchGround): string[] {
  const modules = [...paths].filter((path) => path.endsWith('.py')).map(dirname);
  return [...new Set([...directories, ...modules])]
    .filter(isOurs)
    .map((folder) => join(folder, '__pycache__'))
    .filter(isDirectory);
}
