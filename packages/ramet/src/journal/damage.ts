/** What is said of a journal that cannot be read whole. */
import type { DatabaseSync } from 'node:sqlite';
import { JournalError } from '../schema/errors.ts';
import type { SessionId } from '../schema/ids.ts';
import { EventCheck, readWitness, skippedNumbers } from './integrity.ts';
import type { DamagedEvent, JournalReader } from './journal.ts';

const MOST_NAMED = 5;

/** One line for whoever looks at the session; null for a journal that is whole. */
export function damageLine(
  session: SessionId,
  damage: readonly DamagedEvent[],
  { blocks = 0, meta = false, atEnd = 0 }: { blocks?: number; meta?: boolean; atEnd?: number } = {},
): string | null {
  const lines = [partsLine(session, damage, { blocks, meta }), endLine(session, atEnd)];
  const told = lines.filter((line) => line !== null);
  return told.length === 0 ? null : told.join('\n');
}

/** What is lost with the end cannot be saved: the rest is as it was written. */
function endLine(session: SessionId, atEnd: number): string | null {
  if (atEnd === 0) return null;
  const events = atEnd === 1 ? 'the last event is' : `the last ${atEnd} events are`;
  return `session ${session} lost its end: ${events} missing here (its WAL was cut or removed, or this is an older copy)`;
}

function partsLine(
  session: SessionId,
  damage: readonly DamagedEvent[],
  { blocks, meta }: { blocks: number; meta: boolean },
): string | null {
  const count = damage.length + blocks + (meta ? 2 : 0);
  if (count === 0) return null;
  const parts = [
    ...(damage.length === 0 ? [] : [eventsText(damage)]),
    ...(blocks === 0 ? [] : [`${blocksText(blocks)} of what was said`]),
    ...(meta ? ['its title and who wrote it'] : []),
  ];
  return `session ${session} is damaged: ${parts.join(' and ')} cannot be read and ${count === 1 ? 'is' : 'are'} left out here; save the rest with: ramet doctor --repair ${session}`;
}

/** What is last in a journal that is whole. */
interface JournalEnd {
  seq: number;
  /** Null where there is no event. */
  time: number | null;
}

/**
 * Reads all of a journal before anything is written to it, and throws when part of it is lost: that could be a call that
 * has been carried out. What it takes grows with the journal, and is less than what reading it again costs.
 */
export function requireWhole(session: SessionId, reader: JournalReader): JournalEnd {
  let end: JournalEnd = { seq: 0, time: null };
  for (const { seq, time } of reader.events()) {
    if (reader.damage.length > MOST_NAMED) break;
    end = { seq, time };
  }
  if (reader.damage.length > 0) throw refusal(session, `${eventsText(reader.damage)} of its journal`);
  const blocks = reader.damagedBlocks();
  if (blocks > 0) throw refusal(session, `${blocksText(blocks)} of what was said`);
  if (!reader.isSound()) throw refusal(session, 'part of its journal');
  return end;
}

function refusal(session: SessionId, what: string): JournalError {
  return new JournalError(
    'journal_damaged',
    'terminal',
    `session ${session} cannot be resumed as it is: ${what} cannot be read; repair it with ramet doctor --repair ${session}, then resume it`,
  );
}

function blocksText(blocks: number): string {
  return blocks === 1 ? '1 block' : `${blocks} blocks`;
}

/** `event 17`, `3 events (17, 18, 30)`. */
export function eventsText(damage: readonly DamagedEvent[]): string {
  const [first] = damage;
  if (damage.length === 1) return `event ${first?.seq}`;
  const seqs = damage.map(({ seq }) => seq).toSorted((a, b) => a - b);
  const named = seqs.slice(0, MOST_NAMED);
  return `${damage.length} events (${named.join(', ')}${damage.length > named.length ? ', ...' : ''})`;
}

/** The end of a journal that was lost: the witness saw more than the journal holds. */
interface EndedJournal {
  db: DatabaseSync;
  file: string;
  end: JournalEnd;
  time: number;
}

/** Leaves out the numbers that are lost with it. Returns one line that says so; null when the journal is whole. */
export function skipLostEnd({ db, file, end, time }: EndedJournal): string | null {
  const witness = readWitness(file);
  const missing = witness === null ? 0 : witness.seq - end.seq;
  if (witness === null || missing <= 0) return null;
  const data = JSON.stringify(skippedNumbers(end.seq + 1, witness.seq));
  db.prepare('INSERT INTO events (seq, time, agent, data, crc) VALUES (?, ?, NULL, ?, ?)').run(
    witness.seq,
    time,
    data,
    new EventCheck().of(time, null, data),
  );
  const since = end.time === null ? 'its start' : new Date(end.time).toISOString();
  return (
    `the end of the journal ${file} is missing: ${missing} event${missing === 1 ? '' : 's'} up to ` +
    `${new Date(witness.time).toISOString()} (its WAL was cut or removed, or this is an older copy); ` +
    `what agents did after ${since} may be done again: check before you rely on it`
  );
}
