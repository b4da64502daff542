/**
 * A witness to where a journal ended: `<session>.witness` beside it says which event was last when a commit was synced.
 * It is written after the sync and is not synced itself, so on a sound disk it is never ahead of the journal; where it
 * is, the journal has lost its end (its WAL was cut, removed or left behind, or an older copy was put in its place).
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { PRIVATE_FILE } from './home.ts';

export interface Witness {
  /** Of the last event that was synced. */
  seq: number;
  time: number;
}

export function witnessPath(file: string): string {
  return file.replace(/\.sqlite$/, '.witness');
}

/** Never worth a failed run: without a witness nothing is lost, only a loss would go unseen. */
export class WitnessWriter {
  readonly #path: string;
  #descriptor: number | null = null;

  constructor(file: string) {
    this.#path = witnessPath(file);
  }

  /** `seq` is 0 while nothing was written. */
  note(seq: number | bigint, time: number): void {
    if (seq === 0) return;
    try {
      this.#descriptor ??= openSync(this.#path, 'w', PRIVATE_FILE);
      // Of one length, and written in one call: an earlier one is overwritten whole.
      writeSync(this.#descriptor, `${String(seq).padStart(12)} ${String(time).padStart(15)}\n`, 0);
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
