/**
 * Writes one session. Owns order, grouping and failure; leaves the file's making to `session-file.ts`, the right
 * to write to `lease.ts`, and reading to `reader.ts`.
 *
 * Invariants
 * 1. Events are stored in the order they were appended, blocks no later than the events around them.
 * 2. All that was taken in one phase of the event loop is one transaction: after a crash all of it is there or none.
 * 3. A commit resolves only after the transaction that holds everything taken before it.
 * 4. After a failure nothing more is written: what the file holds is a prefix of what was appended.
 * 5. Nothing is written after another process has taken the session over, or the file or its WAL is another one.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Clock } from '../schema/clock.ts';
import { JournalError } from '../schema/errors.ts';
import type { Digest, JournalEvent } from '../schema/events.ts';
import type { AgentId, SessionId } from '../schema/ids.ts';
import { rollBack } from '../system/sqlite/database.ts';
import { writeFailure } from '../system/sqlite/sqlite-failure.ts';
import { EventCheck, WitnessWriter } from './integrity.ts';
import type { Journal } from './journal.ts';
import { takenOver } from './lease.ts';
import { settleSessionFile } from './session-file.ts';
import {
  BlockInsert,
  Checkpointer,
  EventInsert,
  FileGuard,
  PendingEvents,
  RecentDigests,
} from './writer-file.ts';

const REMEMBERED_DIGESTS = 20_000;
const CHECKPOINT_BYTES = 16 * 1024 * 1024;
/** Commits between two looks at the WAL's size. */
const COMMITS_PER_LOOK = 64;
/** What is written is synced at the latest after this: a power cut costs no more than that, and few turns pay. */
const SYNC_WITHIN_MS = 100;

/** Everybody who waits for the next transaction. */
interface CommitGroup extends PromiseWithResolvers<void> {
  synced: boolean;
}

export interface SessionWriterOptions {
  db: DatabaseSync;
  session: SessionId;
  file: string;
  clock: Clock;
  /** What `meta` says while nobody has taken the session over from this writer. */
  fence: string;
  /** Called once in closing, while events are still taken, and once when all of them are written. */
  beforeClose(): void;
  afterLastCommit(): void;
  /** Called when the file is closed. */
  afterClose(): void;
  /** A checkpoint that failed loses nothing, the WAL only grows; the user should know. */
  onCheckpointFailure(reason: string): void;
}

export class SessionWriter implements Journal {
  readonly session: SessionId;
  readonly file: string;
  readonly #options: SessionWriterOptions;
  readonly #db: DatabaseSync;
  readonly #statements: Record<'begin' | 'commit' | 'fence' | 'mark', StatementSync>;
  readonly #eventInsert: EventInsert;
  readonly #blockInsert: BlockInsert;
  readonly #stored: RecentDigests = new RecentDigests(REMEMBERED_DIGESTS);
  readonly #check: EventCheck = new EventCheck();
  readonly #checkpointer: Checkpointer;
  readonly #guard: FileGuard;
  readonly #witness: WitnessWriter;
  #events: PendingEvents = new PendingEvents();
  /** A digest and its bytes, then the next. */
  #blocks: SQLInputValue[] = [];
  #group: CommitGroup | null = null;
  #scheduled: NodeJS.Immediate | null = null;
  #failure: JournalError | null = null;
  #closing: Promise<void> | null = null;
  #settled = false;
  /** Asked for each event; asking SQLite costs more. */
  #isOpen = true;
  /** True at first: what an earlier writer left may not have reached the disk. */
  #unsynced = true;
  /** SQLite waits for the disk in each commit. */
  #syncs = false;
  #syncTimer: NodeJS.Timeout | null = null;
  #commits = 0;
  /** `seq` of the last event that was written. */
  #last: number | bigint = 0;

  constructor(options: SessionWriterOptions) {
    const { db, file } = options;
    this.#options = options;
    this.#db = db;
    this.session = options.session;
    this.file = file;
    this.#guard = new FileGuard(file);
    this.#witness = new WitnessWriter(file);
    this.#checkpointer = new Checkpointer(file, options.onCheckpointFailure);
    this.#statements = {
      begin: db.prepare('BEGIN IMMEDIATE'),
      commit: db.prepare('COMMIT'),
      fence: db.prepare("SELECT value FROM meta WHERE key = 'fence'"),
      mark: db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('synced', ?)"),
    };
    this.#eventInsert = new EventInsert(db, options.fence);
    this.#blockInsert = new BlockInsert(db);
  }

  append(agent: AgentId | null, event: JournalEvent): void {
    if (this.#refusal() !== null) return;
    const time = this.#options.clock.now();
    const data = JSON.stringify(event);
    this.#events.push(time, agent, data, this.#check.of(time, agent, data));
    this.#schedule();
  }

  storeBlock(digest: Digest, bytes: Uint8Array): void {
    if (this.#refusal() !== null || !this.#stored.add(digest)) return;
    this.#blocks.push(digest, bytes);
    this.#schedule();
  }

  commit(durability: 'written' | 'synced'): Promise<void> {
    const refusal = this.#refusal();
    if (refusal !== null) return handled(Promise.reject(refusal));
    const synced = durability === 'synced';
    if (this.#scheduled === null && !(synced && this.#unsynced)) return Promise.resolve();
    this.#group ??= newGroup();
    this.#group.synced ||= synced;
    this.#schedule();
    return this.#group.promise;
  }

  /** Writes what is pending and releases the file. Rejects when the journal could not be written to its end. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#syncTimer !== null) clearTimeout(this.#syncTimer);
    this.#flush();
    const failure = this.#failure;
    // From here on only notes come in, on an index or a WAL that cannot be written: what was done is recorded.
    this.#options.beforeClose();
    await this.#checkpointer.stop();
    this.#flush();
    // A lease that cannot be given back ends with this process, a WAL that cannot be moved is read where it is:
    // neither is worth failing for. Closing the last connection empties the WAL too, unless a reader remains.
    attemptQuietly(() => this.#syncCommits(false));
    attemptQuietly(() => this.#options.afterLastCommit());
    attemptQuietly(() => this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)'));
    this.#witness.close();
    this.#isOpen = false;
    this.#db.close();
    this.#options.afterClose();
    if (failure !== null) throw failure;
  }

  #refusal(): JournalError | null {
    if (this.#failure !== null || this.#isOpen) return this.#failure;
    return new JournalError('journal_closed', 'terminal', `the journal ${this.file} is closed`);
  }

  #schedule(): void {
    this.#scheduled ??= setImmediate(() => this.#flush());
  }

  #flush(): void {
    if (this.#scheduled !== null) clearImmediate(this.#scheduled);
    this.#scheduled = null;
    const group = this.#group;
    this.#group = null;
    this.#attempt(() => this.#write(group?.synced ?? false));
    if (group === null) return;
    if (this.#failure === null) group.resolve();
    else {
      void handled(group.promise);
      group.reject(this.#failure);
    }
  }

  /** Does nothing once something has failed: see invariant 4. */
  #attempt(work: () => void): void {
    if (this.#failure !== null) return;
    try {
      work();
    } catch (error) {
      rollBack(this.#db);
      this.#failure = writeFailure(this.file, error);
      this.#forget();
    }
  }

  #write(synced: boolean): void {
    const idle = this.#events.isEmpty && this.#blocks.length === 0;
    if (idle && !synced) return;
    this.#syncCommits(synced);
    this.#transact(idle);
    this.#unsynced = !synced;
    if (!synced) this.#syncSoon();
    if (synced) this.#promise();
    if (++this.#commits % COMMITS_PER_LOOK === 0) this.#lookAtWal();
  }

  /** Kept until another kind of commit comes: they come in rows. */
  #syncCommits(synced: boolean): void {
    if (this.#syncs !== synced) this.#db.exec(`PRAGMA synchronous = ${synced ? 'FULL' : 'NORMAL'}`);
    this.#syncs = synced;
  }

  #transact(idle: boolean): void {
    // One statement is a transaction by itself, in half the time.
    const { isEmpty, areFew } = this.#events;
    if (this.#blocks.length === 0 && !isEmpty && areFew) {
      this.#inserted(this.#eventInsert.putAlone(this.#events));
    } else this.#transactAll(idle);
    this.#forget();
  }

  #forget(): void {
    this.#events = new PendingEvents();
    if (this.#blocks.length > 0) this.#blocks = [];
  }

  #transactAll(idle: boolean): void {
    const { begin, commit, fence, mark } = this.#statements;
    begin.run();
    this.#blockInsert.put(this.#blocks);
    if (!this.#events.isEmpty) this.#inserted(this.#eventInsert.put(this.#events));
    else if (fence.get()?.value !== this.#options.fence) throw takenOver(this.file);
    // An empty transaction would not reach the disk, and so would not carry earlier ones there.
    if (idle) mark.run(String(this.#options.clock.now()));
    commit.run();
  }

  #inserted(last: number | bigint | null): void {
    if (last === null) throw takenOver(this.file);
    this.#last = last;
  }

  #syncSoon(): void {
    this.#syncTimer ??= setTimeout(() => {
      this.#syncTimer = null;
      if (this.#isOpen) void handled(this.commit('synced'));
    }, SYNC_WITHIN_MS).unref();
  }

  /** What a synced commit promises beyond its own pages: the file is settled, and still has its name. */
  #promise(): void {
    if (!this.#settled) settleSessionFile(this.#db, this.file);
    this.#settled = true;
    const now = this.#options.clock.now();
    this.#guard.look(now);
    this.#witness.note(this.#last, now);
  }

  #lookAtWal(): void {
    if (this.#guard.walSize() > CHECKPOINT_BYTES) this.#checkpointer.request();
  }
}

function attemptQuietly(work: () => void): void {
  try {
    work();
  } catch {
    // Said where it is called.
  }
}

function newGroup(): CommitGroup {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  return { promise, resolve, reject, synced: false };
}

/** A caller may drop a commit's promise: the failure stays with the journal and is told again by the next. */
function handled(promise: Promise<void>): Promise<void> {
  promise.catch(() => {});
  return promise;
}
