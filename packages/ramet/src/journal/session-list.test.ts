import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { UserMistake } from '../schema/errors.ts';
import { indexPath, readIndex } from './session-index.ts';
import { findSession, latestSession, listSessions } from './session-list.ts';
import { createSession, resumeSession } from './sessions.ts';

const root = mkdtempSync(join(tmpdir(), 'ramet-list-'));
afterAll(() => rmSync(root, { recursive: true }));

let projects = 0;
const newProject = (): string => join(root, `project-${++projects}`);

async function closedSession(project: string, now: number, title?: string, cwd = '/w'): Promise<string> {
  const clock = { now: () => now, sleep: async () => {} };
  const journal = await createSession({
    project,
    cwd,
    clock,
    ...(title === undefined ? {} : { title }),
  });
  await journal.close();
  return journal.session;
}

describe('the list of sessions', () => {
  test('is empty where there is no project yet', () => {
    expect(listSessions(newProject())).toEqual([]);
    expect(latestSession(newProject())).toBeNull();
  });

  test('is newest first, with what the index knows', async () => {
    const project = newProject();
    const old = await closedSession(project, 1000, 'Fix it');
    const young = await closedSession(project, 2000);
    expect(listSessions(project)).toEqual([
      expect.objectContaining({ session: young, created: 2000, title: null }),
      {
        session: old,
        created: 1000,
        opened: 1000,
        ended: 1000,
        cwd: '/w',
        title: 'Fix it',
        file: join(project, `${old}.sqlite`),
        live: false,
        lastUsed: 1000,
      },
    ]);
    expect(latestSession(project)?.session).toBe(young);
  });

  test('puts a resumed session first and shows that it is written', async () => {
    const project = newProject();
    const old = await closedSession(project, 1000);
    await closedSession(project, 2000);
    const { journal, reader } = await resumeSession({ project, session: old });
    expect(latestSession(project)).toMatchObject({ session: old, live: true, created: 1000, ended: null });
    reader.close();
    await journal.close();
    expect(latestSession(project)).toMatchObject({ session: old, live: false, ended: expect.any(Number) });
  });

  test('puts the session first that was used last, not the one that was opened last', async () => {
    const project = newProject();
    let time = 1000;
    const first = await createSession({
      project,
      cwd: '/w',
      clock: { now: () => time, sleep: async () => {} },
    });
    await closedSession(project, 2000);
    time = 3000;
    first.append(null, { type: 'warning.raised', code: 'x', message: 'still at work' });
    await first.commit('written');
    expect(latestSession(project)).toMatchObject({ session: first.session, live: true });
    await first.close();
    expect(latestSession(project)).toMatchObject({ session: first.session, live: false });
  });

  test('shows a session that is not yet in the index', async () => {
    const project = newProject();
    const journal = await createSession({ project, cwd: '/w', title: 'New' });
    expect(readIndex(project)).toEqual([]);
    expect(listSessions(project)).toMatchObject([{ session: journal.session, title: 'New', live: true }]);
    await journal.close();
    expect(readIndex(project)).toMatchObject([{ entry: { session: journal.session }, lease: null }]);
  });

  test('shows the same sessions when the index is lost', async () => {
    const project = newProject();
    const session = await closedSession(project, 1000, 'Kept');
    rmSync(indexPath(project));
    expect(listSessions(project)).toMatchObject([{ session, created: 1000, cwd: '/w', title: 'Kept' }]);
  });

  test.each([['not a database'.repeat(1000)], ['SQLite format 3\0'.padEnd(8192, 'z')]])(
    'shows the same sessions when the index is damaged, and makes a new one',
    async (damage) => {
      const project = newProject();
      const session = await closedSession(project, 1000, 'Kept');
      writeFileSync(indexPath(project), damage);
      expect(listSessions(project)).toMatchObject([{ session, created: 1000, cwd: '/w', title: 'Kept' }]);
      const warnings: string[] = [];
      const { journal, reader } = await resumeSession({
        project,
        session,
        onWarning: (message) => warnings.push(message),
      });
      reader.close();
      await journal.close();
      expect(warnings).toEqual([]);
      expect(readIndex(project)).toMatchObject([{ entry: { session, title: 'Kept' }, lease: null }]);
    },
  );

  test('puts a resumed session first also when the index is lost', async () => {
    const project = newProject();
    const old = await closedSession(project, 1000);
    await closedSession(project, 2000);
    const clock = { now: () => 3000, sleep: async () => {} };
    const { journal, reader } = await resumeSession({ project, session: old, clock });
    reader.close();
    await journal.close();
    rmSync(indexPath(project));
    expect(latestSession(project)).toMatchObject({ session: old, created: 1000, opened: 3000 });
  });

  test('forgets a session whose file is gone and leaves out one that was never filled', async () => {
    const project = newProject();
    const session = await closedSession(project, 1000);
    rmSync(join(project, `${session}.sqlite`));
    writeFileSync(join(project, 'zzzzzzzz.sqlite'), '');
    writeFileSync(join(project, 'notes.txt'), '');
    expect(listSessions(project)).toEqual([]);
  });

  test('shows a damaged session by its name', async () => {
    const project = newProject();
    await closedSession(project, 1000);
    writeFileSync(join(project, 'zzzzzzzz.sqlite'), 'not a database'.repeat(100));
    expect(listSessions(project)[0]).toMatchObject({ session: 'zzzzzzzz', live: false, title: null });
  });
});

describe('finding a session', () => {
  test('takes an id or the beginning of one', async () => {
    const project = newProject();
    const session = await closedSession(project, 1000);
    expect(findSession(project, session).session).toBe(session);
    expect(findSession(project, session.slice(0, 3)).session).toBe(session);
  });

  test('lists the candidates when several match', async () => {
    const project = newProject();
    await closedSession(project, 1000);
    for (const name of ['zzzzzzz1', 'zzzzzzz2']) {
      writeFileSync(join(project, `${name}.sqlite`), 'not a database'.repeat(100));
    }
    expect(() => findSession(project, 'zzzz')).toThrow(UserMistake);
    expect(() => findSession(project, 'zzzz')).toThrow(
      /"zzzz" could be zzzzzzz[12], zzzzzzz[12]: give more letters/,
    );
  });

  test('says what there is when none matches', async () => {
    const project = newProject();
    expect(() => findSession(project, 'abc')).toThrow(
      'there is no session "abc" of this directory: it has none yet',
    );
    const session = await closedSession(project, 1000);
    expect(() => findSession(project, '!')).toThrow(`the latest are ${session}`);
    expect(() => findSession(project, '')).toThrow(UserMistake);
  });

  test('says where the session is when it belongs to another directory', async () => {
    const gone = await closedSession(newProject(), 1000);
    expect(() => findSession(newProject(), gone)).toThrow(
      `session ${gone} belongs to /w, which no longer exists: restore the directory to resume it`,
    );
    const there = await closedSession(newProject(), 1000, undefined, root);
    expect(() => findSession(newProject(), there.slice(0, 6))).toThrow(
      `session ${there} belongs to ${root}: go there first`,
    );
  });
});
