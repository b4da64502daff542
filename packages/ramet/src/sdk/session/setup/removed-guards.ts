/**
 * Hooks that check calls, of a trusted folder whose settings have them no longer as they were trusted. Anybody who may edit the
 * settings could switch a guard off, so it stays until the user trusts the folder as it is now: it does not run, and each call that it
 * checks is a question (SEC-1).
 */
import { lstatSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { type HookEntry, isObject } from '../../../extensions/hooks/hook-config.ts';
import { partsOfSettings } from '../../../extensions/trust/collect-parts.ts';
import { decidesCalls } from '../../../extensions/trust/commands-in.ts';
import {
  type FolderPart,
  folderOf,
  ownDigest,
  partKey,
  readPartKey,
} from '../../../extensions/trust/folder-part.ts';
import { folderTrust } from '../../../extensions/trust/folder-trust.ts';
import { type OtherTools, shownPath } from '../../../settings/other-tools/other-tools.ts';
import type { SettingsPlace } from '../../../settings/settings.ts';
import { formerTrust } from '../../../system/former-trust.ts';
import { trustedEntry, trustedTexts, trustStamp } from '../../../system/trust.ts';

export interface RemovedGuards {
  readonly hooks: readonly HookEntry[];
  /** One line for each file that has no hooks any more, turns hooks off or cannot be used; of changed hooks another line tells. */
  readonly notices: readonly string[];
}

/** What of the settings decides whether their hooks run. */
export interface GuardSettings extends Pick<OtherTools, 'stopping' | 'isStopped'> {
  /** Files that this session takes hooks from. */
  readonly inForce: ReadonlySet<string>;
}

export function removedGuards(
  place: SettingsPlace,
  { inForce, stopping, isStopped }: GuardSettings,
): RemovedGuards {
  const isOff = isStopped || stopping.some((path) => mayStop(path, place));
  const lost = Object.keys(trustedEntry(place)?.parts ?? {})
    .filter((key) => key.startsWith('hooks ') && isRead(resolve(place.root, readPartKey(key).source), place))
    .flatMap((key) => {
      const part = currentPart(key, place);
      const [stopper] = isOfOtherTool(part.source) ? stopping : [];
      if (isOff && isOfOtherTool(part.source)) return [];
      const isSame = isAsTrusted(part, place);
      if (isSame && inForce.has(part.source)) return [];
      const loss = stopper !== undefined ? 'stopped' : isSame ? 'unusable' : 'changed';
      const value = guardsIn(parsed(trustedTexts(place)[key]?.text));
      // What is wrong with the file another line tells.
      if (loss === 'unusable' && value === null) return [];
      return [{ key, part, loss, value, path: stopper ?? part.source } as const];
    });
  const shown = (path: string): string => shownPath(path, place.root, place.userHome);
  const reasons = {
    stopped: (path: string) => `disableAllHooks in ${shown(path)} is ${NOT_TRUSTED}`,
    changed: (path: string) => `the hooks of ${shown(path)} are ${NOT_TRUSTED}`,
    unusable: (path: string) => `${shown(path)} ${UNUSABLE}`,
  };
  const lines = {
    stopped: 'disableAllHooks, which you did not trust, turns off hooks that you trusted',
    changed: 'its hooks are gone, and you trusted them',
    unusable: `it ${UNUSABLE}, and you trusted its hooks`,
  };
  // Of changed hooks another line tells.
  const told = lost.filter(({ loss, part }) => loss !== 'changed' || part.value === undefined);
  const notices = told.map(({ loss, path }) => {
    const guards = lost.some((one) => one.loss === loss && one.path === path && one.value !== null);
    return `${shown(path)}: ${lines[loss]}${guards ? CHECKED : ''} (${SHOWS})`;
  });
  return {
    hooks: lost.flatMap(({ key, part, loss, path, value }) => {
      const check = (): string => reasons[loss](path);
      const source = {
        label: shown(part.source),
        check,
        isOver: untilTrusted(key, loss === 'stopped' ? path : null, place),
      };
      return value === null ? [] : [{ value, source }];
    }),
    notices: [...new Set(notices)],
  };
}

export const CHECKED = '; calls that they checked are questions';
export const SHOWS = 'ramet trust --show shows the difference';
export const NOT_TRUSTED: string = `not what you trusted (${SHOWS})`;
const UNUSABLE = 'cannot be used as it is';

export function isOfOtherTool(path: string): boolean {
  return basename(dirname(path)) === '.claude';
}

/** It said that it turns hooks off when it was trusted. */
function mayStop(source: string, place: SettingsPlace): boolean {
  const part = partsOfSettings(source).find(({ kind }) => kind === 'rights');
  if (part === undefined || Object(part.value).disableAllHooks !== true) return false;
  if (folderTrust(place).verdictOn(part) === 'trusted') return true;
  const before = parsed(trustedTexts(place)[partKey(part, place.root)]?.text);
  return before?.disableAllHooks === true;
}

/** A settings file that this session reads. */
export function isRead(path: string, { root, folders = [], sources }: SettingsPlace): boolean {
  if (![root, ...folders].includes(folderOf(path))) return false;
  const isLocal = path.endsWith('.local.json');
  // Git takes such a file into no other worktree.
  if (isLocal && isLinked(root)) return false;
  return sources === undefined || sources.includes(isLocal ? 'local' : 'project');
}

function isLinked(root: string): boolean {
  return lstatSync(resolve(root, '.git'), { throwIfNoEntry: false })?.isFile() === true;
}

/** As it is now; its value is undefined where there are no hooks. */
function currentPart(key: string, { root }: SettingsPlace): FolderPart {
  const source = resolve(root, readPartKey(key).source);
  const found = partsOfSettings(source).find(({ kind }) => kind === 'hooks');
  return found ?? { kind: 'hooks', source, value: undefined };
}

function isAsTrusted(part: FolderPart, place: SettingsPlace): boolean {
  return folderTrust(place).verdictOnOwn(part, ownDigest(part)) === 'trusted';
}

/**
 * Trust that is given meanwhile counts at once. Hooks that it is given to run in the next session: this one has not read them, so it
 * asks on.
 */
function untilTrusted(key: string, stopper: string | null, place: SettingsPlace): () => boolean {
  let stamp = trustStamp(place);
  let isOver = false;
  return () => {
    const now = trustStamp(place);
    if (now === stamp) return isOver;
    stamp = now;
    const part = currentPart(key, place);
    const isWithout = stopper === null ? guardsIn(part.value) === null : mayStop(stopper, place);
    const isForgotten = trustedEntry(place)?.parts?.[key] === undefined && formerTrust(place).length === 0;
    isOver = isForgotten || (isWithout && isAsTrusted(part, place));
    return isOver;
  };
}

/** Null for none. Where it is not known any more what they were, they checked every call. */
export function guardsIn(hooks: unknown): Record<string, unknown> | null {
  if (!isObject(hooks)) return hooks === null ? UNKNOWN_GUARDS : null;
  const guards = Object.entries(hooks).filter(
    ([event, groups]) => decidesCalls(event) && !(Array.isArray(groups) && groups.length === 0),
  );
  return guards.length === 0 ? null : Object.fromEntries(guards);
}

const UNKNOWN_GUARDS = {
  PreToolUse: [{ hooks: [{ type: 'command', command: 'a hook whose text is not known any more' }] }],
};

export function parsed(text = ''): Record<string, unknown> | null {
  try {
    return Object(JSON.parse(text));
  } catch {
    return null;
  }
}
