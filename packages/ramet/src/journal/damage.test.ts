import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import type { JournalEvent } from '../schema/events.ts';
import { digestOf } from '../system/digest.ts';
import { damageLine } from './integrity.ts';
import { sessionPath } from './session-file.ts';
import { createSession, openReader, resumeSession } from './sessions.ts';

const project = mkdtempSync(join(tmpdir(), 'ramet-damage-'));
afterAll(() => rmSync(project, { recursive: true }));

const warning = (message: string): JournalEvent => ({ type: 'warning.raised', code: 'test', message });

/** Closed, with that many events of two agents. */
async function sessionOf(events: number, size = 10): Promise<string> {
  const journal = await createSession({ project, cwd: '/w' });
  for (let number = 1; number <= events; number++)
    journal.append(`a.${1 + (number % 2)}`, warning(`${number} ${'x'.repeat(size)}`));
  await journal.commit('synced');
  await journal.close();
  return journal.session;
}

function change(session: string, sql: string): void {
  using db = new DatabaseSync(sessionPath(project, session));
  db.exec(sql);
}

/** On the disk: SQLite itself refuses to store what is not JSON. */
function breakEvents(session: string, ...seqs: number[]): void {
  const file = sessionPath(project, session);
  const bytes = readFileSync(file);
  for (const seq of seqs) bytes.write('z', bytes.lastIndexOf('{', bytes.indexOf(`"${seq} x`)));
  writeFileSync(file, bytes);
}

function read(session: string, filter = {}): { seqs: number[]; damaged: number[] } {
  const reader = openReader({ project, session });
  const seqs = Array.from(reader.events(filter), ({ seq }) => seq);
  const damaged = reader.damage.map(({ seq }) => seq);
  reader.close();
  return { seqs, damaged };
}

describe('LOG-1: a damaged event', () => {
  test.each([
    ['is no event', "data = '[1]'"],
    ['is another text', "data = replace(data, '3 x', '4 x')"],
    ['is of another agent', "agent = 'a.9'"],
    ['is of another time', 'time = time + 1'],
  ])('that %s is left out and told, and the others are read', async (_, damage) => {
    const session = await sessionOf(5);
    change(session, `UPDATE events SET ${damage} WHERE seq = 3`);
    expect(read(session)).toEqual({ seqs: [1, 2, 4, 5], damaged: [3] });
  });

  test('that is not JSON is left out and told, and the others are read', async () => {
    const session = await sessionOf(5);
    breakEvents(session, 3);
    expect(read(session)).toEqual({ seqs: [1, 2, 4, 5], damaged: [3] });
  });

  test('does not hide events of certain types', async () => {
    const session = await sessionOf(5);
    breakEvents(session, 3);
    expect(read(session, { type: 'warning.raised' })).toEqual({ seqs: [1, 2, 4, 5], damaged: [3] });
    expect(read(session, { type: 'tool.started' })).toEqual({ seqs: [], damaged: [3] });
    expect(read(session, { type: 'warning.raised', agent: 'a.1' }).seqs).toEqual([2, 4]);
  });

  test('is passed also where a page of the file is gone', async () => {
    const session = await sessionOf(400, 200);
    const file = sessionPath(project, session);
    const bytes = readFileSync(file);
    // A leaf in the middle: its page says what it is in its first byte.
    const leaf = bytes.indexOf('200 xxx') & ~4095;
    bytes.fill(0xff, leaf, leaf + 100);
    writeFileSync(file, bytes);
    const { seqs, damaged } = read(session);
    expect(damaged.length).toBeGreaterThan(3);
    expect(seqs.length + damaged.length).toBe(400);
    expect(seqs).toContain(1);
    expect(seqs).toContain(400);
  });

  test('keeps its session from being resumed, in one line, and from nothing else', async () => {
    const session = await sessionOf(5);
    breakEvents(session, 2, 4);
    await expect(resumeSession({ project, session })).rejects.toThrow(
      `session ${session} cannot be resumed as it is: 2 events (2, 4) of its journal cannot be read; repair it with ramet doctor --repair ${session}, then resume it`,
    );
    await expect(resumeSession({ project, session })).rejects.toThrow('cannot be resumed as it is');
  });

  test('is not looked for in journals of the version before', async () => {
    const session = await sessionOf(3);
    change(session, 'ALTER TABLE events DROP COLUMN crc; PRAGMA user_version = 2');
    breakEvents(session, 2);
    expect(read(session)).toEqual({ seqs: [1, 3], damaged: [2] });
  });

  test('is told in one line', () => {
    expect(damageLine('s', [])).toBeNull();
    expect(damageLine('s', [{ seq: 3, agent: null }])).toBe(
      'session s is damaged: event 3 cannot be read and is left out here; save the rest with: ramet doctor --repair s',
    );
    const many = Array.from({ length: 7 }, (_, index) => ({ seq: 6 - index, agent: null }));
    expect(damageLine('s', [], { blocks: 1 })).toContain(
      '1 block of what was said cannot be read and is left out',
    );
    expect(damageLine('s', [{ seq: 3, agent: null }], { blocks: 2 })).toContain(
      'event 3 and 2 blocks of what was said cannot',
    );
    expect(damageLine('s', many)).toContain('7 events (0, 1, 2, 3, 4, ...) cannot be read and are left out');
  });
});

describe('LOG-1: a block', () => {
  test('is given only when its bytes have its digest', async () => {
    const bytes = Buffer.from('{"type":"text","text":"true"}');
    const journal = await createSession({ project, cwd: '/w' });
    journal.storeBlock(digestOf(bytes), bytes);
    await journal.close();
    change(journal.session, `UPDATE blocks SET bytes = CAST('{"type":"text","text":"forged"}' AS BLOB)`);
    const reader = openReader({ project, session: journal.session });
    expect(() => reader.block(digestOf(bytes))).toThrow(`holds other bytes as block ${digestOf(bytes)}`);
    reader.close();
    const forgiving = openReader({ project, session: journal.session, forgiving: true });
    expect(Buffer.from(forgiving.block(digestOf(bytes))).toString()).toContain('[lost: ');
    forgiving.close();
  });

  test('that is damaged is counted, also where a page of the file is gone', async () => {
    const journal = await createSession({ project, cwd: '/w' });
    for (let number = 0; number < 300; number++) {
      const bytes = Buffer.from(`{"type":"text","text":"${number} ${'y'.repeat(200)}"}`);
      journal.storeBlock(digestOf(bytes), bytes);
    }
    await journal.close();
    const { session, file } = journal;
    expect(blocksOf(session)).toEqual({ damaged: 0, known: 300 });
    change(session, "UPDATE blocks SET bytes = CAST('{}' AS BLOB) WHERE rowid IN (3, 299)");
    expect(blocksOf(session)).toEqual({ damaged: 2, known: 300 });
    const bytes = readFileSync(file);
    const leaf = bytes.indexOf('150 yyy') & ~4095;
    bytes.fill(0xff, leaf, leaf + 100);
    writeFileSync(file, bytes);
    const { damaged, known } = blocksOf(session);
    expect(damaged).toBeGreaterThan(5);
    expect(damaged + known).toBe(302);
  });
});

function blocksOf(session: string): { damaged: number; known: number } {
  const reader = openReader({ project, session });
  const found = { damaged: reader.damagedBlocks(), known: reader.blockSizes().size };
  reader.close();
  return found;
}
