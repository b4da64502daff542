/**
 * Refs read from files, for the common case that all names are local branches: it saves a process, a fifth of what a
 * merge takes. Whatever is not plain goes to git. A value that is out of date does no harm: refs move by compare and swap.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readRef } from '../read-refs.ts';
import { readOrNull } from '../repository.ts';
import type { MergeRepository, NamedCommit } from './merge-repository.ts';

/** Full names, then `wanted` names of branches, which must all be there. Null when git has to be asked. */
export function readBranches(
  names: readonly string[],
  wanted: number,
  { commonDirectory }: MergeRepository,
): (NamedCommit | null)[] | null {
  if (!isPlainStorage(commonDirectory) || !names.every(isPlainName)) return null;
  const firstWanted = names.length - wanted;
  const found = names.map((name, index): NamedCommit | null => {
    const ref = index < firstWanted ? name : `refs/heads/${name}`;
    const commit = readRef(commonDirectory, ref);
    return commit === null ? null : { name, ref, commit, tree: null };
  });
  return found[0] === null || found.slice(firstWanted).includes(null) ? null : found;
}

/** Refs are files of their own, and names mean what they say. */
function isPlainStorage(commonDirectory: string): boolean {
  const config = readOrNull(join(commonDirectory, 'config')) ?? '';
  const isOther = /^\s*(?:refstorage|ignorecase\s*=\s*true)/im.test(config);
  return !isOther && !existsSync(join(commonDirectory, 'reftable'));
}

function isPlainName(name: string): boolean {
  return /^[\w.+@-]+(?:\/[\w.+@-]+)*$/.test(name) && !/(?:^|\/)\.|\.\.|@\{|^refs\/heads\/refs\//.test(name);
}
