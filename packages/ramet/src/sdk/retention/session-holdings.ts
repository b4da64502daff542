/**
 * What each session of a repository keeps on disk, and whether it may go. A session that runs, that could be resumed,
 * whose agents have worktrees or whose undo was interrupted stays, whatever its age.
 */
import { existsSync, lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { WorktreeRegistry } from '../../git/worktrees/registry.ts';
import { fileHistoryOf } from '../../journal/projections/file-history.ts';
import { agentStatuses, statusBoardOf } from '../../journal/projections/status.ts';
import { indexPath } from '../../journal/session-index.ts';
import { listSessions, type SessionEntry } from '../../journal/session-list.ts';
import { livingWriter, openReader } from '../../journal/sessions.ts';
import { describeError } from '../../schema/errors.ts';
import type { SessionId } from '../../schema/ids.ts';
import { type Place, resumeCommand } from '../place.ts';
import { lastWritten } from './remove-session.ts';

export interface SessionHolding {
  session: SessionId;
  title: string | null;
  usedAt: number;
  /** When its journal was last written, as it was judged. */
  written: number;
  bytes: { journal: number; originals: number; outputs: number };
  /** Why it stays; null when it may go. `young` when nothing but its age keeps it. */
  keep: { reason: string; young: boolean } | null;
  /** Outputs of commands that were killed before they wrote anything. */
  emptyOutputs: string[];
}

export interface RetentionRule {
  now: number;
  /** What was used since stays. */
  days: number;
  /** Also sessions that were interrupted and could be resumed. */
  interrupted?: boolean;
  /** Sessions whose agents have worktrees; null when that cannot be read. */
  withWorktrees: ReadonlySet<SessionId> | null;
}

export const DAY_MS = 86_400_000;

export function sessionHoldings(project: string, rule: RetentionRule): SessionHolding[] {
  const names = namesIn(project);
  return listSessions(project).map((entry) => holdingOf(project, entry, names, rule));
}

function holdingOf(
  project: string,
  entry: SessionEntry,
  names: readonly string[],
  rule: RetentionRule,
): SessionHolding {
  const { session, title, opened, ended } = entry;
  const journal = names.filter((name) => name.startsWith(`${session}.`)).map((name) => join(project, name));
  const directory = join(project, session);
  const originals = filesBelow(join(directory, 'originals'));
  const outputs = filesBelow(directory).filter(({ path }) => !path.startsWith(join(directory, 'originals/')));
  const written = lastWritten(entry.file);
  // Times of files have fractions of a millisecond. The clock has none, so one of just now could lie after it.
  const usedAt = Math.floor(Math.max(opened, ended ?? 0, written));
  const keep = reasonToKeep(project, entry, usedAt, rule);
  const empty = entry.live ? [] : outputs.filter(({ size }) => size === 0).map(({ path }) => path);
  return {
    session,
    title,
    usedAt,
    written,
    bytes: {
      journal: journal.reduce((sum, path) => sum + (statOf(path)?.size ?? 0), 0),
      originals: sumOf(originals),
      outputs: sumOf(outputs),
    },
    keep,
    emptyOutputs: empty.length > 0 && isSettled(project, entry, keep, rule) ? empty : [],
  };
}

/** Whether nothing but its age keeps it: a command of one that can be resumed may still write. */
function isSettled(
  project: string,
  entry: SessionEntry,
  keep: SessionHolding['keep'],
  rule: RetentionRule,
): boolean {
  if (keep === null) return true;
  const atAnyAge = { ...rule, days: Number.NEGATIVE_INFINITY, interrupted: false };
  return keep.young && reasonToKeep(project, entry, rule.now, atAnyAge) === null;
}

/** Why a session that a person wants to remove should stay, whatever its age; null when nothing is lost with it. */
export function reasonToStay(place: Place, entry: SessionEntry, interrupted: boolean): string | null {
  const withWorktrees = sessionsWithWorktrees(place);
  const rule = { now: Date.now(), days: Number.NEGATIVE_INFINITY, interrupted, withWorktrees };
  return reasonToKeep(place.project, entry, rule.now, rule)?.reason ?? null;
}

function reasonToKeep(
  project: string,
  { session, live }: SessionEntry,
  usedAt: number,
  rule: RetentionRule,
): SessionHolding['keep'] {
  const stays = (reason: string): SessionHolding['keep'] => ({ reason, young: false });
  const running = 'it is running, or may be on another machine';
  if (live) return stays(running);
  if (rule.now - usedAt < rule.days * DAY_MS) return { reason: 'it was used recently', young: true };
  if (rule.withWorktrees === null)
    return stays('its agents may have worktrees, and the list of worktrees is damaged');
  if (rule.withWorktrees.has(session)) return stays('its agents have worktrees: see ramet worktree ls');
  const reader = openOrReason(project, session);
  if (typeof reader === 'string') return stays(`it cannot be read: ${reader}`);
  try {
    // The session's own word: the index is a cache, and may be another's.
    if (livingWriter({ project, session }) !== null) return stays(running);
    const agents = agentStatuses(statusBoardOf(reader.events()), { writerAlive: false });
    if (rule.interrupted !== true && agents.some(({ status }) => status === 'interrupted'))
      return stays(
        `it was interrupted: ${resumeCommand({ project, session })} continues it (--interrupted removes it)`,
      );
    if (fileHistoryOf(reader.events({ types: ['files.restored', 'files.settled'] })).unfinished !== null)
      return stays(`its undo was interrupted: ramet undo ${session} continues it`);
    return null;
  } catch (error) {
    return stays(`it cannot be read: ${describeError(error)}`);
  } finally {
    reader.close();
  }
}

function openOrReason(project: string, session: SessionId): ReturnType<typeof openReader> | string {
  try {
    return openReader({ project, session });
  } catch (error) {
    return describeError(error);
  }
}

interface FoundFile {
  path: string;
  size: number;
  mtimeMs: number;
}

export function filesBelow(directory: string): FoundFile[] {
  return namesIn(directory).flatMap((name) => filesAt(join(directory, name)));
}

/** A file, or all of a directory. */
export function filesAt(path: string): FoundFile[] {
  const stats = statOf(path);
  if (stats === undefined) return [];
  return stats.isDirectory() ? filesBelow(path) : [{ path, size: stats.size, mtimeMs: stats.mtimeMs }];
}

function sumOf(files: readonly FoundFile[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // not there, or no directory
  }
}

function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** The sessions of a repository whose agents have worktrees: there may be work in them that is nowhere else. */
export function sessionsWithWorktrees({ project, repository }: Place): Set<SessionId> {
  if (repository === null || !existsSync(indexPath(project))) return new Set();
  using registry = new WorktreeRegistry(project);
  const held = registry.list().filter(({ state }) => state !== 'gone' && state !== 'ready');
  return new Set(held.flatMap(({ owner }) => (owner === null ? [] : [owner.session])));
}
