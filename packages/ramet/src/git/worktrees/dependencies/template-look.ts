/**
 * Files of packages are shared: an agent that makes one writable and writes into it changes it for all. So the template
 * is checked when an agent that had its files has ended. The check takes a tenth of a second for 27,000 files, too long
 * for a claim: a claim checks only when an agent ended and no check followed, as after a kill.
 */

import { isHeld } from '../half-made.ts';
import type { LinkedDependencies, ManagedWorktree } from '../worktree.ts';
import type { WorktreePlace } from '../worktree-place.ts';
import { isFolder } from './dependency-folders.ts';
import { discardTemplate, isAsTemplate, makingOf, templateTree } from './dependency-template.ts';

interface Look {
  now: Promise<boolean>;
  /** For those who ask while one is under way: what they ask about may have happened behind its back. */
  next: Promise<boolean> | null;
}

const looks = new Map<string, Look>();
/** Templates that this process found changed: every agent that had their files is told, not only the first to end. */
const changedMakings = new Set<string>();

/** Whether a template is as it was made, or is not there; one that was changed in place is taken out of use. */
export function isTemplateIntact(home: string, name: string): Promise<boolean> {
  const tree = templateTree(home, name);
  const under = looks.get(tree);
  if (under !== undefined) {
    under.next ??= under.now.then(() => begin(home, name));
    return under.next;
  }
  return begin(home, name);
}

function begin(home: string, name: string): Promise<boolean> {
  const tree = templateTree(home, name);
  const look = async (): Promise<boolean> => {
    if (!isFolder(tree) || (await isAsTemplate(home, name, tree))) return true;
    const making = makingOf(home, name);
    if (making !== null) changedMakings.add(making);
    await discardTemplate(home, name);
    return false;
  };
  const now = look().finally(() => {
    if (looks.get(tree)?.now === now) looks.delete(tree);
  });
  looks.set(tree, { now, next: null });
  return now;
}

/** For an agent that has ended: what was changed in files that others have too, one sentence each. */
export async function lookAtTemplates(
  home: string,
  { facts }: Pick<ManagedWorktree, 'facts'>,
): Promise<string[]> {
  const changed: string[] = [];
  for (const { directory, template, making } of facts.dependencies) {
    const isNow = makingOf(home, template) === (making ?? null);
    const isIntact = !isNow || (await isTemplateIntact(home, template));
    if (!isIntact || (making !== undefined && changedMakings.has(making))) changed.push(directory);
  }
  if (changed.length === 0) return [];
  return [
    `shared files in ${changed.join(', ')} were changed in place: worktrees in use with the same packages see that, later ones get them fresh from the checkout`,
  ];
}

/** The same for a worktree in which nobody works, once. */
export async function seePackages(place: WorktreePlace, worktree: ManagedWorktree): Promise<void> {
  if (isSeen(worktree)) return;
  await lookAtTemplates(place.home, worktree);
  const current = place.registry.find(worktree.id);
  // An agent that has taken it meanwhile is checked when it ends.
  if (current === null || current.changed !== worktree.changed) return;
  place.registry.changeSeen(worktree, { facts: { ...current.facts, packagesSeen: worktree.changed } });
}

/** Before packages that were linked earlier are handed out: nobody who had them may have ended unseen. */
export async function settleDoubts(place: WorktreePlace, { id, facts }: ManagedWorktree): Promise<void> {
  if (facts.dependencies.length === 0) return;
  const names = new Set(facts.dependencies.map(({ template }) => template));
  const unseen = place.registry
    .list()
    .filter((row) => row.id !== id && row.facts.dependencies.some(isOneOf(names)) && isUnseen(place, row));
  for (const row of unseen) await seePackages(place, row);
}

function isOneOf(names: ReadonlySet<string>): (linked: LinkedDependencies) => boolean {
  return ({ template }) => names.has(template);
}

function isUnseen({ project }: WorktreePlace, row: ManagedWorktree): boolean {
  if (isSeen(row)) return false;
  return row.state === 'released' || (row.state === 'leased' && !isHeld(project, row));
}

function isSeen({ facts, changed }: ManagedWorktree): boolean {
  return facts.dependencies.length === 0 || facts.packagesSeen === changed;
}
