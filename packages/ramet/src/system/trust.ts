/**
 * Which repositories the user trusts (SEC-1). What a repository brings that can run or widen rights (allow rules, a
 * permission mode, hooks) counts only where its root was trusted by name; what takes rights away counts always.
 *
 * One small file for each root under `$RAMET_HOME/trusted/`: creating and removing a file are single steps, so
 * processes need no lock, and a question costs one read.
 *
 * Invariants
 * 1. Trust is for one repository, not for a path: another one in its place is not trusted.
 * 2. It covers what was there when it was given (`parts`): what has changed since is asked about again.
 * 3. A linked worktree has the trust of its repository, and only if the repository knows it.
 */
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../schema/errors.ts';
import { makePrivateDirectory, PRIVATE_FILE, unusable } from './home.ts';
import { replaceWhole } from './replace-whole.ts';
import {
  entryAt,
  entryPath,
  repositoryAt,
  rootOf,
  type TrustEntry,
  type TrustedPart,
  type TrustedText,
  textsAt,
  textsPath,
  writeEntry,
} from './trust-record.ts';

export type { TrustedPart, TrustedText } from './trust-record.ts';

export interface TrustPlace {
  /** `$RAMET_HOME`. */
  home: string;
  /** The working tree's root; outside git the directory itself. */
  root: string;
  /** The caller trusts it for this once, as programs that test changes do. */
  isGiven?: boolean | undefined;
}

/** Only the root itself: neither a directory above it nor one below passes its trust on. */
export function isTrusted(place: TrustPlace): boolean {
  return place.isGiven === true || entryOf(place) !== null;
}

/** What was trusted; null if nothing was, and `parts` is absent in an entry of an earlier version. */
export function trustedEntry(place: TrustPlace): Pick<TrustEntry, 'parts'> | null {
  return entryOf(place);
}

function entryOf(place: TrustPlace): TrustEntry | null {
  const root = rootOf(place);
  const { identity, main } = repositoryAt(root);
  const own = readEntry(place.home, root, identity);
  return own ?? (main === null ? null : readEntry(place.home, main, identity));
}

function readEntry(home: string, root: string, identity: string | null): TrustEntry | null {
  const entry = entryAt(home, root);
  return entry !== null && (entry.repository === undefined || entry.repository === identity) ? entry : null;
}

/** What trusted parts were. They are in a file of their own: a start reads digests alone. */
export function trustedTexts(place: TrustPlace): Record<string, TrustedText> {
  const { main } = repositoryAt(rootOf(place));
  const roots = [rootOf(place), ...(main === null ? [] : [main])];
  return roots.map((root) => textsAt(place.home, root)).find((texts) => texts !== null) ?? {};
}

export interface CoveredPart extends TrustedPart {
  before: TrustedText;
}

export function trust(place: TrustPlace, covered?: Readonly<Record<string, CoveredPart>>): void {
  const root = rootOf(place);
  const { identity } = repositoryAt(root);
  makePrivateDirectory(join(place.home, 'trusted'));
  const known = identity !== null && { repository: identity };
  const kept = Object.entries(covered ?? {});
  const digests = kept.map(([key, { digest, own, files, by }]) => [key, { digest, own, files, by }]);
  if (covered !== undefined)
    writeEntry(
      textsPath(place.home, root),
      Object.fromEntries(kept.map(([key, { before }]) => [key, before])),
    );
  writeEntry(entryPath(place.home, root), {
    ...{ root, since: new Date().toISOString(), ...known },
    ...(covered !== undefined && { parts: Object.fromEntries(digests) }),
  });
}

/** Another one means that trust has been given, changed or taken back. */
export function trustStamp(place: TrustPlace): string {
  const root = rootOf(place);
  const { main } = repositoryAt(root);
  return [root, ...(main === null ? [] : [main])]
    .map((one) => statSync(entryPath(place.home, one), { throwIfNoEntry: false }))
    .map((stats) => (stats === undefined ? '' : `${stats.ino}:${stats.mtimeMs}`))
    .join(' ');
}

/** The state of a trusted folder that the user was asked about last and did not trust; null for none. */
export function lastAsked(place: TrustPlace): string | null {
  try {
    return readFileSync(askedPath(place), 'utf8').trim();
  } catch {
    return null;
  }
}

export function keepAsked(place: TrustPlace, digest: string): void {
  try {
    replaceWhole(askedPath(place), `${digest}\n`, PRIVATE_FILE);
  } catch (error) {
    throw unusable(askedPath(place), error);
  }
}

function askedPath(place: TrustPlace): string {
  return entryPath(place.home, rootOf(place)).replace(/\.json$/, '.asked');
}

/** False when there was nothing to take back. */
export function revokeTrust(place: TrustPlace): boolean {
  const path = entryPath(place.home, rootOf(place));
  try {
    rmSync(path);
    rmSync(textsPath(place.home, rootOf(place)), { force: true });
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw unusable(path, error);
  }
}
