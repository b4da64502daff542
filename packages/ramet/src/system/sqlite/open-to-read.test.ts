import { copyFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { listSessions } from '../../journal/session-list.ts';
import { createSession, openReader, resumeSession } from '../../journal/sessions.ts';
import type { JournalEvent } from '../../schema/events.ts';
import { openToRead } from './database.ts';

const warning: JournalEvent = { type: 'warning.raised', code: 'test', message: 'x' };

function look(project: string, session: string): number {
  listSessions(project);
  const reader = openReader({ project, session });
  const { length } = [...reader.events()];
  reader.close();
  return length;
}

describe('LOG-1: a process that only reads', () => {
  test('leaves no file beside a session that nobody writes, and does not touch it', async () => {
    const project = temporaryDirectory();
    const journal = await createSession({ project, cwd: '/w' });
    journal.append(null, warning);
    await journal.close();
    const before = [readdirSync(project), statSync(journal.file).mtimeMs];
    expect(look(project, journal.session)).toBe(1);
    expect([readdirSync(project), statSync(journal.file).mtimeMs]).toEqual(before);
  });

  test('begins no file on a disk that is full or read-only', async () => {
    const project = temporaryDirectory();
    const journal = await createSession({ project, cwd: '/w' });
    journal.append(null, warning);
    await journal.close();
    for (const trouble of ['full', 'read-only'] as const) {
      using db = openToRead(journal.file, { timeout: 0, troubleAt: () => trouble });
      expect(db.prepare('SELECT count(*) AS count FROM events').get()?.count).toBe(1);
      // While it is open: a connection to the file would have them now.
      expect(readdirSync(project).filter((name) => /-(?:wal|shm)$/.test(name))).toEqual([]);
    }
  });

  test('leaves the files that a writer needs, and reads what it writes', async () => {
    const project = temporaryDirectory();
    const journal = await createSession({ project, cwd: '/w' });
    for (let count = 1; count <= 3; count++) {
      journal.append(null, warning);
      await journal.commit('synced');
      expect(look(project, journal.session)).toBe(count);
    }
    await journal.close();
    expect(look(project, journal.session)).toBe(3);
  });

  test('sees what is written by a writer that came later', async () => {
    const project = temporaryDirectory();
    const journal = await createSession({ project, cwd: '/w' });
    await journal.close();
    const reader = openReader({ project, session: journal.session });
    const resumed = await resumeSession({ project, session: journal.session });
    resumed.journal.append(null, warning);
    await resumed.journal.commit('synced');
    expect([...reader.events()]).toHaveLength(1);
    resumed.reader.close();
    await resumed.journal.close();
    reader.close();
    expect(readdirSync(project).filter((name) => /-(wal|shm)$/.test(name))).toEqual([]);
  });

  test('makes nothing beside a copy of a crashed session that came without its -shm', async () => {
    const project = temporaryDirectory();
    const journal = await createSession({ project, cwd: '/w' });
    journal.append(null, warning);
    await journal.commit('synced');
    const copy = temporaryDirectory();
    for (const end of ['', '-wal'])
      copyFileSync(journal.file + end, join(copy, `${journal.session}.sqlite${end}`));
    await journal.close();
    const before = readdirSync(copy);
    expect(look(copy, journal.session)).toBe(1);
    expect(readdirSync(copy)).toEqual(before);
  });
});
