/**
 * Installed packages, once for each lock file (U36): a copy that belongs to Ramet, in `$RAMET_HOME/dependencies`.
 * Worktrees get hard links to its files, so none of them may be changed in place: they are made read-only, and a
 * manifest tells whether one was changed all the same.
 *
 * Invariants
 * 1. A template is made aside and moved into place whole; its name is a digest of the lock files it was made by.
 * 2. Nothing is ever linked to a person's own folder.
 * 3. No link in it leads into the checkout it was copied from: tests would run against the wrong tree.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, lstat, opendir, readFile, readlink, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { makePrivateDirectory } from '../../journal/home.ts';
import { systemCode } from '../../schema/errors.ts';
import { newSessionId } from '../../schema/ids.ts';
import { LOCK_FILES } from './bring-files.ts';
import { copyTree } from './link-tree.ts';

/** The template that fits the lock files beside a folder; null where there are none. */
export function templateName(root: string, directory: string): string | null {
  const hash = createHash('sha256').update(`${directory}\n${process.platform} ${process.arch}\n`);
  let isKnown = false;
  for (const name of LOCK_FILES) {
    const file = join(root, dirname(directory), name);
    if (!existsSync(file)) continue;
    isKnown = true;
    hash.update(`${name}\n`).update(readFileSync(file));
  }
  return isKnown ? hash.digest('hex').slice(0, 32) : null;
}

export function templateTree(home: string, name: string): string {
  return join(home, 'dependencies', name, 'tree');
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
    const outward = await sealTree(join(aside, 'tree'), { root, source });
    if (outward !== null) return `${outward} leads into ${root}`;
    if (templateName(root, directory) !== name) return 'the lock file changed meanwhile';
    await writeFile(join(aside, 'manifest'), await manifestOf(join(aside, 'tree')));
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

/** Makes files read-only. Returns a link that leads into the checkout, if there is one. */
async function sealTree(tree: string, from: { root: string; source: string }): Promise<string | null> {
  for await (const { path, isLink } of entriesOf(tree)) {
    const file = join(tree, path);
    if (!isLink) await chmod(file, (await lstat(file)).mode & 0o7555);
    else if (leadsInto(await readlink(file), from.root)) return path;
  }
  return null;
}

/** Relative links move along with the tree; only one with the checkout's own path stays behind. */
function leadsInto(target: string, root: string): boolean {
  return isAbsolute(target) && `${resolve(target)}${sep}`.startsWith(`${root}${sep}`);
}

/** One line a file: what changes when it is written to. Links have their target. */
async function manifestOf(tree: string): Promise<string> {
  const lines: string[] = [];
  for await (const { path, isLink } of entriesOf(tree)) lines.push(await lineOf(tree, path, isLink));
  return lines.join('\n');
}

async function lineOf(tree: string, path: string, isLink: boolean): Promise<string> {
  const file = join(tree, path);
  if (isLink) return JSON.stringify([path, await readlink(file)]);
  const { size, mtimeNs, ino } = await lstat(file, { bigint: true });
  return JSON.stringify([path, String(size), String(mtimeNs), String(ino)]);
}

/** Everything below a folder but the files at its top, which are not shared. */
async function* entriesOf(tree: string, below = ''): AsyncGenerator<{ path: string; isLink: boolean }> {
  const folders: string[] = [];
  for await (const entry of await opendir(join(tree, below))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) folders.push(path);
    else if (below !== '' || entry.isSymbolicLink()) yield { path, isLink: entry.isSymbolicLink() };
  }
  for (const folder of folders) yield* entriesOf(tree, folder);
}

/** Whether a folder has the template's files and nothing else. The template's own tree may be asked about too. */
export async function isAsTemplate(home: string, name: string, folder: string): Promise<boolean> {
  try {
    const known = await readFile(join(home, 'dependencies', name, 'manifest'), 'utf8');
    const lines = new Set(known.split('\n'));
    for await (const { path, isLink } of entriesOf(folder)) {
      if (!lines.delete(await lineOf(folder, path, isLink))) return false;
    }
    return lines.size === 0 || known === '';
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
