/**
 * The settings of a place (EXT-1): the machine's managed settings, which win, and three files, the nearest first:
 * `.ramet/settings.local.json` and `.ramet/settings.json` of the repository, `settings.json` of `$RAMET_HOME`.
 *
 * 1. The folder's two files count in full only when the folder is trusted: a cloned repository can hold both.
 * 2. A bad file gives no values at all. `refuseBadSettings` and `settingsNotices` say what follows.
 * 3. Where no file exists, nothing is loaded to read one: most starts end there.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { UserMistake } from '../schema/errors.ts';
import { existingPath } from '../system/landing-path.ts';
import { isTrusted as isTrustedRoot } from '../system/trust.ts';
import {
  assembleSettings,
  BAD_RULE,
  CHANGED,
  isBinding,
  joinLevels,
  keyText,
  NOT_MANAGED,
  POLICY_HOOKS,
  POLICY_PLUGINS,
  POLICY_RULES,
  POLICY_SERVERS,
  placeOf,
  type SettingsLevel,
  type SettingValue,
  settingValues,
  UNKNOWN_KEY,
  UNTRUSTED,
} from './setting-value.ts';
import type { Settings, SettingsPlace } from './settings.ts';
import type { SettingsFile, SettingsProblem } from './settings-file.ts';

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
}

export async function readSettings(place: SettingsPlace, outer: OuterLevels): Promise<SettingsReport> {
  const { defaults, environment } = outer;
  const files = await readFiles(place);
  if (environment === undefined && files.every(({ state }) => state === 'absent'))
    return { settings: defaults, values: [], files, isTrusted: true, managed: {} };
  const fallbacks = settingValues(defaults, () => ({ level: 'default', source: null, line: null }));
  const own = [fallbacks, valuesOf(files, ['user'])];
  const theirs = valuesOf(files, ['repository', 'local']);
  const isTrusted = theirs.length === 0 || isTrustedPlace(place);
  const judged = await withheld(theirs, own, isTrusted ? await changedFiles(files, place) : null);
  const managed = valuesOf(files, ['managed']);
  const below = [...own, judged, environment ?? []].map((level) => underPolicy(level, managed));
  const values = joinLevels([...below, managed]);
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

/** What other levels must not say. */
function underPolicy(values: readonly SettingValue[], managed: readonly SettingValue[]): SettingValue[] {
  const isOwn = (kind: string): boolean =>
    managed.some(({ path: [key, name], value }) => key === 'policy' && name === kind && value === 'managed');
  const [ownRules, ownServers, ownHooks] = [isOwn('allowRules'), isOwn('mcpServers'), isOwn('hooks')];
  const ownPlugins = isOwn('plugins');
  return values.map((value) => {
    const [key, name] = value.path;
    const isOpen = value.unused === null || value.unused === UNTRUSTED;
    // Trust would not help.
    if (isOpen && ownServers && key === 'mcpServers') return { ...value, unused: POLICY_SERVERS };
    if (isOpen && ownHooks && key === 'hooks') return { ...value, unused: POLICY_HOOKS };
    if (isOpen && ownPlugins && key === 'plugins') return { ...value, unused: POLICY_PLUGINS };
    if (value.unused !== null) return value;
    if (key === 'policy') return { ...value, unused: NOT_MANAGED };
    return ownRules && key === 'permissions' && name === 'allow' ? { ...value, unused: POLICY_RULES } : value;
  });
}

/** Whether the folder's own settings count in full. */
export function isTrustedPlace(place: SettingsPlace): boolean {
  return isHome(place) || isTrustedRoot(place);
}

function settingsPaths({ home, root }: SettingsPlace): [SettingsLevel, string][] {
  return [
    ['user', join(home, 'settings.json')],
    ['repository', join(root, '.ramet/settings.json')],
    ['local', join(root, '.ramet/settings.local.json')],
  ];
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
  return filesAt([...different, ...managedPaths(place)], place);
}

async function filesAt(
  paths: readonly [SettingsLevel, string][],
  place: SettingsPlace,
): Promise<SettingsFile[]> {
  if (!paths.some(([, path]) => mayExist(path)))
    return paths.map(([level, path]) => ({ level, path, state: 'absent', problems: [], values: [] }));
  const { readSettingsFile } = await import('./settings-file.ts');
  const { checkRules } = await import('./check-rules.ts');
  const files = await Promise.all(paths.map(([level, path]) => readSettingsFile(level, path)));
  return files.map((file) => checkRules(file, place));
}

/** A path that cannot be checked counts as present, so that it is not ignored silently. */
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

/** Every value was checked in its file, so the whole is checked only to become typed. */
async function parsed(values: readonly SettingValue[]): Promise<Settings> {
  const { settingsSchema } = await import('./settings-schema.ts');
  return settingsSchema.parse(assembleSettings(values));
}

const MOST_KEYS = 10;

/** `/home/u/.ramet/settings.json:3: maxTurns: expected number, received string`. */
export function problemText({ file, line, key, message }: SettingsProblem): string {
  return [line === null ? file : `${file}:${line}`, key, message].filter((part) => part !== null).join(': ');
}

/**
 * A bad file of the user stops the command, since it may contain a rule that refuses something. A bad file of the
 * repository is only ignored, or any repository could keep its readers from working. Either way a line says so.
 */
export function refuseBadSettings({ files }: SettingsReport): void {
  const bad = files.filter((file) => file.state === 'bad' && isBinding(file));
  const [first, ...more] = bad.flatMap(({ problems }) => problems);
  if (first === undefined) return;
  throw new UserMistake('bad_settings', `${problemText(first)}${andMore(more)}`);
}

/** One line for each thing that is not as its writer may think, none when all is well. */
export function settingsNotices({ files, values, isTrusted }: SettingsReport): string[] {
  return files.flatMap((file) => {
    if (file.state === 'bad' && !isBinding(file)) return [ignoredText(file)];
    const unused = (why: string): SettingValue[] =>
      values.filter(({ source, unused }) => source === file.path && unused?.startsWith(why));
    return [
      ...ruleNotice(unused(BAD_RULE)),
      ...noticeOf(file, unused(UNKNOWN_KEY), (keys) => `unknown, so ignored: ${keys}`),
      ...noticeOf(
        file,
        unused(UNTRUSTED),
        (keys) => `not applied before you trust this folder (ramet trust): ${keys}`,
      ),
      ...noticeOf(
        file,
        unused(CHANGED),
        (keys) => `not what you trusted, so not applied (ramet trust --show shows the difference): ${keys}`,
      ),
      ...noticeOf(file, unused(NOT_MANAGED), (keys) => `ignored, ${NOT_MANAGED}: ${keys}`),
      ...noticeOf(file, unused(POLICY_RULES), (keys) => `ignored, ${POLICY_RULES}: ${keys}`),
      ...noticeOf(file, unused(POLICY_PLUGINS), (keys) => `ignored, ${POLICY_PLUGINS}: ${keys}`),
      ...(isTrusted ? [] : chosenModels(file, values)),
    ];
  });
}

/** A folder may say which model suits it; who pays is told that it did. */
function chosenModels({ path, level }: SettingsFile, values: readonly SettingValue[]): string[] {
  if (level !== 'repository' && level !== 'local') return [];
  const chosen = values.filter(
    ({ source, unused, path: [key = ''] }) =>
      source === path && unused === null && ['model', 'fallbackModel', 'models'].includes(key),
  );
  const named = chosen.map(({ path: key, value }) => `${keyText(key)} ${JSON.stringify(value)}`);
  return named.length === 0
    ? []
    : [`${path}:${chosen[0]?.line}: this folder, which is not trusted, sets ${named.join(', ')}`];
}

function ignoredText({ problems }: SettingsFile): string {
  const [first, ...more] = problems;
  const text = first === undefined ? '' : problemText(first);
  return `${text}${andMore(more)}; the repository's settings are ignored`;
}

function ruleNotice([first, ...more]: readonly SettingValue[]): string[] {
  if (first === undefined) return [];
  return [`${placeOf(first)}: ${keyText(first.path)}: ${first.unused}${andMore(more)}; ignored`];
}

function andMore(more: readonly unknown[]): string {
  return more.length === 0 ? '' : ` (and ${more.length} more: see ramet settings)`;
}

function noticeOf(
  { path }: SettingsFile,
  values: readonly SettingValue[],
  text: (keys: string) => string,
): string[] {
  const keys = [...new Set(values.map((value) => keyText(value.path)))];
  const line = values[0]?.line;
  const named = `${keys.slice(0, MOST_KEYS).join(', ')}${andMore(keys.slice(MOST_KEYS))}`;
  return values.length === 0 ? [] : [`${path}:${line}: ${text(named)}`];
}
