/**
 * Packages for a worktree: linked from the template of its lock file, if there is one. Templates are made in the
 * background, from the asking checkout, or from a fresh worktree in which the setup command has installed them.
 */
import { lstatSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError } from '../../schema/errors.ts';
import { insidePath } from './bring-files.ts';
import {
  discardTemplate,
  isAsTemplate,
  makeTemplate,
  templateName,
  templateTree,
} from './dependency-template.ts';
import { linkTree } from './link-tree.ts';
import type { LinkedDependencies, ManagedWorktree } from './worktree.ts';
import type { WorktreePlace } from './worktree-place.ts';

const DEFAULT_DEPENDENCIES: readonly string[] = ['node_modules'];

export async function bringDependencies(
  place: WorktreePlace,
  { path, facts }: ManagedWorktree,
): Promise<{ dependencies: LinkedDependencies[]; notes: string[] }> {
  const dependencies: LinkedDependencies[] = [];
  const notes: string[] = [];
  for (const directory of wantedFolders(place)) {
    const template = templateName(path, directory);
    const before = facts.dependencies.find((known) => known.directory === directory);
    if (before !== undefined && before.template === template) {
      dependencies.push(before);
      continue;
    }
    if (before !== undefined) rmSync(join(path, directory), { recursive: true, force: true });
    if (template === null || !isFolder(templateTree(place.home, template)) || isThere(join(path, directory)))
      continue;
    try {
      await linkTree(templateTree(place.home, template), join(path, directory));
      dependencies.push({ directory, template });
    } catch (error) {
      notes.push(`${directory} could not be brought along: ${describeError(error)}`);
    }
  }
  return { dependencies, notes };
}

/**
 * Makes templates that are missing from the folders of a checkout, in which nobody but its owner and the setup command
 * has worked. Never rejects: returns why one could not be made.
 */
export async function prepareDependencies(
  place: WorktreePlace,
  root: string = place.repository.root,
): Promise<string[]> {
  const notes: string[] = [];
  for (const directory of wantedFolders(place)) {
    const name = isFolder(join(root, directory)) ? templateName(root, directory) : null;
    if (name === null) continue;
    const reason = await makeTemplate(place.home, name, { root, directory }).catch(describeError);
    if (reason !== null) notes.push(`no template of ${directory}: ${reason}`);
  }
  return notes;
}

/**
 * Looks whether packages are as they were linked. Those of the worktree that are not go; a template that was changed
 * in place is not used again. What remains is returned, with what others should know.
 */
export async function verifyDependencies(
  { home }: WorktreePlace,
  { path, facts }: ManagedWorktree,
): Promise<{ intact: LinkedDependencies[]; notes: string[] }> {
  const intact: LinkedDependencies[] = [];
  const notes: string[] = [];
  for (const linked of facts.dependencies) {
    const { directory, template } = linked;
    if (!(await isAsTemplate(home, template, templateTree(home, template)))) {
      await discardTemplate(home, template);
      notes.push(
        `files in ${directory} were changed in place: worktrees with the same packages see the change`,
      );
    } else if (await isAsTemplate(home, template, join(path, directory))) {
      intact.push(linked);
      continue;
    }
    await rm(join(path, directory), { recursive: true, force: true });
  }
  return { intact, notes };
}

function wantedFolders({ settings }: WorktreePlace): string[] {
  const linked = new Set((settings.symlinkDirectories ?? []).map((path) => path.replace(/\/+$/, '')));
  const wanted = settings.dependencies ?? DEFAULT_DEPENDENCIES;
  return wanted.map((path) => insidePath('worktree.dependencies', path)).filter((path) => !linked.has(path));
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
