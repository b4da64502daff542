/**
 * Packages for a worktree: linked from a template, which is made from the asking checkout if missing. The first
 * worktree waits for that; others of the same moment wait with it. A template may also come from a fresh worktree in
 * which the setup command has installed packages.
 */
import { existsSync, rmSync, utimesSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeError } from '../../../schema/errors.ts';
import type { LinkedDependencies, ManagedWorktree } from '../worktree.ts';
import type { WorktreePlace } from '../worktree-place.ts';
import {
  DEFAULT_FOLDER,
  dependencyFolders,
  isFolder,
  type PackageGround,
  possibleFolders,
} from './dependency-folders.ts';
import {
  discardTemplate,
  isAsTemplate,
  makeTemplate,
  makingOf,
  templateTree,
} from './dependency-template.ts';
import { linkTree } from './link-tree.ts';
import { isTemplateIntact } from './template-look.ts';
import { nameOfInstalled, type WantedTemplate, wantedTemplate } from './template-name.ts';

export interface BroughtDependencies {
  dependencies: LinkedDependencies[];
  /** Why a folder that the checkout has could not be brought, by folder. */
  reasons: Map<string, string>;
}

export async function bringDependencies(
  ground: PackageGround,
  { path, facts }: { path: string; facts: Pick<ManagedWorktree['facts'], 'dependencies'> },
): Promise<BroughtDependencies> {
  const brought: BroughtDependencies = { dependencies: [], reasons: new Map() };
  for (const directory of foldersFor(ground, { path, facts })) {
    const before = facts.dependencies.find((known) => known.directory === directory);
    const wanted = isFolder(dirname(join(path, directory))) ? wantedTemplate(ground, path, directory) : null;
    const isThere = existsSync(join(path, directory));
    if (before !== undefined && isThere && before.template === wanted?.name && isSameMaking(ground, before)) {
      brought.dependencies.push(before);
      continue;
    }
    if (before !== undefined) rmSync(join(path, directory), { recursive: true, force: true });
    if (wanted === null || (isThere && before === undefined)) continue;
    const linked = await link(ground, { path, directory, wanted }).catch(describeError);
    if (typeof linked === 'string') brought.reasons.set(directory, linked);
    else brought.dependencies.push(linked);
  }
  return brought;
}

/** Those that the checkout has, that the worktree had before, and that came with a template of the top folder. */
function foldersFor(
  ground: PackageGround,
  { path, facts }: { path: string; facts: Pick<ManagedWorktree['facts'], 'dependencies'> },
): Set<string> {
  const before = facts.dependencies.map(({ directory }) => directory);
  const ofCheckout = dependencyFolders(ground, ground.repository.root);
  const top = ofCheckout.includes(DEFAULT_FOLDER) ? wantedTemplate(ground, path, DEFAULT_FOLDER) : null;
  // A checkout without packages does not tell which of its members have a folder of their own.
  const isOurs = top !== null && !top.isInstalled;
  return new Set([...ofCheckout, ...before, ...(isOurs ? possibleFolders(ground, path) : [])]);
}

/** A template that was changed in place is made again under its name; what was linked before has the changed files. */
function isSameMaking({ home }: PackageGround, { template, making }: LinkedDependencies): boolean {
  return makingOf(home, template) === (making ?? null);
}

/** Or why not. */
async function link(
  { home, repository: { root } }: PackageGround,
  {
    path,
    directory,
    wanted: { name, isInstalled },
  }: { path: string; directory: string; wanted: WantedTemplate },
): Promise<LinkedDependencies | string> {
  const tree = templateTree(home, name);
  if (!(await isTemplateIntact(home, name)) && !isInstalled) return 'its template was changed in place';
  const refusal =
    isInstalled && !isFolder(tree) ? await notForever(makeOnce(home, name, { root, directory })) : null;
  if (refusal !== null) return refusal;
  // Read first: of one that is made again meanwhile, the old making is noted, and it is linked again.
  const making = makingOf(home, name) ?? undefined;
  await linkTree(tree, join(path, directory));
  touch(dirname(tree));
  return { directory, template: name, making };
}

/** Templates that are being made, by their path: others that need one wait for it, also in another session of this process. */
const underWay = new Map<string, Promise<string | null>>();

function makeOnce(
  home: string,
  name: string,
  from: { root: string; directory: string },
): Promise<string | null> {
  const tree = templateTree(home, name);
  const making = underWay.get(tree) ?? makeTemplate(home, name, from).finally(() => underWay.delete(tree));
  underWay.set(tree, making);
  return making;
}

/** How long an agent's start waits for the first copy of its packages. */
const LONGEST_WAIT_MS = 30_000;

async function notForever(making: Promise<string | null>): Promise<string | null> {
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(
    () => late.resolve('the first copy of it is not done yet; worktrees made later have it'),
    LONGEST_WAIT_MS,
  );
  return Promise.race([making, late.promise]).finally(() => clearTimeout(timer));
}

/** What was not used for long goes. */
function touch(template: string): void {
  try {
    utimesSync(template, new Date(), new Date());
  } catch {
    // Another process has just discarded it; what was linked stays.
  }
}

/**
 * Makes templates that are missing from the folders of a checkout, in which nobody but its owner and the setup command
 * has worked. Never rejects: returns why one could not be made.
 */
export async function prepareDependencies(
  place: PackageGround,
  root: string = place.repository.root,
): Promise<string[]> {
  const notes: string[] = [];
  for (const directory of dependencyFolders(place, root)) {
    const name = isFolder(join(root, directory)) ? nameOfInstalled(root, directory) : null;
    if (name === null) continue;
    const reason = await makeOnce(place.home, name, { root, directory }).catch(describeError);
    if (reason !== null) notes.push(`no template of ${directory}: ${reason}`);
  }
  return notes;
}

/**
 * Looks whether packages are as they were linked. Those of the worktree that are not go; a template that was changed
 * in place is not used again. What remains is returned.
 */
export async function verifyDependencies(
  { home }: Pick<WorktreePlace, 'home'>,
  { path, facts }: ManagedWorktree,
): Promise<LinkedDependencies[]> {
  const intact: LinkedDependencies[] = [];
  for (const linked of facts.dependencies) {
    const { directory, template } = linked;
    if (!(await isAsTemplate(home, template, templateTree(home, template))))
      await discardTemplate(home, template);
    else if (await isAsTemplate(home, template, join(path, directory))) {
      intact.push(linked);
      continue;
    }
    await rm(join(path, directory), { recursive: true, force: true });
  }
  return intact;
}
