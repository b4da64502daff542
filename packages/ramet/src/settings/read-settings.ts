/**
 * The settings of a place (EXT-1): the machine's managed settings, which win, those of the command line, and three files,
 * the nearest first: `.ramet/settings.local.json` and `.ramet/settings.json` of the repository, `settings.json` of `$RAMET_HOME`.
 *
 * 1. The folder's two files count in full only when the folder is trusted: a cloned repository can hold both.
 * 2. A bad file gives no values at all. `settings-notices.ts` says what follows.
 * 3. Where no file exists, nothing is loaded to read one: most starts end there.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { SETTINGS_SOURCES, type SettingsSource } from '../schema/status.ts';
import { brokenWay, existingPath } from '../system/landing-path.ts';
import { isTrusted as isTrustedRoot } from '../system/trust.ts';
import { NOTHING, type OtherTools } from './other-tools/other-tools.ts';
import {
  assembleSettings,
  BARE,
  joinLevels,
  NOT_MANAGED,
  POLICY_HOOKS,
  POLICY_MODELS,
  POLICY_PLUGINS,
  POLICY_RULES,
  POLICY_SERVERS,
  type SettingsLevel,
  type SettingValue,
  settingValues,
  UNTRUSTED,
} from './setting-value.ts';
import type { Settings, SettingsPlace } from './settings.ts';
import type { SettingsFile } from './settings-file.ts';

export interface SettingsReport {
  settings: Settings;
  /** Every value, also those that do not count, from the farthest level to the nearest. */
  values: SettingValue[];
  files: SettingsFile[];
  /** Whether the folder's own files count in full. */
  isTrusted: boolean;
  /** What managed policy sets. */
  managed: Settings;
}

export interface OuterLevels {
  /** What holds where nobody set anything. */
  defaults: Settings;
  /**
   * What variables of the environment say; nearer than any file. Absent where only the settings are wanted: then
   * the values of a place without files are not listed.
   */
  environment?: readonly SettingValue[];
  /** Of other tools' settings. */
  others?: Pick<OtherTools, 'values' | 'forbidden'>;
}

export async function readSettings(place: SettingsPlace, outer: OuterLevels): Promise<SettingsReport> {
  const { defaults, environment, others = NOTHING } = outer;
  const files = await readFiles(place);
  const isEmpty =
    files.every(({ state }) => state === 'absent') && others.values.length === 0 && !place.isBare;
  if (environment === undefined && isEmpty && others.forbidden.length === 0)
    return { settings: defaults, values: [], files, isTrusted: true, managed: {} };
  const fallbacks = settingValues(defaults, () => ({ level: 'default', source: null, line: null }));
  const users = others.values.filter(({ level }) => level === 'user');
  const own = [fallbacks, users, valuesOf(files, ['user'])];
  const theirs = valuesOf(files, ['repository', 'local']);
  const isTrusted = theirs.length === 0 || isTrustedPlace(place);
  const commandLine = [...valuesOf(files, ['command line']), ...(place.isBare ? [NO_MEMORY] : [])];
  const judged = await withheld(theirs, own, isTrusted ? await changedFiles(files, place) : null);
  const managed = valuesOf(files, ['managed']);
  const borrowed = await modesWithin(
    others.values.filter((value) => !users.includes(value)),
    own,
  );
  // What Ramet's own files say comes before what any file of another tool says.
  const found = [users, borrowed, valuesOf(files, ['user']), judged];
  const kept = place.isBare ? found.map((level) => level.map(withoutFound)) : found;
  const levels = [fallbacks, ...kept, commandLine, environment ?? []];
  const below = levels.map((level) => underPolicy(level, managed));
  const values = joinLevels([...below, managed, others.forbidden]);
  return { settings: await parsed(values), values, files, isTrusted, managed: await parsed(managed) };
}

/** The settings that a program brings, under the managed policy of the machine. */
export async function managedSettings(given: Settings, folders: readonly string[]): Promise<SettingsReport> {
  const place: SettingsPlace = { root: '/', home: '/', userHome: null, managed: folders };
  const files = await filesAt(managedPaths(place), place);
  const values = valuesOf(files, ['managed']);
  if (values.length === 0) return { settings: given, values, files, isTrusted: true, managed: {} };
  const own = settingValues(given, () => ({ level: 'default', source: null, line: null }));
  const joined = joinLevels([underPolicy(own, values), values]);
  return {
    settings: await parsed(joined),
    values: joined,
    files,
    isTrusted: true,
    managed: await parsed(values),
  };
}

/** What `--bare` leaves out of files that were found. */
const RUN_OR_LOADED = ['hooks', 'mcpServers', 'plugins', 'statusLine'];
const NO_MEMORY: SettingValue = {
  ...{ level: 'command line', source: '--bare', line: null },
  ...{ path: ['memory', 'enabled'], value: false, isEntry: false, unused: null },
};

function withoutFound(value: SettingValue): SettingValue {
  const mayCount = value.unused === null || value.unused === UNTRUSTED;
  return mayCount && RUN_OR_LOADED.includes(value.path[0] ?? '') ? { ...value, unused: BARE } : value;
}

/** What other levels must not say. */
function underPolicy(values: readonly SettingValue[], managed: readonly SettingValue[]): SettingValue[] {
  const isOwn = (kind: string): boolean =>
    managed.some(({ path: [key, name], value }) => key === 'policy' && name === kind && value === 'managed');
  const [ownRules, ownServers, ownHooks] = [isOwn('allowRules'), isOwn('mcpServers'), isOwn('hooks')];
  const ownPlugins = isOwn('plugins');
  // Else another model would pass by the name of a tier that is allowed.
  const tiers = managed.flatMap(({ path: [key, name], value }) =>
    key === 'policy' && name === 'models' ? [value].flat() : [],
  );
  return values.map((value) => {
    const [key, name] = value.path;
    const isOpen = value.unused === null || value.unused === UNTRUSTED;
    // Trust would not help.
    if (isOpen && ownServers && key === 'mcpServers') return { ...value, unused: POLICY_SERVERS };
    if (isOpen && ownHooks && key === 'hooks') return { ...value, unused: POLICY_HOOKS };
    if (isOpen && ownPlugins && key === 'plugins') return { ...value, unused: POLICY_PLUGINS };
    if (value.unused !== null) return value;
    if (key === 'policy') return { ...value, unused: NOT_MANAGED };
    if (key === 'models' && tiers.includes(name)) return { ...value, unused: POLICY_MODELS };
    return ownRules && key === 'permissions' && name === 'allow' ? { ...value, unused: POLICY_RULES } : value;
  });
}

/** Whether the folder's own settings count in full. */
export function isTrustedPlace(place: SettingsPlace): boolean {
  return isHome(place) || isTrustedRoot(place);
}

function settingsPaths({ home, root, sources = SETTINGS_SOURCES }: SettingsPlace): [SettingsLevel, string][] {
  const paths: Record<SettingsSource, [SettingsLevel, string]> = {
    user: ['user', join(home, 'settings.json')],
    project: ['repository', join(root, '.ramet/settings.json')],
    local: ['local', join(root, '.ramet/settings.local.json')],
  };
  return SETTINGS_SOURCES.filter((source) => sources.includes(source)).map((source) => paths[source]);
}

function managedPaths({ managed = [] }: SettingsPlace): [SettingsLevel, string][] {
  return managed.map((folder) => ['managed', join(folder, 'settings.json')]);
}

/** The user's own folder, which nobody else writes. */
export function isOwnPlace(place: SettingsPlace): boolean {
  return isHome(place);
}

/** In the home directory the folder's `.ramet` and `$RAMET_HOME` may be one: then it is the user's own. */
function isHome({ home, root }: SettingsPlace): boolean {
  const folder = join(root, '.ramet');
  return folder === home || (existingPath(folder) ?? folder) === (existingPath(home) ?? home);
}

async function readFiles(place: SettingsPlace): Promise<SettingsFile[]> {
  const own = settingsPaths(place);
  const different = isHome(place) ? own.filter(([level]) => level !== 'repository') : own;
  const files = await filesAt([...different, ...managedPaths(place)], place);
  if (place.given === undefined) return files;
  const { readGivenSettings } = await import('./settings-file.ts');
  const { checkRules } = await import('./check-rules.ts');
  return [...files, checkRules(await readGivenSettings(place.given), place)];
}

async function filesAt(
  paths: readonly [SettingsLevel, string][],
  place: SettingsPlace,
): Promise<SettingsFile[]> {
  if (!paths.some(([level, path]) => mayExist(path, level === 'managed')))
    return paths.map(([level, path]) => ({ level, path, state: 'absent', problems: [], values: [] }));
  const { readSettingsFile } = await import('./settings-file.ts');
  const { checkRules } = await import('./check-rules.ts');
  const files = await Promise.all(paths.map(([level, path]) => readSettingsFile(level, path)));
  return files.map((file) => checkRules(file, place));
}

/** A path that cannot be checked counts as present, so that it is not ignored silently. */
function mayExist(path: string, needsFolder: boolean): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined || brokenWay(path, needsFolder) !== null;
  } catch {
    return true;
  }
}

function valuesOf(files: readonly SettingsFile[], levels: readonly SettingsLevel[]): SettingValue[] {
  return files.filter(({ level }) => levels.includes(level)).flatMap(({ values }) => values);
}

/** Files of a trusted folder that are not what was trusted. */
async function changedFiles(
  files: readonly SettingsFile[],
  place: SettingsPlace,
): Promise<ReadonlySet<string>> {
  const changed = new Set<string>();
  if (isHome(place)) return changed;
  for (const { level, path, values } of files) {
    const isTheirs = (level === 'repository' || level === 'local') && values.length > 0;
    if (isTheirs && (await place.isAsTrusted?.(path)) === false) changed.add(path);
  }
  return changed;
}

/** `changed` is null where the folder is not trusted: then all of its files are held back. */
async function withheld(
  theirs: readonly SettingValue[],
  own: readonly (readonly SettingValue[])[],
  changed: ReadonlySet<string> | null,
): Promise<readonly SettingValue[]> {
  if (changed?.size === 0) return theirs;
  const { withholdChanged, withholdUntrusted } = await import('./untrusted-values.ts');
  const otherwise = await parsed(joinLevels(own));
  if (changed === null) return withholdUntrusted(theirs, otherwise);
  return theirs.flatMap((value) =>
    changed.has(value.source ?? '') ? withholdChanged([value], otherwise) : [value],
  );
}

async function modesWithin(
  values: readonly SettingValue[],
  own: readonly (readonly SettingValue[])[],
): Promise<readonly SettingValue[]> {
  if (!values.some(({ path }) => path[0] === 'permissions')) return values;
  const { withholdWiderMode } = await import('./untrusted-values.ts');
  return withholdWiderMode(values, await parsed(joinLevels(own)));
}

/** Every value was checked in its file, so the whole is checked only to become typed. */
async function parsed(values: readonly SettingValue[]): Promise<Settings> {
  const { settingsSchema } = await import('./settings-schema.ts');
  return settingsSchema.parse(assembleSettings(values));
}
