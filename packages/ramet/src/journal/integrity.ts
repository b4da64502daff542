/**
 * How loss and damage are noticed: a checksum for each event, numbers without holes, and a witness to the last event; and
 * what is said about a damaged journal.
 *
 * The checksum is CRC-32 of the event's bytes, begun from its time and its agent. It detects chance damage, not forgery.
 * Events of files before version 3 have none.
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { JournalError } from '../schema/errors.ts';
import type { JournalEvent, RecordedEvent } from '../schema/events.ts';
import type { AgentId, SessionId } from '../schema/ids.ts';
import { localSecond } from '../schema/local-time.ts';
import { PRIVATE_FILE } from '../system/home.ts';
import type { DamagedEvent, JournalReader } from './journal.ts';

/** After this many numbers in a row without an event the journal has ended, if nothing else says which was last. */
export const LONGEST_GAP = 5_000;

const SKIPPED = 'events_lost';

export class EventNumbers {
  readonly #damage: Map<number, DamagedEvent> = new Map();

  get damage(): readonly DamagedEvent[] {
    return [...this.#damage.values()];
  }

  lost(event: DamagedEvent): void {
    this.#damage.set(event.seq, event);
  }

  /** `seq` came where `expected` should have; all between them are lost. */
  expect(expected: number, seq: number, recorded: RecordedEvent | null): void {
    if (seq === expected || saysSkipped(recorded)) return;
    // A number that is damaged may be any: what is named stays bounded.
    const end = Math.min(seq, expected + LONGEST_GAP);
    for (let gone = expected; gone < end; gone++)
      if (!this.#damage.has(gone)) this.#damage.set(gone, { seq: gone, agent: undefined });
  }
}

export class EventCheck {
  readonly #agents: Map<AgentId, number> = new Map();

  of(time: number, agent: AgentId | null, data: string): number {
    return crc32(data, (this.#startOf(agent) ^ time) >>> 0);
  }

  #startOf(agent: AgentId | null): number {
    if (agent === null) return 0;
    let start = this.#agents.get(agent);
    if (start === undefined) {
      start = crc32(agent);
      this.#agents.set(agent, start);
    }
    return start;
  }
}

/**
 * Events are numbered from 1 without a hole, so a missing number before a later one is a lost event. If numbers are skipped
 * on purpose, this event says so; it has the last of the lost numbers. No number is ever used twice.
 */
export function skippedNumbers(first: number, last: number): JournalEvent {
  const which = first === last ? `event ${first} is` : `events ${first} to ${last} are`;
  return { type: 'warning.raised', code: SKIPPED, message: `${which} lost` };
}

export function saysSkipped(recorded: RecordedEvent | null): boolean {
  return recorded?.event.type === 'warning.raised' && recorded.event.code === SKIPPED;
}

interface Witness {
  /** Of the last event that was synced. */
  seq: number;
  time: number;
}

/**
 * A witness to where a journal ended: `<session>.witness` beside it says which event was last when a commit was synced.
 * It is written after the sync and is not synced itself, so on a sound disk it is never ahead of the journal; where it
 * is, the journal has lost its end (its WAL was cut, removed or left behind, or an older copy was put in its place).
 */
export function witnessPath(file: string): string {
  return file.replace(/\.sqlite$/, '.witness');
}

/** Of one length, and written in one call: an earlier one is overwritten whole. */
const SEQ_LENGTH = 12;

const TIME_LENGTH = 15;

/** Never worth a failed run: without a witness nothing is lost, only a loss would go unseen. */
export class WitnessWriter {
  readonly #path: string;
  /** Used again for each: a commit should pay for little more than the call. */
  readonly #line: Buffer = Buffer.from(`${' '.repeat(SEQ_LENGTH + 1 + TIME_LENGTH)}\n`, 'latin1');
  #descriptor: number | null = null;

  constructor(file: string) {
    this.#path = witnessPath(file);
  }

  /** `seq` is 0 while nothing was written. */
  note(seq: number | bigint, time: number): void {
    if (seq === 0) return;
    try {
      this.#descriptor ??= openSync(this.#path, 'w', PRIVATE_FILE);
      this.#line.write(String(seq).padStart(SEQ_LENGTH), 0, 'latin1');
      this.#line.write(String(time).padStart(TIME_LENGTH), SEQ_LENGTH + 1, 'latin1');
      writeSync(this.#descriptor, this.#line, 0, this.#line.length, 0);
    } catch {
      // Said above.
    }
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }
}

/** Null if none exists or it cannot be read. */
export function readWitness(file: string): Witness | null {
  try {
    const [, seq, time] = /^ *(\d+) +(\d+)\n$/.exec(readFileSync(witnessPath(file), 'latin1')) ?? [];
    return seq === undefined ? null : { seq: Number(seq), time: Number(time) };
  } catch {
    return null;
  }
}

const MOST_NAMED = 5;

/** One line for readers of a damaged session; null for a journal that is whole. */
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

export function blocksText(blocks: number): string {
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
  const since = end.time === null ? 'its start' : localSecond(end.time);
  return (
    `the end of the journal ${file} is missing: ${missing} event${missing === 1 ? '' : 's'} up to ` +
    `${localSecond(witness.time)} (its WAL was cut or removed, or this is an older copy); ` +
    `what agents did after ${since} may be done again: check before you rely on it`
  );
}
