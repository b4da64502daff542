/**
 * Reads one session, also while it is written. Events come in pages, each its own short read: a slow reader, such as a
 * view that a user scrolls, must not keep the WAL from being emptied. Append-only events make that safe: what was read
 * never changes.
 *
 * Invariants
 * 1. An event that does not match its check, cannot be read or is not there although a later one is, is left out and is
 *    in `damage`; the others are read.
 * 2. A block is given only when its bytes have the digest it was asked for by.
 */
import { existsSync } from 'node:fs';
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import { JournalError } from '../schema/errors.ts';
import type { Digest, RecordedEvent } from '../schema/events.ts';
import { digestOf } from '../system/digest.ts';
import { rollBack, schemaVersion } from '../system/sqlite/database.ts';
import { isBusy, isDamaged, readFailure, sessionOf } from '../system/sqlite/sqlite-failure.ts';
import { blockLengths, checkedBlocks, isIndexWhole, isSoundFile } from './block-scan.ts';
import { EventCheck, EventNumbers, LONGEST_GAP, readWitness } from './integrity.ts';
import type { DamagedEvent, EventFilter, EventPlace, JournalReader } from './journal.ts';
import { eventFrom, movedEvent } from './row-event.ts';
import { openSessionFileReadOnly, readMeta } from './session-file.ts';
import { CHECKED_EVENTS } from './session-schema.ts';

const PAGE = 500;
const LONGEST_SEARCH = 1_000_000;
const LOST_BLOCK = Buffer.from(
  JSON.stringify({ type: 'text', text: '[lost: the journal does not hold what stood here]' }),
);

/** As an array: making an object of each costs as much as reading it. */
type Row = readonly [
  seq: SQLOutputValue,
  time: SQLOutputValue,
  agent: SQLOutputValue,
  data: SQLOutputValue,
  crc: SQLOutputValue,
];

interface ReaderOptions {
  /** A block that is lost is given as a text that says so, for people to read. */
  forgiving?: boolean;
  /** Where a path of the repository is now; null when it was never renamed. */
  moved?: ((path: string) => string) | null;
  /** What is written later must be seen. */
  live?: boolean;
  /** The session's file, where this is a mended copy of it: its witness tells which event was last. */
  original?: string;
}

export class SessionReader implements JournalReader {
  readonly #file: string;
  readonly #db: DatabaseSync;
  readonly #forgiving: boolean;
  readonly #moved: ((path: string) => string) | null;
  readonly #columns: string;
  readonly #selectBlock: StatementSync;
  readonly #check: EventCheck = new EventCheck();
  readonly #numbers: EventNumbers = new EventNumbers();
  readonly #witnessed: () => number;
  readonly #witnessedAtOpen: number;
  /** Blocks whose bytes were compared with their digest. */
  readonly #sound: Set<Digest> = new Set();
  /** Blocks that were asked for and could not be given. */
  readonly #lostBlocks: Set<Digest> = new Set();

  constructor(file: string, options: ReaderOptions = {}) {
    const { forgiving = false, moved = null, live = false, original = file } = options;
    this.#witnessed = () => readWitness(original)?.seq ?? 0;
    this.#witnessedAtOpen = this.#witnessed();
    this.#file = file;
    this.#moved = moved;
    this.#forgiving = forgiving;
    this.#db = openSessionFileReadOnly(file, { live });
    const crc = schemaVersion(this.#db) < CHECKED_EVENTS ? 'NULL AS crc' : 'crc';
    this.#columns = `seq, time, agent, data, ${crc}`;
    this.#selectBlock = this.#prepare('SELECT bytes FROM blocks WHERE digest = ?');
  }

  get damage(): readonly DamagedEvent[] {
    return this.#numbers.damage;
  }

  *events({ after = 0, agent, type, types = type && [type] }: EventFilter = {}): Iterable<RecordedEvent> {
    const ofAgent = agent === undefined ? '' : 'AND agent = ?';
    // Not by the column `type`, which files of the first version lack.
    const ofType = types === undefined ? '' : `AND data ->> 'type' IN (${types.map(() => '?').join()})`;
    const page = this.#prepare(
      `SELECT ${this.#columns} FROM events WHERE seq > ? ${ofAgent} ${ofType} ORDER BY seq LIMIT ${PAGE}`,
    );
    const values = [...(agent === undefined ? [] : [agent]), ...(types ?? [])];
    const wanted = (recorded: RecordedEvent): boolean =>
      (agent === undefined || recorded.agent === agent) &&
      (types === undefined || types.includes(recorded.event.type));
    for (;;) {
      const rows = this.#page(page, after, values);
      // Numbers that do not rise are damaged: reading on from the last could go round for ever.
      if (rows === null || !isRising(rows, after)) return yield* this.#singly(after, wanted);
      for (const row of rows) {
        const recorded = this.#recorded(row);
        // Only where all of them are asked for is one that is not there lost.
        if (values.length === 0) this.#numbers.expect(after + 1, Number(row[0]), recorded);
        after = Number(row[0]);
        if (recorded !== null) yield recorded;
      }
      if (rows.length < PAGE) return;
    }
  }

  places(after: number): EventPlace[] {
    const sql = `SELECT seq, agent, CASE WHEN instr(data, '"agent.started"') > 0 AND data ->> 'type' = 'agent.started'
      THEN json_array(data ->> 'parent', data ->> 'name') END FROM events WHERE seq > ? ORDER BY seq`;
    return this.#reading(() => this.#prepare(sql).all(after)).map((row) => {
      const [seq, agent, start] = Object.values(row);
      const [parent, name] = start == null ? [null, null] : JSON.parse(String(start));
      return { seq: Number(seq), agent: agent == null ? null : String(agent), parent, name };
    });
  }

  at(numbers: readonly number[]): RecordedEvent[] | null {
    // One statement for many: each one by itself takes and leaves the lock of a reader.
    const some = this.#prepare(
      `SELECT ${this.#columns} FROM events WHERE seq > ? AND seq IN (SELECT value FROM json_each(?)) ORDER BY seq`,
    );
    const found: RecordedEvent[] = [];
    for (let from = 0; from < numbers.length; from += PAGE) {
      const wanted = numbers.slice(from, from + PAGE);
      const read = this.#page(some, 0, [JSON.stringify(wanted)])?.flatMap((row) => this.#recorded(row) ?? []);
      if (read?.length !== wanted.length) return null;
      found.push(...read);
    }
    return found;
  }

  block(digest: Digest): Uint8Array {
    const bytes = this.#storedBytes(digest);
    if (!(bytes instanceof Uint8Array)) return this.#lost('journal_block_missing', 'does not hold', digest);
    if (this.#sound.has(digest)) return bytes;
    if (digestOf(bytes) !== digest)
      return this.#lost('journal_block_damaged', 'holds other bytes as', digest);
    this.#sound.add(digest);
    return bytes;
  }

  blockSizes(): ReadonlyMap<Digest, number> {
    return this.#reading(() => blockLengths(this.#db));
  }

  damagedBlocks(): number {
    return this.#reading(() => {
      const { sound, lost } = checkedBlocks(this.#db);
      const digests = Array.from(sound, ([digest]) => digest);
      // Blocks are found through an index, which may be what is damaged.
      const found = isIndexWhole(this.#db, digests)
        ? digests.length
        : digests.filter((digest) => this.#storedBytes(digest) instanceof Uint8Array).length;
      return Math.max(lost() + digests.length - found, this.#lostBlocks.size);
    });
  }

  isSound(): boolean {
    return isSoundFile(this.#db) && this.#lastNumber(0) !== null;
  }

  missingAtEnd(): number {
    return Math.max(0, this.#witnessedAtOpen - (this.#lastNumber(0) ?? this.#witnessedAtOpen));
  }

  isMetaDamaged(): boolean {
    try {
      readMeta(this.#db);
      return false;
    } catch {
      return true;
    }
  }

  together<Result>(work: () => Result): Result {
    this.#reading(() => this.#db.exec('BEGIN'));
    try {
      return work();
    } finally {
      rollBack(this.#db);
    }
  }

  #storedBytes(digest: Digest): unknown {
    try {
      // An array, since the statement gives arrays.
      return (this.#selectBlock.get(digest) as unknown as [SQLOutputValue] | undefined)?.[0];
    } catch (error) {
      if (isDamaged(error)) return undefined;
      throw readFailure(this.#file, error);
    }
  }

  close(): void {
    if (this.#db.isOpen) this.#db.close();
  }

  #lost(code: string, how: string, digest: Digest): Uint8Array {
    this.#lostBlocks.add(digest);
    if (this.#forgiving) return LOST_BLOCK;
    throw new JournalError(
      code,
      'terminal',
      `the journal ${this.#file} ${how} block ${digest}: it is damaged or incomplete; save what can be read with: ramet doctor --repair ${sessionOf(this.#file)}`,
    );
  }

  /** Null when a row of it cannot be read. */
  #page(page: StatementSync, after: number, values: readonly string[]): Row[] | null {
    try {
      return page.all(after, ...values) as unknown as Row[]; // arrays, as the statement gives them
    } catch (error) {
      if (isBusy(error) || !existsSync(this.#file)) throw readFailure(this.#file, error);
      return null;
    }
  }

  /** One by one, past what is damaged. */
  *#singly(after: number, wanted: (recorded: RecordedEvent) => boolean): Iterable<RecordedEvent> {
    const one = this.#prepare(`SELECT ${this.#columns} FROM events WHERE seq = ?`);
    const witnessed = this.#witnessed();
    const last = this.#lastNumber(witnessed);
    let seen = after;
    for (let seq = after + 1; seq <= (last ?? seq) && isWithinReach(seq, seen, witnessed); seq++) {
      const row = this.#row(one, seq);
      if (row === undefined) continue;
      const recorded = this.#recorded(row);
      this.#numbers.expect(seen + 1, seq, recorded);
      seen = seq;
      if (recorded !== null && wanted(recorded)) yield recorded;
    }
    // Where nothing tells how many there were, one stands for all that cannot be read.
    this.#numbers.expect(seen + 1, 1 + (last ?? seen + 1), null);
  }

  #row(one: StatementSync, seq: number): Row | undefined {
    try {
      return one.get(seq) as unknown as Row | undefined; // an array, as the statement gives it
    } catch {
      return undefined;
    }
  }

  /** Null where nothing tells. */
  #lastNumber(witnessed: number): number | null {
    try {
      // The first is the last of the file's order, the second the largest: they differ where numbers are damaged.
      const row = this.#db.prepare(
        'SELECT (SELECT max(seq) FROM events) AS last, max(+seq) AS most FROM events',
      );
      const { last, most } = row.get() ?? {};
      return Math.max(Number(last ?? 0), Number(most ?? 0), witnessed);
    } catch {
      return witnessed === 0 ? null : witnessed;
    }
  }

  #recorded(row: Row): RecordedEvent | null {
    const [seq, time] = [Number(row[0]), Number(row[1])];
    const agent = row[2] === null ? null : String(row[2]);
    const data = String(row[3]);
    const event = row[4] === null || row[4] === this.#check.of(time, agent, data) ? eventFrom(data) : null;
    if (event !== null)
      return { seq, time, agent, event: this.#moved === null ? event : movedEvent(event, this.#moved) };
    this.#numbers.lost({ seq, agent, type: /^\{"type":"([\w.]+)"/.exec(data)?.[1] });
    return null;
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#reading(() => this.#db.prepare(sql));
    statement.setReturnArrays(true);
    return statement;
  }

  #reading<Result>(read: () => Result): Result {
    try {
      return read();
    } catch (error) {
      throw readFailure(this.#file, error);
    }
  }
}

/** Both the last number and the witness may be damaged themselves: no loop trusts them without end. */
function isWithinReach(seq: number, seen: number, witnessed: number): boolean {
  return seq <= seen + (seq <= witnessed ? LONGEST_SEARCH : LONGEST_GAP);
}

function isRising(rows: readonly Row[], after: number): boolean {
  let last = after;
  for (const row of rows) {
    const seq = Number(row[0]);
    if (seq <= last) return false;
    last = seq;
  }
  return true;
}
