/**
 * The files of trust, and which repository a root belongs to: what `trust.ts` and `former-trust.ts` read and write.
 */
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import * as z from '../schema/zod.ts';
import { PRIVATE_FILE, unusable } from './home.ts';
import { realPath } from './landing-path.ts';
import { readSmallText } from './regular-file.ts';
import { replaceWhole } from './replace-whole.ts';

/** Something that can run or widen rights, as it was when the user trusted it. */
export interface TrustedPart {
  /** Of everything below. */
  digest: string;
  /** Of what is written down, without the files that it names. */
  own: string;
  /** Digests of the files that belong to it, by their path in the repository. */
  files: Record<string, string>;
  /** The version of Ramet that looked at it: another one can follow other files. Absent in entries of earlier versions. */
  by?: string | undefined;
}

/** The same as text, to show what has changed; null where a file is no text or too long. */
export interface TrustedText {
  text: string;
  files: Record<string, string | null>;
}

export interface TrustEntry {
  root: string;
  /** Which repository it was. Absent in entries of earlier versions. */
  repository?: string | undefined;
  /** Absent in entries of earlier versions. */
  parts?: Record<string, TrustedPart> | undefined;
}

const text = z.string();
const part = z.object({ digest: text, own: text, files: z.record(text, text), by: z.optional(text) });
const parts = z.record(text, part);
const trustEntry: z.ZodMiniType<TrustEntry> = z.object({
  root: text,
  repository: z.optional(text),
  parts: z.optional(parts),
});
const trustedText = z.object({ text, files: z.record(text, z.nullable(text)) });
const trustTexts: z.ZodMiniType<Record<string, TrustedText>> = z.record(text, trustedText);

/** Of whatever repository it was; null where it is absent, unreadable or damaged: trust is never assumed. */
export function entryAt(home: string, root: string): TrustEntry | null {
  try {
    const data = readOnce(entryPath(home, root));
    return data?.root === root ? data : null;
  } catch {
    return null;
  }
}

/** Null where they are absent or damaged: changes are then named and not shown. */
export function textsAt(home: string, root: string): Record<string, TrustedText> | null {
  try {
    return trustTexts.safeParse(JSON.parse(readFileSync(textsPath(home, root), 'utf8'))).data ?? null;
  } catch {
    return null;
  }
}

/** The entry that was read last: one with hundreds of parts is asked for several times at each start. */
let last: { readonly path: string; readonly stamp: string; readonly entry: TrustEntry | undefined } | null =
  null;

/** Entries are replaced whole, so another content is another file. Throws where it cannot be read. */
function readOnce(path: string): TrustEntry | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  const { ino, size, mtimeNs, ctimeNs } = stats;
  const stamp = [ino, size, mtimeNs, ctimeNs].join(':');
  if (last?.path === path && last.stamp === stamp) return last.entry;
  const { data } = trustEntry.safeParse(JSON.parse(readFileSync(path, 'utf8')));
  last = { path, stamp, entry: data };
  return data;
}

export function writeEntry(path: string, entry: object): void {
  try {
    replaceWhole(path, `${JSON.stringify(entry)}\n`, PRIVATE_FILE);
  } catch (error) {
    throw unusable(path, error);
  }
}

export interface RootRepository {
  identity: string | null;
  /** The checkout that a linked worktree belongs to. */
  main: string | null;
  /** Git has a directory for it; else it is a folder, by its own identity. */
  isGit: boolean;
}

/**
 * Which repository a root belongs to: its git directory is the same as long as nobody replaces it, whatever is committed,
 * and nobody else can make another one that is.
 */
export function repositoryAt(root: string): RootRepository {
  try {
    const git = join(root, '.git');
    const found = lstatSync(git, { throwIfNoEntry: false });
    const common = found?.isFile() ? commonDirectory(git) : null;
    if (common !== null)
      return {
        identity: stampOf(common),
        main: basename(common) === '.git' ? dirname(common) : null,
        isGit: true,
      };
    const isGit = found?.isDirectory() === true;
    return { identity: stampOf(isGit ? git : root), main: null, isGit };
  } catch {
    return { identity: null, main: null, isGit: false };
  }
}

/** Null for a file that claims a repository which does not know it, or is not there: anybody can write such a file. */
function commonDirectory(git: string): string | null {
  const [, named] = /^gitdir: (.+)$/m.exec(readSmallText(git)) ?? [];
  if (named === undefined) return null;
  const own = resolve(dirname(git), named.trim());
  try {
    const back = resolve(own, readSmallText(join(own, 'gitdir')).trim());
    if (realPath(back) !== realPath(git)) return null;
    return realPath(resolve(own, readSmallText(join(own, 'commondir')).trim()));
  } catch {
    return null;
  }
}

function stampOf(path: string): string {
  const { ino, birthtimeNs } = statSync(path, { bigint: true });
  return `${ino}:${birthtimeNs}`;
}

export function rootOf({ root }: { readonly root: string }): string {
  try {
    return realPath(root);
  } catch {
    return root;
  }
}

export function entryPath(home: string, root: string): string {
  const name = createHash('sha256').update(root).digest('hex').slice(0, 32);
  return join(home, 'trusted', `${name}.json`);
}

export function textsPath(home: string, root: string): string {
  return entryPath(home, root).replace(/\.json$/, '.texts.json');
}
