/**
 * Settings taken apart into single values, each with where it came from. Levels are joined value by value: of a
 * scalar the nearest level's counts, lists grow by every level's entries. What does not count stays in the list
 * and says why, so that `ramet settings` can show it.
 */

const LONGEST = 60;

const LONGEST_LINE = 240;

/** In bytes: a larger file is not read as settings. */
export const LARGEST_SETTINGS: number = 1 << 20;

/** From the farthest to the nearest. */
const SETTINGS_LEVELS = [
  'default',
  'user',
  'repository',
  'local',
  'command line',
  'environment',
  'managed',
] as const;
export type SettingsLevel = (typeof SETTINGS_LEVELS)[number];

/** Whether a bad file of this level stops the command. */
export function isBinding({ level }: { level: SettingsLevel }): boolean {
  return level !== 'repository';
}

export interface SettingOrigin {
  level: SettingsLevel;
  /** The file, or the name of the variable; null where there is neither. */
  source: string | null;
  line: number | null;
}

export interface SettingValue extends SettingOrigin {
  /** `['prices', 'gpt-4.1', 'input']`; an entry of a list has the path of the list. */
  path: readonly string[];
  value: unknown;
  isEntry: boolean;
  /** Null for what counts; else why it does not. */
  unused: string | null;
}

/** Reasons why a value does not count, besides a nearer one. */
export const UNKNOWN_KEY = 'unknown key';
export const BAD_RULE = 'no rule';
export const UNTRUSTED = 'this folder is not trusted';
export const CHANGED = 'it is not what you trusted';
export const WIDER_MODE = 'wider than your own mode, and a folder chooses none';
export const BARE = '--bare leaves it out';
export const NOT_MANAGED = 'only managed policy may set it';
export const POLICY_MODELS = 'managed policy names this tier and says what it means';
export const POLICY_RULES = 'managed policy allows only its own rules';
export const POLICY_SERVERS = 'managed policy allows only its own MCP servers';
export const POLICY_HOOKS = 'managed policy allows only its own hooks';
export const POLICY_PLUGINS = 'managed policy allows only its own plugins';

type Located = (path: readonly PropertyKey[]) => SettingOrigin;

/** The values of one file or one level, in the order of the file. */
export function settingValues(settings: object, origin: Located): SettingValue[] {
  return valuesBelow(settings, [], origin);
}

function valuesBelow(value: unknown, path: readonly string[], origin: Located): SettingValue[] {
  if (value === undefined) return [];
  if (isWhole(path)) return [{ ...origin(path), path, value, isEntry: false, unused: null }];
  if (Array.isArray(value)) {
    // An event that nobody knows is a mistake, also before it has hooks.
    if (value.length === 0 && path[0] === 'hooks')
      return [{ ...origin(path), path, value, isEntry: false, unused: 'it is empty' }];
    return value.map((entry: unknown, index) => {
      return { ...origin([...path, index]), path, value: entry, isEntry: true, unused: null };
    });
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => valuesBelow(inner, [...path, key], origin));
  }
  return [{ ...origin(path), path, value, isEntry: false, unused: null }];
}

/** A server is one value: half of one level's and half of another's would be a program that nobody wrote down. */
function isWhole(path: readonly string[]): boolean {
  return path.length === 2 && path[0] === 'mcpServers';
}

/** Marks what a nearer level overrides. `levels` come from the farthest to the nearest. */
export function joinLevels(levels: readonly (readonly SettingValue[])[]): SettingValue[] {
  const all = levels.flat();
  const nearest = new Map<string, SettingValue>();
  for (const value of all) if (value.unused === null) nearest.set(identityOf(value), value);
  return all.map((value) => {
    const winner = nearest.get(identityOf(value));
    if (value.unused !== null || winner === undefined || winner === value) return value;
    return { ...value, unused: value.isEntry ? `also in ${placeOf(winner)}` : `set in ${placeOf(winner)}` };
  });
}

/** The settings that the values in use amount to. */
export function assembleSettings(values: readonly SettingValue[]): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  for (const { path, value, isEntry, unused } of values) {
    if (unused !== null) continue;
    const parent = path.slice(0, -1).reduce(branch, settings);
    const last = path.at(-1) ?? '';
    const present = parent[last];
    parent[last] = isEntry ? [...(Array.isArray(present) ? present : []), value] : value;
  }
  return settings;
}

function branch(parent: Record<string, unknown>, key: string): Record<string, unknown> {
  const present = parent[key];
  // Only `assembleSettings` puts objects here, and only plain ones.
  const next = typeof present === 'object' ? (present as Record<string, unknown>) : {};
  parent[key] = next;
  return next;
}

/** `prices["gpt-4.1"].input`. */
export function keyText(path: readonly PropertyKey[]): string {
  return path.map(String).reduce((text, key) => {
    if (!/^[\w$-]{1,60}$/.test(key)) return `${text}[${quoted(key)}]`;
    return text === '' ? key : `${text}.${key}`;
  }, '');
}

export function placeOf({ level, source, line }: SettingOrigin): string {
  if (source === null) return level;
  return line === null ? source : `${source}:${line}`;
}

function identityOf({ path, value, isEntry }: SettingValue): string {
  return JSON.stringify(isEntry ? [path, value] : path);
}

/** Text of a file for use in a message: in quotes, cut, and without control characters. */
export function quoted(text: string): string {
  return withoutControls(JSON.stringify(cut(text, LONGEST)));
}

/** A message that may repeat text of a file. */
export function shownLine(text: string): string {
  return withoutControls(cut(text, LONGEST_LINE));
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

function withoutControls(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}
