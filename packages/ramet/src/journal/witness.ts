/**
 * A witness to where a journal ended: `<session>.witness` beside it says which event was last when a commit was synced.
 * It is written after the sync and is not synced itself, so on a sound disk it is never ahead of the journal; where it
 * is, the journal has lost its end (its WAL was cut, removed or left behind, or an older copy was put in its place).
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { PRIVATE_FILE } from '../system/home.ts';

export interface Witness {
  /** Of the last event that was synced. */
  seq: number;
  time: number;
}

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

/** Null where there is none, or none that can be read. */
export function readWitness(file: string): Witness | null {
  try {
    const [, seq, time] = /^ *(\d+) +(\d+)\n$/.exec(readFileSync(witnessPath(file), 'latin1')) ?? [];
    return seq === undefined ? null : { seq: Number(seq), time: Number(time) };
  } catch {
    return null;
  }
}
