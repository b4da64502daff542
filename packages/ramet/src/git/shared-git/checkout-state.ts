/**
 * What a checkout is at one moment, read from files in about a millisecond: HEAD, index, refs, the length of HEAD's
 * reflog, the repository's configuration and hooks (WORK-9). The index is held open: git replaces the file, so what it was can still be read when it has changed.
 *
 * Not among the refs: private ones of Ramet, and the branches of its worktrees, which agents move as they should; the
 * branch that the checkout itself is on always is.
 */
import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gitDirectoryOf } from '../read-refs.ts';
import { type Repository, readOrNull, readPointer } from '../repository.ts';
import { readSideFiles, type SideFiles } from './side-files.ts';

export interface CheckoutState {
  readonly gitDirectory: string;
  /** The text of HEAD. */
  readonly head: string | null;
  readonly refs: ReadonlyMap<string, string>;
  readonly index: { readonly descriptor: number; readonly identity: string } | null;
  readonly headLog: number;
  /** Of the file of packed refs: many states of one repository share it. */
  readonly packed: PackedRefs | null;
  readonly setup: RepositorySetup;
  readonly side: SideFiles;
}

/** What decides how git behaves in every checkout of the repository. */
export interface RepositorySetup {
  /** The text of `config`. */
  readonly config: string;
  /** An identity by the name of each hook. */
  readonly hooks: ReadonlyMap<string, string>;
}

export interface PackedRefs {
  readonly identity: string;
  readonly refs: ReadonlyMap<string, string>;
}

/** Null where the refs are in no files, or there is no checkout: nothing is compared there. */
export function readCheckoutState(
  { root, commonDirectory }: Repository,
  earlier: Pick<CheckoutState, 'packed'> | null | undefined = null,
): CheckoutState | null {
  const gitDirectory = gitDirectoryOf(root);
  if (gitDirectory === null || root === commonDirectory || isReftable(commonDirectory)) return null;
  const head = readPointer(join(gitDirectory, 'HEAD'));
  const packed = packedRefs(commonDirectory, earlier?.packed ?? null);
  const refs = new Map(packed?.refs);
  addLoose(commonDirectory, 'refs', refs);
  const own = headRefOf({ head });
  for (const name of refs.keys()) if (name !== own && isPrivate(name)) refs.delete(name);
  const side = readSideFiles({ gitDirectory, commonDirectory, refs: refs.keys(), own });
  return {
    ...{ gitDirectory, head, refs, packed, side, setup: readSetup(commonDirectory) },
    index: openIndexFile(join(gitDirectory, 'index')),
    headLog: statSync(join(gitDirectory, 'logs', 'HEAD'), { throwIfNoEntry: false })?.size ?? 0,
  };
}

/** The branch that the checkout is on; null when detached. */
export function headRefOf({ head }: Pick<CheckoutState, 'head'>): string | null {
  return /^ref: (.+)$/m.exec(head ?? '')?.[1]?.trim() ?? null;
}

export function closeCheckoutState({ index }: Pick<CheckoutState, 'index'>): void {
  if (index !== null) closeSync(index.descriptor);
}

/** Examples that git itself puts there are no hooks. */
function readSetup(commonDirectory: string): RepositorySetup {
  const folder = join(commonDirectory, 'hooks');
  const hooks = new Map<string, string>();
  for (const name of hookNames(folder)) {
    const stats = statSync(join(folder, name), { throwIfNoEntry: false, bigint: true });
    const identity =
      stats === undefined ? 'none' : `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.mode}`;
    hooks.set(name, identity);
  }
  return { config: readOrNull(join(commonDirectory, 'config')) ?? '', hooks };
}

function hookNames(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => !name.endsWith('.sample'));
  } catch {
    return [];
  }
}

function isReftable(commonDirectory: string): boolean {
  return statSync(join(commonDirectory, 'reftable'), { throwIfNoEntry: false }) !== undefined;
}

function isPrivate(ref: string): boolean {
  return (
    ref.startsWith('refs/ramet/') || ref.startsWith('refs/heads/ramet/') || ref.startsWith('refs/bisect/')
  );
}

function openIndexFile(path: string): CheckoutState['index'] {
  try {
    const descriptor = openSync(path, 'r');
    const { ino, size, mtimeNs } = fstatSync(descriptor, { bigint: true });
    return { descriptor, identity: `${ino} ${size} ${mtimeNs}` };
  } catch {
    return null;
  }
}

function packedRefs(commonDirectory: string, earlier: PackedRefs | null): PackedRefs | null {
  const path = join(commonDirectory, 'packed-refs');
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
  if (stats === undefined) return null;
  const identity = `${stats.ino} ${stats.size} ${stats.mtimeNs}`;
  if (earlier?.identity === identity) return earlier;
  const refs = new Map<string, string>();
  for (const line of (readOrNull(path) ?? '').split('\n')) {
    if (line.startsWith('#') || line.startsWith('^')) continue;
    const space = line.indexOf(' ');
    if (space > 0) refs.set(line.slice(space + 1), line.slice(0, space));
  }
  return { identity, refs };
}

/** A file that goes away while it is read is a ref that was deleted. */
function addLoose(commonDirectory: string, folder: string, refs: Map<string, string>): void {
  if (folder === 'refs/ramet') return;
  let entries: ReturnType<typeof list>;
  try {
    entries = list(join(commonDirectory, folder));
  } catch {
    return;
  }
  for (const entry of entries) {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) addLoose(commonDirectory, name, refs);
    else if (!name.endsWith('.lock')) {
      const value = readPointer(join(commonDirectory, name))?.trimEnd();
      if (value !== undefined && value !== '') refs.set(name, value);
    }
  }
}

function list(directory: string) {
  return readdirSync(directory, { withFileTypes: true });
}

/** What the index held, from its beginning. */
export function readHeldIndex(descriptor: number): Uint8Array {
  const buffer = Buffer.alloc(fstatSync(descriptor).size);
  return buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, 0));
}
