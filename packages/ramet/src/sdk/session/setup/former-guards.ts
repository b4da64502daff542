/**
 * Hooks that checked calls in a folder that was trusted as another repository than the one that is there now. They do not run; each call
 * that they checked is a question until the user trusts the folder as it is, or takes trust back (SEC-1).
 */
import { resolve } from 'node:path';
import type { HookEntry } from '../../../extensions/hooks/hook-config.ts';
import { readPartKey } from '../../../extensions/trust/folder-part.ts';
import { shownPath } from '../../../settings/other-tools/other-tools.ts';
import type { SettingsPlace } from '../../../settings/settings.ts';
import { type FormerTrust, formerTrust } from '../../../system/former-trust.ts';
import { trustedEntry, trustStamp } from '../../../system/trust.ts';
import { guardsIn, isOfOtherTool, isRead, parsed, type RemovedGuards } from './removed-guards.ts';
import { pluginGuards } from './removed-plugins.ts';

/** `isStopped`: settings of the user's own turn hooks of other tools off. */
export function formerGuards(
  place: SettingsPlace,
  former: FormerTrust,
  { isStopped }: { readonly isStopped: boolean },
): RemovedGuards {
  const there = { ...place, root: former.root };
  const isOff = isStopped || stoppedItself(former);
  const guards = Object.keys(former.parts).flatMap((key) => {
    const { kind, source } = readPartKey(key);
    const path = resolve(former.root, source);
    const text = former.texts[key]?.text;
    if (kind === 'plugin') return pluginGuards(text, there).map((value) => ({ key, path, value }));
    const isHere = kind === 'hooks' && isRead(path, there) && !(isOff && isOfOtherTool(path));
    const value = isHere && !isLeftOut(path, former) ? guardsIn(parsed(text)) : null;
    return value === null ? [] : [{ key, path, value }];
  });
  const shown = (path: string): string => shownPath(path, place.root, place.userHome);
  const what = former.isGone ? 'a repository' : 'another repository';
  return {
    hooks: guards.map(({ key, path, value }): HookEntry => {
      const check = (): string => `${former.root} was trusted as ${what} (${ACCEPTS})`;
      return { value, source: { label: shown(path), check, isOver: untilAccepted(key, former, place) } };
    }),
    notices: [`${formerNotice(former)}${guards.length === 0 ? '' : CHECKED} (${ACCEPTS})`],
  };
}

/** Without what to do. */
export function formerNotice({ root, holder, isGone }: FormerTrust): string {
  const was = root === holder ? 'another repository' : `a worktree of ${holder}`;
  const why = isGone ? 'git finds no repository there now' : 'its .git has been replaced since';
  return `${root} was trusted as ${isGone && root === holder ? 'a repository' : was}, and ${why}: what you trusted there does not count`;
}

const CHECKED = '; calls that its hooks checked are questions';
const ACCEPTS = 'ramet trust --show shows it, ramet trust accepts it as it is now';

/** It turned hooks of other tools off when it was trusted. */
function stoppedItself({ parts, texts }: FormerTrust): boolean {
  return Object.keys(parts).some(
    (key) => readPartKey(key).kind === 'rights' && parsed(texts[key]?.text)?.disableAllHooks === true,
  );
}

/** Git takes such a file into no linked worktree. */
function isLeftOut(path: string, { root, holder }: FormerTrust): boolean {
  return root !== holder && path.endsWith('.local.json');
}

/** The session has not read hooks that are trusted meanwhile: it asks on. */
function untilAccepted(key: string, { root, holder }: FormerTrust, place: SettingsPlace): () => boolean {
  const stampNow = (): string =>
    [root, holder].map((one) => trustStamp({ home: place.home, root: one })).join(' ');
  let stamp = stampNow();
  let isOver = false;
  return () => {
    const now = stampNow();
    if (now === stamp) return isOver;
    stamp = now;
    const isFormer = formerTrust(place).some((one) => one.root === root);
    isOver = !isFormer && trustedEntry({ home: place.home, root })?.parts?.[key] === undefined;
    return isOver;
  };
}
