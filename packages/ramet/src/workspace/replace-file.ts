/**
 * Puts bytes in a file's place in one step: a temporary file beside it, then a rename, so nobody ever sees half of
 * it and a failure leaves the old file whole and no temporary behind. Only a killed process leaves one; its owner
 * removes that with `removeLeftovers`. Extended attributes and further hard links do not follow the new file.
 */
import { randomBytes } from 'node:crypto';
import { type BigIntStats, globSync, rmSync } from 'node:fs';
import { type FileHandle, link, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemCode } from '../schema/errors.ts';

/** The file came to be, or changed, while its successor was being written. */
export type Replacement = 'done' | 'overtaken';

export interface ReplacementOptions {
  /** The agent that writes; what it leaves behind when it is killed bears its name. */
  owner: string;
  /** The file that is replaced; null when there must be none. */
  current: { stats: BigIntStats; unchanged: () => boolean } | null;
}

export async function replaceFile(
  path: string,
  bytes: Uint8Array,
  { owner, current }: ReplacementOptions,
): Promise<Replacement> {
  if (current === null) await mkdir(dirname(path), { recursive: true });
  const temporary = join(dirname(path), `${temporaryPrefix(owner)}${randomBytes(6).toString('hex')}.tmp`);
  try {
    await writeTemporary(temporary, bytes, current?.stats ?? null);
    if (current === null) return await createExclusively(temporary, path);
    // What an outside program writes between this look and the rename is lost: it takes no lock of ours.
    if (!current.unchanged()) return 'overtaken';
    await rename(temporary, path);
    return 'done';
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Removes what a killed process of the same agent left beside `path`. Nobody may write for that agent meanwhile. */
export function removeLeftovers(path: string, owner: string): void {
  const directory = dirname(path);
  const prefix = temporaryPrefix(owner);
  for (const name of globSync('.ramet-*.tmp', { cwd: directory })) {
    if (name.startsWith(prefix)) rmSync(join(directory, name), { force: true });
  }
}

function temporaryPrefix(owner: string): string {
  return `.ramet-${owner}-`;
}

async function writeTemporary(path: string, bytes: Uint8Array, like: BigIntStats | null): Promise<void> {
  const handle = await open(path, 'wx', like === null ? 0o666 : 0o600);
  try {
    await handle.writeFile(bytes);
    if (like !== null) await takeOwnerAndMode(handle, like);
  } finally {
    await handle.close();
  }
}

/** Owner first: changing it clears the set-user-id bits that the mode then restores. */
async function takeOwnerAndMode(handle: FileHandle, like: BigIntStats): Promise<void> {
  const own = await handle.stat({ bigint: true });
  if (own.uid !== like.uid || own.gid !== like.gid) {
    await handle.chown(Number(like.uid), Number(like.gid)).catch((error: unknown) => {
      if (systemCode(error) !== 'EPERM') throw error;
    });
  }
  await handle.chmod(Number(like.mode & 0o7777n));
}

/** A link fails where a file exists, which a rename does not; file systems without links get the rename. */
async function createExclusively(temporary: string, path: string): Promise<Replacement> {
  try {
    await link(temporary, path);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST') return 'overtaken';
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS') throw error;
    await rename(temporary, path);
  }
  return 'done';
}
