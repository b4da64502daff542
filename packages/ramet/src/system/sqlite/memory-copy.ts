/**
 * Reads a SQLite file where SQLite itself cannot: on a full or read-only disk, where it must keep two files beside it
 * and cannot. The file and the transactions that its WAL holds are put together in memory.
 *
 * It opens the file by other means than SQLite, so it is a last resort: see the top of `session-file.ts`.
 */
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { systemCode } from '../../schema/errors.ts';

const WAL_HEADER = 32;
const FRAME_HEADER = 24;
/** Its last bit says in which order the words of checksums are read. */
const WAL_MAGIC = 0x377f0682;
/** Where a file says whether it is used with a WAL. */
const WRITE_VERSION_AT = 18;
const ROLLBACK_MODE = 1;

export function openInMemory(file: string): DatabaseSync {
  const bytes = bytesOf(file);
  bytes.fill(ROLLBACK_MODE, WRITE_VERSION_AT, WRITE_VERSION_AT + 2);
  const db = new DatabaseSync(':memory:');
  try {
    db.deserialize(bytes);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** The database with all that its WAL adds. */
export function bytesOf(file: string): Buffer {
  return withWal(readFileSync(file), readIfThere(`${file}-wal`));
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

/** The database after all complete transactions of the WAL, in order; what follows a torn frame does not count. */
function withWal(database: Buffer, wal: Buffer): Buffer {
  if (wal.length < WAL_HEADER || (wal.readUInt32BE(0) & ~1) >>> 0 !== WAL_MAGIC) return database;
  const pageSize = wal.readUInt32BE(8);
  const frames = [...framesOf(wal, pageSize)];
  const last = frames.findLastIndex(({ sizeAfter }) => sizeAfter > 0);
  const length = (frames[last]?.sizeAfter ?? 0) * pageSize;
  if (length === 0) return database;
  const whole = Buffer.alloc(length);
  database.copy(whole);
  for (const { page, data } of frames.slice(0, last + 1)) data.copy(whole, (page - 1) * pageSize);
  return whole;
}

interface WalFrame {
  page: number;
  /** Of the database in pages, in the last frame of a transaction; 0 in others. */
  sizeAfter: number;
  data: Buffer;
}

function* framesOf(wal: Buffer, pageSize: number): Iterable<WalFrame> {
  const bigEndian = (wal.readUInt32BE(0) & 1) === 1;
  let sum = checksum([0, 0], wal.subarray(0, 24), bigEndian);
  if (!matches(sum, wal, 24)) return;
  const salts = wal.subarray(16, 24);
  const size = FRAME_HEADER + pageSize;
  for (let at = WAL_HEADER; at + size <= wal.length; at += size) {
    const data = wal.subarray(at + FRAME_HEADER, at + size);
    sum = checksum(checksum(sum, wal.subarray(at, at + 8), bigEndian), data, bigEndian);
    if (!wal.subarray(at + 8, at + 16).equals(salts) || !matches(sum, wal, at + 16)) return;
    yield { page: wal.readUInt32BE(at), sizeAfter: wal.readUInt32BE(at + 4), data };
  }
}

type Checksum = readonly [number, number];

function matches([first, second]: Checksum, wal: Buffer, at: number): boolean {
  return wal.readUInt32BE(at) === first && wal.readUInt32BE(at + 4) === second;
}

/** As SQLite's file format has it. */
function checksum([first, second]: Checksum, bytes: Buffer, bigEndian: boolean): Checksum {
  let [a, b] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + (bigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + b) >>> 0;
    b = (b + (bigEndian ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + a) >>> 0;
  }
  return [a, b];
}
