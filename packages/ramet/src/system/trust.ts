/**
 * Which repositories the user trusts (SEC-1). What a repository brings that can run or widen rights (allow rules, a
 * permission mode, hooks) counts only where its root was trusted by name; what takes rights away counts always.
 *
 * One small file for each root under `$RAMET_HOME/trusted/`: creating and removing a file are single steps, so
 * processes need no lock, and a question costs one read.
 */
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../schema/errors.ts';
import * as z from '../schema/zod.ts';
import { makePrivateDirectory, PRIVATE_FILE, unusable } from './home.ts';
import { realPath } from './landing-path.ts';
import { replaceWhole } from './replace-whole.ts';

export interface TrustPlace {
  /** `$RAMET_HOME`. */
  home: string;
  /** The working tree's root; outside git the directory itself. */
  root: string;
}

const trustEntry = z.object({ root: z.string() });

/** Only the root itself: neither a directory above it nor one below passes its trust on. */
export function isTrusted(place: TrustPlace): boolean {
  const root = rootOf(place);
  try {
    const entry = trustEntry.safeParse(JSON.parse(readFileSync(entryPath(place.home, root), 'utf8')));
    return entry.data?.root === root;
  } catch {
    return false; // absent, unreadable or damaged: trust is never assumed
  }
}

export function trust(place: TrustPlace): void {
  const root = rootOf(place);
  const path = entryPath(place.home, root);
  makePrivateDirectory(join(place.home, 'trusted'));
  try {
    replaceWhole(path, `${JSON.stringify({ root, since: new Date().toISOString() })}\n`, PRIVATE_FILE);
  } catch (error) {
    throw unusable(path, error);
  }
}

/** False when there was nothing to take back. */
export function revokeTrust(place: TrustPlace): boolean {
  const path = entryPath(place.home, rootOf(place));
  try {
    rmSync(path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw unusable(path, error);
  }
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
