/** The end of a journal that was lost: the witness saw more than the journal holds. */
import type { DatabaseSync } from 'node:sqlite';
import type { JournalEnd } from './damage.ts';
import { EventCheck } from './event-check.ts';
import { skippedNumbers } from './event-numbers.ts';
import { readWitness } from './witness.ts';

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
