/**
 * Which template of packages fits where. The first half of its name is a digest of what asks for packages: the lock
 * files nearest to the folder, or, where there are none, what package.json depends on. The second half is a digest of
 * what was installed: packages that were installed again are another template.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { READ_AT_ONCE, readOrNull } from '../../repository.ts';
import { LOCK_FILES } from './bring-files.ts';
import { isFolder, type PackageGround, packageFields } from './dependency-folders.ts';

export interface WantedTemplate {
  name: string;
  /** Whether it can be made from the asking checkout. */
  isInstalled: boolean;
}

/** The template for a folder of a worktree; null where nothing tells which packages it wants, or nobody has them. */
export function wantedTemplate(
  { home, repository: { root } }: PackageGround,
  path: string,
  directory: string,
): WantedTemplate | null {
  const key = requestKey(path, directory);
  if (key === null) return null;
  const isInstalled = isFolder(join(root, directory)) && requestKey(root, directory) === key;
  if (isInstalled) return { name: `${key}-${installedState(join(root, directory))}`, isInstalled };
  const name = newestOf(home, key);
  return name === null ? null : { name, isInstalled };
}

/** The name of a template that is made from a folder; null where nothing tells which packages are asked for. */
export function nameOfInstalled(root: string, directory: string): string | null {
  const key = requestKey(root, directory);
  return key === null ? null : `${key}-${installedState(join(root, directory))}`;
}

/** What asks for the packages of a folder, as a digest. */
export function requestKey(root: string, directory: string): string | null {
  const hash = createHash('sha256').update(`${directory}\n${process.platform} ${process.arch}\n`);
  const asked = lockTexts(root, dirname(directory)) ?? dependencyTexts(root, dirname(directory));
  if (asked === null) return null;
  for (const text of asked) hash.update(text);
  return hash.digest('hex').slice(0, 32);
}

/** Those of the nearest folder that has any. */
function lockTexts(root: string, folder: string): (string | Buffer)[] | null {
  const names = LOCK_FILES.filter((name) => existsSync(join(root, folder, name)));
  if (names.length > 0) {
    return names.flatMap((name) => [
      `${name}\n`,
      readFileSync(join(root, folder, name), { flag: READ_AT_ONCE }),
    ]);
  }
  return folder === '.' ? null : lockTexts(root, dirname(folder));
}

const ASKING = [
  ...['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'],
  ...['overrides', 'resolutions', 'workspaces'],
];

function dependencyTexts(root: string, folder: string): string[] | null {
  const folders = folder === '.' ? ['.'] : ['.', folder];
  const fields = folders.map((each) => packageFields(join(root, each)));
  if (fields.at(-1) === null) return null;
  return fields.map((each) => JSON.stringify(ASKING.map((name) => each?.[name] ?? null)));
}

/** Where package managers write down what they have installed. */
const STATES = ['.package-lock.json', '.yarn-state.yml', '.yarn-integrity', '.modules.yaml'];

function installedState(folder: string): string {
  const text = STATES.map((name) => readOrNull(join(folder, name))).find((each) => each !== null);
  const state = text ?? readdirSync(folder).sort().join('\n');
  return createHash('sha256').update(state).digest('hex').slice(0, 16);
}

function newestOf(home: string, key: string): string | null {
  const directory = join(home, 'dependencies');
  const names = existsSync(directory) ? readdirSync(directory) : [];
  const fitting = names.filter((name) => name === key || name.startsWith(`${key}-`));
  const changed = (name: string): number =>
    statSync(join(directory, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return fitting.sort((a, b) => changed(b) - changed(a))[0] ?? null;
}
