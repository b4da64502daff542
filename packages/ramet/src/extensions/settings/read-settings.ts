/**
 * The settings of a place (EXT-1): three files, the nearest first: `.ramet/settings.local.json` and
 * `.ramet/settings.json` of the repository, `settings.json` of `$RAMET_HOME`.
 *
 * 1. The folder's two files count in full only when the folder is trusted: a cloned repository can hold both.
 * 2. A bad file gives no values at all. What follows from that is for `settings-problems.ts` to say.
 * 3. Where no file exists, nothing is loaded to read one: most starts end there.
 */
import { realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isRepositoryTrusted, type SettingsPlace } from './repository-trust.ts';
import {
  assembleSettings,
  joinLevels,
  type SettingsLevel,
  type SettingValue,
  settingValues,
} from './setting-value.ts';
import type { Settings } from './settings.ts';
import type { SettingsFile } from './settings-file.ts';

export interface SettingsReport {
  settings: Settings;
  /** Every value, also those that do not count, from the farthest level to the nearest. */
  values: SettingValue[];
  files: SettingsFile[];
}

export interface OuterLevels {
  /** What holds where nobody set anything. */
  defaults: Settings;
  /** What variables of the environment say; nearer than any file. */
  environment?: readonly SettingValue[];
}

export async function readSettings(place: SettingsPlace, outer: OuterLevels): Promise<SettingsReport> {
  const { defaults, environment = [] } = outer;
  const files = await readFiles(settingsPaths(place));
  const fallbacks = settingValues(defaults, () => ({ level: 'default', source: null, line: null }));
  if (files.every(({ state }) => state === 'absent') && environment.length === 0)
    return { settings: defaults, values: fallbacks, files };
  const own = [fallbacks, valuesOf(files, ['user'])];
  const theirs = valuesOf(files, ['repository', 'local']);
  const judged = theirs.length === 0 || isTrustedPlace(place) ? theirs : await withheld(theirs, own);
  const values = joinLevels([...own, judged, environment]);
  return { settings: await parsed(values), values, files };
}

/** Whether the folder's own settings count in full. */
export function isTrustedPlace(place: SettingsPlace): boolean {
  return isHome(place) || isRepositoryTrusted(place);
}

function settingsPaths(place: SettingsPlace): [SettingsLevel, string][] {
  const folder = join(place.root, '.ramet');
  const user = join(place.home, 'settings.json');
  const local = join(folder, 'settings.local.json');
  if (isHome(place))
    return [
      ['user', user],
      ['local', local],
    ];
  return [
    ['user', user],
    ['repository', join(folder, 'settings.json')],
    ['local', local],
  ];
}

/** In the home directory the folder's `.ramet` and `$RAMET_HOME` may be one: then it is the user's own. */
function isHome({ home, root }: SettingsPlace): boolean {
  const folder = join(root, '.ramet');
  return folder === home || realOrSame(folder) === realOrSame(home);
}

function realOrSame(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

async function readFiles(paths: readonly [SettingsLevel, string][]): Promise<SettingsFile[]> {
  if (!paths.some(([, path]) => mayExist(path)))
    return paths.map(([level, path]) => ({ level, path, state: 'absent', problems: [], values: [] }));
  const { readSettingsFile } = await import('./settings-file.ts');
  return Promise.all(paths.map(([level, path]) => readSettingsFile(level, path)));
}

/** A path that cannot even be looked at counts as there: it is not to be passed over in silence. */
function mayExist(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

function valuesOf(files: readonly SettingsFile[], levels: readonly SettingsLevel[]): SettingValue[] {
  return files.filter(({ level }) => levels.includes(level)).flatMap(({ values }) => values);
}

async function withheld(
  theirs: readonly SettingValue[],
  own: readonly (readonly SettingValue[])[],
): Promise<SettingValue[]> {
  const { withholdUntrusted } = await import('./untrusted-values.ts');
  return withholdUntrusted(theirs, await parsed(joinLevels(own)));
}

/** Every value was checked in its file, so the whole is checked only to become typed. */
async function parsed(values: readonly SettingValue[]): Promise<Settings> {
  const { settingsSchema } = await import('./settings-schema.ts');
  return settingsSchema.parse(assembleSettings(values));
}
