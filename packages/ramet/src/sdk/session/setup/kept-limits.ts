/**
 * What settings of a trusted folder forbade when it was trusted, and do not forbid now: anybody who may edit them could take it out, so
 * it stays in force until the user trusts the folder as it is (SEC-1). Other settings that narrow only give way to the user's own
 * then, which a line says.
 */
import { basename, dirname, resolve } from 'node:path';
import { limitsOf, partsOfSettings } from '../../../extensions/trust/collect-parts.ts';
import { folderOf, readPartKey } from '../../../extensions/trust/folder-part.ts';
import { type Limits, limitLines, lostLimits, readLimits } from '../../../extensions/trust/limits.ts';
import { shownPath, translated } from '../../../settings/other-tools/other-tools.ts';
import type { KeptLimits, SettingsPlace } from '../../../settings/settings.ts';
import { trustedEntry, trustedTexts } from '../../../system/trust.ts';
import { isRead, parsed, SHOWS } from './removed-guards.ts';

/** `used` are the files of other tools that could be read. */
export function keptLimits(place: SettingsPlace, used: readonly string[]): KeptLimits {
  const now = { root: place.root, parts: trustedEntry(place)?.parts ?? {}, texts: trustedTexts(place) };
  const known = [now, ...(place.former ?? [])].flatMap((trusted) =>
    Object.keys(trusted.parts).flatMap((key) => {
      const { kind, source } = readPartKey(key);
      const path = resolve(trusted.root, source);
      // Of another repository only what forbids is left; one line says that the rest does not count.
      const isKept = kind === 'limits' || (kind === 'rights' && trusted === now);
      return isKept && isRead(path, { ...place, root: trusted.root })
        ? [{ kind, path, text: trusted.texts[key]?.text ?? '' }]
        : [];
    }),
  );
  const shown = (path: string): string => shownPath(path, place.root, place.userHome);
  const lost = known.flatMap(({ kind, path, text }) => {
    const before = kind === 'limits' ? readLimits(text) : null;
    if (before === null) return [];
    const isTheirs = basename(dirname(path)) === '.claude';
    const now = isTheirs && !used.includes(shown(path)) ? null : limitsOf(path);
    const gone = lostLimits(before, now);
    // Whether a file of Ramet's own counts at all is not known yet.
    const kept = isTheirs ? gone : before;
    return kept === null ? [] : [{ path, gone, kept }];
  });
  const given = known.flatMap(({ kind, path, text }) => {
    const keys = kind === 'rights' ? changedKeys(parsed(text), rightsNow(path)) : [];
    return keys.length === 0
      ? []
      : [`${shown(path)}: ${keys.join(', ')}: not what you trusted, your own settings hold (${SHOWS})`];
  });
  return {
    rules: lost.map(({ path, kept }) => ({
      ...rulesOf(kept),
      place: `${shown(path)} as you trusted it`,
      base: folderOf(path),
    })),
    servers: lost.flatMap(({ path, gone }) => (gone === null ? [] : [serversOf(gone, shown(path))])),
    forbidden: lost.flatMap(({ path, gone }) => (gone?.noBypass ? [noBypass(path)] : [])),
    problems: [
      ...lost.flatMap(({ path, gone }) =>
        gone === null
          ? []
          : [
              `${shown(path)}: what you trusted it with stays in force until ramet trust: ${named(limitLines(gone))} (${SHOWS})`,
            ],
      ),
      ...given,
    ],
  };
}

const MOST_NAMED = 6;

function named(lines: readonly string[]): string {
  const more = lines.length - MOST_NAMED;
  return `${lines.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function rulesOf({ deny, ask }: Limits): Pick<KeptLimits['rules'][number], 'texts'> {
  const texts = (list: readonly unknown[]): string[] =>
    list.flatMap((one) => (typeof one === 'string' ? [translated(one)] : []));
  return { texts: { deny: texts(deny), ask: texts(ask) } };
}

function serversOf({ disabled, denied, enabled }: Limits, place: string): KeptLimits['servers'][number] {
  const texts = (list: readonly unknown[]): string[] =>
    list.flatMap((one) => (typeof one === 'string' ? [one] : []));
  return { place, disabled: texts(disabled), enabled: texts(enabled), takesAll: false, denied };
}

function noBypass(source: string): KeptLimits['forbidden'][number] {
  return {
    ...{ path: ['policy', 'bypassPermissions'], value: false, level: 'repository', source },
    ...{ line: null, isEntry: false, unused: null },
  };
}

function rightsNow(path: string): unknown {
  return partsOfSettings(path).find(({ kind }) => kind === 'rights')?.value;
}

/** Settings that hold agents back. */
const HOLDING = [
  ...['sandbox.readOnly', 'sandbox.worktree', 'merge.check', 'operate.review', 'permissions.defaultMode'],
  ...['worktree.default', 'budget', 'maxTurns', 'agents', 'limits'],
];

function changedKeys(before: unknown, now: unknown): string[] {
  return HOLDING.filter((key) => {
    const [was, is] = [before, now].map((value) =>
      key.split('.').reduce((one, name) => Object(one)[name], value),
    );
    return was !== undefined && JSON.stringify(was) !== JSON.stringify(is);
  });
}
