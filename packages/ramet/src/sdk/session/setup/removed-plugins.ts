/**
 * Trusted plugins of a folder whose hooks checked calls, and that do not run any more: their folder or the settings that name them
 * have changed or are gone. Their guards stay as those of settings do (SEC-1).
 */
import { resolve } from 'node:path';
import type { HookEntry } from '../../../extensions/hooks/hook-config.ts';
import { pluginFolder } from '../../../extensions/trust/collect-parts.ts';
import { readPartKey } from '../../../extensions/trust/folder-part.ts';
import { shownPath } from '../../../settings/other-tools/other-tools.ts';
import type { SettingsPlace } from '../../../settings/settings.ts';
import { formerTrust } from '../../../system/former-trust.ts';
import { trustedEntry, trustedTexts, trustStamp } from '../../../system/trust.ts';
import {
  CHECKED,
  guardsIn,
  isRead,
  NOT_TRUSTED,
  parsed,
  type RemovedGuards,
  SHOWS,
} from './removed-guards.ts';

/** `named` by settings, and those of them `inForce`. */
export function removedPlugins(
  place: SettingsPlace,
  { named, inForce }: { readonly named: readonly string[]; readonly inForce: readonly string[] },
): RemovedGuards {
  const [stillNamed, stillRun] = [named, inForce].map(
    (paths) => new Set(paths.map((path) => pluginFolder(path, place))),
  );
  const keys = Object.keys(trustedEntry(place)?.parts ?? {}).filter((key) => key.startsWith('plugin '));
  const lost = keys.flatMap((key) => {
    const folder = resolve(place.root, readPartKey(key).source);
    const guards = stillRun?.has(folder) ? [] : trustedGuards(key, place);
    return guards.length === 0 ? [] : [{ key, folder, guards }];
  });
  const label = (folder: string): string => shownPath(folder, place.root, place.userHome);
  return {
    hooks: lost.flatMap(({ key, folder, guards }) => {
      const check = (): string => `the plugin is ${NOT_TRUSTED}`;
      const source = { label: label(folder), check, isOver: untilForgotten(key, place) };
      return guards.map((value): HookEntry => ({ value, source }));
    }),
    // Of changed ones another line tells.
    notices: lost
      .filter(({ folder }) => !stillNamed?.has(folder))
      .map(
        ({ folder }) =>
          `${label(folder)}: this plugin is named no more, and you trusted its hooks${CHECKED} (${SHOWS})`,
      ),
  };
}

function trustedGuards(key: string, place: SettingsPlace): unknown[] {
  return pluginGuards(trustedTexts(place)[key]?.text, place);
}

/** As it was trusted, where the settings file that named it is one of this session. */
export function pluginGuards(text: string | undefined, place: SettingsPlace): unknown[] {
  const { namedBy, hooks } = parsed(text) ?? {};
  if (typeof namedBy !== 'string' || !Array.isArray(hooks)) return [];
  return isRead(resolve(place.root, namedBy), place) ? hooks.flatMap((one) => guardsIn(one) ?? []) : [];
}

/** A plugin that is trusted again runs in the next session: this one has not read it, so it asks on. */
function untilForgotten(key: string, place: SettingsPlace): () => boolean {
  let stamp = trustStamp(place);
  let isOver = false;
  return () => {
    const now = trustStamp(place);
    if (now !== stamp) isOver = formerTrust(place).length === 0 && trustedGuards(key, place).length === 0;
    stamp = now;
    return isOver;
  };
}
