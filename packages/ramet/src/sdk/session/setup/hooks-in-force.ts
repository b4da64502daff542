/** Where the hooks of a session are set up, and which of them run. */
import type { HookEntry } from '../../../extensions/hooks/hook-config.ts';
import {
  isUsersFile,
  type OtherTools,
  shownPath,
  type UnusedPart,
} from '../../../settings/other-tools/other-tools.ts';
import type { SettingsReport } from '../../../settings/read-settings.ts';
import {
  assembleSettings,
  BARE,
  CHANGED,
  isBinding,
  POLICY_HOOKS,
  type SettingsLevel,
  UNTRUSTED,
} from '../../../settings/setting-value.ts';
import type { Settings, SettingsPlace } from '../../../settings/settings.ts';
import { keepLink } from '../../../system/former-trust.ts';
import { trustedEntry } from '../../../system/trust.ts';
import type { GuardSettings } from './removed-guards.ts';

interface FoundHooks {
  readonly hooks: readonly HookEntry[];
  /** One line for each place whose hooks do not run. */
  readonly notices: readonly string[];
}

/**
 * Hooks of all settings files: managed, the user's, then the folder's. Those of a folder run as they were trusted. Loads
 * nothing where no file has any.
 */
export async function hooksInForce(
  { values, settings }: Pick<SettingsReport, 'values' | 'settings'>,
  { hooks: others, ...rest }: Pick<OtherTools, 'hooks' | 'stopping' | 'isStopped'>,
  place: SettingsPlace,
): Promise<FoundHooks> {
  const levels = new Map(
    values.flatMap(({ path, source, level, unused }) =>
      path[0] === 'hooks' && source !== null && unused !== BARE ? [[source, level] as const] : [],
    ),
  );
  const ofCommandLine = values.filter(({ level, path }) => level === 'command line' && path[0] === 'hooks');
  const isUsers = (path: string): boolean => levels.get(path) === 'user' || isUsersFile(path, place.userHome);
  const all = [...levels.keys(), ...others];
  const isForbidden = (path: string): boolean =>
    settings.policy?.hooks === 'managed' && levels.get(path) !== 'managed';
  const paths = all.filter((path) => !isForbidden(path));
  const forbidden = all.filter(isForbidden).map((path) => shownPath(path, place.root, place.userHome));
  const notices =
    forbidden.length === 0 ? [] : [`${POLICY_HOOKS}; those of ${forbidden.join(', ')} do not run`];
  const removed = keepsNone(settings, place)
    ? NOTHING
    : await goneFrom(place, { ...rest, inForce: new Set(paths) });
  if (paths.length === 0) return { hooks: removed.hooks, notices: [...notices, ...removed.notices] };
  const { partsOfSettings } = await import('../../../extensions/trust/collect-parts.ts');
  const { filesNotice, folderTrust, partNotice } = await import('../../../extensions/trust/folder-trust.ts');
  const { ownDigest } = await import('../../../extensions/trust/folder-part.ts');
  const { allRun, runCheck } = await import('../../../extensions/trust/run-check.ts');
  const trust = folderTrust(place);
  const found = paths.flatMap((path) => {
    const label = shownPath(path, place.root, place.userHome);
    const level = levels.get(path);
    const isOwn = level === 'managed' || level === 'command line' || isUsers(path);
    // Settings of the command line may be no file.
    const parts =
      level === 'command line'
        ? [{ kind: 'hooks' as const, source: path, value: assembleSettings(ofCommandLine).hooks }]
        : partsOfSettings(path);
    return parts
      .filter(({ kind }) => kind === 'hooks')
      .map((part) => {
        if (isOwn)
          return { entry: { value: part.value, source: { label } }, notice: null, part, isUsed: true };
        const verdict = trust.verdictOn(part);
        // Only files have changed that some of them run: the others still guard, and each looks at its own.
        const isOnlyFiles = trust.verdictOnOwn(part, ownDigest(part)) === 'trusted';
        const isPartial = (verdict === 'changed' && isOnlyFiles) || verdict === 'followed';
        const isUsed = verdict === 'trusted' || isPartial;
        const check = isUsed ? runCheck(part, place, trust) : undefined;
        const notice =
          isPartial && check !== undefined
            ? filesNotice(label, verdict, allRun(part, check, place.folders?.[0] ?? place.root))
            : partNotice(part, label, verdict);
        const source = { label, check };
        return { entry: { value: part.value, source }, notice, part, isUsed };
      });
  });
  const { refuseMistakes, unusedNotice } = await import('./hook-mistakes.ts');
  refuseMistakes(found.map(({ part }) => part).filter(({ source }) => isBindingFile(levels.get(source))));
  return {
    hooks: [...found.flatMap(({ entry, isUsed }) => (isUsed ? [entry] : [])), ...removed.hooks],
    notices: [
      ...notices,
      ...removed.notices,
      ...found.flatMap(({ notice, part, entry }) => notice ?? unusedNotice(part, entry.source.label) ?? []),
    ],
  };
}

const NOTHING: FoundHooks = { hooks: [], notices: [] };

/** The user or the machine wants none of a folder, or trust is given for once. */
function keepsNone({ policy }: Settings, { isBare, isGiven }: SettingsPlace): boolean {
  return policy?.hooks === 'managed' || isBare === true || isGiven === true;
}

/** Guards of plugins that were trusted and do not run any more. */
export async function goneWithPlugins(
  { settings }: Pick<SettingsReport, 'settings'>,
  inForce: readonly string[],
  place: SettingsPlace,
): Promise<FoundHooks> {
  const parts = trustedEntry(place)?.parts ?? {};
  const isNone = keepsNone(settings, place) || settings.policy?.plugins === 'managed';
  if (isNone || !Object.keys(parts).some((key) => key.startsWith('plugin '))) return NOTHING;
  const { removedPlugins } = await import('./removed-plugins.ts');
  return removedPlugins(place, { named: settings.plugins ?? [], inForce });
}

/** Hooks that were trusted and are not there as they were, also of another repository that was here. */
async function goneFrom(place: SettingsPlace, settings: GuardSettings): Promise<FoundHooks> {
  const kinds = new Set(Object.keys(trustedEntry(place)?.parts ?? {}).map((key) => key.split(' ')[0]));
  if (['hooks', 'plugin', 'limits'].some((kind) => kinds.has(kind))) keepLink(place);
  const found: FoundHooks[] = [];
  if (kinds.has('hooks')) found.push((await import('./removed-guards.ts')).removedGuards(place, settings));
  for (const former of place.former ?? [])
    found.push((await import('./former-guards.ts')).formerGuards(place, former, settings));
  return { hooks: found.flatMap(({ hooks }) => hooks), notices: found.flatMap(({ notices }) => notices) };
}

/** Hooks that are set up and do not run here, with the reason, for reports. */
export async function unusedHooks(
  { values, settings }: Pick<SettingsReport, 'values' | 'settings'>,
  others: readonly string[],
  place: SettingsPlace,
): Promise<UnusedPart[]> {
  if (settings.policy?.hooks === 'managed')
    return others.map((source) => ({ what: `hooks: ${POLICY_HOOKS}`, source }));
  const own = values.filter(({ path, source }) => path[0] === 'hooks' && source !== null);
  const paths = [...new Set([...own.map(({ source }) => source ?? ''), ...others])];
  if (paths.length === 0) return [];
  const { readHooks } = await import('../../../extensions/hooks/hook-config.ts');
  const { partsOfSettings } = await import('../../../extensions/trust/collect-parts.ts');
  const { folderTrust } = await import('../../../extensions/trust/folder-trust.ts');
  const trust = folderTrust(place);
  const isTheirs = (path: string): boolean =>
    others.includes(path)
      ? !isUsersFile(path, place.userHome)
      : own.some(
          // Where the folder is not trusted, they are listed with the values that do not count.
          ({ source, level, unused }) =>
            source === path && unused === null && (level === 'repository' || level === 'local'),
        );
  return paths.flatMap((source) =>
    partsOfSettings(source)
      .filter(({ kind }) => kind === 'hooks')
      .flatMap((part): UnusedPart[] => {
        const verdict = isTheirs(source) ? trust.verdictOn(part) : 'trusted';
        const needsTrust: UnusedPart['needsTrust'] = verdict === 'untrusted' ? UNTRUSTED : CHANGED;
        const mistakes = readHooks(part.value, { label: source }).unused;
        return [
          ...(verdict === 'trusted' ? [] : [{ what: 'hooks', source, needsTrust }]),
          ...mistakes.map((what) => ({ what: `hooks: ${what}`, source })),
        ];
      }),
  );
}

/** One of Ramet's own that is the user's or managed. Those of other tools can hold what is right there. */
function isBindingFile(level: SettingsLevel | undefined): boolean {
  return level !== undefined && isBinding({ level });
}
