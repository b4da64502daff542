import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { witnessPath } from './integrity.ts';
import { missingFiles } from './missing-files.ts';
import { repairSession } from './repair-session.ts';
import { sessionPath, takeSessionLock } from './session-file.ts';
import { findSession } from './session-list.ts';
import { createSession, openReader, resumeSession } from './sessions.ts';

const root = mkdtempSync(join(tmpdir(), 'ramet-missing-'));
afterAll(() => rmSync(root, { recursive: true }));

let project = root;
beforeEach(() => {
  project = mkdtempSync(join(root, 'project-'));
});

/** Its file is gone; its WAL, which held all of it, and its witness are left. */
async function withoutFile(): Promise<{ session: string; file: string }> {
  const journal = await createSession({ project, cwd: '/w' });
  journal.append(null, { type: 'warning.raised', code: 'test', message: 'one' });
  journal.append(null, { type: 'warning.raised', code: 'test', message: 'two' });
  await journal.commit('written');
  const { file, session } = journal;
  const wal = readFileSync(`${file}-wal`);
  await journal.commit('synced');
  await journal.close();
  rmSync(file);
  writeFileSync(`${file}-wal`, wal);
  return { session, file };
}

describe('LOG-1: a session whose file was deleted', () => {
  test('is known by its WAL, and saved from it', async () => {
    const { session, file } = await withoutFile();
    expect(missingFiles(project)).toEqual([{ session, left: 'WAL' }]);
    expect(() => findSession(project, session)).toThrow(
      `session ${session}: its file is missing, its WAL is left; save what can be read with: ramet doctor --repair ${session}`,
    );
    const outcome = repairSession({ project, session });
    expect(outcome).toMatchObject({ events: 2, lostEvents: [] });
    expect(existsSync(`${outcome.kept}-wal`)).toBe(true);
    expect(missingFiles(project)).toEqual([]);
    const reader = openReader({ project, session });
    expect(Array.from(reader.events(), ({ seq }) => seq)).toEqual([1, 2]);
    reader.close();
    const resumed = await resumeSession({ project, session });
    resumed.reader.close();
    await resumed.journal.close();
    expect(existsSync(file)).toBe(true);
  });

  test('is not saved where its WAL holds nothing, and what is left stays', async () => {
    const { session, file } = await withoutFile();
    writeFileSync(`${file}-wal`, 'x'.repeat(9_000));
    const before = readdirSync(project);
    expect(() => repairSession({ project, session })).toThrow(
      `nothing of session ${session} can be saved: ${file} is missing, and no event can be read in its WAL`,
    );
    expect(readdirSync(project)).toEqual(before);
  });

  test('is known by its witness, and cannot be saved', async () => {
    const { session, file } = await withoutFile();
    rmSync(`${file}-wal`);
    expect(missingFiles(project)).toEqual([{ session, left: 'witness' }]);
    // No repair is advised that would save nothing.
    expect(() => findSession(project, session)).toThrow(
      /^nothing of session \w+ can be saved: (?!.*--repair)/,
    );
    expect(() => repairSession({ project, session })).toThrow(
      'its WAL is missing too; restore it from a backup',
    );
    rmSync(witnessPath(file));
    expect(missingFiles(project)).toEqual([]);
    expect(() => repairSession({ project, session })).toThrow('there is no session');
  });

  test('is left alone while a process has its lock', async () => {
    const { session } = await withoutFile();
    const lock = takeSessionLock(sessionPath(project, session));
    expect(missingFiles(project)).toEqual([]);
    expect(() => repairSession({ project, session })).toThrow('is being written by another process');
    lock?.release();
    expect(missingFiles(project)).toHaveLength(1);
  });

  test('none is found where there is no project, or only whole sessions', async () => {
    expect(missingFiles(join(project, 'none'))).toEqual([]);
    const journal = await createSession({ project, cwd: '/w' });
    await journal.close();
    expect(missingFiles(project)).toEqual([]);
  });
});
