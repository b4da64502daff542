import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { gitVariables, OWNER, rametBranches, worktreePlace } from '../../test/fixtures/worktrees.ts';
import { isMarked, markAdoption } from '../engine/background/left-adoption.ts';
import { createWorktree } from '../git/worktrees/create-worktree.ts';
import { settleWorktree } from '../git/worktrees/removal/release-worktree.ts';
import type { ManagedWorktree } from '../git/worktrees/worktree.ts';
import type { WorktreePlace } from '../git/worktrees/worktree-place.ts';
import { createSession } from '../journal/sessions.ts';
import { systemClock } from '../schema/clock.ts';
import { adoptingSessions } from '../system/home.ts';
import { isGroupAlive, OWNER_VARIABLE } from '../system/processes/process-group.ts';
import { findProcess, type ProcessIdentity, thisProcess } from '../system/processes/process-identity.ts';
import { AGENT_VARIABLE, processDirectory } from '../system/processes/process-register.ts';
import { cleanWorktrees, endOrphansElsewhere, finishAdoptions } from './leftovers.ts';

const DAY_MS = 86_400_000;
/** No process has it: the system never gives this number away. */
const GONE = { pid: 2 ** 30, started: '1' };

describe('BG-2: the mark of a session that adopts work', () => {
  test('is left alone while the session runs, and goes with what the session left', async () => {
    const [project, cwd] = [temporaryDirectory(), temporaryDirectory()];
    const journal = await createSession({ project, cwd });
    const outputs = join(project, journal.session);
    markAdoption(outputs);
    expect(await finishAdoptions({ project })).toEqual([]);
    expect(isMarked(outputs)).toBe(true);
    await journal.close();
    expect(await finishAdoptions({ project }, journal.session)).toEqual([]);
    expect(isMarked(outputs)).toBe(true);
    markAdoption(join(project, 'a0a0a0a0'));
    expect(await finishAdoptions({ project })).toEqual([]);
    expect(adoptingSessions(project)).toEqual([]);
  });
});

describe('RES-8: what a killed session of another repository left', () => {
  test('is ended where it runs here; notes of other machines, of living sessions and of this project stay', async () => {
    const home = temporaryDirectory();
    const left = await startedGroup();
    const inUse = await startedGroup();
    // Its leader is gone; and one that is known by its mark alone.
    const orphaned = await startedGroup('(echo up; sleep 600; true) &', { [AGENT_VARIABLE]: 'abcdefgh.2' });
    await expect.poll(() => findProcess(orphaned.pid)).toBeNull();
    const marked = await startedGroup('echo up; sleep 600; true', { [OWNER_VARIABLE]: 'a-token' });
    const note = (name: string, host: ProcessIdentity, leader: ProcessIdentity): string => {
      const project = join(home, 'projects', name);
      mkdirSync(processDirectory(project), { recursive: true });
      const text = [host, leader].map(({ pid, started }) => `${pid}@${started}`).join(' ');
      writeFileSync(join(processDirectory(project), `${text} abcdefgh.2`), '');
      return project;
    };
    const killed = note('killed', GONE, left);
    const also = [note('orphaned', GONE, orphaned), note('marked', GONE, { pid: 0, started: 'a-token' })];
    const foreign = note('foreign', GONE, { pid: left.pid, started: '00000000-1' });
    const living = note('living', thisProcess(), inUse);
    const own = note('own', GONE, inUse);
    mkdirSync(join(home, 'projects', 'empty'));
    const ended = await endOrphansElsewhere({ home, project: own });
    expect(ended.map(({ leader }) => leader.pid)).toHaveLength(3);
    expect([left, orphaned, marked, inUse].filter(({ pid }) => isGroupAlive(pid))).toEqual([inUse]);
    const notesOf = (projects: readonly string[]): number[] =>
      projects.map((one) => readdirSync(processDirectory(one)).length);
    expect(notesOf([killed, ...also])).toEqual([0, 0, 0]);
    expect(notesOf([foreign, living, own])).toEqual([1, 1, 1]);
    expect(await endOrphansElsewhere({ home: temporaryDirectory(), project: own })).toEqual([]);
  });
});

async function startedGroup(
  script = 'echo up; sleep 600; true',
  env: Record<string, string> = {},
): Promise<ProcessIdentity> {
  const child = spawn('bash', ['-c', script], {
    detached: true,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { pid = 0 } = child;
  onTestFinished(() => {
    if (isGroupAlive(pid)) process.kill(-pid, 'SIGKILL');
  });
  const started = findProcess(pid)?.started ?? null;
  await once(child.stdout, 'data');
  return { pid, started };
}

describe('WORK-3: worktrees that nobody came back for', () => {
  test('go while a session runs, after the period that is set, if they hold nothing', async () => {
    const place = worktreePlace({ settings: { pool: 0 } });
    const leave = async (name: string): Promise<ManagedWorktree> => {
      const { worktree } = await createWorktree(place, { name, owner: OWNER });
      return place.registry.change(worktree.id, ['leased'], { lease: GONE }) ?? worktree;
    };
    const [empty, full] = [await leave('empty'), await leave('full')];
    writeFileSync(join(full.path, 'work.txt'), 'mine');
    const clean = (days: number): Promise<void> => cleanUp(place, days);
    await clean(1);
    expect(existsSync(empty.path)).toBe(true);
    await clean(8);
    expect(existsSync(empty.path)).toBe(false);
    expect(existsSync(join(full.path, 'work.txt'))).toBe(true);
    expect(rametBranches(place.repository.root)).toEqual(['ramet/full']);
  });

  test('stay while the session that gave them back is at work, and so do the branches of its run', async () => {
    const place = worktreePlace({ settings: { pool: 0 } });
    const journal = await createSession({ project: place.project, cwd: place.repository.root });
    const owner = { session: journal.session, agent: `${journal.session}.1` };
    const given = await createWorktree(place, { name: 'given', owner });
    place.registry.change(given.worktree.id, ['leased'], { state: 'released', lease: null });
    const left = await createWorktree(place, { name: 'left', owner });
    place.registry.change(left.worktree.id, ['leased'], { state: 'released', lease: null });
    await settleWorktree(place, place.registry.find(left.worktree.id) ?? left.worktree, {
      ...{ pools: false, leavesBranch: true },
    });
    await cleanUp(place, 1);
    expect(existsSync(given.worktree.path)).toBe(true);
    expect(rametBranches(place.repository.root)).toEqual(['ramet/given', 'ramet/left']);
    await journal.close();
    await cleanUp(place, 1);
    expect(existsSync(given.worktree.path)).toBe(false);
    expect(rametBranches(place.repository.root)).toEqual([]);
  });
});

/** As some seconds into a session, `days` from now. */
function cleanUp(place: WorktreePlace, days: number): Promise<void> {
  const { home, project, repository } = place;
  const clock = { ...systemClock, now: () => Date.now() + days * DAY_MS };
  const settings = { worktree: { pool: 0 }, cleanupPeriodDays: 7 };
  return cleanWorktrees(
    { settings, clock },
    { home, cwd: repository.root, repository, project },
    gitVariables(),
  );
}
