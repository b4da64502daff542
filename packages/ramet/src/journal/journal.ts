/**
 * The journal's two faces. One process writes a session (`Journal`), any number read it (`JournalReader`),
 * also while it is being written. See `schema/events.ts` for what is recorded.
 */
import type { Digest, JournalEvent, RecordedEvent } from '../schema/events.ts';
import type { AgentId, SessionId } from '../schema/ids.ts';

export interface Journal {
  readonly session: SessionId;
  readonly file: string;
  /** Takes the event in order. It is on its way to disk at the end of the current event-loop phase. */
  append(agent: AgentId | null, event: JournalEvent): void;
  /** Stores bytes once by digest, in the same transaction as the events around it. */
  storeBlock(digest: Digest, bytes: Uint8Array): void;
  /**
   * Resolves when everything taken so far is committed: `written` survives `kill -9` of this process,
   * `synced` survives a power cut as well. Rejects with a JournalError when it could not be written; from
   * then on the journal takes nothing more and every commit rejects.
   */
  commit(durability: 'written' | 'synced'): Promise<void>;
  close(): Promise<void>;
}

export interface EventFilter {
  after?: number;
  agent?: AgentId;
  type?: JournalEvent['type'];
  /** One of these. */
  types?: readonly JournalEvent['type'][];
}

export interface DamagedEvent {
  seq: number;
  /** As the damaged row has it; undefined where not even that can be read. */
  agent: AgentId | null | undefined;
  /** What it looks to have been; absent where that cannot be told. */
  type?: string | undefined;
}

/** Where an event is, without the event. */
export interface EventPlace {
  seq: number;
  agent: AgentId | null;
  /** Of the start of an agent that another one started; null otherwise. */
  parent: AgentId | null;
  name: string | null;
}

export interface JournalReader {
  /** The events that were left out of what was read so far, because they cannot be read or are not what was written. */
  readonly damage: readonly DamagedEvent[];
  /** Events in order, after `after` when given, of one agent and of certain types when given. */
  events(filter?: EventFilter): Iterable<RecordedEvent>;
  /** Where the events after `after` are, for those who ask for the events of one agent again and again. */
  places(after: number): EventPlace[];
  /** The events of these numbers; null if one of them cannot be read. */
  at(numbers: readonly number[]): RecordedEvent[] | null;
  /** The bytes of a block, which have this digest; throws a JournalError when the journal does not hold them. */
  block(digest: Digest): Uint8Array;
  /** How long each block is, without its bytes. */
  blockSizes(): ReadonlyMap<Digest, number>;
  /** How many blocks cannot be read, or are not what was stored. Reads all of them to know. */
  damagedBlocks(): number;
  /** Whether the file is as SQLite writes it, its indexes too. */
  isSound(): boolean;
  /** How many events the witness saw after the last one that is there: the end of the journal was lost. */
  missingAtEnd(): number;
  /** Whether the session's own facts, such as its writer, cannot be read. */
  isMetaDamaged(): boolean;
  /** What `work` reads is read under one lock, in half the time. Keep it short: it holds up the emptying of the WAL. */
  together<Result>(work: () => Result): Result;
  close(): void;
}
