/** What of a file counts for trust. */
import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { digestOf } from '../../system/digest.ts';
import type { ListedFile } from './repository-look.ts';

const LARGEST_FILE = 16 << 20;

/** Null for one that is too large to read, or cannot be read. */
export function contentOf(path: string): { readonly digest: string; readonly bytes: Buffer } | null {
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > LARGEST_FILE) return null;
    const bytes = whatCounts(path, readFileSync(path));
    return { digest: digestOf(bytes), bytes };
  } catch {
    return null;
  }
}

/** Of a file as it is: of what it holds or, where that is too large to read, of which file it is. Null for what is no file. */
export function fileDigest(path: string): string | null {
  return contentOf(path)?.digest ?? stateDigest(path);
}

/** Nobody can write to a file, or put another in its place, and leave all of this as it was. */
function stateDigest(path: string): string | null {
  try {
    const stats = statSync(path, { bigint: true });
    const { ino, size, mtimeNs, ctimeNs } = stats;
    return stats.isFile() ? digestOf(`large ${ino} ${size} ${mtimeNs} ${ctimeNs}`) : null;
  } catch {
    return null;
  }
}

/** Of a file with this content. */
export function contentDigest(path: string, bytes: Buffer): string {
  return digestOf(whatCounts(path, bytes));
}

const CHANGES_OFTEN =
  /^(?:version|(?:\w+D|d)ependenc(?:ies|iesMeta)|bundledDependencies|overrides|resolutions)$/;

/** Another package that a project needs changes nothing about the scripts that a command runs. */
function whatCounts(path: string, bytes: Buffer): Buffer {
  if (basename(path) !== 'package.json') return bytes;
  try {
    const fields = Object.entries(JSON.parse(bytes.toString('utf8')));
    const kept = Object.fromEntries(fields.filter(([key]) => !CHANGES_OFTEN.test(key)));
    return Buffer.from(JSON.stringify(kept, null, 2));
  } catch {
    return bytes;
  }
}

/** Of one file of a folder that counts whole. */
export function listedDigest({ path, target }: ListedFile): string {
  return target === null ? (fileDigest(path) ?? digestOf('gone')) : digestOf(`link ${target}`);
}
