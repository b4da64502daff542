/**
 * Turns the folder of a killed session into lines of text (`format.ts` of the fixtures). SQLite files become their
 * rows, read from a copy, so that the snapshot changes nothing. What belongs to the machine is left out or replaced.
 */
import { isUtf8 } from 'node:buffer';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import {
  type BlockLine,
  PROJECT,
  ROOT,
  type SnapshotLine,
  STARTED,
} from '../../packages/ramet/test/fixtures/recorded-sessions/format.ts';

/** Other processes, caches and what names this machine: a session is resumed without them. */
const LEFT_OUT =
  /^(home|tmp)(\/|$)|^ramet\/(machine\.sqlite.*|shim|cache|endpoints)(\/|$)|\/(processes|repository\.json)(\/|$)|\.sqlite-(wal|shm)$|\/hooks\/.*\.sample$|\.damaged$/;
const PROCESS = /\b[0-9a-f]{8}-\d+-\d+-[0-9a-f]{8}\b/g;

export interface Snapshot {
  lines: SnapshotLine[];
  blocks: Map<string, BlockLine>;
}

export function snapshotOf(root: string, project: string): Snapshot {
  const blocks = new Map<string, BlockLine>();
  const replace = (text: string): string =>
    text.replaceAll(root, ROOT).replaceAll(basename(project), PROJECT).replaceAll(PROCESS, STARTED);
  const lines = entriesOf(root).flatMap(({ path, isDirectory }): SnapshotLine[] => {
    const name = replace(path);
    if (isDirectory) return [{ directory: name }];
    if (path.endsWith('.sqlite')) return databaseLines(join(root, path), name, { replace, blocks });
    const bytes = readFileSync(join(root, path));
    return [
      isText(bytes)
        ? { file: name, text: replace(bytes.toString()) }
        : { file: name, base64: bytes.toString('base64') },
    ];
  });
  return { lines, blocks };
}

/** Files, and directories that hold nothing; the repository comes before what is named after it. */
function entriesOf(root: string): { path: string; isDirectory: boolean }[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return { path: relative(root, path), isDirectory: entry.isDirectory(), whole: path };
    })
    .filter(({ path }) => !LEFT_OUT.test(path))
    .filter(({ isDirectory, whole }) => !isDirectory || readdirSync(whole).length === 0)
    .map(({ path, isDirectory }) => ({ path, isDirectory }))
    .sort((one, other) => rank(one.path) - rank(other.path) || (one.path < other.path ? -1 : 1));
}

function rank(path: string): number {
  return path.startsWith('repository/') ? 0 : 1;
}

function isText(bytes: Uint8Array): boolean {
  return isUtf8(bytes) && !bytes.includes(0);
}

interface DatabaseParts {
  replace(text: string): string;
  blocks: Map<string, BlockLine>;
}

function databaseLines(file: string, name: string, parts: DatabaseParts): SnapshotLine[] {
  const directory = mkdtempSync(join(tmpdir(), 'ramet-snapshot-'));
  const copy = join(directory, 'copy.sqlite');
  for (const end of ['', '-wal']) if (existsSync(file + end)) copyFileSync(file + end, copy + end);
  const db = new DatabaseSync(copy);
  try {
    const version = Number(db.prepare('PRAGMA user_version').get()?.user_version);
    const made = db
      .prepare("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'")
      .all();
    const tables = made.map((row) => String(row.name));
    return [
      { database: name, version, schema: made.map(({ sql }) => String(sql)) },
      ...tables.flatMap((table) => tableLines(db, table, parts)),
    ];
  } finally {
    db.close();
    rmSync(directory, { recursive: true });
  }
}

function tableLines(db: DatabaseSync, table: string, { replace, blocks }: DatabaseParts): SnapshotLine[] {
  if (table === 'events') {
    return db
      .prepare('SELECT seq, time, agent, data FROM events ORDER BY seq')
      .all()
      .map(({ seq, time, agent, data }) => ({
        event: [
          Number(seq),
          Number(time),
          agent === null ? null : String(agent),
          JSON.parse(replace(String(data))),
        ],
      }));
  }
  if (table === 'blocks') {
    const rows = db.prepare('SELECT digest, bytes FROM blocks ORDER BY rowid').all();
    for (const { digest, bytes } of rows) blocks.set(String(digest), blockLine(String(digest), bytes));
    return [{ blocks: rows.map(({ digest }) => String(digest)) }];
  }
  const columns = db
    .prepare(`PRAGMA table_info(${table})`)
    .all()
    .map(({ name }) => String(name));
  const rows = db.prepare(`SELECT ${columns.join(', ')} FROM ${table}`).all();
  if (rows.length === 0) return [];
  const value = (one: SQLOutputValue | undefined): unknown => (typeof one === 'string' ? replace(one) : one);
  return [{ table, columns, rows: rows.map((row) => columns.map((column) => value(row[column]))) }];
}

function blockLine(digest: string, bytes: SQLOutputValue | undefined): BlockLine {
  if (!(bytes instanceof Uint8Array)) return { digest, text: String(bytes) };
  const whole = Buffer.from(bytes);
  return isText(whole) ? { digest, text: whole.toString() } : { digest, base64: whole.toString('base64') };
}
