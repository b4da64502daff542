/** Everything in a repository that trust is about: found and read when the user is asked, not at every start. */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parsePositionedJson } from '../../settings/positioned-json.ts';
import { extensionFolders } from '../extension-places.ts';
import { filesEndingIn, scanFolder } from '../folder-scan.ts';
import { isObject } from '../hooks/hook-config.ts';
import type { FolderPart, PartKind } from './folder-part.ts';

export interface PartsPlace {
  readonly cwd: string;
  readonly root: string;
  readonly home: string;
  readonly userHome: string | null;
  /** From the working directory up to the root. */
  readonly folders: readonly string[];
}

const AGENT_FILES = filesEndingIn('.md', '.yaml', '.yml');

export function collectParts(place: PartsPlace): FolderPart[] {
  const { root, folders } = place;
  const settings = [
    ...folders.flatMap((folder) =>
      ['settings.json', 'settings.local.json'].map((name) => join(folder, '.claude', name)),
    ),
    ...['settings.json', 'settings.local.json'].map((name) => join(root, '.ramet', name)),
  ];
  return [
    ...settings.flatMap(partsOfSettings),
    ...folders.flatMap((folder) => partsOfSettings(join(folder, '.mcp.json'))),
    ...agentParts(place),
  ];
}

/** Of a settings file, or of a file of servers. One that cannot be read brings nothing: it is not used either. */
export function partsOfSettings(source: string): FolderPart[] {
  const content = readObject(source);
  if (content === null) return [];
  const { hooks, statusLine, worktree } = content;
  // Some write the servers of their own file without a key around them.
  const mcpServers = content.mcpServers ?? (basename(source) === '.mcp.json' ? content : undefined);
  const setup = isObject(worktree) ? worktree.setup : undefined;
  const found: [PartKind, unknown][] = [
    ['hooks', hooks],
    ['mcp', mcpServers],
    ['status line', statusLine],
    ['setup', setup],
  ];
  return found.flatMap(([kind, value]) => (isNothing(value) ? [] : [{ kind, source, value }]));
}

function isNothing(value: unknown): boolean {
  return value === undefined || (isObject(value) && Object.keys(value).length === 0);
}

function agentParts(place: PartsPlace): FolderPart[] {
  const found = extensionFolders({ ...place, managed: [], plugins: [] }, 'agents').filter(
    ({ source }) => source === 'project',
  );
  return found
    .flatMap((folder) => scanFolder(folder, AGENT_FILES).files)
    .flatMap(({ path }): FolderPart[] => {
      try {
        return [{ kind: 'agent', source: path, value: readFileSync(path, 'utf8') }];
      } catch {
        return [];
      }
    });
}

function readObject(path: string): Record<string, unknown> | null {
  try {
    const text = readFileSync(path, 'utf8').replace(/^\ufeff/, '');
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
