/**
 * Everything that is work in a worktree, brought to safety before a person removes it (WORK-3). Files go into a
 * checkpoint, also those that git ignores or was told not to look at. A repository inside it fits into no commit: it is
 * moved to `$RAMET_HOME/kept`, and back when the worktree stays after all.
 */
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RametError, systemCode } from '../../../schema/errors.ts';
import { makePrivateDirectory } from '../../../system/home.ts';
import { gitText } from '../../run-git.ts';
import { isTreeOf } from '../register-worktree.ts';
import { trustedGit } from '../trusted-git.ts';
import type { ManagedWorktree } from '../worktree.ts';
import type { WorktreePlace } from '../worktree-place.ts';
import { type Checkpoint, checkpoint } from './checkpoint.ts';
import { heldPaths } from './held-files.ts';

export interface KeptWork {
  checkpoint: Checkpoint;
  /** Where folders are that no commit can hold; null when there were none. */
  folder: string | null;
  /** Puts them back. */
  undo(): void;
}

/** Throws when something could not be kept; everything is where it was then. */
export async function keepWork(place: WorktreePlace, worktree: ManagedWorktree): Promise<KeptWork> {
  if (!isTreeOf(worktree.path, worktree))
    throw new RametError('not_its_tree', 'terminal', 'its `.git` file does not lead to it any more');
  const held = await heldPaths(place, worktree);
  const apart = [...held.nested.map(dirname), ...held.unsearched, ...held.submodules];
  const isApart = (path: string): boolean => apart.some((folder) => path.startsWith(`${folder}/`));
  const ignored = held.precious.filter((path) => !isApart(path));
  const also = { ignored, hidden: held.hidden };
  const saved = await checkpoint(place, worktree, 'before it is removed', also);
  const inside = await repositoriesIn(place, worktree, saved.commit);
  const moved = moveApart(place, worktree, outermost([...apart, ...inside, ...saved.leftOut]));
  return { checkpoint: saved, ...moved };
}

/** Folders that the checkpoint holds by the name of a commit alone. */
async function repositoriesIn(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  commit: string | null,
): Promise<string[]> {
  const { path } = worktree;
  const tree = await gitText(['ls-tree', '-r', '-z', commit ?? 'HEAD'], await trustedGit(place, worktree));
  const links = tree.split('\0').filter((entry) => entry.startsWith('160000 '));
  return links
    .map((entry) => entry.slice(entry.indexOf('\t') + 1))
    .filter((folder) => existsSync(join(path, folder, '.git')));
}

function outermost(folders: readonly string[]): string[] {
  return [...new Set(folders)].filter((folder) => !folders.some((other) => folder.startsWith(`${other}/`)));
}

/** Moves folders of a checkout to `$RAMET_HOME/kept`. */
export function moveApart(
  { home, now }: Pick<WorktreePlace, 'home' | 'now'>,
  { path, name, id }: Pick<ManagedWorktree, 'path' | 'name' | 'id'>,
  folders: readonly string[],
): Pick<KeptWork, 'folder' | 'undo'> {
  if (folders.length === 0) return { folder: null, undo: () => {} };
  const time = new Date(now()).toISOString().slice(0, 19).replace(/[-:]/g, '');
  const wanted = join(home, 'kept', `${name.replaceAll('/', '-')}-${time}`);
  const folder = existsSync(wanted) ? `${wanted}-${id}` : wanted;
  const moved: string[] = [];
  const undo = (): void => {
    for (const each of moved) move(join(folder, each), join(path, each));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    makePrivateDirectory(folder);
    for (const each of folders) {
      move(join(path, each), join(folder, each));
      moved.push(each);
    }
  } catch (error) {
    undo();
    throw error;
  }
  return { folder, undo };
}

function move(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  try {
    renameSync(from, to);
  } catch (error) {
    if (systemCode(error) !== 'EXDEV') throw error;
    // The worktrees are on another file system than the home.
    cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    rmSync(from, { recursive: true, force: true });
  }
}
