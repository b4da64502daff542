/**
 * Packages for the working tree in which the merge queue runs a check. That tree is used again, with what git ignores
 * still in it; a note beside it says which folders of it are ours.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOrNull } from '../../repository.ts';
import type { LinkedDependencies } from '../worktree.ts';
import type { WorktreeSettings } from '../worktree-settings.ts';
import { bringDependencies, prepareDependencies } from './bring-dependencies.ts';
import { DEFAULT_FOLDER, dependencyFolders, isFolder, type PackageGround } from './dependency-folders.ts';
import { discardTemplate, makingOf, templateTree } from './dependency-template.ts';
import { lacksModules, lockedInstall, missingPackages } from './missing-packages.ts';
import { isTemplateIntact } from './template-look.ts';
import { nameOfInstalled } from './template-name.ts';

interface CheckGround {
  home: string;
  repository: { readonly cwd: string; readonly commonDirectory: string };
  settings: WorktreeSettings | undefined;
  /** The user trusts the folder: its package manager may run. */
  isTrusted?: boolean | undefined;
  /** The check, as the user wrote it. */
  check?: string | undefined;
  /** Called when packages are about to be installed. */
  onInstall?: ((command: string) => void) | undefined;
}

/** The part of the merge queue's runner that is used here. */
type RunCommand = (command: {
  command: string;
  timeoutMs: number;
}) => Promise<{ passed: boolean; ending: string }>;

const LONGEST_INSTALL_MS = 600_000;

/** Returns what the tree lacks, with what brings it: one sentence each. */
export function checkPackages(at: CheckGround): (worktree: string, run?: RunCommand) => Promise<string[]> {
  const { home, repository, settings = {} } = at;
  const ground = {
    home,
    settings,
    repository: { root: repository.cwd, commonDirectory: repository.commonDirectory },
  };
  return async (path, run) => {
    const note = `${path}.packages.json`;
    const facts = { dependencies: await intactOf(home, path, linkedBefore(note)) };
    const { dependencies, reasons } = await bringDependencies(ground, { path, facts });
    const command = installFor(at, path);
    const isDue = run !== undefined && command !== null && mayInstall(at);
    // Found by the next run if this one is killed: half of the packages go then.
    if (isDue) writeFileSync(note, JSON.stringify([...dependencies, UNDER_WAY]), { mode: 0o600 });
    const failure = isDue ? await install(at, path, { command, run }) : null;
    // Only what was just installed: a check may have changed what is there from before.
    const installed = isDue && failure === null ? await templatesOf(ground, path, dependencies) : [];
    writeFileSync(note, JSON.stringify([...dependencies, ...installed]), { mode: 0o600 });
    const trust = command === null || isDue ? '' : ', or run `ramet trust`, and the check installs them';
    const lacks = missingPackages(ground, path, reasons).map(({ forUser }) => `${forUser}${trust}`);
    return failure === null ? lacks : [failure, ...lacks];
  };
}

/** Names no template, so that whatever is in its folder is not taken for whole. */
const UNDER_WAY: LinkedDependencies = { directory: DEFAULT_FOLDER, template: '.under-way' };

/**
 * What installs packages where the checkout has none for this tree, once for each lock file; null where nothing may.
 */
function installFor(at: CheckGround, path: string): string | null {
  const settings = at.settings ?? {};
  if (settings.install === false || !lacksModules({ settings }, path)) return null;
  const lock = lockedInstall(path);
  return lock === null ? null : settings.setup?.trim() || lock;
}

/** `npm test` runs what the repository says anyway. */
const RUNS_SCRIPTS = /^\s*(?:npm|npx|pnpm|pnpx|yarn|bun|bunx)\s/;

function mayInstall({ isTrusted, check }: CheckGround): boolean {
  return isTrusted === true || RUNS_SCRIPTS.test(check ?? '');
}

/** Why it failed; null when it did not. */
async function install(
  at: CheckGround,
  path: string,
  { command, run }: { command: string; run: RunCommand },
): Promise<string | null> {
  at.onInstall?.(command);
  const { passed, ending } = await run({ command, timeoutMs: LONGEST_INSTALL_MS });
  if (passed) return null;
  // Half of the packages would pass for all of them the next time.
  dropFolders(path, dependencyFolders({ settings: at.settings ?? {} }, path));
  return `the packages for the check could not be installed: ${command}: ${ending}`;
}

function dropFolders(path: string, directories: readonly string[]): void {
  for (const directory of directories) rmSync(join(path, directory), { recursive: true, force: true });
}

/** What was just installed, as templates for the next; noted, so that it goes when the lock file changes. */
async function templatesOf(
  ground: PackageGround,
  path: string,
  linked: readonly LinkedDependencies[],
): Promise<LinkedDependencies[]> {
  if (linked.some(({ directory }) => directory === DEFAULT_FOLDER)) return [];
  if (!isFolder(join(path, DEFAULT_FOLDER))) return [];
  await prepareDependencies(ground, path);
  const known = new Set(linked.map(({ directory }) => directory));
  const folders = dependencyFolders(ground, path).filter((directory) => !known.has(directory));
  const templates = folders.flatMap((directory) => templateOf(ground.home, path, directory));
  // Templates of some folders would pass for all of them: without one of each, it is installed again.
  return templates.length === folders.length ? templates : [UNDER_WAY];
}

function templateOf(home: string, path: string, directory: string): LinkedDependencies[] {
  const template = nameOfInstalled(path, directory);
  if (template === null || !isFolder(templateTree(home, template))) return [];
  return [{ directory, template, making: makingOf(home, template) ?? undefined }];
}

/**
 * An agent may have changed files of a template in place: a check must not run with them. What was installed together
 * goes together, so that it is installed again.
 */
async function intactOf(
  home: string,
  path: string,
  linked: readonly LinkedDependencies[],
): Promise<LinkedDependencies[]> {
  for (const { template } of linked) {
    if (isFolder(templateTree(home, template)) && (await isTemplateIntact(home, template))) continue;
    for (const each of linked) await discardTemplate(home, each.template);
    dropFolders(
      path,
      linked.map(({ directory }) => directory),
    );
    return [];
  }
  return [...linked];
}

function linkedBefore(note: string): LinkedDependencies[] {
  try {
    // Only this file writes it, from LinkedDependencies.
    return JSON.parse(readOrNull(note) ?? '[]') as LinkedDependencies[];
  } catch {
    return [];
  }
}
