/** Real processes that are killed while a fork works ahead of the user, and while its work is adopted. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Answer, type Emulator, type RequestView, startEmulator } from '../../src/emulator/index.ts';
import { listSessions } from '../../src/journal/session-list.ts';
import { openReader } from '../../src/journal/sessions.ts';
import { WORK_AHEAD } from '../../src/sdk/background/speculation.ts';
import { openSession } from '../../src/sdk/index.ts';
import { findPlace } from '../../src/sdk/place.ts';
import { collectGarbage } from '../../src/sdk/retention/gc.ts';
import { collectWorktrees, listWorktrees } from '../../src/sdk/worktrees/worktrees.ts';
import { ledgerOf } from '../../src/views/ledger/ledger.ts';
import { crashProgram } from '../fixtures/crash-programs.ts';
import { drain } from '../fixtures/engine.ts';
import { call } from '../fixtures/family.ts';
import { SAMPLE_TIMEOUT_MS, sampleOf } from '../fixtures/kill-sample.ts';
import { temporaryDirectory, temporaryRepository } from '../fixtures/temporary.ts';

const RUNNER = crashProgram('adopt-runner');
/** The record comes with one of 17 to 19. */
const STEPS = Array.from({ length: 30 }, (_, index) => index + 1);
const SAMPLE: readonly number[] = [2, 9, 16, 19, 20, 21, 24, 27];

interface Scene {
  readonly cwd: string;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
}

async function emulated(last: (view: RequestView) => Answer | Promise<Answer>): Promise<Emulator> {
  const emulator = await startEmulator({
    respond(view) {
      if (!view.task.startsWith(WORK_AHEAD)) return { text: 'Asked the model.' };
      const [, own = ''] = JSON.stringify(view.request.messages).split(WORK_AHEAD);
      const turns = own.split('"tool_result"').length - 1;
      if (turns === 0) return call('Read', { file_path: 'a.ts' });
      if (turns === 1) return call('Edit', { file_path: 'a.ts', old_string: 'mine', new_string: 'theirs' });
      return turns === 2 ? call('Write', { file_path: 'new/b.ts', content: 'made\n' }) : last(view);
    },
  });
  onTestFinished(() => emulator.close());
  return emulator;
}

function scene({ url }: Emulator): Scene {
  const cwd = temporaryRepository({ 'a.ts': 'one\n' });
  writeFileSync(join(cwd, 'a.ts'), 'mine\n');
  const home = temporaryDirectory();
  const env = {
    PATH: process.env.PATH,
    RAMET_HOME: home,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'test',
  };
  return { cwd, home, env };
}

function stateOf({ cwd }: Scene): 'before' | 'after' | 'mixed' {
  const [a, made] = [readFileSync(join(cwd, 'a.ts'), 'utf8'), existsSync(join(cwd, 'new/b.ts'))];
  if (a === 'mine\n' && !made) return 'before';
  return a === 'theirs\n' && made && readFileSync(join(cwd, 'new/b.ts'), 'utf8') === 'made\n'
    ? 'after'
    : 'mixed';
}

/** How it ended: 0, or the signal. */
async function runKilled({ cwd, home }: Scene, { url }: Emulator, killAt: number): Promise<unknown> {
  const child = spawn(process.execPath, [RUNNER, cwd, home, url, String(killAt)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code, signal] = await once(child, 'exit');
  return signal ?? code;
}

/** Whether its work was adopted, as far as the record of the killed process says. */
function isAdopted({ cwd, env }: Scene): boolean {
  const { project } = findPlace({ cwd, env });
  const [{ session } = { session: '' }] = listSessions(project);
  const reader = openReader({ project, session });
  try {
    return ledgerOf(reader.events()).speculation.hits > 0;
  } finally {
    reader.close();
  }
}

/** Begins a session there, or looks with `ramet gc`: neither resumes the one that was killed. Returns what it says. */
async function startedFresh({ cwd, env }: Scene, at: number): Promise<readonly string[]> {
  if (at % 2 === 0) return (await collectGarbage({ cwd, env })).notices;
  await using session = await openSession({ cwd, env, settings: false });
  return session.notices;
}

async function resumed(place: Scene, wanted: 'before' | 'after'): Promise<readonly string[]> {
  const { cwd, env } = place;
  await using session = await openSession({ cwd, env, settings: false, resume: 'latest' });
  const text = session.isInterrupted ? (await drain(session.run(null))).result.text : null;
  // The prompt was on disk before the first file was.
  if (wanted === 'before') expect(text).toBe('Asked the model.');
  return session.notices;
}

const leftovers = ({ cwd }: Scene): string[] =>
  readdirSync(cwd, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.tmp'));

/** Null if the process came to its end before that step. */
async function killedAt(emulator: Emulator, at: number): Promise<'before' | 'after' | null> {
  const place = scene(emulator);
  const end = await runKilled(place, emulator, at);
  if (end === 0) {
    expect(stateOf(place)).toBe('after');
    return null;
  }
  expect(end).toBe('SIGKILL');
  const wanted = isAdopted(place) ? 'after' : 'before';
  if (wanted === 'before') expect([at, stateOf(place)]).toEqual([at, 'before']);
  // The next start clears up, and the session itself then finds nothing left to do.
  const isMixed = stateOf(place) !== wanted;
  const notices = await (at % 3 === 0 ? resumed(place, wanted) : startedFresh(place, at));
  if (isMixed) expect([at, notices.join()]).toEqual([at, expect.stringContaining('2 of 2 are in place now')]);
  expect([at, stateOf(place)]).toEqual([at, wanted]);
  expect([at, leftovers(place)]).toEqual([at, []]);
  return wanted;
}

describe('BG-2: a process that is killed', { timeout: SAMPLE_TIMEOUT_MS }, () => {
  test('while it adopts work has adopted nothing of it, or all of it after the next start', async () => {
    const emulator = await emulated(() => ({ text: 'NEXT: Add a test.\nDone.' }));
    const ends: (string | null)[] = [];
    const steps = sampleOf(STEPS, SAMPLE);
    for (let first = 0; first < steps.length; first += 2)
      ends.push(...(await Promise.all(steps.slice(first, first + 2).map((at) => killedAt(emulator, at)))));
    // Both kinds, and some steps of each.
    expect(ends.filter((end) => end === 'before').length).toBeGreaterThan(1);
    expect(ends.filter((end) => end === 'after').length).toBeGreaterThan(1);
  });

  test('while a fork works ahead leaves the checkout as it was; the next start takes the worktree away', async () => {
    const reached = Promise.withResolvers<void>();
    const over = Promise.withResolvers<Answer>();
    const emulator = await emulated(() => {
      reached.resolve();
      return over.promise;
    });
    const place = scene(emulator);
    const { cwd, home, env } = place;
    const child = spawn(process.execPath, [RUNNER, cwd, home, emulator.url, '0'], { stdio: 'ignore' });
    await reached.promise;
    child.kill('SIGKILL');
    await once(child, 'exit');
    over.resolve({ text: 'Too late.' });
    expect(stateOf(place)).toBe('before');
    expect((await listWorktrees({ cwd, env })).worktrees).toHaveLength(1);
    {
      await using session = await openSession({ cwd, env, settings: false, resume: 'latest' });
      expect([session.isInterrupted, await session.resumeAgents()]).toEqual([false, 0]);
      expect((await drain(session.run('Go on.'))).result.text).toBe('Asked the model.');
    }
    await collectWorktrees({ cwd, env });
    expect((await listWorktrees({ cwd, env })).worktrees).toEqual([]);
    expect(stateOf(place)).toBe('before');
  });
});
