import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { damageLine, readWitness, witnessPath } from './integrity.ts';
import { repairSession } from './repair-session.ts';
import { reserveSessionFile, sessionPath } from './session-file.ts';
import { listSessions } from './session-list.ts';
import { createSession, openReader, resumeSession } from './sessions.ts';

const project = mkdtempSync(join(tmpdir(), 'ramet-witness-'));
afterAll(() => rmSync(project, { recursive: true }));

const warning = (message: string) => ({ type: 'warning.raised', code: 'test', message }) as const;

/** What a writer leaves that synced one event, then three, each with a file of its own, and was killed. */
async function killedWriter(): Promise<string> {
  const program = `import(${JSON.stringify(join(import.meta.dirname, 'sessions.ts'))}).then(async ({ createSession }) => {
    const journal = await createSession({ project: ${JSON.stringify(project)}, cwd: '/w' });
    journal.append(null, ${JSON.stringify(warning('1'))});
    await journal.commit('synced');
    for (const message of ['2', '3', '4']) {
      journal.append(null, { type: 'warning.raised', code: 'test', message });
      await journal.commit('synced');
    }
    console.log(journal.session);
    setInterval(() => {}, 1000);
  })`;
  const child: ChildProcess = spawn(process.execPath, ['-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output] = await once(child.stdout ?? child, 'data');
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
  return String(output).trim();
}

async function warningsOfResume(session: string): Promise<string[]> {
  const warnings: string[] = [];
  const { journal, reader } = await resumeSession({
    project,
    session,
    onWarning: (message) => warnings.push(message),
  });
  await journal.commit('written');
  const recorded = Array.from(reader.events(), ({ event }) => event).filter(
    (event) => event.type === 'warning.raised' && event.code === 'journal_end_missing',
  );
  expect(recorded).toHaveLength(warnings.length);
  reader.close();
  await journal.close();
  return warnings;
}

describe('LOG-1: the witness of a journal', () => {
  test('says which event was synced last', async () => {
    const journal = await createSession({
      project,
      cwd: '/w',
      clock: { now: () => 5, sleep: async () => {} },
    });
    await journal.commit('synced');
    expect(readWitness(journal.file)).toBeNull();
    journal.append(null, warning('1'));
    journal.append(null, warning('2'));
    await journal.commit('synced');
    expect(readWitness(journal.file)).toEqual({ seq: 2, time: 5 });
    expect(statSync(witnessPath(journal.file)).mode & 0o777).toBe(0o600);
    await journal.close();
  });

  test('raises no alarm when a killed writer lost nothing', async () => {
    const session = await killedWriter();
    expect(await warningsOfResume(session)).toEqual([]);
  });

  test('tells what may be done again when the WAL is removed', async () => {
    const session = await killedWriter();
    rmSync(`${sessionPath(project, session)}-wal`);
    const [line, ...more] = await warningsOfResume(session);
    expect(more).toEqual([]);
    expect(line).toMatch(
      /^the end of the journal .*\.sqlite is missing: 3 events up to \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(its WAL was cut or removed, or this is an older copy\); what agents did after \d{4}-\d\d-\d\d \d\d:\d\d:\d\d may be done again: check before you rely on it$/,
    );
  });

  test('tells it when the WAL is cut', async () => {
    const session = await killedWriter();
    const wal = `${sessionPath(project, session)}-wal`;
    // One frame after the header: the first event since the WAL was emptied.
    truncateSync(wal, 32 + 24 + 4096);
    expect((await warningsOfResume(session))[0]).toContain('2 events up to');
  });

  test('is no reason to fail when it is damaged or cannot be written', async () => {
    const journal = await createSession({ project, cwd: '/w' });
    copyFileSync(journal.file, witnessPath(journal.file));
    journal.append(null, warning('1'));
    await journal.commit('synced');
    await journal.close();
    writeFileSync(witnessPath(journal.file), 'zzz');
    expect(await warningsOfResume(journal.session)).toEqual([]);
  });
});

describe('LOG-1: a living writer', () => {
  test('stops before its next effect, which has to be synced, when its WAL is removed', async () => {
    const journal = await createSession({ project, cwd: '/w' });
    journal.append(null, warning('kept'));
    await journal.commit('synced');
    rmSync(`${journal.file}-wal`);
    journal.append(null, warning('lost'));
    const line = `${journal.file}-wal: it was removed or replaced while in use`;
    await expect(journal.commit('synced')).rejects.toThrow(line);
    await expect(journal.commit('written')).rejects.toThrow(line);
    await expect(journal.close()).rejects.toThrow(line);
  });

  test('stops then also when its WAL is replaced', async () => {
    const journal = await createSession({ project, cwd: '/w' });
    journal.append(null, warning('kept'));
    await journal.commit('synced');
    const wal = `${journal.file}-wal`;
    copyFileSync(wal, `${wal}.copy`);
    renameSync(wal, `${wal}.old`);
    renameSync(`${wal}.copy`, wal);
    journal.append(null, warning('lost'));
    await expect(journal.commit('synced')).rejects.toThrow('was removed or replaced while in use');
    await journal.close().catch(() => {});
  });

  test('stops when its whole project is removed', async () => {
    const folder = join(project, 'sub');
    const journal = await createSession({ project: folder, cwd: '/w' });
    journal.append(null, warning('kept'));
    await journal.commit('written');
    rmSync(folder, { recursive: true });
    journal.append(null, warning('lost'));
    await expect(journal.commit('synced')).rejects.toThrow(
      `cannot write the journal ${journal.file}: it was removed or replaced while in use`,
    );
    await journal.close().catch(() => {});
    expect(() => openReader({ project: folder, session: journal.session })).toThrow('there is no session');
  });
});

describe('LOG-1: a session whose file was emptied', () => {
  test('keeps its WAL when views read it, and is saved from there', async () => {
    const session = await killedWriter();
    const file = sessionPath(project, session);
    const wal = statSync(`${file}-wal`).size;
    truncateSync(file, 0);
    expect(() => openReader({ project, session })).toThrow(
      `cannot read the journal ${file}: it was emptied after events were written to it; save what can be read with: ramet doctor --repair ${session}`,
    );
    await expect(resumeSession({ project, session })).rejects.toThrow('it was emptied');
    expect(listSessions(project).map((entry) => entry.session)).toContain(session);
    expect(statSync(`${file}-wal`).size).toBe(wal);
    expect(repairSession({ project, session })).toMatchObject({ missingAtEnd: 0 });
    const reader = openReader({ project, session });
    const said = Array.from(reader.events(), ({ event }) => event);
    expect(said).toContainEqual(warning('4'));
    reader.close();
  });

  test('is said to be empty only where nothing tells otherwise', () => {
    const session = reserveSessionFile(project);
    expect(() => openReader({ project, session })).toThrow('ended before it wrote anything');
  });
});

describe('LOG-1: a session that lost its end', () => {
  test('says how many events are missing to everybody who reads it', async () => {
    const session = await killedWriter();
    const whole = openReader({ project, session });
    expect(whole.missingAtEnd()).toBe(0);
    whole.close();
    rmSync(`${sessionPath(project, session)}-wal`);
    const reader = openReader({ project, session });
    const atEnd = reader.missingAtEnd();
    expect(atEnd).toBeGreaterThan(0);
    expect(damageLine(session, reader.damage, { atEnd })).toBe(
      `session ${session} lost its end: the last ${atEnd} events are missing here (its WAL was cut or removed, or this is an older copy)`,
    );
    reader.close();
  });
});
