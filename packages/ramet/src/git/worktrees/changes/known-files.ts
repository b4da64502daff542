/**
 * The files that git knows, as they are in a working tree: what they are at one moment, and which of them have changed since.
 * Files that git does not know are not read, so a large one costs nothing.
 */
import { join } from 'node:path';
import type { GitPlace } from '../../git-environment.ts';
import { gitDirectoryOf } from '../../read-refs.ts';
import { gitText } from '../../run-git.ts';
import { copyIndex, withScratch } from '../scratch-index.ts';

export interface KnownFiles {
  /** Null if git cannot tell, as outside of a repository. */
  tree(): Promise<string | null>;
  /** Files of that tree which are different now, or gone; null if git cannot tell. */
  changedSince(tree: string): Promise<string[] | null>;
}

const CHANGED = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--diff-filter=MDT'];

/** `place` is any folder of a checkout, now; a copy of its index lies in `scratch` for the moment. */
export function knownFiles(
  place: () => string,
  { env, scratch }: Pick<GitPlace, 'env'> & { scratch: string },
): KnownFiles {
  const tree = async (): Promise<string> => {
    const top = (
      await gitText(['rev-parse', '--show-toplevel'], { cwd: place(), env, looksUp: true })
    ).trim();
    return withScratch(scratch, async (index) => {
      await copyIndex(join(gitDirectoryOf(top) ?? top, 'index'), index);
      const own = { cwd: top, env, index };
      await gitText(['add', '--update', '.'], own);
      return (await gitText(['write-tree'], own)).trim();
    });
  };
  return {
    tree: () => tree().catch(() => null),
    changedSince: async (before) => {
      try {
        const names = await gitText([...CHANGED, before, await tree()], { cwd: place(), env, looksUp: true });
        return names.split('\0').filter((name) => name !== '');
      } catch {
        return null;
      }
    },
  };
}
