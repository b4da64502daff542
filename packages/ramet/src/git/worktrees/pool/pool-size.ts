/**
 * How many ready worktrees are worth keeping (WORK-4): as many as were used at once in the last session, as long as
 * they take no more room than is set. The number is in a small file beside the worktrees.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isProcessAlive } from '../../../system/processes/process-identity.ts';
import { READ_AT_ONCE, readOrNull } from '../../repository.ts';
import type { ManagedWorktree } from '../worktree.ts';
import { adminDirectory, type WorktreePlace, worktreesDirectory } from '../worktree-place.ts';
import { DEFAULT_POOL, DEFAULT_POOL_MEGABYTES } from '../worktree-settings.ts';

const HEADER = 12;

const SIZE_AT = 36;

const ID_AT = 40;

const EXTENDED = 0x4000;

const MOST_KEPT = 8;
const MEGABYTE = 1_000_000;

interface UsedAtOnce {
  session: string;
  most: number;
}

/** What `worktree.pool` says, or what the last session showed. */
export function wantedPool(place: WorktreePlace): number {
  if (place.settings.pool !== undefined) return place.settings.pool;
  const used = readUsed(place);
  return used === null ? DEFAULT_POOL : Math.min(MOST_KEPT, Math.max(1, used.most));
}

export function poolBytes({ settings }: Pick<WorktreePlace, 'settings'>): number {
  return (settings.poolMegabytes ?? DEFAULT_POOL_MEGABYTES) * MEGABYTE;
}

/** Called when an agent has got a worktree. A failure to note it only makes the pool smaller. */
export function noteUse(place: WorktreePlace, { owner }: Pick<ManagedWorktree, 'owner'>): void {
  if (place.settings.pool !== undefined || owner === null) return;
  const rows = place.registry.list();
  const most = rows.filter(
    ({ state, lease }) => state === 'leased' && lease !== null && isProcessAlive(lease),
  ).length;
  const known = readUsed(place);
  if (known?.session === owner.session && known.most >= most) return;
  const used: UsedAtOnce = { session: owner.session, most };
  try {
    writeFileSync(usedFile(place), JSON.stringify(used), { mode: 0o600 });
  } catch {
    // As above.
  }
}

function usedFile(place: WorktreePlace): string {
  return join(worktreesDirectory(place), '.pool-size');
}

function readUsed(place: WorktreePlace): UsedAtOnce | null {
  try {
    const value: unknown = JSON.parse(readOrNull(usedFile(place)) ?? 'null');
    if (typeof value !== 'object' || value === null) return null;
    const { session, most } = value as Partial<Record<string, unknown>>; // looked at below
    return typeof session === 'string' && Number.isInteger(most) ? { session, most: Number(most) } : null;
  } catch {
    return null;
  }
}

/**
 * `treeBytes` from what is known already: without what git does not track, unless it is in the pool. Null when not
 * known.
 */
export function knownBytes(place: WorktreePlace, worktree: ManagedWorktree): number | null {
  if (worktree.state === 'gone') return null;
  const index = join(adminDirectory(place, worktree), 'index');
  return worktree.facts.bytes ?? indexBytes(index, worktree.base.length / 2);
}

/** What a tree takes on the disk, without packages that it shares with a template; null when that cannot be told. */
export function treeBytes({ path, facts }: Pick<ManagedWorktree, 'path' | 'facts'>): Promise<number | null> {
  // What was counted once is not counted again: the last line is the tree without its packages.
  const folders = [...facts.dependencies.map(({ directory }) => join(path, directory)), path];
  return new Promise((settle) => {
    execFile('du', ['-sk', '--', ...folders], { maxBuffer: MEGABYTE }, (_, stdout) => {
      const last = /^(\d+)\t/.exec(stdout.trimEnd().split('\n').at(-1) ?? '')?.[1];
      settle(last === undefined ? null : Number(last) * 1_024);
    });
  });
}

/**
 * What the files of an index and their directories take on the disk, read from the index itself: a few milliseconds for
 * 50,000 files. Small files are most of a repository, so blocks are counted, as `du` does.
 *
 * `idLength`: 20, or 32 in a repository with longer ids. Null for what is no index that is known.
 */
export function indexBytes(file: string, idLength = 20): number | null {
  try {
    return sumOf(readFileSync(file, { flag: READ_AT_ONCE }), idLength);
  } catch {
    return null;
  }
}

const BLOCK = 4_096;
const SLASH = 0x2f;

function sumOf(index: Buffer, idLength: number): number | null {
  const version = index.readUInt32BE(4);
  if (index.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 4) return null;
  // The top directory is one.
  let blocks = 1;
  let at = HEADER;
  let before: number | null = null;
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    blocks += Math.ceil(index.readUInt32BE(at + SIZE_AT) / BLOCK);
    const flags = index.readUInt16BE(at + ID_AT + idLength);
    const name = at + ID_AT + idLength + ((flags & EXTENDED) === 0 ? 2 : 4);
    const rest = version === 4 ? pastNumber(index, name) : name;
    const end = index.indexOf(0, rest);
    if (end === -1) return null;
    blocks += newDirectories(index, version === 4 ? null : before, [rest, end]);
    before = name;
    // Names are padded to a multiple of eight, with at least one zero; in version 4 with exactly one.
    at = version === 4 ? end + 1 : at + ((end - at) & ~7) + 8;
  }
  return blocks * BLOCK;
}

/**
 * Names are sorted: a directory is new where the name before does not lead into it. Version 4 leaves out what is the
 * same.
 */
function newDirectories(
  index: Buffer,
  before: number | null,
  [from, end]: readonly [number, number],
): number {
  let at = from;
  if (before !== null) while (at < end && index[at] === index[before + at - from]) at++;
  let count = 0;
  for (; at < end; at++) if (index[at] === SLASH) count++;
  return count;
}

/** Version 4 says first how much of the name before is dropped: bytes whose first bit is set have a follower. */
function pastNumber(index: Buffer, at: number): number {
  let next = at;
  while ((index[next++] ?? 0) & 0x80);
  return next;
}
