/**
 * What a repository and a user have set up for Claude Code. What only narrows counts here too, also before the folder is
 * trusted; of the rest what has a counterpart, once it is. Everything else that is found is named, since nobody should
 * believe that it works here. What stays silent is never a deny rule: a file that cannot be read says that its rules do
 * not count.
 *
 * Where nothing of that exists, a start pays five looks at the disk, and one for each folder up to the repository's
 * root.
 */
import { lstatSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { SettingsSource } from '../../schema/status.ts';
import { CHANGED, UNTRUSTED } from '../setting-value.ts';
import type { SettingsPlace } from '../settings.ts';
import type { OtherFileRead } from './other-settings.ts';
import { NOTHING, type OtherTools, shownPath, type UnusedPart } from './other-tools.ts';

/** What Claude Code reads and Ramet does not; agents, skills, commands and rules are read. */
const OTHERS = ['plugins', 'output-styles', 'workflows', 'themes', 'keybindings.json', 'loop.md'];

export async function readOtherTools(place: SettingsPlace): Promise<OtherTools> {
  const found = await readFound(place);
  const kept = await place.keptLimits?.(found.rules.map(({ place: file }) => file));
  if (kept === undefined) return found;
  return {
    ...found,
    rules: [...found.rules, ...kept.rules],
    servers: [...found.servers, ...kept.servers],
    forbidden: [...found.forbidden, ...kept.forbidden],
    problems: [...found.problems, ...kept.problems],
  };
}

async function readFound(place: SettingsPlace): Promise<OtherTools> {
  const { userHome, isBare = false } = place;
  const users = userHome === null || !takes(place, 'user') ? [] : [userHome];
  const folders = [...ownFolders(place), ...users].map((folder) => resolve(folder, '.claude'));
  const present = [...new Set(folders)].filter(exists);
  if (present.length === 0) return NOTHING;
  const read = await Promise.all(present.map((folder) => readFolder(folder, place)));
  const found = read.flat();
  const farthestFirst = read.toReversed().flat();
  const stopping = found.flatMap((file) => file.stopping);
  const isStopped = found.some((file) => file.isStopped);
  const isOff = ({ isUsers }: OtherFileRead): boolean => isStopped || (!isUsers && stopping.length > 0);
  return {
    stopping,
    isStopped,
    rules: found.flatMap(({ rules }) => rules),
    forbidden: found.flatMap(({ forbidden }) => forbidden),
    directories: found.flatMap(({ directories }) => directories),
    servers: found.flatMap(({ servers }) => servers),
    problems: found.flatMap(({ problems }) => problems),
    // The nearest wins.
    values: farthestFirst.flatMap(({ values }) => values),
    env: Object.assign({}, ...farthestFirst.map(({ env }) => env)),
    hooks: isBare ? [] : found.filter((file) => !isOff(file)).flatMap(({ hooks }) => hooks),
    statusLines: farthestFirst
      .filter((file) => !isBare && !isOff(file))
      .flatMap(({ statusLines }) => statusLines)
      .toReversed(),
    unused: found.flatMap((file) => [...file.unused, ...(isOff(file) ? switchedOff(file) : [])]),
  };
}

function switchedOff({ hooks, statusLines }: OtherFileRead): UnusedPart[] {
  return [
    ...hooks.map((source) => ({ what: 'hooks, turned off by disableAllHooks,', source })),
    ...statusLines.map((source) => ({ what: 'statusLine, turned off by disableAllHooks,', source })),
  ];
}

/** From the working directory up to the repository's root, as definitions of agents are found. */
function ownFolders({ root, folders }: SettingsPlace): readonly string[] {
  return folders ?? [root];
}

/** Up to `top`, both included. */
export function foldersUpTo(cwd: string, top: string): string[] {
  const folders = [cwd];
  for (let folder = cwd; folder !== top && folder !== dirname(folder); ) {
    folder = dirname(folder);
    folders.push(folder);
  }
  return folders;
}

/** In one line; `ramet settings` has all. */
const MOST_NAMED = 6;

/** For the start of a session: one line for what does nothing here, and one for each rule that does not count. */
export function otherToolsNotices(
  { unused, problems }: OtherTools,
  { root, userHome }: SettingsPlace,
): string[] {
  const named = (parts: readonly UnusedPart[]): string => {
    const names = parts.slice(0, MOST_NAMED).map(({ what, source }) => {
      const shown = shownPath(source, root, userHome);
      return shown.endsWith(what) ? shown : `${what} in ${shown}`;
    });
    const more = parts.length - names.length;
    return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  };
  const waiting = unused.filter(({ needsTrust }) => needsTrust === UNTRUSTED);
  const changed = unused.filter(({ needsTrust }) => needsTrust === CHANGED);
  const idle = unused.filter(({ needsTrust }) => !needsTrust);
  return [
    ...problems,
    ...(waiting.length === 0
      ? []
      : [`not applied before you trust this folder (ramet trust): ${named(waiting)}`]),
    ...(changed.length === 0
      ? []
      : [
          `not what you trusted, and not applied (ramet trust --show shows the difference): ${named(changed)}`,
        ]),
    ...(idle.length === 0
      ? []
      : [`set up for Claude Code and without effect in Ramet: ${named(idle)} (see ramet settings)`]),
  ];
}

function takes({ sources }: SettingsPlace, source: SettingsSource): boolean {
  return sources?.includes(source) ?? true;
}

/** Its files, the nearer one second, and what else lies in the folder. */
async function readFolder(folder: string, place: SettingsPlace): Promise<readonly OtherFileRead[]> {
  const isOwn = ownFolders(place).some((own) => folder === resolve(own, '.claude'));
  const isUsers = place.userHome !== null && folder === resolve(place.userHome, '.claude');
  const files = [
    ...(takes(place, isUsers ? 'user' : 'project') ? ['settings.json'] : []),
    ...(isOwn && takes(place, 'local') ? ['settings.local.json'] : []),
  ]
    .map((name) => join(folder, name))
    .filter(exists);
  const left = isUsers && !isOwn ? [...OTHERS, 'settings.local.json'] : OTHERS;
  const unused = left
    .filter((name) => exists(join(folder, name)))
    .map((what) => ({
      what,
      source: join(folder, what),
    }));
  const rest = { ...NOTHING, unused, isUsers: false };
  if (files.length === 0) return [rest];
  const { readOtherSettings } = await import('./other-settings.ts');
  return [...(await Promise.all(files.map((file) => readOtherSettings(file, place)))), rest];
}

/** A path that cannot be checked, or a link to nothing, counts as present, so that it is not ignored silently. */
function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
