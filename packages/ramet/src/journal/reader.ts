/**
 * Reads one session, also while it is written. Events come in pages, each its own short read: a reader that
 * dawdles, such as a view somebody scrolls, must not keep the WAL from being emptied. Append-only events make
 * that safe: what was read never changes.
 */
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import { JournalError } from '../schema/errors.ts';
import type { Digest, JournalEvent, RecordedEvent } from '../schema/events.ts';
import type { EventFilter, JournalReader } from './journal.ts';
import { openSessionFileReadOnly } from './session-file.ts';
import { readFailure } from './sqlite-failure.ts';

const PAGE = 500;

export class SessionReader implements JournalReader {
  readonly #file: string;
  readonly #db: DatabaseSync;
  readonly #selectBlock: StatementSync;

  constructor(file: string) {
    this.#file = file;
    this.#db = openSessionFileReadOnly(file);
    this.#selectBlock = this.#prepare('SELECT bytes FROM blocks WHERE digest = ?');
  }

  *events({ after = 0, agent, type, types = type && [type] }: EventFilter = {}): Iterable<RecordedEvent> {
    const ofAgent = agent === undefined ? '' : 'AND agent = ?';
    // Not by the column `type`, which files of the first version lack.
    const ofType = types === undefined ? '' : `AND data ->> 'type' IN (${types.map(() => '?').join()})`;
    const page = this.#prepare(
      `SELECT seq, time, agent, data FROM events WHERE seq > ? ${ofAgent} ${ofType} ORDER BY seq LIMIT ${PAGE}`,
    );
    const values = [...(agent === undefined ? [] : [agent]), ...(types ?? [])];
    for (;;) {
      const rows = this.#reading(() => page.all(after, ...values));
      for (const row of rows) {
        const recorded = this.#recorded(row);
        after = recorded.seq;
        yield recorded;
      }
      if (rows.length < PAGE) return;
    }
  }

  block(digest: Digest): Uint8Array {
    const bytes = this.#reading(() => this.#selectBlock.get(digest))?.bytes;
    if (bytes instanceof Uint8Array) return bytes;
    throw new JournalError(
      'journal_block_missing',
      'terminal',
      `the journal ${this.#file} does not hold block ${digest}: it is damaged or incomplete; start a new session`,
    );
  }

  close(): void {
    if (this.#db.isOpen) this.#db.close();
  }

  #recorded(row: Record<string, SQLOutputValue>): RecordedEvent {
    const seq = Number(row.seq);
    const agent = row.agent === null ? null : String(row.agent);
    return { seq, time: Number(row.time), agent, event: this.#parse(seq, String(row.data)) };
  }

  #parse(seq: number, data: string): JournalEvent {
    try {
      // Only a SessionWriter puts rows here, from a JournalEvent; versions are checked when opening.
      return JSON.parse(data) as JournalEvent;
    } catch (error) {
      throw new JournalError(
        'journal_damaged',
        'terminal',
        `the journal ${this.#file} is damaged: event ${seq} is not JSON; start a new session`,
        { cause: error },
      );
    }
  }

  #prepare(sql: string): StatementSync {
    return this.#reading(() => this.#db.prepare(sql));
  }

  #reading<Result>(read: () => Result): Result {
    try {
      return read();
    } catch (error) {
      throw readFailure(this.#file, error);
    }
  }
}
