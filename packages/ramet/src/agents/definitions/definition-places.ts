/**
 * Where definition files lie (TYPE-4), the place that wins first: managed policy, the project from the working
 * directory up to the repository's root, the user, plugins. Loaded at every start, so it looks and reads nothing.
 */
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DefinitionSource } from './definition.ts';

export interface DefinitionPlace {
  cwd: string;
  /** The repository's, or the working directory. */
  root: string;
  /** `$RAMET_HOME`. */
  home: string;
  userHome: string | null;
  /** Folders of managed policy, each with a folder `agents`. */
  managed: readonly string[];
}

export interface DefinitionFolder {
  path: string;
  source: DefinitionSource;
  /** Files that lie outside of it, once links are followed, are refused. */
  boundary: string;
}

const MANAGED = '/etc/ramet';

/** `RAMET_MANAGED_DIR` adds a folder: it cannot remove what an administrator put into the fixed one. */
export function managedFolders(env: Readonly<Record<string, string | undefined>>): string[] {
  return [MANAGED, ...(env.RAMET_MANAGED_DIR ? [env.RAMET_MANAGED_DIR] : [])];
}

/** Those that exist. */
export function definitionFolders(place: DefinitionPlace): DefinitionFolder[] {
  const own = (source: DefinitionSource, path: string): DefinitionFolder => ({
    path,
    source,
    boundary: path,
  });
  const users = [
    join(place.home, 'agents'),
    ...(place.userHome === null ? [] : [join(place.userHome, '.claude', 'agents')]),
  ].filter(isFolder);
  const theirs = new Set(users.map(realOrSame));
  const projects = projectPaths(place).filter((path) => isFolder(path) && !theirs.has(realOrSame(path)));
  return [
    ...place.managed
      .map((path) => join(path, 'agents'))
      .filter(isFolder)
      .map((path) => own('managed', path)),
    ...projects.map((path): DefinitionFolder => ({ path, source: 'project', boundary: place.root })),
    ...users.map((path) => own('user', path)),
    ...pluginPaths(place.home)
      .filter(isFolder)
      .map((path) => own('plugin', path)),
  ];
}

function projectPaths({ cwd, root }: DefinitionPlace): string[] {
  const paths: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    paths.push(join(folder, '.ramet', 'agents'), join(folder, '.claude', 'agents'));
    if (folder === root || folder === dirname(folder)) return paths;
  }
}

function pluginPaths(home: string): string[] {
  const plugins = join(home, 'plugins');
  if (!isFolder(plugins)) return [];
  try {
    return readdirSync(plugins)
      .sort()
      .map((name) => join(plugins, name, 'agents'));
  } catch {
    return []; // not ours to read
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

export function realOrSame(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
