import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { JournalError } from '../schema/errors.ts';
import type { JournalEvent } from '../schema/events.ts';
import { digestOf } from '../system/digest.ts';
import type { Journal } from './journal.ts';
import { createSession, openReader, resumeSession } from './sessions.ts';

const project = mkdtempSync(join(tmpdir(), 'ramet-writer-'));
afterAll(() => rmSync(project, { recursive: true }));

const warning = (message: string): JournalEvent => ({ type: 'warning.raised', code: 'test', message });

function messagesOf(journal: Journal): string[] {
  const reader = openReader({ project, session: journal.session });
  const messages = Array.from(reader.events(), ({ event }) =>
    event.type === 'warning.raised' ? event.message : '',
  );
  reader.close();
  return messages;
}

describe('LOG-1: the journal', () => {
  test('keeps events in the order they were appended, with time and agent', async () => {
    let now = 100;
    const clock = { now: () => now++, sleep: async () => {} };
    const journal = await createSession({ project, cwd: '/w', clock });
    journal.append('a.1', warning('one'));
    journal.append(null, warning('two'));
    await journal.commit('written');
    const reader = openReader({ project, session: journal.session });
    expect([...reader.events()]).toEqual([
      { seq: 1, time: 101, agent: 'a.1', event: warning('one') },
      { seq: 2, time: 102, agent: null, event: warning('two') },
    ]);
    reader.close();
    await journal.close();
  });

  test('keeps an event as it was when it was appended', async () => {
    const journal = await createSession({ project, cwd: '/w' });
    const event = { type: 'warning.raised' as const, code: 'test', message: 'before' };
    journal.append(null, event);
    event.message = 'after';
    await journal.commit('written');
    expect(messagesOf(journal)).toEqual(['before']);
    await journal.close();
  });

  test('writes what one phase of the event loop appended as one transaction', async () => {
    const journal = await createSession({ project, cwd: '/w' });
    using watcher = new DatabaseSync(journal.file, { readOnly: true });
    const version = () => Number(watcher.prepare('PRAGMA data_version').get()?.data_version);
    const before = version();
    const commits = [1, 2, 3].map(async (number) => {
      journal.append(null, warning(String(number)));
      await journal.commit('written');
      return version();
    });
    const seen = await Promise.all(commits);
    expect(new Set(seen).size).toBe(1);
    expect(seen[0]).not.toBe(before);
    expect(messagesOf(journal)).toEqual(['1', '2', '3']);
    await journal.close();
  });

  test('is on its way to disk without a commit', async () => {
    const journal = await createSession({ project, cwd: '/w' });
    journal.append(null, warning('alone'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(messagesOf(journal)).toEqual(['alone']);
    await journal.close();
  });

  test('commits nothing at once, written or synced', async () => {
    const journal = await createSession({ project, cwd: '/w' });
    await journal.commit('written');
    await journal.commit('synced');
    await journal.commit('synced');
    journal.append(null, warning('x'));
    await journal.commit('written');
    await journal.commit('synced');
    expect(messagesOf(journal)).toEqual(['x']);
    await journal.close();
  });

  test('moves its contents into the database file itself before the first synced commit resolves', async () => {
    const journal = await createSession({ project, cwd: '/w' });
    journal.append(null, warning('x'.repeat(50_000)));
    await journal.commit('written');
    expect(statSync(journal.file).size).toBeLessThan(50_000);
    await journal.commit('synced');
    expect(statSync(journal.file).size).toBeGreaterThan(50_000);
    await journal.close();
  });

  test('stores a block once, in bytes', async () => {
    const journal = await createSession({ project, cwd: '/w' });
    const bytes = new Uint8Array([0, 255, 10]);
    const digest = digestOf(bytes);
    journal.storeBlock(digest, bytes);
    journal.storeBlock(digest, bytes);
    await journal.commit('written');
    await journal.close();
    const { journal: again, reader } = await resumeSession({ project, session: journal.session });
    again.storeBlock(digest, new Uint8Array([9]));
    await again.commit('written');
    expect(reader.block(digest)).toEqual(bytes);
    expect(() => reader.block('other')).toThrow(
      `the journal ${journal.file} does not hold block other: it is damaged or incomplete; save what can be read with: ramet doctor --repair ${journal.session}`,
    );
    reader.close();
    await again.close();
  });

  test('keeps the order of many events and blocks of one commit', async () => {
    const journal = await createSession({ project, cwd: '/w' });
    const numbers = Array.from({ length: 40 }, (_, number) => String(number));
    const blocks = numbers.map((number) => Buffer.from(`block ${number}`));
    for (const block of blocks) journal.storeBlock(digestOf(block), block);
    for (const number of numbers) journal.append(null, warning(number));
    await journal.commit('synced');
    expect(messagesOf(journal)).toEqual(numbers);
    const reader = openReader({ project, session: journal.session });
    for (const block of blocks) expect(Buffer.from(reader.block(digestOf(block)))).toEqual(block);
    reader.close();
    await journal.close();
  });

  test('writes what is pending when it closes, and takes nothing after', async () => {
    const journal = await createSession({ project, cwd: '/w' });
    journal.append(null, warning('last'));
    await Promise.all([journal.close(), journal.close()]);
    journal.append(null, warning('late'));
    await expect(journal.commit('written')).rejects.toThrow(`the journal ${journal.file} is closed`);
    expect(messagesOf(journal)).toEqual(['last']);
  });

  test('does not fail for a note of its closing that it cannot write', async () => {
    const own = mkdtempSync(join(project, 'closing-'));
    const warnings: string[] = [];
    const options = { project: own, cwd: '/w', onWarning: (message: string) => warnings.push(message) };
    const journal = await createSession(options);
    journal.append(null, warning('all of it'));
    await journal.commit('synced');
    // Closing tells of the index, and nothing can be written any more.
    mkdirSync(join(own, 'index.sqlite'));
    using other = new DatabaseSync(journal.file);
    other.exec("CREATE TRIGGER full BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'full'); END");
    await journal.close();
    expect(warnings[0]).toContain('index.sqlite');
  });

  test('leaves one file behind when it closes', async () => {
    const journal = await createSession({ project, cwd: '/w' });
    journal.append(null, warning('x'));
    await journal.close();
    expect(statSync(`${journal.file}-wal`, { throwIfNoEntry: false })).toBeUndefined();
  });

  test('empties a large WAL while it is written', async () => {
    const journal = await createSession({ project, cwd: '/w' });
    const message = 'x'.repeat(100_000);
    let largest = 0;
    let size = 0;
    for (let round = 0; round < 2000 && !(largest > 16_000_000 && size < largest / 2); round++) {
      journal.append(null, warning(message));
      await journal.commit('written');
      size = statSync(`${journal.file}-wal`).size;
      largest = Math.max(largest, size);
    }
    expect(size).toBeLessThan(largest / 2);
    await journal.close();
  });
});

describe('a journal whose file is removed', () => {
  test('rejects every commit from then on with one line, and drops what is appended', async () => {
    const warnings: string[] = [];
    const journal = await createSession({
      project,
      cwd: '/w',
      onWarning: (message) => warnings.push(message),
    });
    journal.append(null, warning('kept'));
    await journal.commit('written');
    const moved = `${journal.file}.moved`;
    renameSync(journal.file, moved);
    const line = `cannot write the journal ${journal.file}: it was removed or replaced while in use; start a new session`;
    journal.append(null, warning('lost'));
    const [first, second] = [journal.commit('written'), journal.commit('synced')];
    await expect(first).rejects.toThrow(JournalError);
    await expect(second).rejects.toThrow(line);
    journal.append(null, warning('dropped'));
    void journal.commit('written');
    await expect(journal.commit('written')).rejects.toThrow(line);
    await expect(journal.close()).rejects.toThrow(line);
    expect(warnings).toEqual([]);
  });
});
