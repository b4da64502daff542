import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { createSession } from '../../journal/sessions.ts';
import { thisProcess } from '../../system/processes/process-identity.ts';
import { isHeld } from './half-made.ts';

const project = mkdtempSync(join(tmpdir(), 'ramet-holder-'));
afterAll(() => rmSync(project, { recursive: true }));

const [boot, ticks, , machine] = thisProcess().started?.split('-') ?? [];
/** A process of another container. */
const HIDDEN = { pid: 7, started: `${boot}-${ticks}-1-${machine}` };

describe('EXEC-5: who has a worktree', () => {
  test('is told by the process where it can be seen', () => {
    expect(isHeld(project, { lease: null, owner: null })).toBe(false);
    expect(isHeld(project, { lease: thisProcess(), owner: null })).toBe(true);
    expect(isHeld(project, { lease: { pid: process.pid, started: `${boot}-1` }, owner: null })).toBe(false);
  });

  test('is told by the lock of its session where it cannot', async () => {
    const journal = await createSession({ project, cwd: '/w' });
    const owner = { session: journal.session, agent: `${journal.session}.2` };
    // This process writes the session, so the holder before is gone.
    expect(isHeld(project, { lease: HIDDEN, owner })).toBe(false);
    {
      using db = new DatabaseSync(journal.file);
      db.prepare("UPDATE meta SET value = ? WHERE key = 'writer'").run(
        JSON.stringify({ ...HIDDEN, token: 'theirs' }),
      );
    }
    expect(isHeld(project, { lease: HIDDEN, owner })).toBe(true);
    await journal.close();
    expect(isHeld(project, { lease: HIDDEN, owner })).toBe(false);
  });

  test('counts as alive where nothing tells', () => {
    expect(isHeld(project, { lease: HIDDEN, owner: null })).toBe(true);
    expect(isHeld(project, { lease: { pid: 1, started: 'ffffffff-1-1-ffffffff' }, owner: null })).toBe(true);
    const owner = { session: 'zzzzzzzz', agent: 'zzzzzzzz.2' };
    expect(isHeld(project, { lease: HIDDEN, owner })).toBe(false);
  });
});
