import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { migrate } from '../system/sqlite/database.ts';
import { repairSession } from './repair-session.ts';
import { sessionPath } from './session-file.ts';
import { NEWEST_SESSION, SESSION_MIGRATIONS } from './session-schema.ts';
import { versionByTables } from './session-shape.ts';
import { createSession, openReader, resumeSession } from './sessions.ts';

const project = mkdtempSync(join(tmpdir(), 'ramet-shape-'));
afterAll(() => rmSync(project, { recursive: true }));

/** Where SQLite keeps `user_version`. */
const VERSION_AT = 60;

const NEWEST = SESSION_MIGRATIONS.length;

async function closedSession(): Promise<string> {
  const journal = await createSession({ project, cwd: '/w', title: 'Talk' });
  for (let number = 1; number <= 4; number++)
    journal.append(null, { type: 'warning.raised', code: 'test', message: String(number) });
  await journal.commit('synced');
  await journal.close();
  return journal.session;
}

function setVersion(session: string, version: number): void {
  const bytes = readFileSync(sessionPath(project, session));
  bytes.writeInt32BE(version, VERSION_AT);
  writeFileSync(sessionPath(project, session), bytes);
}

function change(session: string, sql: string): void {
  using db = new DatabaseSync(sessionPath(project, session));
  db.exec(sql);
}

describe('LOG-1: a session whose version does not fit its tables', () => {
  test.each([0, 1, 2, -5])('is named as damaged and saved whole (%d)', async (version) => {
    const session = await closedSession();
    setVersion(session, version);
    const line = `cannot read the journal ${sessionPath(project, session)}: it is damaged: its schema version, ${version}, does not fit its tables; save what can be read with: ramet doctor --repair ${session}`;
    expect(() => openReader({ project, session })).toThrow(line);
    await expect(resumeSession({ project, session })).rejects.toThrow(line);
    const outcome = repairSession({ project, session });
    expect(outcome).toMatchObject({ events: 4, lostEvents: [], lostBlocks: 0, missingAtEnd: 0 });
    expect(outcome.kept).not.toBeNull();
    const { journal, reader, endIsMissing } = await resumeSession({ project, session });
    expect(Array.from(reader.events(), ({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(endIsMissing).toBe(false);
    reader.close();
    await journal.close();
  });

  test('is saved with what only its WAL holds', async () => {
    const session = await closedSession();
    const { journal, reader } = await resumeSession({ project, session });
    reader.close();
    journal.append(null, { type: 'warning.raised', code: 'test', message: 'in the WAL' });
    await journal.commit('synced');
    const file = sessionPath(project, session);
    const [bytes, wal] = [readFileSync(file), readFileSync(`${file}-wal`)];
    await journal.close();
    writeFileSync(file, bytes);
    writeFileSync(`${file}-wal`, wal);
    change(session, 'PRAGMA user_version = 1');
    expect(repairSession({ project, session })).toMatchObject({ lostEvents: [], missingAtEnd: 0 });
    const saved = openReader({ project, session });
    expect(Array.from(saved.events(), ({ event }) => event)).toContainEqual(
      expect.objectContaining({ message: 'in the WAL' }),
    );
    saved.close();
  });

  test('is saved as the older version that its tables are of', async () => {
    const session = 'bbbbbbbb';
    using db = new DatabaseSync(sessionPath(project, session));
    migrate(db, SESSION_MIGRATIONS.slice(0, 1));
    const data = JSON.stringify({ type: 'warning.raised', code: 'test', message: 'old' });
    db.prepare('INSERT INTO events (seq, time, agent, data) VALUES (1, 5, NULL, ?)').run(data);
    db.exec('PRAGMA user_version = 3');
    db.close();
    expect(() => openReader({ project, session })).toThrow('does not fit its tables');
    expect(repairSession({ project, session })).toMatchObject({ events: 1, lostEvents: [] });
  });

  test('is refused as newer where the number is higher than the newest known', async () => {
    const session = await closedSession();
    change(session, 'PRAGMA user_version = 99');
    expect(() => openReader({ project, session })).toThrow('has schema version 99');
    expect(() => repairSession({ project, session })).toThrow('has schema version 99');
  });

  test('is not said to be empty where it has lost its tables and is long', async () => {
    const session = await closedSession();
    const bytes = readFileSync(sessionPath(project, session));
    writeFileSync(sessionPath(project, session), emptySchema(bytes));
    expect(() => openReader({ project, session })).toThrow('it is damaged or not a journal');
    expect(repairSession({ project, session })).toMatchObject({ events: 4, lostEvents: [] });
  });
});

/** The first page as it is before the first table. */
function emptySchema(bytes: Buffer): Buffer {
  using db = new DatabaseSync(':memory:');
  db.exec('PRAGMA user_version = 1; PRAGMA user_version = 0');
  const first = Buffer.from(db.serialize());
  const changed = Buffer.from(bytes);
  first.copy(changed, VERSION_AT, VERSION_AT);
  return changed;
}

test('LOG-1: each version is known by its tables', () => {
  for (let version = 0; version <= NEWEST; version++) {
    using db = new DatabaseSync(':memory:');
    migrate(db, SESSION_MIGRATIONS.slice(0, version));
    expect(versionByTables(db)).toBe(version);
    db.exec('CREATE TABLE other (a)');
    expect(versionByTables(db)).toBeNull();
  }
});

test('LOG-1: a new file has the shape that all migrations lead to', () => {
  const shapeOf = (make: (db: DatabaseSync) => void): unknown => {
    using db = new DatabaseSync(':memory:');
    make(db);
    const tables = db.prepare('SELECT name, ncol, wr, strict FROM pragma_table_list ORDER BY name').all();
    const details = tables.map(({ name }) => [
      db.prepare('SELECT * FROM pragma_table_xinfo(?)').all(String(name)),
      db.prepare('SELECT * FROM pragma_index_list(?)').all(String(name)),
    ]);
    return { tables, details, version: db.prepare('PRAGMA user_version').get() };
  };
  expect(shapeOf((db) => db.exec(NEWEST_SESSION))).toEqual(shapeOf((db) => migrate(db, SESSION_MIGRATIONS)));
});
