/** What a worktree lacks that its project needs, with the command that brings it: one sentence each. */
import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { LOCK_FILES } from './bring-files.ts';
import { dependencyFolders, isFolder, type PackageGround, packageFields } from './dependency-folders.ts';
import { requestKey } from './template-name.ts';

export interface MissingPackages {
  /** One sentence for the agent in the worktree. */
  forAgent: string;
  /** One for the owner of the checkout, where it can be fixed for all. */
  forUser: string;
}

/** Why folders could not be brought, by folder. */
type Reasons = Pick<ReadonlyMap<string, string>, 'get'>;

export function missingPackages(
  ground: PackageGround,
  path: string,
  reasons: Reasons = new Map(),
): MissingPackages[] {
  return [...missingModules(ground, path, reasons), ...missingEnvironments(ground, path)];
}

function missingModules(ground: PackageGround, path: string, reasons: Reasons): MissingPackages[] {
  if (ground.settings.dependencies !== undefined || existsSync(join(path, '.pnp.cjs'))) return [];
  const { root } = ground.repository;
  const lacking = dependencyFolders(ground, root).filter(
    (folder) => wantsPackages(join(path, folder, '..')) && !isThere(join(path, folder)),
  );
  const [first] = lacking;
  if (first === undefined) return [];
  const more = lacking.length === 1 ? '' : ` and ${lacking.length - 1} more`;
  const why = reasons.get(first) ?? reasonOf(root, path, first);
  const command = installCommand(path);
  return [
    {
      forAgent: `${first}${more} is not here (${why}): run \`${command}\` here before anything needs packages`,
      forUser: `the worktree lacks ${first}${more} (${why}): run \`${command}\` in ${root}, or set worktree.setup to it`,
    },
  ];
}

/** Only where a package says what it depends on: others need no folder. */
function wantsPackages(folder: string): boolean {
  const fields = packageFields(folder);
  const lists = [fields?.dependencies, fields?.devDependencies, fields?.workspaces];
  return lists.some((list) => typeof list === 'object' && list !== null && Object.keys(list).length > 0);
}

function reasonOf(root: string, path: string, folder: string): string {
  if (!isFolder(join(root, folder))) return 'the checkout has none either';
  return requestKey(root, folder) === requestKey(path, folder)
    ? 'it could not be brought from the checkout'
    : 'this commit asks for other packages than the checkout has';
}

const COMMANDS: Record<string, string> = {
  'pnpm-lock.yaml': 'pnpm install --frozen-lockfile',
  'yarn.lock': 'yarn install',
  'bun.lock': 'bun install',
  'bun.lockb': 'bun install',
  'package-lock.json': 'npm ci',
  'npm-shrinkwrap.json': 'npm ci',
};

function installCommand(path: string): string {
  return lockedInstall(path) ?? 'npm install';
}

/** What installs the packages that a lock file names; null without a lock file. */
export function lockedInstall(path: string): string | null {
  const lock = LOCK_FILES.find((name) => name in COMMANDS && existsSync(join(path, name)));
  return COMMANDS[lock ?? ''] ?? null;
}

/** Whether a tree has no packages at its top though its project asks for some. */
export function lacksModules({ settings }: Pick<PackageGround, 'settings'>, path: string): boolean {
  if (settings.dependencies !== undefined || existsSync(join(path, '.pnp.cjs'))) return false;
  return wantsPackages(path) && !isThere(join(path, 'node_modules'));
}

/** Their programs name the place they were made in, so they are not copied. */
function missingEnvironments(
  { repository: { root }, settings }: PackageGround,
  path: string,
): MissingPackages[] {
  if (settings.setup !== undefined) return [];
  const found = ['.venv', 'venv'].filter((name) => isFolder(join(root, name)) && !isThere(join(path, name)));
  return found.map((name) => {
    const remedy = `worktree.symlinkDirectories to ["${name}"] or worktree.setup to a command that makes one`;
    return {
      forAgent: `the checkout's Python environment ${name} is not here: use ${join(root, name)}/bin, or make one`,
      forUser: `the worktree lacks the Python environment ${name}: set ${remedy}`,
    };
  });
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
