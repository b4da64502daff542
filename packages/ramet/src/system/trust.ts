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
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { systemCode } from '../schema/errors.ts';
import * as z from '../schema/zod.ts';
import { makePrivateDirectory, PRIVATE_FILE, unusable } from './home.ts';
import { realPath } from './landing-path.ts';
import { readSmallText } from './regular-file.ts';
import { replaceWhole } from './replace-whole.ts';

export interface TrustPlace {
  /** `$RAMET_HOME`. */
  home: string;
  /** The working tree's root; outside git the directory itself. */
  root: string;
  /** The caller trusts it for this once, as programs that test changes do. */
  isGiven?: boolean | undefined;
}

/** Something that can run or widen rights, as it was when the user trusted it. */
export interface TrustedPart {
  /** Of everything below. */
  digest: string;
  /** Of what is written down, without the files that it names. */
  own: string;
  /** Digests of the files that belong to it, by their path in the repository. */
  files: Record<string, string>;
}

/** The same as text, to show what has changed; null where a file is no text or too long. */
export interface TrustedText {
  text: string;
  files: Record<string, string | null>;
}

interface TrustEntry {
  root: string;
  /** Which repository it was. Absent in entries of earlier versions. */
  repository?: string | undefined;
  /** Absent in entries of earlier versions. */
  parts?: Record<string, TrustedPart> | undefined;
}

const text = z.string();
const parts = z.record(text, z.object({ digest: text, own: text, files: z.record(text, text) }));
const trustEntry: z.ZodMiniType<TrustEntry> = z.object({
  root: text,
  repository: z.optional(text),
  parts: z.optional(parts),
});
const trustedText = z.object({ text, files: z.record(text, z.nullable(text)) });
const trustTexts: z.ZodMiniType<Record<string, TrustedText>> = z.record(text, trustedText);

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
  try {
    const data = readOnce(entryPath(home, root));
    if (data?.root !== root) return null;
    return data.repository === undefined || data.repository === identity ? data : null;
  } catch {
    return null; // absent, unreadable or damaged: trust is never assumed
  }
}

/** The entry that was read last: one with hundreds of parts is asked for several times at each start. */
let last: { readonly path: string; readonly stamp: string; readonly entry: TrustEntry | undefined } | null =
  null;

/** Entries are replaced whole, so another content is another file. */
function readOnce(path: string): TrustEntry | undefined {
  const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
  const stamp = [ino, size, mtimeNs, ctimeNs].join(':');
  if (last?.path === path && last.stamp === stamp) return last.entry;
  const { data } = trustEntry.safeParse(JSON.parse(readFileSync(path, 'utf8')));
  last = { path, stamp, entry: data };
  return data;
}

/** What trusted parts were. They are in a file of their own: a start reads digests alone. */
export function trustedTexts(place: TrustPlace): Record<string, TrustedText> {
  const { main } = repositoryAt(rootOf(place));
  for (const root of [rootOf(place), ...(main === null ? [] : [main])])
    try {
      const { data } = trustTexts.safeParse(JSON.parse(readFileSync(textsPath(place.home, root), 'utf8')));
      if (data !== undefined) return data;
    } catch {
      // Absent or damaged: changes are then named and not shown.
    }
  return {};
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
  const digests = kept.map(([key, { digest, own, files }]) => [key, { digest, own, files }]);
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

function writeEntry(path: string, entry: object): void {
  try {
    replaceWhole(path, `${JSON.stringify(entry)}\n`, PRIVATE_FILE);
  } catch (error) {
    throw unusable(path, error);
  }
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

/**
 * Which repository a root belongs to: its git directory is the same as long as nobody replaces it, whatever is committed,
 * and nobody else can make another one that is. `main` is the checkout that a linked worktree belongs to.
 */
function repositoryAt(root: string): { identity: string | null; main: string | null } {
  try {
    const git = join(root, '.git');
    const found = lstatSync(git, { throwIfNoEntry: false });
    if (found?.isFile()) {
      const common = commonDirectory(git);
      if (common !== null)
        return { identity: stampOf(common), main: basename(common) === '.git' ? dirname(common) : null };
    }
    return { identity: stampOf(found?.isDirectory() ? git : root), main: null };
  } catch {
    return { identity: null, main: null };
  }
}

/** Null for a file that claims a repository which does not know it: anybody can write such a file. */
function commonDirectory(git: string): string | null {
  const [, named] = /^gitdir: (.+)$/m.exec(readSmallText(git)) ?? [];
  if (named === undefined) return null;
  const own = resolve(dirname(git), named.trim());
  const back = resolve(own, readSmallText(join(own, 'gitdir')).trim());
  if (realPath(back) !== realPath(git)) return null;
  return realPath(resolve(own, readSmallText(join(own, 'commondir')).trim()));
}

function stampOf(path: string): string {
  const { ino, birthtimeNs } = statSync(path, { bigint: true });
  return `${ino}:${birthtimeNs}`;
}

function rootOf({ root }: TrustPlace): string {
  try {
    return realPath(root);
  } catch {
    return root;
  }
}

function entryPath(home: string, root: string): string {
  const name = createHash('sha256').update(root).digest('hex').slice(0, 32);
  return join(home, 'trusted', `${name}.json`);
}

function textsPath(home: string, root: string): string {
  return entryPath(home, root).replace(/\.json$/, '.texts.json');
}
