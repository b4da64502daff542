/**
 * Installed packages, once for each set of them: a copy that belongs to Ramet, in `$RAMET_HOME/dependencies`.
 * Worktrees get hard links to its files, so none of them may be changed in place: they are made read-only, and a
 * manifest tells whether one was changed anyway.
 *
 * Invariants
 * 1. A template is made aside and moved into place whole; its name says what it fits (`template-name.ts`).
 * 2. Nothing is ever linked to a person's own folder.
 * 3. No link in it leads into the checkout it was copied from: tests would run against the wrong tree.
 */
import { existsSync } from 'node:fs';
import { chmod, lstat, readdir, readFile, readlink, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../../schema/errors.ts';
import { newSessionId } from '../../../schema/ids.ts';
import { makePrivateDirectory } from '../../../system/home.ts';
import { isInside } from '../../../system/landing-path.ts';
import { readOrNull } from '../../repository.ts';
import { copyTree } from './link-tree.ts';
import { nameOfInstalled } from './template-name.ts';

const DAY_MS = 86_400_000;

export function templateTree(home: string, name: string): string {
  return join(home, 'dependencies', name, 'tree');
}

/**
 * Tells a template from an earlier one of the same name; null without a template, and for old ones without this note.
 */
export function makingOf(home: string, name: string): string | null {
  return readOrNull(join(home, 'dependencies', name, 'making'));
}

/** Copies a folder of packages into a template. Returns why not; null when it is there. */
export async function makeTemplate(
  home: string,
  name: string,
  { root, directory }: { root: string; directory: string },
): Promise<string | null> {
  const place = join(home, 'dependencies', name);
  if (existsSync(place)) return null;
  const source = join(root, directory);
  const aside = join(home, 'dependencies', `.new-${newSessionId()}`);
  makePrivateDirectory(aside);
  try {
    await copyTree(source, join(aside, 'tree'));
    const sealed = await sealTree(join(aside, 'tree'), root);
    if ('outward' in sealed) return `${directory}/${sealed.outward} leads into ${root}`;
    if (nameOfInstalled(root, directory) !== name) return 'the packages changed meanwhile';
    await writeFile(join(aside, 'manifest'), sealed.manifest);
    await writeFile(join(aside, 'making'), newSessionId());
    await rename(aside, place);
    return null;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return null;
    throw error;
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** Makes files read-only. Returns the manifest, or a link that leads into the checkout. */
async function sealTree(tree: string, root: string): Promise<{ manifest: string } | { outward: string }> {
  const lines: string[] = [];
  let outward: string | null = null;
  await eachEntry(tree, async (path, isLink) => {
    const file = join(tree, path);
    if (!isLink) await chmod(file, (await lstat(file)).mode & 0o7555);
    // Relative links move along with the tree; only one with the checkout's own path stays behind.
    else if (isInside(await readlink(file), root)) outward ??= path;
    lines.push(await lineOf(tree, path, isLink));
  });
  return outward === null ? { manifest: lines.join('\n') } : { outward };
}

/** What changes when a file is written to. Links have their target. */
async function lineOf(tree: string, path: string, isLink: boolean): Promise<string> {
  const file = join(tree, path);
  if (isLink) return JSON.stringify([path, await readlink(file)]);
  const { size, mtimeNs, ino } = await lstat(file, { bigint: true });
  return JSON.stringify([path, String(size), String(mtimeNs), String(ino)]);
}

/** Everything below a folder but the files at its top, which are not shared; in no order, many at once. */
async function eachEntry(
  tree: string,
  visit: (path: string, isLink: boolean) => Promise<void>,
  below = '',
): Promise<void> {
  const entries = await readdir(join(tree, below), { withFileTypes: true });
  const visits = entries.map(async (entry) => {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) await eachEntry(tree, visit, path);
    else if (below !== '' || entry.isSymbolicLink()) await visit(path, entry.isSymbolicLink());
  });
  await Promise.all(visits);
}

/** Whether a folder has the template's files and nothing else. The template's own tree may be asked about too. */
export async function isAsTemplate(home: string, name: string, folder: string): Promise<boolean> {
  try {
    const known = await readFile(join(home, 'dependencies', name, 'manifest'), 'utf8');
    const lines = new Set(known.split('\n'));
    let isSame = true;
    await eachEntry(folder, async (path, isLink) => {
      if (isSame && !lines.delete(await lineOf(folder, path, isLink))) isSame = false;
    });
    return isSame && (lines.size === 0 || known === '');
  } catch {
    return false;
  }
}

/** Takes a template out of use; worktrees that have its files keep them. */
export async function discardTemplate(home: string, name: string): Promise<void> {
  const place = join(home, 'dependencies', name);
  const aside = join(home, 'dependencies', `.old-${newSessionId()}`);
  await rename(place, aside).catch(() => {});
  await rm(aside, { recursive: true, force: true });
}

/** Templates that nobody has used for that long. What was linked from them stays. */
export async function discardUnused(home: string, days: number, now: number): Promise<void> {
  const directory = join(home, 'dependencies');
  for (const name of await readdir(directory).catch(() => [])) {
    const stats = await lstat(join(directory, name)).catch(() => null);
    if (stats !== null && now - stats.mtimeMs > days * DAY_MS) await discardTemplate(home, name);
  }
}
