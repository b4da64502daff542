/**
 * The directories that a `cd` may end in.
 *
 * Invariants
 * 1. It counts as sure to succeed only where each directory on the way is there now, and nothing ran before it that could
 *    remove one: the shell looks at each name before `..` drops it, so `cd none/..` fails.
 * 2. Names are joined as the shell does it: `..` drops the last name, also where that name is a link. Where no such
 *    directory is there, the shell tries the name as the system reads it.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { openedPath } from '../../../system/landing-path.ts';

export interface ReachedDirectories {
  directories: readonly string[];
  isSure: boolean;
}

/** A name that `..` drops: `a/..`. */
const GOES_BACK = /(?:^|\/)(?!\.{1,2}\/)[^/]+\/+(?:\.\/+)*\.\.(?:\/|$)/;

/** Null when nobody knows. `physically`: `cd -P`. `touched`: directories may be others by then. */
export function reachedDirectories(
  at: string,
  to: string,
  { physically, touched }: { physically: boolean; touched: boolean },
): ReachedDirectories | null {
  const opened = openedPath(at, to);
  const logical = resolve(at, to);
  // Not normalized: the system must find each name on the way.
  const isFound = physically && isOpenDirectory(to.startsWith('/') ? to : `${at}/${to}`);
  if (!touched && isFound && opened !== null) return { directories: [opened], isSure: true };
  if (!touched && !physically && isWalked(at, to)) return { directories: [logical], isSure: true };
  // What the name is by then, a link to anywhere or nothing, decides what the one above it is.
  if (touched && GOES_BACK.test(to)) return null;
  const isOne = opened === null || (opened === openedPath('/', logical) && !physically);
  return { directories: isOne ? [logical] : [logical, opened], isSure: false };
}

function isWalked(at: string, to: string): boolean {
  let place = to.startsWith('/') ? '/' : at;
  if (!isDirectory(place)) return false;
  for (const name of to.split('/')) {
    if (name === '..') place = dirname(place);
    else if (name !== '' && name !== '.') {
      place = join(place, name);
      if (!isDirectory(place)) return false;
    }
  }
  return isOpenDirectory(place);
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function isOpenDirectory(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return isDirectory(path);
  } catch {
    return false;
  }
}
