/**
 * Hooks that check calls, of a trusted folder whose settings have them no longer as they were trusted. Anybody who may edit the
 * settings could switch a guard off, so it stays until the user trusts the folder as it is now: it does not run, and each call that it
 * checks is a question (SEC-1).
 */
import { lstatSync } from 'node:fs';
import { resolve } from 'node:path';
import type { HookEntry } from '../../../extensions/hooks/hook-config.ts';
import { partsOfSettings } from '../../../extensions/trust/collect-parts.ts';
import { type FolderPart, folderOf, ownDigest, readPartKey } from '../../../extensions/trust/folder-part.ts';
import { folderTrust } from '../../../extensions/trust/folder-trust.ts';
import { shownPath } from '../../../settings/other-tools/other-tools.ts';
import type { SettingsPlace } from '../../../settings/settings.ts';
import { trustedEntry, trustedTexts, trustStamp } from '../../../system/trust.ts';

interface RemovedGuards {
  readonly hooks: readonly HookEntry[];
  /** One line for each file that has no hooks any more; of changed ones another line tells. */
  readonly notices: readonly string[];
}

export function removedGuards(place: SettingsPlace): RemovedGuards {
  const keys = Object.keys(trustedEntry(place)?.parts ?? {}).filter((key) => isRead(key, place));
  const found = keys.flatMap((key) => {
    const part = currentPart(key, place);
    if (isAsTrusted(part, place)) return [];
    const label = shownPath(part.source, place.root, place.userHome);
    const value = guardsIn(trustedTexts(place)[key]?.text);
    const source = { label, check: () => `they are ${NOT_TRUSTED}`, isOver: untilTrusted(key, place) };
    const checks = value === null ? '' : '; calls that they checked are questions';
    const notice = `${label}: its hooks are gone, and you trusted them${checks} (${SHOWS})`;
    return [{ value, source, notices: part.value === undefined ? [notice] : [] }];
  });
  return {
    hooks: found.flatMap(({ value, source }) => (value === null ? [] : [{ value, source }])),
    notices: found.flatMap(({ notices }) => notices),
  };
}

const SHOWS = 'ramet trust --show shows the difference';
const NOT_TRUSTED = `not what you trusted (${SHOWS})`;

/** Of a settings file that this session reads. */
function isRead(key: string, { root, folders = [], sources }: SettingsPlace): boolean {
  const { kind, source } = readPartKey(key);
  const path = resolve(root, source);
  if (kind !== 'hooks' || ![root, ...folders].includes(folderOf(path))) return false;
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

/** Trust that is given meanwhile counts at once. */
function untilTrusted(key: string, place: SettingsPlace): () => boolean {
  let stamp = trustStamp(place);
  let isOver = false;
  return () => {
    const now = trustStamp(place);
    if (now === stamp) return isOver;
    stamp = now;
    const known = trustedEntry(place)?.parts?.[key];
    isOver = known === undefined || isAsTrusted(currentPart(key, place), place);
    return isOver;
  };
}

/** Null for none. Where it is not known any more what they were, they checked every call. */
function guardsIn(text: string | undefined): Record<string, unknown> | null {
  const { PreToolUse, PermissionRequest } = parsed(text);
  const guards = Object.entries({ PreToolUse, PermissionRequest }).filter(
    ([, groups]) => groups !== undefined,
  );
  return guards.length === 0 ? null : Object.fromEntries(guards);
}

function parsed(text = ''): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {
      PreToolUse: [{ hooks: [{ type: 'command', command: 'a hook whose text is not known any more' }] }],
    };
  }
}
