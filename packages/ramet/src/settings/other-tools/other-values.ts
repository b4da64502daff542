/** Keys of another tool's settings that have a counterpart among Ramet's, and what of them can be taken. */
import { resolve } from 'node:path';
import { EFFORTS, SESSION_MODES } from '../../schema/status.ts';
import type { SettingsLevel, SettingValue } from '../setting-value.ts';
import type { OtherTools, ServerLimits } from './other-tools.ts';

interface Counterpart {
  readonly path: readonly string[];
  /** Undefined for what has none here. */
  read(value: unknown): unknown;
}

const TIERS: readonly string[] = ['haiku', 'sonnet', 'opus', 'fable'];

/** Their `[1m]` asks for a larger window, which a model has here or not. */
function modelOf(value: unknown): string | undefined {
  const name = typeof value === 'string' ? value.trim().replace(/\[1m\]$/i, '') : '';
  return TIERS.includes(name) || /^claude-[\w.-]+$/.test(name) ? name : undefined;
}

/** Nobody gets the widest mode from a file that was written for another tool. */
function modeOf(value: unknown): string | undefined {
  const mode = value === 'manual' ? 'default' : value;
  return mode === 'bypassPermissions' ? undefined : SESSION_MODES.find((one) => one === mode);
}

const COUNTERPARTS: Readonly<Record<string, Counterpart>> = {
  model: { path: ['model'], read: modelOf },
  fallbackModel: { path: ['fallbackModel'], read: modelOf },
  effortLevel: {
    path: ['effort'],
    read: (value) => (value === 'xhigh' ? 'high' : EFFORTS.find((one) => one === value)),
  },
  'permissions.defaultMode': { path: ['permissions', 'defaultMode'], read: modeOf },
  cleanupPeriodDays: {
    path: ['cleanupPeriodDays'],
    read: (value) => (typeof value === 'number' && value > 0 ? value : undefined),
  },
};
const DIRECTORIES = 'permissions.additionalDirectories';

/** They count once the folder is trusted, and always in the user's own file. */
export const WIDENING: readonly string[] = [
  ...Object.keys(COUNTERPARTS),
  ...[DIRECTORIES, 'enableAllProjectMcpServers'],
];

export interface OtherFile {
  readonly source: string;
  readonly level: SettingsLevel;
  readonly content: Readonly<Record<string, unknown>>;
  /** What a relative directory starts from. */
  readonly base: string;
  readonly home: string | null;
}

export interface TakenValues {
  readonly values: readonly SettingValue[];
  readonly directories: OtherTools['directories'];
  /** Keys that say what nothing here can be. */
  readonly refused: readonly string[];
}

export function takeValues({ source, level, content, base, home }: OtherFile): TakenValues {
  const values: SettingValue[] = [];
  const refused: string[] = [];
  for (const [key, { path, read }] of Object.entries(COUNTERPARTS)) {
    const given = keyOf(content, key);
    const value = read(given);
    if (value !== undefined)
      values.push({ source, level, line: null, path, value, isEntry: false, unused: null });
    else if (given !== undefined) refused.push(key);
  }
  const named = keyOf(content, DIRECTORIES);
  const paths = textsIn(named);
  if (named !== undefined && paths.length === 0) refused.push(DIRECTORIES);
  const absolute = (path: string): string =>
    home !== null && path.startsWith('~/') ? resolve(home, path.slice(2)) : resolve(base, path);
  return { values, directories: paths.map((path) => ({ path: absolute(path), source })), refused };
}

function keyOf(content: Readonly<Record<string, unknown>>, key: string): unknown {
  const [first = '', second] = key.split('.');
  return second === undefined ? content[first] : Object(content[first])[second];
}

/** They count always. */
export const LIMITING: readonly string[] = [
  'permissions.disableBypassPermissionsMode',
  ...['disableAllHooks', 'disabledMcpjsonServers', 'deniedMcpServers'],
  'enabledMcpjsonServers',
];

/** `isGiven`: what widens counts too. */
export function serverLimits(
  place: string,
  content: Readonly<Record<string, unknown>>,
  isGiven: boolean,
): ServerLimits | null {
  const { disabledMcpjsonServers, enabledMcpjsonServers, enableAllProjectMcpServers, deniedMcpServers } =
    content;
  const limits = {
    place,
    disabled: textsIn(disabledMcpjsonServers),
    enabled: textsIn(enabledMcpjsonServers),
    takesAll: isGiven && enableAllProjectMcpServers === true,
    denied: Array.isArray(deniedMcpServers) ? deniedMcpServers : [],
  };
  const { disabled, enabled, takesAll, denied } = limits;
  return takesAll || disabled.length + enabled.length + denied.length > 0 ? limits : null;
}

export function forbidsBypass(content: Readonly<Record<string, unknown>>): boolean {
  return keyOf(content, 'permissions.disableBypassPermissionsMode') === 'disable';
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string' && one !== '') : [];
}
