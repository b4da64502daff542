/**
 * Packages for the working tree in which the merge queue runs a check. That tree is used again, with what git ignores
 * still in it; which folders of it are ours stands in a note beside it.
 */
import { writeFileSync } from 'node:fs';
import { readOrNull } from '../repository.ts';
import { bringDependencies } from './bring-dependencies.ts';
import { missingPackages } from './missing-packages.ts';
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
    const facts = { dependencies: linkedBefore(note) };
    const { dependencies, reasons } = await bringDependencies(ground, { path, facts });
    writeFileSync(note, JSON.stringify(dependencies), { mode: 0o600 });
    return missingPackages(ground, path, reasons).map(({ forUser }) => forUser);
  };
}

function linkedBefore(note: string): LinkedDependencies[] {
  try {
    // Only this file writes it, from LinkedDependencies.
    return JSON.parse(readOrNull(note) ?? '[]') as LinkedDependencies[];
  } catch {
    return [];
  }
}
