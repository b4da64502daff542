/**
 * Where Ramet keeps what it knows: `$RAMET_HOME`, by default `~/.ramet`. Sessions of one repository share one
 * directory, also when they run in different worktrees of it. Directories are 0700 and files 0600: a journal
 * holds everything an agent has read.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { describeError, systemCode, UserMistake } from '../schema/errors.ts';
import { isInside } from './landing-path.ts';
import { replaceWhole } from './replace-whole.ts';

const NAME = 'repository.json';

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

/**
 * What agents of a session may write of its `directory`. The rest is what the session itself keeps there: outputs, originals,
 * frames between processes, and what people ask of it.
 */
export function scratchpadIn(directory: string): string {
  return join(directory, 'scratchpad');
}

/** Has a mark for each session while it adopts work, or after it was killed then. */
export function adoptingDirectory(project: string): string {
  return join(project, 'adopting');
}

/** The sessions that have one. */
export function adoptingSessions(project: string): string[] {
  try {
    return readdirSync(adoptingDirectory(project));
  } catch {
    return []; // nothing was ever adopted
  }
}

const MANAGED = '/etc/ramet';

/**
 * Folders of the machine's managed policy. `RAMET_MANAGED_DIR` stands for a policy where a machine has none: what it brings
 * counts as managed, so beside a real policy it would let in what that one keeps out.
 */
export function managedFolders(
  env: Readonly<Record<string, string | undefined>>,
  fixed: string = MANAGED,
): string[] {
  const { RAMET_MANAGED_DIR: named = '' } = env;
  return [named === '' || existsSync(fixed) ? fixed : named];
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
  if (isOfAnother(project, identity)) return named(`${identity} ${birthOf(identity)}`);
  noteReturn(project, identity);
  return project;
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

/**
 * Which repository a project's directory is of: `repository.json` in it. A project is named after the path of its
 * repository, so one that was renamed would find nothing. The directory itself is told by device, inode and birth: a
 * rename keeps all three, a clone or a copy has others, and a directory made later in the same place has another birth.
 */
interface ProjectNote {
  /** Its shared git directory, or the directory itself outside git. */
  directory: string;
  /** Device, inode and birth of that directory. */
  identity: string;
  /** Where it was before, the latest last. */
  former: string[];
}

/** Writes the note of a project that has none. What cannot be written costs nothing but finding it after a rename. */
export function noteProject(project: string, directory: string): void {
  if (existsSync(join(project, NAME))) return;
  const identity = identityOf(directory);
  if (identity !== null) writeNote(project, { directory, identity, former: [] });
}

/** The project of a directory that has been renamed since; null if not found. */
function findMovedProject(home: string, directory: string): string | null {
  const identity = identityOf(directory);
  const projects = join(home, 'projects');
  if (identity === null || !existsSync(projects)) return null;
  for (const name of readdirSync(projects)) {
    const project = join(projects, name);
    const note = readNote(project);
    if (note === null || note.identity !== identity) continue;
    if (note.directory !== directory) noteMove(project, note, { directory, identity });
    return project;
  }
  return null;
}

/** A repository that was renamed, used there, and is back under the name that its project has. */
function noteReturn(project: string, directory: string): void {
  const note = readNote(project);
  const identity = identityOf(directory);
  if (note !== null && note.directory !== directory && identity !== null)
    noteMove(project, note, { directory, identity });
}

function noteMove(
  project: string,
  before: ProjectNote,
  { directory, identity }: Omit<ProjectNote, 'former'>,
): void {
  const former = [...before.former.filter((path) => path !== directory), before.directory];
  writeNote(project, { directory, identity, former });
}

/** Whether a project is of another directory than this one, which has only taken the place of that. */
function isOfAnother(project: string, directory: string): boolean {
  const note = readNote(project);
  return note !== null && note.directory !== directory && identityOf(note.directory) === note.identity;
}

/** Tells apart the directories that are or were in one place; empty for none. */
function birthOf(directory: string): string {
  return identityOf(directory) ?? '';
}

/** Where a path of the repository is now: itself, unless the repository was renamed since. */
export function movedPaths(project: string): (path: string) => string {
  return renamingOf(project) ?? ((path) => path);
}

/** Null for a repository that is where it always was. */
export function renamingOf(project: string): ((path: string) => string) | null {
  const note = readNote(project);
  if (note === null || note.former.length === 0) return null;
  const now = rootOf(note.directory);
  const roots = note.former.map(rootOf);
  return (path) => {
    const root = roots.find((former) => isInside(path, former));
    return root === undefined ? path : now + path.slice(root.length);
  };
}

function rootOf(directory: string): string {
  return directory.endsWith(`${sep}.git`) ? dirname(directory) : directory;
}

function identityOf(directory: string): string | null {
  const stats = statSync(directory, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? null : `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
}

function readNote(project: string): ProjectNote | null {
  try {
    const note: unknown = JSON.parse(readFileSync(join(project, NAME), 'utf8'));
    return isNote(note) ? note : null;
  } catch {
    return null; // absent or damaged: as good as none
  }
}

function isNote(value: unknown): value is ProjectNote {
  if (typeof value !== 'object' || value === null) return false;
  const { directory, identity, former }: { directory?: unknown; identity?: unknown; former?: unknown } =
    value;
  return typeof directory === 'string' && typeof identity === 'string' && Array.isArray(former);
}

function writeNote(project: string, note: ProjectNote): void {
  try {
    replaceWhole(join(project, NAME), JSON.stringify(note), 0o600);
  } catch {
    // Said where it is called.
  }
}
