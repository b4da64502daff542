/**
 * How loss and damage are noticed: a checksum for each event, numbers without holes, and a witness to the last event.
 *
 * The checksum is CRC-32 of the event's bytes, begun from its time and its agent. It detects chance damage, not forgery.
 * Events of files before version 3 have none.
 */

import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { JournalEvent, RecordedEvent } from '../schema/events.ts';
import type { AgentId } from '../schema/ids.ts';
import { PRIVATE_FILE } from '../system/home.ts';
import type { DamagedEvent } from './journal.ts';

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
