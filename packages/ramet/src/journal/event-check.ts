/**
 * The check that stands beside each event: CRC-32 of its bytes, begun from its time and its agent. It tells chance damage,
 * not forgery. Events of files before version 3 have none.
 */
import { crc32 } from 'node:zlib';
import type { JournalEvent, RecordedEvent } from '../schema/events.ts';
import type { AgentId } from '../schema/ids.ts';
import type { DamagedEvent } from './journal.ts';

/** So many numbers without an event in a row are the end, where nothing tells which was last. */
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
 * Events are numbered from 1 without a hole, so one that is not there although a later one is was lost. Where the numbers
 * were skipped on purpose the event that follows says so: its predecessors are lost, and everybody knows it.
 *
 * Stands at the last of the numbers that are lost. Nothing is ever written under a number that was used.
 */
export function skippedNumbers(first: number, last: number): JournalEvent {
  const which = first === last ? `event ${first} is` : `events ${first} to ${last} are`;
  return { type: 'warning.raised', code: SKIPPED, message: `${which} lost` };
}

export function saysSkipped(recorded: RecordedEvent | null): boolean {
  return recorded?.event.type === 'warning.raised' && recorded.event.code === SKIPPED;
}
