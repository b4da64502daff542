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
  if (target !== null) return digestOf(`link ${target}`);
  const content = contentOf(path);
  if (content !== null) return content.digest;
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return digestOf(`large ${stats?.ino} ${stats?.size} ${stats?.mtimeNs} ${stats?.ctimeNs}`);
}
