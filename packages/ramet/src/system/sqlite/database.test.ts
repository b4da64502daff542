import { execFile } from 'node:child_process';
import { linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { SESSION_MIGRATIONS } from '../../journal/session-schema.ts';
import { openReader, resumeSession } from '../../journal/sessions.ts';
import { JournalError } from '../../schema/errors.ts';
import type { JournalEvent } from '../../schema/events.ts';
import { digestOf } from '../digest.ts';
import { createSharedFile, requireSharedFile, schemaVersion } from './database.ts';

const project = mkdtempSync(join(tmpdir(), 'ramet-migrations-'));
afterAll(() => rmSync(project, { recursive: true }));

const BYTES = new Uint8Array([1, 2]);
const warning: JournalEvent = { type: 'warning.raised', code: 'old', message: 'from version 1' };

/** A session as the first version left it: no `meta`, no `type`. */
function writeVersionOne(session: string): string {
  const file = join(project, `${session}.sqlite`);
  using db = new DatabaseSync(file);
  db.exec('PRAGMA journal_mode = WAL');
  db.exec(SESSION_MIGRATIONS[0] ?? '');
  db.exec('PRAGMA user_version = 1');
  db.prepare('INSERT INTO events (time, agent, data) VALUES (?, ?, ?)').run(7, null, JSON.stringify(warning));
  db.prepare('INSERT INTO blocks (digest, bytes) VALUES (?, ?)').run(digestOf(BYTES), BYTES);
  return file;
}

describe('LOG-1: a journal of an earlier version', () => {
  test('is readable as it is', () => {
    const file = writeVersionOne('aaaaaaaa');
    const before = readFileSync(file);
    const reader = openReader({ project, session: 'aaaaaaaa' });
    expect([...reader.events()]).toEqual([{ seq: 1, time: 7, agent: null, event: warning }]);
    expect(reader.block(digestOf(BYTES))).toEqual(BYTES);
    reader.close();
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test('is brought to the newest shape when a session is resumed, and keeps what it held', async () => {
    const file = writeVersionOne('bbbbbbbb');
    const { journal, reader } = await resumeSession({ project, session: 'bbbbbbbb' });
    journal.append(null, { ...warning, message: 'from now' });
    await journal.commit('written');
    expect(Array.from(reader.events(), ({ seq, event }) => [seq, event])).toEqual([
      [1, warning],
      [2, { ...warning, message: 'from now' }],
    ]);
    reader.close();
    await journal.close();
    using db = new DatabaseSync(file);
    expect(schemaVersion(db)).toBe(SESSION_MIGRATIONS.length);
    expect(
      db
        .prepare('SELECT type FROM events')
        .all()
        .map((row) => row.type),
    ).toEqual(Array(2).fill('warning.raised'));
  });
});

describe('LOG-1: a journal of a newer version', () => {
  test('is refused in one line that names file and versions, and is left as it was', async () => {
    const file = writeVersionOne('cccccccc');
    const db = new DatabaseSync(file);
    db.exec('PRAGMA user_version = 99');
    db.close();
    const before = readFileSync(file);
    const line = `${file} has schema version 99 and this ramet knows up to ${SESSION_MIGRATIONS.length}: update ramet to use it`;
    const failure = await resumeSession({ project, session: 'cccccccc' }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(JournalError);
    expect(failure).toMatchObject({ family: 'mistake', code: 'journal_too_new', message: line });
    expect(() => openReader({ project, session: 'cccccccc' })).toThrow(line);
    expect(readFileSync(file).equals(before)).toBe(true);
  });
});

test('LOG-1: a file that cannot be made leaves nothing beside it', () => {
  const folder = mkdtempSync(join(project, 'shared-'));
  expect(() => createSharedFile(join(folder, 'one.sqlite'), ['this is no SQL'])).toThrow('syntax error');
  expect(readdirSync(folder)).toEqual([]);
});

test('LOG-1: what a killed process left beside a file that it made goes with the next use', () => {
  const folder = mkdtempSync(join(project, 'shared-'));
  const file = join(folder, 'one.sqlite');
  const tables = ['CREATE TABLE a (b)'];
  writeFileSync(`${file}.making-abcd1234`, 'half of it');
  requireSharedFile(file, tables);
  expect(readdirSync(folder)).toEqual(['one.sqlite']);
  linkSync(file, `${file}.making-abcd1235`);
  requireSharedFile(file, tables);
  expect(readdirSync(folder)).toEqual(['one.sqlite']);
  const db = new DatabaseSync(file);
  expect([schemaVersion(db), db.prepare('PRAGMA journal_mode').get()]).toEqual([1, { journal_mode: 'wal' }]);
  db.close();
});

test('LOG-1: processes that make one file at once all have it, and leave nothing else', async () => {
  const folder = mkdtempSync(join(project, 'shared-'));
  const program = `
    import { createSharedFile } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'database.ts')).href)};
    for (let n = 0; n < 40; n++) createSharedFile(process.argv[1] + '/' + n + '.sqlite', ['CREATE TABLE a (b)'], true);`;
  const make = (): Promise<unknown> =>
    promisify(execFile)(process.execPath, ['--input-type=module', '-e', program, folder]);
  await Promise.all(Array.from({ length: 5 }, make));
  const names = readdirSync(folder);
  expect(names.filter((name) => !/^\d+\.sqlite$/.test(name))).toEqual([]);
  expect(names).toHaveLength(40);
});
