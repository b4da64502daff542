/**
 * What a folder's settings may do before the user trusts the folder (SEC-1): narrow, never widen. Rules that
 * refuse or ask count. Rules that allow, wider modes and higher limits do not, nor does what leads the
 * conversation or the environment elsewhere, nor commands, nor prices, which could make a limit in dollars meaningless.
 */
import { DEFAULT_OUTAGE_SECONDS } from '../model/rate/retry.ts';
import { MODES_BY_WIDTH } from '../permission/policy.ts';
import { CHANGED, keyText, type SettingValue, UNTRUSTED, WIDER_MODE } from './setting-value.ts';
import { BACKGROUND_LIMITS, type Settings } from './settings.ts';

const WITHHELD: ReadonlySet<string> = new Set([
  'provider',
  'env',
  'prices',
  'worktree',
  'cleanupPeriodDays',
  'retention',
  'memory',
  // They cost: more thinking is for the user to choose.
  'effort',
  'thinking',
  'merge',
  'operate',
  'plugins',
  'statusLine',
  'mcpServers',
  'mcp',
  'hooks',
]);

/** `otherwise` are the settings that would hold without this folder. */
export function withholdUntrusted(values: readonly SettingValue[], otherwise: Settings): SettingValue[] {
  return values.map((value) =>
    value.unused === null && widens(value, otherwise) ? { ...value, unused: UNTRUSTED } : value,
  );
}

/**
 * Every setting that holds a command or names code. A folder's do not count before trust, and not once they have changed.
 * `alone`: trust covers it by itself, with the files that it runs, and whether it counts is decided where it is used.
 * `rights`: it counts with the rest of its file.
 */
export const COMMAND_SETTINGS: Readonly<Record<string, 'alone' | 'rights'>> = {
  hooks: 'alone',
  mcpServers: 'alone',
  statusLine: 'alone',
  'worktree.setup': 'alone',
  plugins: 'alone',
  // It runs on the merged files, which agents wrote, so that no file of it can be bound.
  'merge.check': 'rights',
};

/** The same for a file of a trusted folder that is not what was trusted. */
export function withholdChanged(values: readonly SettingValue[], otherwise: Settings): SettingValue[] {
  return values.map((value) =>
    value.unused === null && !isJudgedAlone(value) && widens(value, otherwise)
      ? { ...value, unused: CHANGED }
      : value,
  );
}

/** Of another tool's files in a folder, which are trusted: they choose no mode that is wider than the user's own. */
export function withholdWiderMode(values: readonly SettingValue[], otherwise: Settings): SettingValue[] {
  const own = widthOf(otherwise.permissions?.defaultMode ?? 'default');
  return values.map((value) =>
    keyText(value.path) === 'permissions.defaultMode' && widthOf(value.value) > own
      ? { ...value, unused: WIDER_MODE }
      : value,
  );
}

function isJudgedAlone({ path }: SettingValue): boolean {
  return [path[0] ?? '', path.slice(0, 2).join('.')].some(
    (key) => Object.hasOwn(COMMAND_SETTINGS, key) && COMMAND_SETTINGS[key] === 'alone',
  );
}

function widens({ path, value }: SettingValue, otherwise: Settings): boolean {
  const { agents, budget, maxTurns, limits, permissions, sandbox } = otherwise;
  if (WITHHELD.has(path[0] ?? '')) return true;
  if (path[0] === 'background') return isMoreWork(path.slice(1).join('.'), value, otherwise);
  if (path[0] === 'agents')
    return isHigher(value, Object.entries(agents ?? {}).find(([key]) => key === path[1])?.[1]);
  switch (keyText(path)) {
    case 'permissions.allow':
    case 'sandbox.sockets':
      return true;
    case 'permissions.defaultMode':
      return widthOf(value) > Math.min(widthOf(permissions?.defaultMode ?? 'default'), widthOf('default'));
    case 'budget.usd':
      return isHigher(value, budget?.usd);
    case 'budget.tokens':
      return isHigher(value, budget?.tokens);
    case 'budget.seconds':
      return isHigher(value, budget?.seconds);
    case 'sandbox.readOnly':
      return heldness(value) < heldness(sandbox?.readOnly ?? 'auto');
    case 'sandbox.worktree':
      return heldness(value) < heldness(sandbox?.worktree ?? 'auto');
    case 'maxTurns':
      return isHigher(value, maxTurns);
    case 'limits.concurrentRequests':
      return isHigher(value, limits?.concurrentRequests);
    case 'limits.waitSeconds':
      return isHigher(value, limits?.waitSeconds);
    case 'limits.outageSeconds':
      return isHigher(value, limits?.outageSeconds ?? DEFAULT_OUTAGE_SECONDS);
    // Short ones would have requests sent, and paid, again and again.
    case 'limits.silenceSeconds':
    case 'limits.stallSeconds':
    // They are about all work on the machine.
    case 'limits.heavyCommands':
    case 'limits.countAsHeavy':
      return true;
    default:
      return false;
  }
}

/** It is paid for by the user, who did not ask for it: only what makes it less counts. */
function isMoreWork(key: string, value: unknown, { background = {} }: Settings): boolean {
  switch (key) {
    case 'costShare':
      return isHigher(value, background.costShare ?? BACKGROUND_LIMITS.costShare);
    case 'speculation.sessionUsd':
      return isHigher(value, background.speculation?.sessionUsd ?? BACKGROUND_LIMITS.sessionUsd);
    case 'speculation.tryUsd':
      return isHigher(value, background.speculation?.tryUsd ?? BACKGROUND_LIMITS.tryUsd);
    default:
      return value !== false;
  }
}

/** A mode that is not known counts as the widest. */
function widthOf(mode: unknown): number {
  const modes: readonly unknown[] = MODES_BY_WIDTH;
  const width = modes.indexOf(mode);
  return width === -1 ? modes.length : width;
}

/** How much a sandbox is insisted on. */
function heldness(mode: unknown): number {
  const modes: readonly unknown[] = ['off', 'auto', 'required'];
  return modes.indexOf(mode);
}

function isHigher(value: unknown, limit: unknown): boolean {
  return limit !== undefined && Number(value) > Number(limit);
}
