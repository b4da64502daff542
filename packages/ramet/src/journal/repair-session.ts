/**
 * Saves what can be read of a damaged session: a new file takes its place, and the damaged one is kept beside it.
 *
 * Invariants
 * 1. Nobody else writes the session meanwhile: its lock is held.
 * 2. Every event and block that can be read is in the new file, under the same number or digest; where an event is lost
 *    a warning stands, or a start for an agent that has lost its own.
 * 3. A conversation ends before the first thing it lost. What an agent did after that stays on record and on the bill;
 *    the agent does not remember it.
 */
import { closeSync, copyFileSync, existsSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { describeError, JournalError, UserMistake } from '../schema/errors.ts';
import type { Digest, RecordedEvent } from '../schema/events.ts';
import type { AgentId, SessionId } from '../schema/ids.ts';
import { DISK_TROUBLES, diskTroubleAt } from '../system/disk-trouble.ts';
import { PRIVATE_FILE } from '../system/home.ts';
import { inTransaction } from '../system/sqlite/database.ts';
import { isDamaged } from '../system/sqlite/sqlite-failure.ts';
import { checkedBlocks, isSoundFile } from './block-scan.ts';
import { cutConversations } from './cut-conversations.ts';
import {
  blocksText,
  EventCheck,
  EventNumbers,
  eventsText,
  LONGEST_GAP,
  readWitness,
  saysSkipped,
  skippedNumbers,
} from './integrity.ts';
import type { DamagedEvent } from './journal.ts';
import { FENCE, inUse, LOST, OPENED, WRITER } from './lease.ts';
import { looseRows, mendFirstPage } from './loose-leaves.ts';
import { withLostStarts } from './lost-starts.ts';
import { leftOf, type MissingFile, nothingSaved } from './missing-files.ts';
import { SessionReader } from './reader.ts';
import {
  fillSessionFile,
  openSessionFileReadOnly,
  readMeta,
  sessionPath,
  settleSessionFile,
  takeSessionLock,
} from './session-file.ts';

export interface RepairOutcome {
  events: number;
  blocks: number;
  lostEvents: readonly DamagedEvent[];
  lostBlocks: number;
  /** Events that the witness saw after the last one. */
  missingAtEnd: number;
  /** Agents that do not remember what they did after that event. */
  cut: ReadonlyMap<AgentId, number>;
  /** Where the damaged file is kept; null when nothing was damaged, and nothing was changed. */
  kept: string | null;
}

export function repairSession({ project, session }: { project: string; session: SessionId }): RepairOutcome {
  const file = sessionPath(project, session);
  const missing = missingFile(file, session);
  const isReadable = missing === null && canBeRead(file);
  const lock = takeSessionLock(file);
  if (lock === null) throw inUse(session, null);
  const mended = `${file}.mended`;
  try {
    if (missing !== null) makeEmpty(file, session);
    if (!isReadable) mendFirstPage(file, mended);
    const found = salvage(isReadable ? file : mended, file);
    if (!isReadable && found.events.length === 0)
      throw missing === null ? nothingLeft(file, session) : nothingSaved(file, missing);
    const { cut } = found;
    const isWhole = isReadable && found.lostEvents.length === 0 && cut.size === 0 && found.isSound;
    const outcome = {
      events: found.events.length,
      blocks: found.blocks.size,
      lostEvents: found.lostEvents,
      lostBlocks: found.lostBlocks,
      missingAtEnd: Math.max(0, (readWitness(file)?.seq ?? 0) - found.last),
      cut,
    };
    return { ...outcome, kept: isWhole ? null : replace(file, found, session) };
  } catch (error) {
    if (missing !== null) removeEmpty(file);
    throw error instanceof JournalError ? error : cannotRepair(file, session, error);
  } finally {
    removeFiles(mended);
    lock.release();
  }
}

/** Null where the file is there. Throws where nothing can be saved. */
function missingFile(file: string, session: SessionId): MissingFile | null {
  if (existsSync(file)) return null;
  const left = leftOf(file);
  if (left === 'witness') throw nothingSaved(file, { session, left });
  if (left === 'WAL') return { session, left };
  throw new UserMistake('session_unknown', `there is no session ${session}: ${file} does not exist`);
}

/** Then it is a session whose file was emptied. */
function makeEmpty(file: string, session: SessionId): void {
  // Another process has repaired it meanwhile.
  if (existsSync(file)) throw inUse(session, null);
  closeSync(openSync(file, 'wx', PRIVATE_FILE));
}

function removeEmpty(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.size === 0) rmSync(file);
}

function canBeRead(file: string): boolean {
  try {
    new SessionReader(file).close();
    return true;
  } catch (error) {
    if (!isDamaged(error)) throw error;
    return false;
  }
}

/** The damaged file is as it was; what was begun beside it goes. */
function cannotRepair(file: string, session: SessionId, error: unknown): JournalError {
  removeFiles(draftOf(file));
  const trouble = diskTroubleAt(file);
  const [reason, remedy] =
    trouble === null ? [describeError(error), 'check the disk'] : DISK_TROUBLES[trouble];
  const message = `cannot repair session ${session}: ${reason}; ${remedy}${trouble === 'full' ? ' (ramet gc lists what may go)' : ''}, then try again`;
  return new JournalError('journal_not_repaired', 'terminal', message, { cause: error });
}

function draftOf(file: string): string {
  return `${file}.repaired`;
}

function nothingLeft(file: string, session: SessionId): JournalError {
  const size = `the ${statSync(file).size} bytes of ${file}`;
  const message = `nothing of session ${session} can be saved: no event can be read in ${size}, which stays as it is; restore it from a backup, or remove it`;
  return new JournalError('journal_lost', 'terminal', message);
}

interface Salvaged {
  meta: Readonly<Record<string, string>>;
  events: readonly RecordedEvent[];
  blocks: ReadonlyMap<Digest, Uint8Array>;
  lostEvents: readonly DamagedEvent[];
  lostBlocks: number;
  cut: ReadonlyMap<AgentId, number>;
  /** Every block is what was stored, and SQLite finds nothing wrong with the file itself. */
  isSound: boolean;
  last: number;
}

function salvage(file: string, original: string): Salvaged {
  const reader = new SessionReader(file, { original });
  using db = openSessionFileReadOnly(file);
  let read = [...reader.events()];
  let lostEvents = reader.damage.toSorted((a, b) => a.seq - b.seq);
  reader.close();
  const scan = checkedBlocks(db);
  const blocks = new Map(scan.sound);
  let lostBlocks = scan.lost();
  if (lostEvents.length + lostBlocks > 0) {
    const loose = looseRows(file);
    ({ read, lostEvents } = withLoose(read, lostEvents, loose.events));
    const known = blocks.size;
    for (const [digest, bytes] of loose.blocks) blocks.set(digest, bytes);
    lostBlocks = Math.max(0, lostBlocks - (blocks.size - known));
  }
  const last = Math.max(read.at(-1)?.seq ?? 0, lostEvents.at(-1)?.seq ?? 0);
  const { events, cut, missing } = cutConversations(read, lostEvents, blocks);
  return {
    meta: metaOf(db, read),
    events,
    blocks,
    lostEvents,
    lostBlocks: Math.max(lostBlocks, missing),
    cut,
    isSound: scan.lost() === 0 && isSoundFile(db),
    last,
  };
}

/** What was read and what was found besides. */
function withLoose(
  read: readonly RecordedEvent[],
  lost: readonly DamagedEvent[],
  loose: ReadonlyMap<number, RecordedEvent>,
): { read: RecordedEvent[]; lostEvents: DamagedEvent[] } {
  const all = new Map(read.map((recorded) => [recorded.seq, recorded]));
  let last = Math.max(read.at(-1)?.seq ?? 0, lost.at(-1)?.seq ?? 0);
  for (const recorded of [...loose.values()].toSorted((a, b) => a.seq - b.seq)) {
    // Its check does not tell that its number is right: one far from all others is not.
    if (recorded.seq < 1 || recorded.seq > last + LONGEST_GAP) continue;
    if (!all.has(recorded.seq)) all.set(recorded.seq, recorded);
    last = Math.max(last, recorded.seq);
  }
  const sorted = [...all.values()].toSorted((a, b) => a.seq - b.seq);
  const numbers = new EventNumbers();
  for (const event of lost) if (!all.has(event.seq)) numbers.lost(event);
  let expected = 1;
  for (const recorded of sorted) {
    numbers.expect(expected, recorded.seq, recorded);
    expected = recorded.seq + 1;
  }
  return { read: sorted, lostEvents: numbers.damage.toSorted((a, b) => a.seq - b.seq) };
}

/** What the file tells about the session; where that is lost, what its events tell. */
function metaOf(db: DatabaseSync, read: readonly RecordedEvent[]): Readonly<Record<string, string>> {
  const created = { created: String(read[0]?.time ?? 0) };
  const { event } = read.find((recorded) => 'cwd' in recorded.event && recorded.agent === null) ?? {};
  const told = event !== undefined && 'cwd' in event ? { ...created, cwd: String(event.cwd) } : created;
  try {
    return { ...told, ...readMeta(db) };
  } catch {
    return told;
  }
}

/** Returns where the damaged file is kept. */
function replace(file: string, found: Salvaged, session: SessionId): string {
  const draft = draftOf(file);
  const kept = freeName(`${file}.damaged`);
  removeFiles(draft);
  writeRepaired(draft, found, session);
  copyFileSync(file, kept);
  if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${kept}-wal`);
  // The WAL goes first: SQLite would play it into whatever file has the name.
  for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
  renameSync(draft, file);
  return kept;
}

function freeName(wanted: string): string {
  let name = wanted;
  for (let count = 2; existsSync(name); count++) name = `${wanted}-${count}`;
  return name;
}

function removeFiles(file: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
}

function writeRepaired(file: string, found: Salvaged, session: SessionId): void {
  const { meta, events, blocks, lostEvents } = found;
  const { [WRITER]: _, ...kept } = meta;
  const lost = lostText(found);
  closeSync(openSync(file, 'wx', PRIVATE_FILE));
  using db = fillSessionFile(file, {
    ...{ [FENCE]: '1', ...kept, [OPENED]: meta[OPENED] ?? meta.created ?? '0' },
    ...(lost !== '' && { [LOST]: lost }),
  });
  inTransaction(db, () => {
    const block = db.prepare('INSERT INTO blocks (digest, bytes) VALUES (?, ?)');
    for (const [digest, bytes] of blocks) block.run(digest, bytes);
    const insert = db.prepare('INSERT INTO events (seq, time, agent, data, crc) VALUES (?, ?, ?, ?, ?)');
    const check = new EventCheck();
    for (const { seq, time, agent, event } of withGapsTold(
      withLostStarts(events, lostEvents, session),
      lostEvents,
    )) {
      const data = JSON.stringify(event);
      insert.run(seq, time, agent, data, check.of(time, agent, data));
    }
  });
  settleSessionFile(db, file);
}

/** `3 events (17, 18, 30) and 1 block`; empty when nothing is lost. */
export function lostText({
  lostEvents,
  lostBlocks,
}: Pick<RepairOutcome, 'lostEvents' | 'lostBlocks'>): string {
  return [
    ...(lostEvents.length === 0 ? [] : [eventsText(lostEvents)]),
    ...(lostBlocks === 0 ? [] : [blocksText(lostBlocks)]),
  ].join(' and ');
}

/** What is lost is told where it stood. */
function withGapsTold(events: readonly RecordedEvent[], lost: readonly DamagedEvent[]): RecordedEvent[] {
  const standing = new Set(events.map(({ seq }) => seq));
  const untold = lost.filter(({ seq }) => !standing.has(seq));
  const told = untold.map(({ seq }): RecordedEvent => {
    const time = events.findLast((event) => event.seq < seq)?.time ?? 0;
    const message = `event ${seq} could not be read when the session was repaired`;
    return { seq, time, agent: null, event: { type: 'warning.raised', code: 'event_lost', message } };
  });
  const all = [...events, ...told].sort((a, b) => a.seq - b.seq);
  return all.flatMap((recorded, index) => {
    const before = all[index - 1]?.seq ?? 0;
    const { seq, time } = recorded;
    if (seq === before + 1 || saysSkipped(recorded)) return [recorded];
    return [{ seq: seq - 1, time, agent: null, event: skippedNumbers(before + 1, seq - 1) }, recorded];
  });
}
