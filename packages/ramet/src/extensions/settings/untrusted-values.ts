/**
 * What a folder's settings may do before the user trusts the folder (SEC-1): narrow, never widen. Rules that
 * refuse or ask count. Rules that allow, wider modes and higher limits do not, nor does what leads the
 * conversation or the environment elsewhere, nor prices, which could make a limit in dollars meaningless.
 */
import { keyText, type SettingValue, UNTRUSTED } from './setting-value.ts';
import type { Settings } from './settings.ts';

/** From narrow to wide; a mode not listed counts as the widest. */
const MODES: readonly string[] = ['plan', 'dontAsk', 'default', 'acceptEdits', 'bypassPermissions'];

const WITHHELD: ReadonlySet<string> = new Set(['provider', 'env', 'prices']);

/** `otherwise` are the settings that would hold without this folder. */
export function withholdUntrusted(values: readonly SettingValue[], otherwise: Settings): SettingValue[] {
  return values.map((value) =>
    value.unused === null && widens(value, otherwise) ? { ...value, unused: UNTRUSTED } : value,
  );
}

function widens({ path, value }: SettingValue, { budget, maxTurns, limits, permissions }: Settings): boolean {
  if (WITHHELD.has(path[0] ?? '')) return true;
  switch (keyText(path)) {
    case 'permissions.allow':
      return true;
    case 'permissions.defaultMode':
      return widthOf(value) > Math.min(widthOf(permissions?.defaultMode ?? 'default'), widthOf('default'));
    case 'budget.usd':
      return isHigher(value, budget?.usd);
    case 'budget.tokens':
      return isHigher(value, budget?.tokens);
    case 'budget.seconds':
      return isHigher(value, budget?.seconds);
    case 'maxTurns':
      return isHigher(value, maxTurns);
    case 'limits.concurrentRequests':
      return isHigher(value, limits?.concurrentRequests);
    default:
      return false;
  }
}

function widthOf(mode: unknown): number {
  const width = MODES.indexOf(String(mode));
  return width === -1 ? MODES.length : width;
}

function isHigher(value: unknown, limit: number | undefined): boolean {
  return limit !== undefined && Number(value) > limit;
}
