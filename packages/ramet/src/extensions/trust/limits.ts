/**
 * What a settings file of a repository only narrows. It counts without trust, so that nobody is asked about more of it. What was there
 * when the user trusted the folder and is gone would widen rights, so it stays until the user trusts the folder as it is now (SEC-1).
 */
import { isObject } from '../hooks/hook-config.ts';

/** By their keys: lists whose entries each forbid something. */
const LISTS = {
  deny: ['permissions', 'deny'],
  ask: ['permissions', 'ask'],
  disabled: ['disabledMcpjsonServers'],
  denied: ['deniedMcpServers'],
} as const;

export interface Limits {
  readonly deny: readonly unknown[];
  readonly ask: readonly unknown[];
  readonly disabled: readonly unknown[];
  readonly denied: readonly unknown[];
  /** The only servers of `.mcp.json`; empty for all. */
  readonly enabled: readonly unknown[];
  readonly noBypass: boolean;
}

/** Null for none. */
export function limitsIn(content: unknown): Limits | null {
  const at = (...path: readonly string[]): unknown =>
    path.reduce((value: unknown, key) => (isObject(value) ? value[key] : undefined), content);
  const list = (...path: readonly string[]): unknown[] => {
    const value = at(...path);
    return Array.isArray(value) ? value : [];
  };
  const found = {
    ...{ deny: list(...LISTS.deny), ask: list(...LISTS.ask) },
    ...{ disabled: list(...LISTS.disabled), denied: list(...LISTS.denied) },
    enabled: list('enabledMcpjsonServers'),
    noBypass: at('permissions', 'disableBypassPermissionsMode') === 'disable',
  };
  return isNone(found) ? null : found;
}

function isNone({ noBypass, ...lists }: Limits): boolean {
  return !noBypass && Object.values(lists).every((list) => list.length === 0);
}

/** As `limitsIn` gave them; null for a text that is none. */
export function readLimits(text: string): Limits | null {
  try {
    const { deny, ask, disabled, denied, enabled, noBypass } = JSON.parse(text);
    const lists = [deny, ask, disabled, denied, enabled];
    return lists.every(Array.isArray)
      ? { deny, ask, disabled, denied, enabled, noBypass: noBypass === true }
      : null;
  } catch {
    return null;
  }
}

/** What of them is not there now; null for nothing. */
export function lostLimits(before: Limits, now: Limits | null): Limits | null {
  const missing = (list: keyof typeof LISTS): unknown[] => {
    const kept = new Set(now?.[list].map((one) => JSON.stringify(one)));
    return before[list].filter((one) => !kept.has(JSON.stringify(one)));
  };
  const isOpened = before.enabled.length > 0 && (now?.enabled ?? []).length === 0;
  const lost = {
    ...{
      deny: missing('deny'),
      ask: missing('ask'),
      disabled: missing('disabled'),
      denied: missing('denied'),
    },
    enabled: isOpened ? before.enabled : [],
    noBypass: before.noBypass && now?.noBypass !== true,
  };
  return isNone(lost) ? null : lost;
}

/** One for each, as a settings file has it. */
export function limitLines({ deny, ask, disabled, denied, enabled, noBypass }: Limits): string[] {
  const named = {
    deny,
    ask,
    disabledMcpjsonServers: disabled,
    deniedMcpServers: denied,
    enabledMcpjsonServers: enabled,
  };
  const lines = Object.entries(named).flatMap(([key, list]) =>
    list.map((one) => `${key}: ${JSON.stringify(one)}`),
  );
  return [...lines, ...(noBypass ? ['disableBypassPermissionsMode: "disable"'] : [])];
}
