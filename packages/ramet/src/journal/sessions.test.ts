import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { UserMistake } from '../schema/errors.ts';
import { isSessionId } from '../schema/ids.ts';
import { indexPath } from './session-index.ts';
import { createSession, isWriterAlive, openReader, resumeSession } from './sessions.ts';

const root = mkdtempSync(join(tmpdir(), 'ramet-sessions-'));
afterAll(() => rmSync(root, { recursive: true }));

let projects = 0;
const newProject = (): string => join(root, `project-${++projects}`);
const warning = { type: 'warning.raised', code: 'test', message: 'x' } as const;
const here = import.meta.dirname;

/** A process that writes a session until it is killed. */
async function startWriter(project: string): Promise<{ child: ChildProcess; session: string }> {
  const program = `import(${JSON.stringify(join(here, 'sessions.ts'))}).then(async ({ createSession }) => {
    const journal = await createSession({ project: ${JSON.stringify(project)}, cwd: '/w' });
    journal.append(null, ${JSON.stringify(warning)});
    await journal.commit('written');
    console.log(journal.session);
    setInterval(() => {}, 1000);
  })`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output] = await once(child.stdout, 'data');
  return { child, session: String(output).trim() };
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

test('events are read by agent and by type, page after page', async () => {
  const project = newProject();
  const journal = await createSession({ project, cwd: '/w' });
  for (let number = 0; number < 600; number++) {
    for (const agent of ['a', 'b']) {
      journal.append(agent, { type: 'tool.started', call: `${number}`, name: 'Read' });
      journal.append(agent, { type: 'agent.detached' });
    }
  }
  await journal.close();
  const reader = openReader({ project, session: journal.session });
  const found = [...reader.events({ agent: 'b', type: 'tool.started' })];
  reader.close();
  const calls = found.map(({ agent, event }) => `${agent} ${event.type === 'tool.started' && event.call}`);
  expect(calls).toEqual(Array.from({ length: 600 }, (_, number) => `b ${number}`));
});

describe('a new session', () => {
  test('is a file of its own that only its user can read', async () => {
    const project = newProject();
    const journal = await createSession({ project, cwd: '/w', title: 'Fix it' });
    expect(isSessionId(journal.session)).toBe(true);
    expect(journal.file).toBe(join(project, `${journal.session}.sqlite`));
    journal.append(null, warning);
    await journal.commit('written');
    for (const name of readdirSync(project)) expect(statSync(join(project, name)).mode & 0o777).toBe(0o600);
    await journal.close();
    expect(statSync(indexPath(project)).mode & 0o777).toBe(0o600);
  });

  test('says in one line that its directory cannot be used', async () => {
    writeFileSync(join(root, 'file'), '');
    const creating = createSession({ project: join(root, 'file/app'), cwd: '/w' });
    await expect(creating).rejects.toThrow(UserMistake);
    await expect(creating).rejects.toThrow(`${root}/file is a file, not a directory; set RAMET_HOME`);
  });

  test('runs on with a warning, told and journaled, when the index cannot be used', async () => {
    const project = newProject();
    mkdirSync(indexPath(project), { recursive: true });
    const warnings: string[] = [];
    const journal = await createSession({
      project,
      cwd: '/w',
      onWarning: (message) => warnings.push(message),
    });
    await journal.close();
    expect(warnings[0]).toBe(
      `cannot use the session index ${indexPath(project)}: it is a directory; move it away (sessions stay)`,
    );
    const reader = openReader({ project, session: journal.session });
    expect(Array.from(reader.events(), ({ event }) => event)).toContainEqual({
      type: 'warning.raised',
      code: 'index_unusable',
      message: warnings[0],
    });
    reader.close();
  });
});

describe('LOG-1: one writing process per session', () => {
  test('refuses a session that another process writes, and names both', async () => {
    const project = newProject();
    const { child, session } = await startWriter(project);
    expect(isWriterAlive({ project, session })).toBe(true);
    const resuming = resumeSession({ project, session });
    await expect(resuming).rejects.toThrow(UserMistake);
    await expect(resuming).rejects.toThrow(
      `session ${session} is being written by process ${child.pid}: wait for it, or end it with ramet stop ${session}, then try again`,
    );
    await kill(child);
  });

  test('takes over from a writer that was killed, and keeps what it wrote', async () => {
    const project = newProject();
    const { child, session } = await startWriter(project);
    await kill(child);
    expect(isWriterAlive({ project, session })).toBe(false);
    const { journal, reader } = await resumeSession({ project, session });
    expect(isWriterAlive({ project, session })).toBe(true);
    journal.append(null, warning);
    await journal.commit('written');
    expect(Array.from(reader.events(), ({ seq }) => seq)).toEqual([1, 2]);
    reader.close();
    await journal.close();
    expect(isWriterAlive({ project, session })).toBe(false);
  });

  test('refuses a second opening by the same process until the first is closed', async () => {
    const project = newProject();
    const first = await createSession({ project, cwd: '/w' });
    await expect(resumeSession({ project, session: first.session })).rejects.toThrow(
      'open in this program: close it',
    );
    first.append(null, warning);
    await first.commit('written');
    await first.close();
    const { journal, reader } = await resumeSession({ project, session: first.session });
    expect([...reader.events()]).toHaveLength(1);
    reader.close();
    await journal.close();
  });

  test.each(['zzzzzzzz', '../other', ''])('says that there is no session "%s"', async (session) => {
    const project = newProject();
    await expect(resumeSession({ project, session })).rejects.toThrow(UserMistake);
    expect(() => openReader({ project, session })).toThrow(`there is no session ${session}`);
  });
});

describe('LOG-1: a reader', () => {
  test('follows a session while it is written', async () => {
    const project = newProject();
    const journal = await createSession({ project, cwd: '/w' });
    const reader = openReader({ project, session: journal.session });
    expect([...reader.events()]).toEqual([]);
    journal.append('a.1', warning);
    journal.append('a.2', warning);
    await journal.commit('written');
    expect(Array.from(reader.events({ after: 1 }), ({ seq }) => seq)).toEqual([2]);
    expect(Array.from(reader.events({ agent: 'a.1' }), ({ seq }) => seq)).toEqual([1]);
    await journal.close();
    reader.close();
    reader.close();
  });

  test('reads more events than fit a page, in order, while more are added', async () => {
    const project = newProject();
    const journal = await createSession({ project, cwd: '/w' });
    for (let count = 0; count < 1200; count++) journal.append(null, warning);
    await journal.commit('written');
    const reader = openReader({ project, session: journal.session });
    const seen: number[] = [];
    for (const { seq } of reader.events()) {
      seen.push(seq);
      if (seq === 700) {
        journal.append(null, warning);
        await journal.commit('written');
      }
    }
    expect(seen).toEqual(Array.from({ length: 1201 }, (_, index) => index + 1));
    reader.close();
    await journal.close();
  });

  test('reads what a killed writer left in the WAL', async () => {
    const project = newProject();
    const { child, session } = await startWriter(project);
    await kill(child);
    expect(existsSync(join(project, `${session}.sqlite-wal`))).toBe(true);
    const reader = openReader({ project, session });
    expect(Array.from(reader.events(), ({ event }) => event)).toEqual([warning]);
    reader.close();
  });

  test('reads where the directory is read-only, what a killed writer left in the WAL included', async () => {
    const project = newProject();
    const { child, session } = await startWriter(project);
    await kill(child);
    chmodSync(root, 0o755);
    rmSync(join(project, `${session}.sqlite-shm`));
    for (const end of ['', '-wal']) chmodSync(join(project, `${session}.sqlite${end}`), 0o644);
    chmodSync(project, 0o555);
    expect(readAsAnotherUser(project, session)).toBe(JSON.stringify([[1, 'x']]));
    chmodSync(project, 0o700);
  });

  test.each([
    ['that is not a journal', 'not a database'.repeat(100), 'it is damaged or not a journal'],
    ['that was never filled', '', 'the process that made it ended before it wrote anything; remove it'],
  ])('refuses a file %s', (_, content, line) => {
    const project = newProject();
    mkdirSync(project);
    writeFileSync(join(project, 'zzzzzzzz.sqlite'), content);
    expect(() => openReader({ project, session: 'zzzzzzzz' })).toThrow(line);
  });
});

/** Root may write anywhere, so another user reads. */
function readAsAnotherUser(project: string, session: string): string {
  const program = `import(${JSON.stringify(join(here, 'sessions.ts'))}).then(({ openReader }) => {
    if (process.getuid() === 0) process.setuid(65534);
    const reader = openReader(${JSON.stringify({ project, session })});
    console.log(JSON.stringify(Array.from(reader.events(), ({ seq, event }) => [seq, event.message])));
  }).catch((error) => console.log(error.message))`;
  return spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' }).stdout.trim();
}
