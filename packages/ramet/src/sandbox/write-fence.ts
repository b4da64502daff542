/**
 * Where an agent with a worktree of its own may write (WORK-7): in the worktree, in the session's scratch directory,
 * and from commands in directories for temporary files. Modes and rules do not widen it.
 *
 * Invariants
 * 1. Paths are judged by where they lead, links followed.
 * 2. What is guarded stays closed wherever it lies, also below a directory for temporary files.
 */
import { join, relative } from 'node:path';
import { isInside, landingPath } from '../system/landing-path.ts';

export interface WriteFence {
  /** The worktree, real path. */
  readonly root: string;
  /** The checkout it was made from: its paths have a counterpart in the worktree. */
  readonly from: string;
  /** Checkouts that one was made from in turn. */
  readonly inherited?: readonly string[] | undefined;
  /** `$RAMET_HOME`. */
  readonly home?: string | undefined;
  /** Of the session, for notes that its agents share. */
  readonly scratch: string;
  readonly temporary: readonly string[];
  /** Checkouts, git directories and worktrees of others. */
  readonly guarded: readonly string[];
  /**
   * What may be written of a worktree that others work in too, from its root; everything when absent. A directory means all
   * below it, and a pattern all that begins as it does.
   */
  readonly only?: readonly string[] | undefined;
  /** What git shares between worktrees may be changed too. */
  readonly ownsGit?: true;
}

/** Why nothing may be written at `path`, which is absolute; null when something may. */
export function fenceRefusal(
  fence: WriteFence,
  path: string,
  { byCommand = false }: { byCommand?: boolean } = {},
): string | null {
  const place = landingPath(path);
  // Nothing can be written there at all; the system says so on the attempt.
  if (place === null) return null;
  if (isOpen(fence, place, byCommand)) return null;
  if (isBesideOthers(fence, place)) return notNamed(fence, path);
  const twin = counterpart(place, fence.from, fence.root) ?? counterpart(path, fence.from, fence.root);
  // In the worktree `.git` is a file: nothing below it can be written instead.
  const isGit = twin !== null && isInside(twin, join(fence.root, '.git'));
  const inside = twin === null ? 'Write inside it.' : `Write ${twin} instead.`;
  const advice = isGit ? 'The git directory is shared with others: leave it as it is.' : inside;
  return `${path} is outside your worktree ${fence.root}, and you write only there. ${advice}`;
}

/** The same place below another root; null when `path` is not below `from`. */
export function counterpart(path: string, from: string, to: string): string | null {
  // One root may lie in the other.
  if (!isInside(path, from) || (isInside(to, from) && isInside(path, to))) return null;
  return join(to, relative(from, path));
}

/** Whether a place belongs to others, so that even a command without known targets must not run there. */
export function isGuarded({ root, guarded }: WriteFence, place: string): boolean {
  return !isInside(place, root) && guarded.some((directory) => isInside(place, directory));
}

/** Whether something was refused because it is in the worktree, and not among the agent's own files. */
export function isAboutOwnFiles(refusal: string): boolean {
  return refusal.includes(NOT_NAMED);
}

const NOT_NAMED = 'is not one of the files of your task';

function isBesideOthers({ root, only }: WriteFence, place: string): boolean {
  if (only === undefined || !isInside(place, root)) return false;
  const path = relative(root, place);
  return !only.some((name) => covers(name, path));
}

/** Whether a name, as a list of files has it, stands for a path. */
export function covers(name: string, path: string): boolean {
  const sign = name.search(/[*?{[]/);
  if (sign !== -1) return path.startsWith(name.slice(0, sign));
  const plain = name.replace(/\/+$/, '');
  return path === plain || path.startsWith(`${plain}/`);
}

function notNamed({ only = [] }: WriteFence, path: string): string {
  if (only.length === 0) return `${path} cannot be written: you only read here.`;
  const names = only.slice(0, MOST_NAMES).join(', ');
  return `${path} ${NOT_NAMED}, and others work in this directory. Yours are ${names}${only.length > MOST_NAMES ? ', …' : ''}.`;
}

const MOST_NAMES = 10;

function isOpen(fence: WriteFence, place: string, byCommand: boolean): boolean {
  // The file that says which repository the worktree is of.
  if (place === join(fence.root, '.git')) return false;
  if (isInside(place, fence.root)) return !isBesideOthers(fence, place);
  if (isInside(place, fence.scratch)) return true;
  if (!byCommand || isGuarded(fence, place)) return false;
  return place.startsWith('/dev/') || fence.temporary.some((directory) => isInside(place, directory));
}
