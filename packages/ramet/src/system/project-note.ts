/**
 * Which repository a project's directory is of: `repository.json` in it. A project is named after the path of its
 * repository, so one that was renamed would find nothing. The directory itself is told by device, inode and birth: a
 * rename keeps all three, a clone or a copy has others, and a directory made later in the same place has another birth.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { isInside } from './path-inside.ts';
import { replaceWhole } from './replace-whole.ts';

interface ProjectNote {
  /** Its shared git directory, or the directory itself outside git. */
  directory: string;
  /** Device, inode and birth of that directory. */
  identity: string;
  /** Where it was before, the latest last. */
  former: string[];
}

const NAME = 'repository.json';

/** Writes the note of a project that has none. What cannot be written costs nothing but finding it after a rename. */
export function noteProject(project: string, directory: string): void {
  if (existsSync(join(project, NAME))) return;
  const identity = identityOf(directory);
  if (identity !== null) writeNote(project, { directory, identity, former: [] });
}

/** The project of a directory that has been renamed since; null where there is none. */
export function findMovedProject(home: string, directory: string): string | null {
  const identity = identityOf(directory);
  const projects = join(home, 'projects');
  if (identity === null || !existsSync(projects)) return null;
  for (const name of readdirSync(projects)) {
    const project = join(projects, name);
    const note = readNote(project);
    if (note === null || note.identity !== identity) continue;
    if (note.directory !== directory) {
      const former = [...note.former.filter((path) => path !== directory), note.directory];
      writeNote(project, { directory, identity, former });
    }
    return project;
  }
  return null;
}

/** Whether a project is of another directory than this one, which has only taken the place of that. */
export function isOfAnother(project: string, directory: string): boolean {
  const note = readNote(project);
  return note !== null && note.directory !== directory && identityOf(note.directory) === note.identity;
}

/** Tells apart the directories that are or were in one place; empty for none. */
export function birthOf(directory: string): string {
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
