/**
 * Packages for the working tree in which the merge queue runs a check. That tree is used again, with what git ignores
 * still in it; which folders of it are ours stands in a note beside it.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOrNull } from '../repository.ts';
import { bringDependencies } from './bring-dependencies.ts';
import { isFolder } from './dependency-folders.ts';
import { templateTree } from './dependency-template.ts';
import { missingPackages } from './missing-packages.ts';
import { isTemplateIntact } from './template-look.ts';
import type { LinkedDependencies } from './worktree.ts';
import type { WorktreeSettings } from './worktree-settings.ts';

interface CheckGround {
  home: string;
  repository: { readonly cwd: string; readonly commonDirectory: string };
  settings: WorktreeSettings | undefined;
}

/** Returns what the tree lacks, with what brings it: one sentence each. */
export function checkPackages(at: CheckGround): (worktree: string) => Promise<string[]> {
  const { home, repository, settings = {} } = at;
  const ground = {
    home,
    settings,
    repository: { root: repository.cwd, commonDirectory: repository.commonDirectory },
  };
  return async (path) => {
    const note = `${path}.packages.json`;
    const facts = { dependencies: await intactOf(home, path, linkedBefore(note)) };
    const { dependencies, reasons } = await bringDependencies(ground, { path, facts });
    writeFileSync(note, JSON.stringify(dependencies), { mode: 0o600 });
    return missingPackages(ground, path, reasons).map(({ forUser }) => forUser);
  };
}

/** An agent may have changed files of a template in place: a check must not run with them. */
async function intactOf(
  home: string,
  path: string,
  linked: readonly LinkedDependencies[],
): Promise<LinkedDependencies[]> {
  const intact: LinkedDependencies[] = [];
  for (const each of linked) {
    const isThere = isFolder(templateTree(home, each.template));
    if (isThere && (await isTemplateIntact(home, each.template))) intact.push(each);
    else rmSync(join(path, each.directory), { recursive: true, force: true });
  }
  return intact;
}

function linkedBefore(note: string): LinkedDependencies[] {
  try {
    // Only this file writes it, from LinkedDependencies.
    return JSON.parse(readOrNull(note) ?? '[]') as LinkedDependencies[];
  } catch {
    return [];
  }
}
