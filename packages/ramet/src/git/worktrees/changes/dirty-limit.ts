/** How much uncommitted work is brought along for something that nobody asked for: reading and copying it must stay cheap. */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { RametError } from '../../../schema/errors.ts';
import type { DirtyReport } from './dirty-work.ts';

export interface DirtyLimit {
  readonly files: number;
  readonly bytes: number;
}

export const MOST_CARRIED: DirtyLimit = { files: 500, bytes: 20 << 20 };

/** Throws also for a repository with submodules: a worktree has them empty, so what they hold cannot be carried. */
export function refuseLarge(root: string, { files }: DirtyReport, most: DirtyLimit): void {
  if (hasEntry(join(root, '.gitmodules'))) throw refusal('the repository has submodules');
  if (files === null || files.length > most.files)
    throw refusal(`more than ${most.files} files are uncommitted`);
  let bytes = 0;
  for (const { path } of files) {
    bytes += lstatSync(join(root, path), { throwIfNoEntry: false })?.size ?? 0;
    if (bytes > most.bytes) throw refusal(`uncommitted files have more than ${most.bytes >> 20} MB`);
  }
}

function hasEntry(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function refusal(reason: string): RametError {
  return new RametError('too_much_to_carry', 'terminal', `${reason}: too much to bring along`);
}
