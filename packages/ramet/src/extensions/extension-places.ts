/**
 * Where agents, skills and commands lie (TYPE-4), the place that wins first: managed policy, the project from the working
 * directory up to the repository's root, the user, plugins. Loaded at every start, so it looks and reads nothing.
 */
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { existingPath } from '../system/landing-path.ts';

/** Of two things with one name the one from the later source wins. */
export const EXTENSION_SOURCES = ['plugin', 'user', 'project', 'managed'] as const;

export type ExtensionSource = (typeof EXTENSION_SOURCES)[number];

export type ExtensionKind = 'agents' | 'skills' | 'commands';

export interface ExtensionPlace {
  cwd: string;
  /** The repository's, or the working directory. */
  root: string;
  /** `$RAMET_HOME`. */
  home: string;
  userHome: string | null;
  /** Only what managed policy and plugins bring: `--bare`. */
  isBare?: boolean | undefined;
  /** Folders of managed policy, the one that wins last, each with folders `agents`, `skills` and `commands`. */
  managed: readonly string[];
  plugins: readonly PluginFolder[];
}

/** `--bare`: nothing that is found is loaded. */
export function isBare({ RAMET_BARE }: NodeJS.ProcessEnv): boolean {
  return RAMET_BARE === '1';
}

export interface PluginFolder {
  /** Its things are called `name:thing`. */
  name: string;
  root: string;
  /** As settings name it, which is how trust knows it. */
  stated?: string | undefined;
  /** Folders besides `agents`, `skills` and `commands` that its manifest names, and single files. */
  more?: Readonly<Partial<Record<ExtensionKind, readonly string[]>>> | undefined;
  /** As they are set up, not read yet. */
  hooks?: readonly unknown[] | undefined;
  /** MCP servers by name, as they are written. */
  servers?: Readonly<Record<string, unknown>> | undefined;
}

export interface ExtensionFolder {
  path: string;
  source: ExtensionSource;
  /** Files that lie outside of it, once links are followed, are refused. */
  boundary: string;
  /** The plugin it belongs to. */
  plugin?: PluginFolder | undefined;
  /** Of this folder one file, and nothing else. */
  only?: string | undefined;
}

/** Those that exist. */
export function extensionFolders(place: ExtensionPlace, kind: ExtensionKind): ExtensionFolder[] {
  const own = (source: ExtensionSource, path: string): ExtensionFolder => ({
    path,
    source,
    boundary: path,
  });
  // A user's own folders may hold links to where the files are kept; skills are often installed that way.
  const kept = kind === 'agents' ? null : place.userHome;
  const users = [
    join(place.home, kind),
    ...(place.userHome === null ? [] : [join(place.userHome, '.claude', kind)]),
  ].filter(isFolder);
  const theirs = new Set(users.map(realOrSame));
  const projects = projectPaths(place, kind).filter(
    (path) => isFolder(path) && !theirs.has(realOrSame(path)),
  );
  const found = [
    ...projects.map((path): ExtensionFolder => ({ path, source: 'project', boundary: place.root })),
    ...users.map((path): ExtensionFolder => ({ path, source: 'user', boundary: kept ?? path })),
  ];
  return [
    ...place.managed
      .toReversed()
      .map((path) => join(path, kind))
      .filter(isFolder)
      .map((path) => own('managed', path)),
    ...(place.isBare ? [] : found),
    ...place.plugins.flatMap((plugin) =>
      [kind, ...(plugin.more?.[kind] ?? [])]
        .map((name) => join(plugin.root, name))
        .flatMap((path) => {
          const kindOf = kindOfPath(path);
          return kindOf === 'folder'
            ? { path }
            : kindOf === 'file'
              ? { path: dirname(path), only: basename(path) }
              : [];
        })
        .map((one): ExtensionFolder => ({ ...one, source: 'plugin', boundary: plugin.root, plugin })),
    ),
  ];
}

function projectPaths({ cwd, root }: ExtensionPlace, kind: ExtensionKind): string[] {
  const paths: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    paths.push(join(folder, '.ramet', kind), join(folder, '.claude', kind));
    if (folder === root || folder === dirname(folder)) return paths;
  }
}

/** The folders in `$RAMET_HOME/plugins`. */
export function installedPlugins(home: string): string[] {
  const plugins = join(home, 'plugins');
  if (!isFolder(plugins)) return [];
  try {
    return readdirSync(plugins)
      .sort()
      .map((name) => join(plugins, name))
      .filter(isFolder);
  } catch {
    return []; // not ours to read
  }
}

function isFolder(path: string): boolean {
  return kindOfPath(path) === 'folder';
}

/** Null where nothing is that could be read. */
export function kindOfPath(path: string): 'folder' | 'file' | null {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats?.isDirectory() === true ? 'folder' : stats?.isFile() === true ? 'file' : null;
  } catch {
    return null;
  }
}

export function realOrSame(path: string): string {
  return existingPath(path) ?? path;
}
