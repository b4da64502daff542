import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect } from 'vitest';
import { RecordedSession } from '../../../test/fixtures/recorded-session.ts';
import { test } from '../../../test/fixtures/temporary-directory.ts';
import { takeSessionLock } from '../../journal/session-file.ts';
import { listSessions } from '../../journal/session-list.ts';
import { resumeSession } from '../../journal/sessions.ts';
import { systemClock } from '../../schema/clock.ts';
import { retain } from '../leftovers.ts';
import { removeSession } from './remove-session.ts';
import { DAY_MS, type RetentionRule, sessionHoldings } from './session-holdings.ts';

const rule = (days: number, fields: Partial<RetentionRule> = {}): RetentionRule => ({
  // A second more than a day: times of files have fractions of a millisecond.
  now: Date.now() + DAY_MS + 1_000,
  days,
  withWorktrees: new Set(),
  ...fields,
});

/** A session that has ended, with an original, an output and one that a killed command left empty. */
async function ended(project: string, status: 'done' | 'interrupted' = 'done'): Promise<string> {
  const recorded = await RecordedSession.open(project);
  const { session } = recorded.journal;
  const main = recorded.agent(1);
  recorded.say(main, ['Work.']);
  recorded.exchange(main);
  if (status === 'done') recorded.end(main);
  await recorded.journal.close();
  mkdirSync(join(project, session, 'originals'), { recursive: true });
  writeFileSync(join(project, session, 'originals/v1'), 'x'.repeat(100));
  writeFileSync(join(project, session, 'output.txt'), 'y'.repeat(10));
  writeFileSync(join(project, session, 'empty.txt'), '');
  return session;
}

describe('LOG-1: what sessions keep', () => {
  test('is told by age and size, and the empty outputs of those that may be touched', async ({
    directory,
  }) => {
    const project = join(directory, 'project');
    const session = await ended(project);
    expect(sessionHoldings(project, rule(1))).toEqual([
      {
        session,
        title: null,
        usedAt: expect.any(Number),
        written: expect.any(Number),
        bytes: { journal: expect.any(Number), originals: 100, outputs: 10 },
        keep: null,
        emptyOutputs: [join(project, session, 'empty.txt')],
      },
    ]);
    expect(sessionHoldings(project, rule(2))[0]?.keep).toEqual({ reason: expect.any(String), young: true });
  });

  test.for([
    ['done', 1],
    ['interrupted', 0],
  ] as const)(
    'has empty outputs that may go unless it can be resumed, also when it is young (%s)',
    async ([status, count], { directory }) => {
      const project = join(directory, 'project');
      await ended(project, status);
      const [held] = sessionHoldings(project, rule(2, { interrupted: true }));
      expect(held?.keep).toMatchObject({ young: true });
      expect(held?.emptyOutputs).toHaveLength(count);
    },
  );

  test('stays when its own file says that another machine may write it, whatever the index says', async ({
    directory,
  }) => {
    const project = join(directory, 'project');
    const session = await ended(project, 'interrupted');
    {
      using db = new DatabaseSync(join(project, `${session}.sqlite`));
      const writer = { pid: 1, started: 'ffffffff-1-1-ffffffff', token: 'theirs' };
      db.prepare("INSERT INTO meta (key, value) VALUES ('writer', ?)").run(JSON.stringify(writer));
    }
    const [held] = sessionHoldings(project, rule(1, { interrupted: true }));
    expect(held?.keep).toEqual({ reason: 'it is running, or may be on another machine', young: false });
  });

  test('stays while it is needed: running, to be resumed, with worktrees, with half an undo', async ({
    directory,
  }) => {
    const project = join(directory, 'project');
    const keepOf = (fields?: Partial<RetentionRule>): unknown =>
      sessionHoldings(project, rule(0, fields))[0]?.keep?.reason ?? null;
    const interrupted = await ended(project, 'interrupted');
    expect(keepOf()).toContain(`ramet resume ${interrupted}`);
    expect(keepOf({ interrupted: true })).toBeNull();
    expect(keepOf({ interrupted: true, withWorktrees: new Set([interrupted]) })).toContain('worktree');
    const { journal, reader } = await resumeSession({ project, session: interrupted });
    reader.close();
    expect(keepOf({ interrupted: true })).toContain('running');
    expect(removeSession(project, interrupted)).toBe('in use');
    journal.append(null, { type: 'files.restored', kind: 'undo', turn: 1, files: [], settles: true });
    await journal.close();
    expect(keepOf({ interrupted: true })).toContain(`ramet undo ${interrupted}`);
  });

  test('does not become young when it is read', async ({ directory }) => {
    const project = join(directory, 'project');
    const session = await ended(project);
    const [before] = sessionHoldings(project, rule(1));
    for (const end of ['-wal', '-shm']) {
      const file = join(project, `${session}.sqlite${end}`);
      writeFileSync(file, '');
      utimesSync(file, new Date(), new Date(Date.now() + DAY_MS));
    }
    expect(sessionHoldings(project, rule(1))).toMatchObject([{ usedAt: before?.usedAt, keep: null }]);
  });

  test('stays when it cannot be read, and says so', async ({ directory }) => {
    const project = join(directory, 'project');
    const session = await ended(project);
    writeFileSync(join(project, `${session}.sqlite`), 'no database');
    expect(sessionHoldings(project, rule(0))[0]?.keep?.reason).toContain('cannot be read');
  });

  test('goes whole, and the others stay', async ({ directory }) => {
    const project = join(directory, 'project');
    const [old, other] = [await ended(project), await ended(project)];
    // What a kill, a repair and a power cut leave beside a journal.
    for (const end of [
      '.sqlite-wal',
      '.sqlite-shm',
      '.sqlite.damaged',
      '.sqlite.damaged-2',
      '.lock-journal',
      '.witness',
    ])
      writeFileSync(join(project, old + end), '');
    expect(existsSync(join(project, `${old}.lock`))).toBe(true);
    expect(removeSession(project, old)).toBe('removed');
    expect(readdirSync(project).filter((name) => name.startsWith(old))).toEqual([]);
    expect(listSessions(project).map(({ session }) => session)).toEqual([other]);
    expect(existsSync(join(project, other, 'originals/v1'))).toBe(true);
  });

  test('goes by itself only after the days that are set', async ({ directory }) => {
    const project = join(directory, 'project');
    const old = await ended(project);
    const waiting = await ended(project, 'interrupted');
    const place = { cwd: directory, repository: null, home: directory, project };
    expect(await retain({ place, days: 30, now: Date.now() })).toEqual([]);
    expect(await retain({ place, days: 30, now: Date.now() + 31 * DAY_MS })).toEqual([old]);
    expect(listSessions(project).map(({ session }) => session)).toEqual([waiting]);
  });

  test('stays when it was used since it was judged', async ({ directory }) => {
    const project = join(directory, 'project');
    const session = await ended(project, 'interrupted');
    const [judged] = sessionHoldings(project, rule(0, { interrupted: true }));
    expect(judged?.keep).toBeNull();
    const { journal, reader } = await resumeSession({ project, session });
    reader.close();
    await journal.close();
    expect(removeSession(project, session, judged?.written)).toBe('in use');
    expect(listSessions(project).map((entry) => entry.session)).toEqual([session]);
  });

  test('is not made again by one that resumes it at the moment it goes', async ({ directory }) => {
    const project = join(directory, 'project');
    const session = await ended(project, 'interrupted');
    // Asked for the time when the journal has been read and its lock is not taken yet.
    const clock = {
      ...systemClock,
      now: () => {
        expect(removeSession(project, session)).toBe('removed');
        return 0;
      },
    };
    const resumed = resumeSession({ project, session, clock });
    await expect(resumed).rejects.toThrow('the session was removed meanwhile');
    await expect(resumed).rejects.toMatchObject({ family: 'terminal' });
    expect(readdirSync(project).filter((name) => name.startsWith(session))).toEqual([]);
  });

  test('leaves nothing behind when two remove it at once', async ({ directory }) => {
    const project = join(directory, 'project');
    const session = await ended(project, 'interrupted');
    const [judged] = sessionHoldings(project, rule(0, { interrupted: true }));
    expect(removeSession(project, session, judged?.written)).toBe('removed');
    expect(removeSession(project, session, judged?.written)).toBe('gone already');
    expect(readdirSync(project).filter((name) => name.startsWith(session))).toEqual([]);
  });

  test('is not made again beside one that removes it and still has its lock', async ({ directory }) => {
    const project = join(directory, 'project');
    const session = await ended(project, 'interrupted');
    const file = join(project, `${session}.sqlite`);
    const lock = takeSessionLock(file);
    const now = (): number => {
      rmSync(file);
      return 0;
    };
    const clock = { ...systemClock, now };
    await expect(resumeSession({ project, session, clock })).rejects.toThrow('was removed meanwhile');
    lock?.release();
    expect(existsSync(file)).toBe(false);
  });
});
