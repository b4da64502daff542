/** The sessions of a repository as a person keeps them: listed, renamed, removed. */
import { renameSession as renameRecorded } from '../../journal/rename-session.ts';
import { findSession, type SessionEntry } from '../../journal/session-list.ts';
import { UserMistake } from '../../schema/errors.ts';
import { type SessionSummary, summarizing, unreadSummary } from '../../views/session-rows.ts';
import { chooseSession, foldEntries, viewEntry } from '../../views/session-view.ts';
import { safeLine } from '../../views/text/format.ts';
import { findPlace } from '../place.ts';
import { removeSession } from '../retention/remove-session.ts';
import { reasonToStay } from '../retention/session-holdings.ts';
import { type CallOptions, callerOf } from './caller.ts';

/** The newest first. One that cannot be read is told and left out. */
export function listSessions(options: CallOptions & { limit?: number } = {}): SessionSummary[] {
  const caller = callerOf(options);
  const limit = options.limit ?? Number.POSITIVE_INFINITY;
  return foldEntries(findPlace(caller).project, limit, caller, ({ session }) => {
    const summary = summarizing(session);
    return { take: summary.take, read: summary.of };
  });
}

/** Of one session; what cannot be read of it is left open. */
export function summaryOf(entry: SessionEntry, options: CallOptions = {}): SessionSummary {
  const summary = summarizing(entry.session);
  try {
    using view = viewEntry(findPlace(callerOf(options)).project, entry, summary.take);
    return summary.of(view);
  } catch {
    return unreadSummary(entry);
  }
}

/** Of this repository. */
export function latestSessionId(options: CallOptions = {}): string {
  return chooseSession(undefined, findPlace(callerOf(options)).project).session;
}

/** A longer title is cut: it is for one line of a list. */
const LONGEST_TITLE = 200;

/** `wanted` is an id or the beginning of one. Returns the title as it is kept. */
export function renameSession(
  wanted: string,
  title: string,
  options: CallOptions = {},
): { session: string; title: string } {
  const { project } = findPlace(callerOf(options));
  const { session } = findSession(project, wanted);
  const kept = safeLine(title).slice(0, LONGEST_TITLE).trim().toWellFormed();
  if (kept === '') throw new UserMistake('no_title', 'the title is empty: give some words');
  renameRecorded(project, session, kept);
  return { session, title: kept };
}

export interface DeletedSession {
  session: string;
  /** Why it stays; null when it is removed. */
  reason: string | null;
}

/**
 * Removes sessions for good. One that runs, that could be resumed or whose agents have worktrees stays and says why;
 * `force` also removes one that could be resumed. All names are looked up before any is removed.
 */
export function deleteSessions(
  wanted: readonly string[],
  options: CallOptions & { force?: boolean } = {},
): DeletedSession[] {
  const place = findPlace(callerOf(options));
  const entries = wanted.map((name) => findSession(place.project, name));
  const named = new Map(entries.map((entry) => [entry.session, entry]));
  return Array.from(named.values(), (entry) => {
    const { session } = entry;
    const reason = reasonToStay(place, entry, options.force ?? false);
    if (reason !== null) return { session, reason: reason.replace('--interrupted', '--force') };
    const isBusy = removeSession(place.project, session) === 'in use';
    return { session, reason: isBusy ? 'it is in use' : null };
  });
}
