/**
 * What a repository and a user have set up for Claude Code. Rules that deny or ask only narrow, so they count here too,
 * also before the folder is trusted. Everything else that is found is named, since nobody should believe that a hook or
 * a server works here. What stays silent is never a deny rule: a file that cannot be read says that its rules do not count.
 *
 * Where nothing of that exists, a start pays four looks at the disk.
 */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { SettingsPlace } from '../settings/settings-place.ts';
import { type OtherTools, shownPath } from './other-tools.ts';

const NOTHING: OtherTools = { rules: [], unused: [], problems: [] };

/** Folders with things that are read by Claude Code and not here; `agents` is read. */
const FOLDERS = ['commands', 'skills', 'rules', 'hooks', 'plugins', 'output-styles'];

export async function readOtherTools(place: SettingsPlace): Promise<OtherTools> {
  const { root, userHome } = place;
  const beside = ['.mcp.json', 'CLAUDE.local.md'].filter((name) => exists(join(root, name)));
  const folders = [join(root, '.claude'), ...(userHome === null ? [] : [join(userHome, '.claude')])];
  const present = [...new Set(folders.map((folder) => resolve(folder)))].filter(exists);
  if (beside.length === 0 && present.length === 0) return NOTHING;
  const found = await Promise.all(present.map((folder) => readFolder(folder, place)));
  return {
    rules: found.flatMap(({ rules }) => rules),
    unused: [
      ...found.flatMap(({ unused }) => unused),
      ...beside.map((name) => ({ what: name, source: join(root, name) })),
    ],
    problems: found.flatMap(({ problems }) => problems),
  };
}

/** For the start of a session: one line for what does nothing here, and one for each rule that does not count. */
export function otherToolsNotices(
  { unused, problems }: OtherTools,
  { root, userHome }: SettingsPlace,
): string[] {
  const named = unused.map(({ what, source }) => {
    const shown = shownPath(source, root, userHome);
    return shown.endsWith(what) ? shown : `${what} in ${shown}`;
  });
  if (named.length === 0) return [...problems];
  return [
    ...problems,
    `set up for Claude Code and without effect in Ramet: ${named.join(', ')} (see ramet settings)`,
  ];
}

async function readFolder(folder: string, place: SettingsPlace): Promise<OtherTools> {
  const isOwn = folder === resolve(place.root, '.claude');
  const files = ['settings.json', ...(isOwn ? ['settings.local.json'] : [])]
    .map((name) => join(folder, name))
    .filter(exists);
  const unused = FOLDERS.filter((name) => exists(join(folder, name))).map((what) => ({
    what,
    source: join(folder, what),
  }));
  if (files.length === 0) return { ...NOTHING, unused };
  const { readOtherSettings } = await import('./other-settings.ts');
  const read = await Promise.all(files.map((file) => readOtherSettings(file, place)));
  return {
    rules: read.flatMap(({ rules }) => rules),
    unused: [...read.flatMap((file) => file.unused), ...unused],
    problems: read.flatMap(({ problems }) => problems),
  };
}

/** What cannot even be looked at counts as there: it is not to be passed over in silence. */
function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
