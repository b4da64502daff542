/** Where worktrees of one repository are made, and with what: the first argument of everything in this folder. */
import { join, resolve } from 'node:path';
import { UserMistake } from '../../schema/errors.ts';
import { projectDirectory } from '../../system/home.ts';
import { findRepository, type Repository, readOrNull } from '../repository.ts';
import { WorktreeRegistry } from './registry.ts';
import type { ManagedWorktree } from './worktree.ts';
import type { WorktreeSettings } from './worktree-settings.ts';

export interface WorktreePlace extends Disposable {
  /** `$RAMET_HOME`. */
  readonly home: string;
  readonly project: string;
  /** The asking checkout; of a bare repository the git directory twice. */
  readonly repository: Repository;
  readonly registry: WorktreeRegistry;
  readonly env: Readonly<Record<string, string>>;
  readonly settings: WorktreeSettings;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Called before each step that a killed process may stop at; tests kill there. */
  onStep(step: string): void;
}

export interface WorktreePlaceOptions {
  home: string;
  /** In the asking checkout. */
  directory: string;
  env: Readonly<Record<string, string>>;
  settings?: WorktreeSettings | undefined;
  now?: (() => number) | undefined;
  onStep?: ((step: string) => void) | undefined;
}

/** Throws where there is no repository. Nothing is written yet. */
export function openWorktreePlace(options: WorktreePlaceOptions): WorktreePlace {
  const repository = findRepository(options.directory) ?? bareRepository(options.directory);
  const project = projectDirectory(options.home, repository);
  const registry = new WorktreeRegistry(project);
  return {
    home: options.home,
    project,
    repository,
    registry,
    env: options.env,
    settings: options.settings ?? {},
    now: options.now ?? Date.now,
    onStep: options.onStep ?? (() => {}),
    [Symbol.dispose]: () => registry[Symbol.dispose](),
  };
}

function bareRepository(directory: string): Repository {
  const root = resolve(directory);
  const isBare = ['HEAD', 'config'].every((name) => readOrNull(join(root, name)) !== null);
  if (isBare) return { root, commonDirectory: root };
  throw new UserMistake(
    'not_a_repository',
    `${directory} is not in a git repository: worktrees need one; run git init and commit first, or continue without isolation`,
  );
}

/** The directory of this repository's worktrees. */
export function worktreesDirectory({ home, project, settings, repository }: WorktreePlace): string {
  if (settings.directory !== undefined) return resolve(repository.root, settings.directory);
  const name = project.slice(project.lastIndexOf('/') + 1);
  return join(home, 'worktrees', name);
}

/** What git knows of a worktree: HEAD, index, where it is. */
export function adminDirectory(
  { repository }: WorktreePlace,
  { admin }: Pick<ManagedWorktree, 'admin'>,
): string {
  return join(repository.commonDirectory, 'worktrees', admin);
}

/** Ignore patterns that hold for one worktree; git itself knows such a file only for all of them. */
export function excludeFile(place: WorktreePlace, worktree: Pick<ManagedWorktree, 'admin'>): string {
  return join(adminDirectory(place, worktree), 'ramet-exclude');
}
