/**
 * Where Ramet keeps what it knows: `$RAMET_HOME`, by default `~/.ramet`. Sessions of one repository share one
 * directory, also when they run in different worktrees of it. Directories are 0700 and files 0600: a journal
 * holds everything an agent has read.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { describeError, systemCode, UserMistake } from '../schema/errors.ts';
import { birthOf, findMovedProject, isOfAnother } from './project-note.ts';

const PRIVATE_DIRECTORY = 0o700;
export const PRIVATE_FILE = 0o600;

/** Where work happens. `commonDirectory` is `git rev-parse --git-common-dir` made absolute; null outside git. */
export interface ProjectPlace {
  root: string;
  commonDirectory: string | null;
}

export function rametHome(env: Readonly<Record<string, string | undefined>>): string {
  if (env.RAMET_HOME && !isAbsolute(env.RAMET_HOME)) throw relativeHome(env.RAMET_HOME);
  return env.RAMET_HOME ? resolve(env.RAMET_HOME) : join(userHome(env), '.ramet');
}

/** An empty HOME, or one that is no absolute path, would lead into whatever repository this runs in. */
function userHome({ HOME = '' }: Readonly<Record<string, string | undefined>>): string {
  if (isAbsolute(HOME)) return HOME;
  try {
    return userInfo().homedir;
  } catch (error) {
    throw new UserMistake('no_home', 'this user has no home directory: set HOME or RAMET_HOME', {
      cause: error,
    });
  }
}

function relativeHome(path: string): UserMistake {
  return new UserMistake(
    'home_relative',
    `RAMET_HOME is ${JSON.stringify(path)}, which is no absolute path and would depend on the current directory: give one that begins with /`,
  );
}

/**
 * The directory of a project's sessions; `makePrivateDirectory` creates it. A repository that was renamed keeps the one
 * it had, and another that takes its old place gets one of its own.
 */
export function projectDirectory(home: string, place: ProjectPlace): string {
  const identity = place.commonDirectory ?? place.root;
  const named = (text: string): string => {
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 8);
    return join(home, 'projects', `${projectName(place)}-${hash}`);
  };
  const project = named(identity);
  if (!existsSync(project)) return findMovedProject(home, identity) ?? project;
  return isOfAnother(project, identity) ? named(`${identity} ${birthOf(identity)}`) : project;
}

/** Taken from the repository, not from the worktree: all worktrees must lead to one directory. */
function projectName({ root, commonDirectory }: ProjectPlace): string {
  const named =
    commonDirectory === null
      ? basename(root)
      : basename(commonDirectory) === '.git'
        ? basename(dirname(commonDirectory))
        : basename(commonDirectory, '.git');
  const safe = named
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 60);
  return safe || 'root';
}

/** Creates a directory and its parents for this user alone; what exists already keeps its mode. */
export function makePrivateDirectory(directory: string): void {
  try {
    makeWithParents(directory);
  } catch (error) {
    throw unusable(directory, error);
  }
}

/** Step by step: Node's own recursive form tries for ever where a parent exists and takes no entries (/proc). */
function makeWithParents(directory: string): void {
  if (existsSync(directory)) return;
  if (dirname(directory) !== directory) makeWithParents(dirname(directory));
  try {
    mkdirSync(directory, { mode: PRIVATE_DIRECTORY });
  } catch (error) {
    // Another process may have made it in between.
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}

/** The one line for a place that cannot be used: what, where, what to do. */
export function unusable(path: string, error: unknown): UserMistake {
  const obstacle = fileInTheWay(path);
  const code = systemCode(error);
  const reason =
    obstacle !== null
      ? `${obstacle} is a file, not a directory`
      : code === 'EACCES' || code === 'EPERM' || code === 'EROFS'
        ? `no permission to write there (${code})`
        : code === 'ENOSPC'
          ? 'the disk is full'
          : (code ?? describeError(error));
  return new UserMistake(
    'home_unusable',
    `cannot keep sessions in ${path}: ${reason}; set RAMET_HOME to a directory you can write to`,
    { cause: error },
  );
}

function fileInTheWay(path: string): string | null {
  for (let current = path; ; current = dirname(current)) {
    if (isFile(current)) return current;
    if (current === dirname(current)) return null;
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false; // absent, or below a file: a parent will tell
  }
}
