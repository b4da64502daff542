/** Whether what a repository brings may run and widen rights (SEC-1), and what has changed since that was said. */
import { existsSync, statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { declaredFields } from '../../agents/definitions/declared-fields.ts';
import { collectParts, partsOfSettings } from '../../extensions/trust/collect-parts.ts';
import {
  type DescribedPart,
  describePart,
  type FolderPart,
  type PartKind,
  partLoads,
  readPartKey,
  untrustableIn,
} from '../../extensions/trust/folder-part.ts';
import { folderTrust } from '../../extensions/trust/folder-trust.ts';
import { limitLines, lostLimits, readLimits } from '../../extensions/trust/limits.ts';
import { LARGEST_SETTINGS } from '../../settings/setting-value.ts';
import { digestOf } from '../../system/digest.ts';
import { forgetFormer } from '../../system/former-trust.ts';
import {
  type CoveredPart,
  keepAsked,
  lastAsked,
  revokeTrust,
  type TrustedPart,
  type TrustedText,
  type TrustPlace,
  trust,
  trustedEntry,
  trustedTexts,
} from '../../system/trust.ts';
import { findPlace } from '../place.ts';
import { formerNotice } from '../session/setup/former-guards.ts';
import { settingsPlace } from '../session/setup/session-settings.ts';
import { type CallOptions, callerOf } from './caller.ts';
import { differenceOf, partDifference } from './part-difference.ts';

export interface ReviewedPart {
  kind: PartKind;
  /** The file that sets it up. */
  source: string;
  /** `removed`: it was trusted, and is gone. */
  state: 'trusted' | 'new' | 'changed' | 'removed';
  /** Lines that begin with + or -, or say what the lines below them are. */
  difference: string[];
  /** It is as it was, and this version of Ramet follows files of it that were not followed when it was trusted. */
  followsMore: boolean;
  /** Files of the repository that its commands name: they are trusted with it. */
  files: string[];
  /** What its commands name and nobody can follow. */
  unfollowed: string[];
}

export interface TrustReview {
  root: string;
  isTrusted: boolean;
  /** It was trusted by a version that kept no record of what. */
  isOld: boolean;
  /** Folders here that were trusted as another repository: one line each. */
  former: readonly string[];
  parts: ReviewedPart[];
  /** Pipes, sockets and devices that its commands name, and that stay untrusted: one line each. */
  untrustable: readonly string[];
  /** Of all of it as it is now. */
  digest: string;
}

export function trustOf(options: CallOptions = {}): TrustReview {
  return review(options).found;
}

/** Returns what was so before; null if it is not what the caller has `seen`: then nothing changes. */
export function changeTrust(
  wanted: 'trust' | 'revoke',
  { seen, ...options }: CallOptions & { seen?: string } = {},
): TrustReview | null {
  const { place, found, described, elsewhere } = review(options);
  if (wanted === 'revoke') {
    revokeTrust(place);
    forgetFormer(place);
  } else if (seen !== undefined && seen !== found.digest) return null;
  else {
    const parts = described.map(({ key, ...part }) => [key, part] as const);
    trust(place, { ...elsewhere, ...Object.fromEntries(parts) });
    forgetFormer(place);
  }
  return found;
}

/** What of settings for other tools in this repository does not count, trusted or not: one line each. */
export async function notForTrust(options: CallOptions = {}): Promise<readonly string[]> {
  const { cwd, env } = callerOf(options);
  const place = settingsPlace(findPlace({ cwd, env }), env);
  const { readOtherTools } = await import('../../settings/other-tools/read-other-tools.ts');
  const asTrusted = { ...place, sources: ['project', 'local'] as const, isAsTrusted: async () => true };
  return (await readOtherTools(asTrusted)).problems;
}

/** Whether the user has already said no to exactly this. */
export function isAskedAbout({ digest }: TrustReview, options: CallOptions): boolean {
  return lastAsked(trustPlace(options)) === digest;
}

export function noteAsked({ digest }: TrustReview, options: CallOptions): void {
  keepAsked(trustPlace(options), digest);
}

function trustPlace(options: CallOptions): TrustPlace {
  const { cwd, env } = callerOf(options);
  return settingsPlace(findPlace({ cwd, env }), env);
}

function review(options: CallOptions): {
  place: { home: string; root: string; folders: readonly string[] };
  found: TrustReview;
  described: readonly DescribedPart[];
  /** Parts in folders that are not looked at from here: their trust stays. */
  elsewhere: Record<string, CoveredPart>;
} {
  const { cwd, env } = callerOf(options);
  const here = findPlace({ cwd, env });
  const { folders = [], ...place } = settingsPlace(here, env);
  const { root, home } = place;
  const isRead = sizeCheck();
  const parts = collectParts({ ...place, cwd: here.cwd, folders }, declaredFields).filter(isRead);
  const described = parts.map((part) => ({
    ...describePart(part, root),
    kind: part.kind,
    source: part.source,
    of: part,
    loads: () => partLoads(part, root),
  }));
  const entry = trustedEntry({ root, home });
  const before = place.former?.find((one) => one.root === root);
  const known = entry?.parts ?? before?.parts ?? {};
  const texts = entry === null ? (before?.texts ?? {}) : trustedTexts({ root, home });
  const current = described
    .filter((part) => part.kind !== 'limits' || lostOf(part, texts).length > 0)
    .map(
      (part): ReviewedPart => ({
        kind: part.kind,
        source: relative(root, part.source),
        ...stateOf(part.of, part, { known, texts, root, isKnown: entry?.parts !== undefined }),
        // Of another repository that was trusted here it has the difference, and no trust.
        ...(entry === null && known[part.key]?.digest === part.digest && { state: 'new' }),
        ...(part.kind === 'limits' && { state: 'changed', difference: lostOf(part, texts) }),
        files: Object.keys(part.files),
        // It takes as long as all else together, and most callers do not show it.
        get unfollowed() {
          return [...part.unfollowed, ...part.loads()];
        },
      }),
    );
  const others = Object.entries(known).filter(([key]) => !described.some((part) => part.key === key));
  const isThere = ([key]: readonly [string, unknown]): boolean =>
    // The settings that name plugins are always looked at.
    readPartKey(key).kind !== 'plugin' &&
    existsSync(resolve(root, readPartKey(key).source)) &&
    !isLookedAt(key, folders, root);
  const removed = others
    .filter((one) => !isThere(one))
    .map(([key]) => ({ ...removedPart(key), difference: lostOf({ key, before: NOTHING }, texts) }));
  const elsewhere = Object.fromEntries(
    (entry === null ? [] : others)
      .filter(isThere)
      .map(([key, part]) => [key, { ...part, before: texts[key] ?? { text: '', files: {} } }]),
  );
  return {
    place: { root, home, folders },
    described,
    elsewhere,
    found: {
      root,
      isTrusted: entry !== null,
      isOld: entry !== null && entry.parts === undefined,
      former: (place.former ?? []).map(formerNotice),
      parts: [...current, ...removed],
      // As the rest of what is not followed.
      get untrustable() {
        return [...new Set(parts.flatMap((part) => untrustableIn(part, root)))];
      },
      digest: digestOf(JSON.stringify(described.map(({ key, digest }) => [key, digest]))),
    },
  };
}

const OF_SETTINGS: ReadonlySet<PartKind> = new Set([
  'hooks',
  'mcp',
  'status line',
  'setup',
  'rights',
  'limits',
]);

/** A file that is too large for settings is in force nowhere, so that nobody trusts what it says. */
function sizeCheck(): (part: FolderPart) => boolean {
  const sizes = new Map<string, number>();
  return ({ kind, source }) => {
    if (!OF_SETTINGS.has(kind)) return true;
    const size = sizes.get(source) ?? statSync(source, { throwIfNoEntry: false })?.size ?? 0;
    sizes.set(source, size);
    return size <= LARGEST_SETTINGS;
  };
}

const NOTHING: TrustedText = { text: '', files: {} };

/** What of it is gone that was there when the folder was trusted. More of it needs no trust. */
function lostOf(
  { key, before }: Pick<DescribedPart, 'key' | 'before'>,
  texts: Readonly<Record<string, TrustedText>>,
): string[] {
  const trusted = readLimits(texts[key]?.text ?? '');
  const lost = trusted && lostLimits(trusted, readLimits(before.text));
  return lost === null ? [] : limitLines(lost).map((line) => `- ${line}`);
}

/** Folders of other directories of the repository bring parts only to who works there. */
function isLookedAt(key: string, folders: readonly string[], root: string): boolean {
  const [folder = ''] = resolve(root, readPartKey(key).source).split(
    /\/\.(?:claude|ramet|mcp\.json|git)(?:\/|$)/,
  );
  return folders.includes(folder);
}

function stateOf(
  part: FolderPart,
  now: DescribedPart,
  {
    known,
    texts,
    root,
    isKnown,
  }: {
    known: Readonly<Record<string, TrustedPart>>;
    texts: Readonly<Record<string, TrustedText>>;
    root: string;
    isKnown: boolean;
  },
): Pick<ReviewedPart, 'state' | 'difference' | 'followsMore'> {
  const [before, text] = [known[now.key], texts[now.key]];
  if (before === undefined) {
    // Of settings in a trusted folder the few words count, and nobody has seen them.
    const difference = isKnown && part.kind === 'rights' ? differenceOf('', now.before.text) : [];
    return { state: 'new', difference, followsMore: false };
  }
  if (before.digest === now.digest) return { state: 'trusted', difference: [], followsMore: false };
  return { state: 'changed', ...partDifference({ part, now, before, text, root }) };
}

function removedPart(key: string): ReviewedPart {
  const none = { difference: [], followsMore: false, files: [], unfollowed: [] };
  return { ...readPartKey(key), state: 'removed', ...none };
}

/**
 * A change that the user has Ramet make in a trusted settings file: the file stays trusted, as it is then. Where something
 * in it was not trusted before, nothing of it is now.
 */
export async function keepingTrust(
  place: TrustPlace,
  file: string,
  change: () => Promise<void>,
): Promise<void> {
  const trusted = folderTrust(place);
  const was = partsOfSettings(file).every((part) => trusted.verdictOn(part) === 'trusted');
  await change();
  const parts = trustedEntry(place)?.parts;
  if (!was || parts === undefined) return;
  const texts = trustedTexts(place);
  const isOther = ([key]: readonly [string, unknown]): boolean =>
    // What only narrows is as it was: Ramet takes none of it away.
    readPartKey(key).kind === 'limits' || resolve(place.root, readPartKey(key).source) !== resolve(file);
  const others = Object.entries(parts)
    .filter(isOther)
    .map(([key, part]) => [key, { ...part, before: texts[key] ?? { text: '', files: {} } }] as const);
  const own = partsOfSettings(file).map((part) => {
    const { key, ...described } = describePart(part, place.root);
    return [key, described] as const;
  });
  trust(place, Object.fromEntries([...others, ...own]));
}
