/** Everything in a repository that trust is about: found and read when the user is asked, not at every start. */
import { basename, dirname, join, resolve } from 'node:path';
import { parsePositionedJson } from '../../settings/positioned-json.ts';
import { readSmallText } from '../../system/regular-file.ts';
import { extensionFolders } from '../extension-places.ts';
import { type FoundFile, filesEndingIn, readFound, scanFolder } from '../folder-scan.ts';
import { isObject } from '../hooks/hook-config.ts';
import { readPlugin } from '../plugins/read-plugin.ts';
import { foldersOf, RULES } from '../prompts/prompt-store.ts';
import { atFolder, type FolderPart, type PartKind } from './folder-part.ts';
import { gitParts } from './folder-programs.ts';
import { type Limits, limitsIn } from './limits.ts';

export interface PartsPlace {
  readonly cwd: string;
  readonly root: string;
  readonly home: string;
  readonly userHome: string | null;
  /** From the working directory up to the root. */
  readonly folders: readonly string[];
}

const AGENT_FILES = filesEndingIn('.md', '.yaml', '.yml');

/** What an agent file says (`FolderPart.declared`): agents are made by a later room. */
export type ReadDeclared = (text: string, path: string) => FolderPart['declared'];

export function collectParts(place: PartsPlace, declaredIn: ReadDeclared): FolderPart[] {
  const { root, folders } = place;
  const settings = [
    ...folders.flatMap((folder) =>
      ['settings.json', 'settings.local.json'].map((name) => join(folder, '.claude', name)),
    ),
    ...['settings.json', 'settings.local.json'].map((name) => join(root, '.ramet', name)),
  ];
  return [
    ...settings.flatMap(partsOfSettings),
    ...settings.flatMap((source): FolderPart[] => {
      const value = limitsOf(source);
      return value === null ? [] : [{ kind: 'limits', source, value }];
    }),
    ...folders.flatMap((folder) => partsOfSettings(join(folder, '.mcp.json'))),
    ...settings.flatMap((path) => pluginParts(path, place)),
    ...agentParts(place, declaredIn),
    ...promptParts(place),
    ...gitParts(root),
  ];
}

/** Of a settings file, or of a file of servers. One that cannot be read brings nothing: it is not used either. */
export function partsOfSettings(source: string): FolderPart[] {
  const content = readObject(source);
  if (content === null) return [];
  const { hooks, statusLine, worktree } = content;
  const isServers = basename(source) === '.mcp.json';
  // Some write the servers of their own file without a key around them.
  const mcpServers = content.mcpServers ?? (isServers ? content : undefined);
  const setup = isObject(worktree) ? worktree.setup : undefined;
  const found: [PartKind, unknown][] = [
    ['hooks', hooks],
    ['mcp', mcpServers],
    ['status line', statusLine],
    ['setup', setup],
    ['rights', isServers ? undefined : rightsIn(content)],
  ];
  return found.flatMap(([kind, value]) => (isNothing(value) ? [] : [{ kind, source, value }]));
}

/** What a settings file only narrows; null for nothing. */
export function limitsOf(source: string): Limits | null {
  return limitsIn(readObject(source));
}

function isNothing(value: unknown): boolean {
  return value === undefined || (isObject(value) && Object.keys(value).length === 0);
}

/** What else a settings file says, without what only narrows. */
function rightsIn(content: Record<string, unknown>): Record<string, unknown> {
  const {
    hooks: _,
    mcpServers: __,
    statusLine: ___,
    $schema: ____,
    permissions,
    worktree,
    ...rest
  } = content;
  const { deny: _____, ask: ______, ...given } = isObject(permissions) ? permissions : {};
  const { setup: _______, ...tree } = isObject(worktree) ? worktree : {};
  return {
    ...rest,
    ...(Object.keys(given).length > 0 && { permissions: given }),
    ...(Object.keys(tree).length > 0 && { worktree: tree }),
  };
}

/** Plugins that a folder's settings name, with everything in them. */
function pluginParts(path: string, { root, userHome }: PartsPlace): FolderPart[] {
  const named = basename(dirname(path)) === '.ramet' ? readObject(path)?.plugins : undefined;
  if (!Array.isArray(named)) return [];
  return named.flatMap((one) =>
    typeof one === 'string' ? [{ ...pluginPart(one, { root, userHome }), namedBy: path }] : [],
  );
}

type PluginPlace = Pick<PartsPlace, 'root' | 'userHome'>;

/** What a name in the setting `plugins` stands for. */
export function pluginFolder(path: string, { root, userHome }: PluginPlace): string {
  return path.startsWith('~/') && userHome !== null ? join(userHome, path.slice(2)) : resolve(root, path);
}

export function pluginPart(path: string, place: PluginPlace): FolderPart {
  const folder = pluginFolder(path, place);
  return { kind: 'plugin', source: folder, value: '', declared: runBy(folder), folder };
}

function runBy(folder: string): FolderPart['declared'] {
  const read = readPlugin(folder);
  if ('problem' in read) return null;
  const { hooks, servers: mcpServers, root } = read.plugin;
  const placed = (_: string, one: unknown): unknown => (typeof one === 'string' ? atFolder(one, root) : one);
  return JSON.parse(JSON.stringify({ hooks, mcpServers }, placed));
}

function agentParts(place: PartsPlace, declaredIn: ReadDeclared): FolderPart[] {
  const found = extensionFolders({ ...place, managed: [], plugins: [] }, 'agents').filter(
    ({ source }) => source === 'project',
  );
  return found
    .flatMap((folder) => scanFolder(folder, AGENT_FILES).files)
    .flatMap((file): FolderPart[] => {
      const read = readFound(file);
      if ('problem' in read) return [];
      const { path: source } = file;
      return [{ kind: 'agent', source, value: read.text, declared: declaredIn(read.text, source) }];
    });
}

function promptParts(place: PartsPlace): FolderPart[] {
  return foldersOf({ ...place, managed: [], plugins: [] })
    .filter(({ folder }) => folder.source === 'project')
    .flatMap(({ kind, folder }) =>
      scanFolder(folder, RULES[kind]).files.flatMap((file) => filePart(kind, file)),
    );
}

/** A skill is a folder: scripts and texts in it belong to it. */
export function filePart(kind: 'skill' | 'command', file: FoundFile): FolderPart[] {
  const read = readFound(file);
  if ('problem' in read) return [];
  const folder = kind === 'skill' ? { folder: dirname(file.path) } : {};
  return [{ kind, source: file.path, value: read.text, ...folder }];
}

function readObject(path: string): Record<string, unknown> | null {
  try {
    const text = readSmallText(path).replace(/^\ufeff/, '');
    const value = parsed(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** With comments, or with a key that stands twice. */
function parsed(text: string): unknown {
  try {
    return parsePositionedJson(text).value;
  } catch {
    return JSON.parse(text);
  }
}
