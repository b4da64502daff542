/** Copies of an index, each in a folder that goes when the work is done, and when the process ends before that. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { copyFile, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { RametError } from '../../schema/errors.ts';

/** How such folders begin. */
export const SCRATCH = 'ramet-index-';
/** More than the index of a repository with millions of files. */
export const LARGEST_INDEX: number = 512 << 20;

const folders = new Set<string>();
let isAtExit = false;

/** `work` gets the path of an index that does not exist yet. */
export async function withScratch<Result>(
  parent: string,
  work: (index: string) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(parent, SCRATCH));
  folders.add(folder);
  if (!isAtExit) process.once('exit', removeAll);
  isAtExit = true;
  try {
    return await work(join(folder, 'index'));
  } finally {
    remove(folder);
  }
}

function removeAll(): void {
  for (const folder of folders) remove(folder);
}

function remove(folder: string): void {
  folders.delete(folder);
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Nothing happens if it does not exist. Others continue meanwhile: it may be large. The copy is as old as the index: from that
 * git knows which files may have changed in the second in which they were added, and looks into them.
 */
export async function copyIndex(own: string, index: string): Promise<void> {
  const stats = statSync(own, { throwIfNoEntry: false });
  if (stats?.isFile() !== true) return;
  if (stats.size > LARGEST_INDEX)
    throw new RametError('index_too_large', 'terminal', `${own} is too large for an index: move it away`);
  await copyFile(own, index);
  await utimes(index, stats.atime, stats.mtime);
}
