/**
 * Deletes a worktree's directory and nothing else. Never through a link: those we made are unlinked first, and what
 * removes the rest does not follow any. Never across a mount point.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { unlinkSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { RametError } from '../../../schema/errors.ts';
import { isInside } from '../../../system/landing-path.ts';
import { processIds, workingDirectoryOf } from '../../../system/processes/process-table.ts';
import { readOrNull } from '../../repository.ts';
import type { ManagedWorktree } from '../worktree.ts';

const DELETION = { recursive: true, force: true, maxRetries: 3 } as const;

export async function deleteDirectory(
  directory: string,
  { facts: { links } }: { facts: Pick<ManagedWorktree['facts'], 'links'> },
): Promise<void> {
  refuseMounts(directory);
  unlinkOurs(directory, links);
  // `.git` says whose it is: after a kill the next process must be able to read that, whatever is left.
  for (const name of await readdir(directory).catch(() => []))
    if (name !== '.git') await rm(join(directory, name), DELETION);
  await rm(directory, DELETION);
}

interface Deletion {
  readonly directories: string[];
  begin(): ChildProcess;
}

/** What comes within this time is deleted by one program: to start one keeps this process busy for some milliseconds. */
const TOGETHER_MS = 300;

/** What was not begun yet. Of the process: at its end it is begun in any case. */
let next: Deletion | null = null;

/** At low priority, by a program that continues when this process ends. The returned promise waits for it. */
export function deleteLater(directory: string): () => Promise<void> {
  next ??= newDeletion();
  next.directories.push(directory);
  const { begin } = next;
  return async () => {
    const child = begin();
    child.ref();
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined)
      await new Promise((ended) => child.once('exit', ended));
  };
}

function newDeletion(): Deletion {
  const directories: string[] = [];
  let child: ChildProcess | undefined;
  const begin = (): ChildProcess => {
    if (next === deletion) next = null;
    clearTimeout(timer);
    process.off('exit', begin);
    child ??= startDeleting(directories);
    return child;
  };
  const timer = setTimeout(begin, TOGETHER_MS).unref();
  process.once('exit', begin);
  const deletion = { directories, begin };
  return deletion;
}

function startDeleting(directories: readonly string[]): ChildProcess {
  const options = process.platform === 'linux' ? ['-rf', '--one-file-system'] : ['-rf'];
  const child = spawn('rm', [...options, '--', ...directories], { detached: true, stdio: 'ignore' });
  // What it leaves, the next clean-up finds.
  child.once('error', () => {}).unref();
  try {
    if (child.pid !== undefined) setPriority(child.pid, 19);
  } catch {
    // It has ended already.
  }
  return child;
}

export function unlinkOurs(directory: string, links: readonly string[]): void {
  for (const link of links) {
    try {
      unlinkSync(join(directory, link));
    } catch {
      // Gone, or a directory by now, which is the agent's: unlink removes neither.
    }
  }
}

/** Mount points in a directory; null when the system does not tell. */
export function mountsIn(directory: string): string[] | null {
  const table = readOrNull('/proc/self/mountinfo');
  if (table === null) return process.platform === 'linux' ? null : [];
  const places = table
    .split('\n')
    .map((line) => (line.split(' ')[4] ?? '').replace(/\\(\d{3})/g, characterOf));
  return places.filter((place) => isInside(place, directory));
}

function characterOf(_: string, digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 8));
}

function refuseMounts(directory: string): void {
  const mounts = mountsIn(directory);
  if (mounts !== null && mounts.length === 0) return;
  throw new RametError(
    'worktree_mounted',
    'mistake',
    `${directory} is not deleted: ${mounts === null ? 'what is mounted in it is not known' : `${mounts[0]} is a mount point, unmount it first`}`,
  );
}

/**
 * Which processes work in a directory: those whose current directory it contains.
 *
 * Their ids; null where the system does not tell. A process of another user cannot be read, and counts as elsewhere: it
 * could not have got into a directory of this user alone.
 */
export function processesInside(directory: string): number[] | null {
  return processIds()?.filter((pid) => isInside(workingDirectoryOf(pid) ?? '', directory)) ?? null;
}
