/** What all views of a session have in common: find it, read it once, fold it. */
import { statSync } from 'node:fs';
import { damageLine } from '../journal/integrity.ts';
import type { JournalReader } from '../journal/journal.ts';
import { type AgentOverview, agentStatuses, emptyBoard, extendBoard } from '../journal/projections/status.ts';
import { findSession, latestSession, listSessions, type SessionEntry } from '../journal/session-list.ts';
import { isWriterAlive, openReader } from '../journal/sessions.ts';
import { describeError, UserMistake } from '../schema/errors.ts';
import type { RecordedEvent } from '../schema/events.ts';
import type { SessionId } from '../schema/ids.ts';
import { emptyLedger, extendLedger, type Ledger } from './ledger/ledger.ts';

/** Hears what people should know of a session besides what it shows, one line each. */
export interface NoteListener {
  note(line: string): void;
}

export interface SessionView extends Disposable {
  readonly project: string;
  readonly entry: SessionEntry;
  readonly reader: JournalReader;
  readonly agents: readonly AgentOverview[];
  readonly ledger: Ledger;
  writerAlive(): boolean;
}

/** The session named, or the latest of this repository. */
export function chooseSession(wanted: string | undefined, project: string): SessionEntry {
  const entry = wanted === undefined ? latestAsked(project) : findSession(project, wanted);
  if (entry === null) {
    throw new UserMistake(
      'no_session',
      'there is no session of this directory yet: start one with ramet -p PROMPT',
    );
  }
  return entry;
}

/**
 * Not one whose only prompt was refused, such as a command with a slip, and no housekeeping: there is nothing to see or undo in it.
 */
function latestAsked(project: string): SessionEntry | null {
  return latestSession(project, (entry) => entry.live || wasAsked(project, entry)) ?? latestSession(project);
}

/** One that cannot be read says so to who opens it. */
function wasAsked(project: string, { session }: SessionEntry): boolean {
  try {
    const reader = openReader({ project, session, forgiving: true });
    try {
      if (isHousekeeping(reader)) return false;
      const types = ['message.appended', 'agent.started'] as const;
      const [first, second] = reader.events({ types });
      return second !== undefined || first?.event.type === 'message.appended';
    } finally {
      reader.close();
    }
  } catch {
    return true;
  }
}

/** Whether it is no conversation of a person, such as a dream: nobody continues it. */
export function isHousekeeping(reader: JournalReader): boolean {
  // It is among the first: to look for its kind would read all of a long record.
  for (const { event } of reader.events())
    if (event.type === 'session.started') return event.housekeeping === true;
  return false;
}

/** Further folds of the one reading that a view takes: reading a large session again is what costs. */
export type EventTaker = (recorded: RecordedEvent, reader: JournalReader) => void;

export function viewSession(wanted: string | undefined, project: string, take?: EventTaker): SessionView {
  return viewEntry(project, chooseSession(wanted, project), take);
}

/**
 * What `read` finds in each of the newest sessions, of which one at a time is open. One that cannot be read is told
 * and does not stop the others.
 */
export function foldSessions<Found>(
  project: string,
  limit: number,
  listener: NoteListener,
  read: (view: SessionView) => Found,
): Found[] {
  return foldEntries(project, limit, listener, () => ({ read }));
}

/** The same with further folds of the one reading, made for each session. */
export function foldEntries<Found>(
  project: string,
  limit: number,
  listener: NoteListener,
  folding: (entry: SessionEntry) => { take?: EventTaker; read: (view: SessionView) => Found },
): Found[] {
  let checked = 0;
  return listSessions(project)
    .slice(0, limit)
    .flatMap((entry) => {
      try {
        const { take, read } = folding(entry);
        using opened = viewEntry(project, entry, take);
        const found = read(opened);
        checked += statSync(entry.file).size;
        tellDamage(opened, listener, checked < MOST_CHECKED_BYTES);
        return [found];
      } catch (error) {
        tellUnreadable(entry, error, listener);
        return [];
      }
    });
}

/** A list of sessions checks the blocks of the newest journals up to this size: about half a second's work. */
const MOST_CHECKED_BYTES = 64_000_000;

export function tellUnreadable({ session }: SessionEntry, error: unknown, listener: NoteListener): void {
  listener.note(`session ${session} cannot be read: ${describeError(error)}`);
}

/** To be called once all is printed: what cannot be read is looked for in all of the journal, and nobody waits for it. */
export function tellDamage(
  view: Pick<SessionView, 'entry' | 'reader'>,
  listener: NoteListener,
  withBlocks = true,
): void {
  const line = damageOf(view, withBlocks);
  if (line !== null) listener.note(line);
}

/** Null for a journal that can be read whole. */
export function damageOf(
  { entry, reader }: Pick<SessionView, 'entry' | 'reader'>,
  withBlocks = true,
): string | null {
  return damageLine(entry.session, reader.damage, {
    blocks: withBlocks ? reader.damagedBlocks() : 0,
    meta: reader.isMetaDamaged(),
    atEnd: reader.missingAtEnd(),
  });
}

export function viewEntry(project: string, entry: SessionEntry, take?: EventTaker): SessionView {
  const place = { project, session: entry.session };
  const writerAlive = (): boolean => isWriterAlive(place);
  // Asked before reading: a writer that ends meanwhile must not make a running agent look interrupted.
  const alive = writerAlive();
  const reader = openReader({ ...place, forgiving: true });
  const board = emptyBoard();
  const ledger = emptyLedger();
  for (const recorded of reader.events()) {
    extendBoard(board, recorded);
    extendLedger(ledger, recorded);
    take?.(recorded, reader);
  }
  return {
    project,
    entry,
    reader,
    agents: agentStatuses(board, { writerAlive: alive, now: Date.now() }),
    ledger,
    writerAlive,
    [Symbol.dispose]: () => reader.close(),
  };
}

/** What `read` finds in the journal of a session, also while it is written. */
export function readSession<Found>(
  project: string,
  session: SessionId,
  read: (reader: JournalReader) => Found,
): Found {
  const reader = openReader({ project, session, forgiving: true });
  try {
    return read(reader);
  } finally {
    reader.close();
  }
}
