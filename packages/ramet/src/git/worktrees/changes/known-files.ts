/**
 * The files that git knows in a checkout, as they are at one moment, and which of them have changed since. Only the list of
 * names comes from git: what a file holds is read from the disk, so nothing that git is told, and no damage to it, hides a
 * change. A list is a file in a folder that belongs to Ramet.
 */
import { randomUUID } from 'node:crypto';
import { lstatSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describeError } from '../../../schema/errors.ts';
import { PRIVATE_FILE } from '../../../system/home.ts';
import { loadFile, WHOLE_FILE_LIMIT } from '../../../system/regular-file.ts';
import type { GitPlace } from '../../git-environment.ts';
import { gitText } from '../../run-git.ts';

export interface KnownFiles {
  /** The name of a new list; null outside of a repository. */
  list(): Promise<string | null>;
  /** Files of that list which are different now, or gone, from the top of the checkout. The list is removed. */
  changedSince(list: string): Promise<string[]>;
}

/** By path: when it was written last, as nobody can set it, and what it holds. */
type Seen = Record<string, readonly [stamp: string, content: string]>;

interface Listed {
  top: string;
  seen: Seen;
}

/** Larger files are known by their stamp alone. */
const LARGEST = BigInt(WHOLE_FILE_LIMIT);

/** `place` is any folder of the checkout, now; lists lie in `folder`. */
export function knownFiles(
  place: () => string,
  { env, folder }: Pick<GitPlace, 'env'> & { folder: string },
): KnownFiles {
  let last: Seen = {};
  const fileOf = (list: string): string => join(folder, `${list}.json`);
  return {
    async list() {
      const call = { cwd: place(), env, looksUp: true };
      const top = await gitText(['rev-parse', '--show-toplevel'], call).catch(() => null);
      if (top === null) return null;
      const root = top.replace(/\n$/, '');
      const names = await gitText(['ls-files', '-z', '--recurse-submodules'], { ...call, cwd: root });
      last = await seenIn(root, [...new Set(names.split('\0').filter(Boolean))], last);
      const list = `verified-${randomUUID()}`;
      const listed: Listed = { top: root, seen: last };
      writeFileSync(fileOf(list), JSON.stringify(listed), { mode: PRIVATE_FILE });
      return list;
    },
    async changedSince(list) {
      try {
        // Only `list` writes it.
        const { top, seen } = JSON.parse(readFileSync(fileOf(list), 'utf8')) as Listed;
        last = await seenIn(top, Object.keys(seen), seen);
        return Object.entries(seen).flatMap(([path, [, content]]) =>
          last[path]?.[1] === content ? [] : [path],
        );
      } catch (error) {
        return [`any file (what was there before cannot be read: ${describeError(error)})`];
      } finally {
        rmSync(fileOf(list), { force: true });
      }
    },
  };
}

/** In between others get their turn: small files are read at once. */
const FILES_AT_ONCE = 100;

async function seenIn(top: string, names: readonly string[], before: Seen): Promise<Seen> {
  const seen: [string, Seen[string]][] = [];
  for (const name of names) {
    if (seen.length % FILES_AT_ONCE === FILES_AT_ONCE - 1) await setImmediate();
    seen.push([name, await lookAt(join(top, name), before[name])]);
  }
  return Object.fromEntries(seen);
}

async function lookAt(path: string, before: Seen[string] | undefined): Promise<Seen[string]> {
  try {
    const stats = lstatSync(path, { bigint: true });
    const { ino, size, mtimeNs, ctimeNs, mode } = stats;
    const stamp = `${ino} ${size} ${mtimeNs} ${ctimeNs} ${mode}`;
    if (before?.[0] === stamp) return before;
    if (stats.isSymbolicLink()) return [stamp, `link ${readlinkSync(path)}`];
    if (!stats.isFile()) return [stamp, `no file ${mode}`];
    // As git sees it: who may run it, not who may read it.
    const kind = (mode & 0o100n) === 0n ? 'file' : 'program';
    return [stamp, `${kind} ${size > LARGEST ? stamp : (await loadFile(path)).version}`];
  } catch {
    return ['gone', 'gone'];
  }
}
