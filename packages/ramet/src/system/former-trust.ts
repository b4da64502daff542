/**
 * Folders that were trusted as another repository than the one that is there now: `.git` was replaced, or is gone. Nothing that was
 * trusted counts for what is there (SEC-1), and what it guarded must not go without a word: who may write files may replace `.git`.
 *
 * Invariants
 * 1. It gives no trust: what reads it may only narrow and tell.
 * 2. It ends where the user trusts what is there now, or takes trust back.
 * 3. A linked worktree has the trust of its repository while git links the two. So a session notes the link, where an agent does not write.
 */
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from '../schema/zod.ts';
import { makePrivateDirectory } from './home.ts';
import { isTrusted, type TrustPlace } from './trust.ts';
import {
  entryAt,
  entryPath,
  repositoryAt,
  rootOf,
  type TrustEntry,
  type TrustedText,
  textsAt,
  textsPath,
  writeEntry,
} from './trust-record.ts';

export interface FormerTrust {
  /** The folder whose repository is another one, or none. */
  root: string;
  /** The folder that trust was given to: `root`, or the checkout that it was a linked worktree of. */
  holder: string;
  /** Nothing is there that git takes for a repository. */
  isGone: boolean;
  /** What was trusted, by keys whose paths begin at `root`. */
  parts: NonNullable<TrustEntry['parts']>;
  texts: Record<string, TrustedText>;
}

/** `folders`: from the working directory up to the root; where no repository is found, up to where one could be. */
type FormerPlace = TrustPlace & { folders?: readonly string[] | undefined };

/** The root first. Empty where nothing was trusted, or what was is as it was. */
export function formerTrust(place: FormerPlace): readonly FormerTrust[] {
  if (place.isGiven === true) return [];
  const root = rootOf(place);
  const folders = [root, ...(place.folders ?? []).filter((one) => one !== root)];
  return folders.flatMap((folder) => formerAt(place.home, folder, folder === root) ?? []);
}

function formerAt(home: string, folder: string, isRoot: boolean): FormerTrust | null {
  const [own, link] = [entryAt(home, folder), linkAt(home, folder)];
  // Most folders have none.
  if (own === null && link === null && !isRoot) return null;
  const { identity, main, isGit } = repositoryAt(folder);
  const found = (holder: string, { parts = {} }: TrustEntry): FormerTrust => ({
    ...{ root: folder, holder, parts, isGone: !isGit || !isRoot },
    texts: textsAt(home, holder) ?? {},
  });
  /** As it was trusted, and not found: git does not take it for a repository any more. */
  const isBroken = isGit && !isRoot;
  if (own !== null) {
    const isSame = own.repository === undefined || own.repository === identity;
    return isSame && !isBroken ? null : found(folder, own);
  }
  const holder = link ?? main;
  const entry = holder === null ? null : entryAt(home, holder);
  if (holder === null || entry === null) return null;
  const isSame = entry.repository === undefined || entry.repository === identity;
  return isSame && holder === main && !isBroken ? null : found(holder, entry);
}

const linkEntry = z.object({ root: z.string(), of: z.string() });

function linkPath(home: string, root: string): string {
  return entryPath(home, root).replace(/\.json$/, '.link');
}

/** The checkout whose trust sessions in this linked worktree had; null for none that is known. */
function linkAt(home: string, root: string): string | null {
  const path = linkPath(home, root);
  // Asked for at each start: most folders have none.
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return null;
  try {
    const { data } = linkEntry.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    return data?.root === root ? data.of : null;
  } catch {
    return null;
  }
}

/** For a session in a linked worktree that has the trust of its repository. */
export function keepLink(place: TrustPlace): void {
  const root = rootOf(place);
  const { main } = repositoryAt(root);
  const isOwn = main === null || place.isGiven === true || entryAt(place.home, root) !== null;
  if (isOwn || linkAt(place.home, root) === main || !isTrusted(place)) return;
  const path = linkPath(place.home, root);
  makePrivateDirectory(dirname(path));
  forgetRemoved(dirname(path));
  writeEntry(path, { root, of: main });
}

/** Worktrees come and go. */
function forgetRemoved(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (!name.endsWith('.link')) continue;
    const path = join(directory, name);
    try {
      const { data } = linkEntry.safeParse(JSON.parse(readFileSync(path, 'utf8')));
      if (data === undefined || statSync(data.root, { throwIfNoEntry: false }) === undefined) rmSync(path);
    } catch {
      // Another process was there first.
    }
  }
}

/** The user takes what is there for what it is. Trust of another checkout is not for this one to take back. */
export function forgetFormer(place: FormerPlace): void {
  const own = formerTrust(place).filter(({ root, holder }) => root === holder);
  const entries = own.flatMap(({ root }) => [entryPath(place.home, root), textsPath(place.home, root)]);
  const links = [rootOf(place), ...(place.folders ?? [])].map((one) => linkPath(place.home, one));
  for (const path of [...entries, ...links]) rmSync(path, { force: true });
}
