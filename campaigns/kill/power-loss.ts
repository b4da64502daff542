/**
 * What a power cut may take from a journal: everything after the last commit that was synced, in part or whole, and
 * torn in the middle of a record. The end of the WAL is cut off at a random byte; never before what was promised to be
 * on disk, which is what commands that change anything waited for, and what a checkpoint has copied.
 */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readWitness } from '../../packages/ramet/src/journal/integrity.ts';
import type { Chance } from './random.ts';

const WAL_HEADER = 32;
const FRAME_HEADER = 24;
/** In the WAL index: how many frames a checkpoint has copied into the database. */
const BACKFILL_AT = 96;

export interface PowerCut {
  /** Of the WAL, in bytes. */
  before: number;
  after: number;
}

/**
 * Null when there is nothing that could be lost. `copied` is what `copiedEnd` said right after the kill: opening the
 * journal makes the WAL's index again, without it.
 */
export function losePower(file: string, copied: number, chance: Chance): PowerCut | null {
  const wal = `${file}-wal`;
  const before = statSync(wal, { throwIfNoEntry: false })?.size ?? 0;
  const commits = commitEnds(wal);
  if (before <= WAL_HEADER) return null;
  const safe = Math.max(safeEnd(file, commits), copied);
  if (safe >= before) return null;
  const after = safe + chance.below(before - safe);
  truncateSync(wal, after);
  // The index of the WAL is memory, which a power cut takes.
  rmSync(`${file}-shm`, { force: true });
  return { before, after };
}

/** Where each transaction of the WAL ends, in bytes. Frames of an earlier round of the WAL have other salts. */
export function commitEnds(wal: string): number[] {
  const bytes = readBytes(wal);
  if (bytes.length < WAL_HEADER) return [];
  const frame = FRAME_HEADER + bytes.readUInt32BE(8);
  const salts = bytes.subarray(16, 24);
  const ends: number[] = [];
  for (let at = WAL_HEADER; at + frame <= bytes.length; at += frame) {
    if (!bytes.subarray(at + 8, at + 16).equals(salts)) break;
    if (bytes.readUInt32BE(at + 4) !== 0) ends.push(at + frame);
  }
  return ends;
}

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}

/**
 * The first commit that holds every start of a call that may change something: each was synced before it acted; and the
 * event that the witness names, which was synced too.
 */
function safeEnd(file: string, commits: readonly number[]): number {
  const promised = startsIn(file, Number.POSITIVE_INFINITY);
  let [low, high] = [0, commits.length - 1];
  if (promised === 0 || high < 0) return WAL_HEADER;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (startsIn(file, commits[middle] ?? 0) >= promised) high = middle;
    else low = middle + 1;
  }
  return commits[low] ?? WAL_HEADER;
}

/** How many of these a copy of the journal holds when its WAL ends there. */
function startsIn(file: string, walBytes: number): number {
  const directory = mkdtempSync(join(tmpdir(), 'ramet-kill-wal-'));
  try {
    const copy = join(directory, 'journal');
    copyFileSync(file, copy);
    copyFileSync(`${file}-wal`, `${copy}-wal`);
    if (Number.isFinite(walBytes)) truncateSync(`${copy}-wal`, walBytes);
    using db = new DatabaseSync(copy);
    const starts = db.prepare(
      `SELECT count(*) AS starts FROM events WHERE data ->> 'type' = 'tool.started'
       AND data ->> 'name' IN ('Bash', 'Write', 'Edit', 'SendMessage')`,
    );
    const last = Number(db.prepare('SELECT max(seq) AS last FROM events').get()?.last ?? 0);
    return Number(starts.get()?.starts ?? 0) + (last >= (readWitness(file)?.seq ?? 0) ? 1 : 0);
  } catch {
    return 0; // the file was not there yet when the WAL ended here
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The part of the WAL that a checkpoint has copied into the database, in bytes. */
export function copiedEnd(file: string): number {
  const wal = `${file}-wal`;
  const index = readBytes(`${file}-shm`);
  const frames = index.length > BACKFILL_AT + 4 ? index.readUInt32LE(BACKFILL_AT) : 0;
  const header = readBytes(wal).subarray(0, WAL_HEADER);
  if (header.length < WAL_HEADER) return WAL_HEADER;
  return WAL_HEADER + frames * (FRAME_HEADER + header.readUInt32BE(8));
}
