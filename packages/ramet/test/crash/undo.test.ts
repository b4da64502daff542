import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createOriginalFiles } from '../../src/files/original-files.ts';
import { type FileHistory, fileHistoryOf } from '../../src/journal/projections/file-history.ts';
import { createSession, openReader } from '../../src/journal/sessions.ts';
import { versionOf } from '../../src/system/regular-file.ts';
import { crashProgram } from '../fixtures/crash-programs.ts';
import { temporaryDirectory } from '../fixtures/temporary.ts';
import { undoSession } from '../fixtures/undo-session.ts';
import { agentStarted, messageAppended, responseCompleted } from '../recorded-events.ts';

const RUNNER = crashProgram('undo-runner');
/** More than there are: the last ones find nothing left to kill. */
const MOST_STEPS = 14;

interface Scene {
  project: string;
  session: string;
  work: string;
}

/** A session that changed `changed.txt` and created `created.txt`. */
async function scene(): Promise<Scene> {
  const root = temporaryDirectory();
  const [project, work] = [join(root, 'project'), join(root, 'work')];
  mkdirSync(work);
  const journal = await createSession({ project, cwd: work });
  const originals = createOriginalFiles(join(project, journal.session));
  const [before, after] = ['old', 'new'].map((text) => Buffer.from(text));
  if (before === undefined || after === undefined) throw new Error('two texts');
  originals.keep(versionOf(before), before);
  const agent = `${journal.session}.1`;
  journal.append(agent, agentStarted());
  journal.append(agent, messageAppended());
  journal.append(agent, responseCompleted());
  for (const name of ['changed.txt', 'created.txt']) {
    const path = join(work, name);
    writeFileSync(path, after);
    const had = name === 'changed.txt' ? { before: versionOf(before), mode: 0o644 } : { before: null };
    journal.append(agent, { type: 'file.changed', call: 'c', path, after: versionOf(after), ...had });
  }
  await journal.close();
  return { project, work, session: journal.session };
}

/** How it ended: 0, or the signal. */
async function runKilled(
  { project, session }: Scene,
  kind: 'undo' | 'redo',
  killAt: number,
): Promise<unknown> {
  const child = spawn(process.execPath, [RUNNER, project, session, kind, String(killAt)], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code, signal] = await once(child, 'exit');
  return signal ?? code;
}

function stateOf({ work }: Scene): 'old' | 'new' | 'mixed' {
  const changed = readFileSync(join(work, 'changed.txt'), 'utf8');
  const created = existsSync(join(work, 'created.txt'));
  if (changed === 'old' && !created) return 'old';
  return changed === 'new' && created && readFileSync(join(work, 'created.txt'), 'utf8') === 'new'
    ? 'new'
    : 'mixed';
}

function historyOf({ project, session }: Scene): FileHistory {
  const reader = openReader({ project, session });
  try {
    return fileHistoryOf(reader.events());
  } finally {
    reader.close();
  }
}

/** Kills it before step `at`; then it is asked for again, or taken back. */
async function killedAt(kind: 'undo' | 'redo', at: number, then: 'again' | 'back'): Promise<boolean> {
  const place = await scene();
  if (kind === 'redo') await undoSession(place, 'undo');
  const [from, to] = kind === 'undo' ? (['new', 'old'] as const) : (['old', 'new'] as const);
  const end = await runKilled(place, kind, at);
  if (end === 0) {
    expect([stateOf(place), historyOf(place).unfinished]).toEqual([to, null]);
    return false;
  }
  expect(end).toBe('SIGKILL');
  const begun = historyOf(place).unfinished !== null;
  // Where it was not recorded nothing was touched, and nothing is there to be taken back.
  if (!begun) expect(stateOf(place)).toBe(from);
  const back = kind === 'undo' ? 'redo' : 'undo';
  await undoSession(place, then === 'again' || !begun ? kind : back);
  expect([at, stateOf(place)]).toEqual([at, then === 'again' || !begun ? to : from]);
  expect(historyOf(place).unfinished).toBeNull();
  expect(readdirSync(place.work).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  return true;
}

// Some twenty processes: more than the usual limit on a busy machine.
describe('LOG-1: an undo that is killed', { timeout: 120_000 }, () => {
  test.each(['undo', 'redo'] as const)('%s: at any step it can be finished, and taken back', async (kind) => {
    let killed = 0;
    for (let at = 1; at <= MOST_STEPS; at += 2) {
      const ends = await Promise.all([killedAt(kind, at, 'again'), killedAt(kind, at + 1, 'back')]);
      killed += ends.filter(Boolean).length;
      if (!ends.includes(true)) break;
    }
    expect(killed).toBeGreaterThan(5);
    expect(killed).toBeLessThan(MOST_STEPS);
  });
});
