import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { madeRun, madeTask, startedRun, taskChange } from '../../../test/fixtures/operator-run.ts';
import { writeFiles } from '../../../test/fixtures/temporary.ts';
import { git, rametBranches, worktreePlace } from '../../../test/fixtures/worktrees.ts';
import { createWorktree } from '../../git/worktrees/create-worktree.ts';
import { collectGarbage } from '../../git/worktrees/removal/collect-garbage.ts';
import { releaseWorktree } from '../../git/worktrees/removal/release-worktree.ts';
import { adminDirectory, type WorktreePlace } from '../../git/worktrees/worktree-place.ts';
import type { OperatorState } from '../../operator/run/operator-state.ts';
import { tasksOf } from '../../operator/run/operator-state.ts';
import type { TaskChanged } from '../../schema/operator-events.ts';
import { thisProcess } from '../../system/processes/process-identity.ts';
import { type ReturnPlace, WorktreeReturns } from './return-worktrees.ts';

interface Worked {
  id: string;
  path: string;
  commit: string;
}

/** A worktree with one commit, which its agent has given back. */
async function worked(place: WorktreePlace, id: string, file = 'src/a.ts'): Promise<Worked> {
  const owner = { session: 'abcdefgh', agent: `abcdefgh.${id}` };
  const { worktree } = await createWorktree(place, { name: id, owner });
  writeFiles(worktree.path, { [file]: `${id}\n` });
  git(worktree.path, 'add', '--all');
  git(worktree.path, 'commit', '-qm', id);
  await releaseWorktree(place, worktree.id)?.settled;
  return { id, path: worktree.path, commit: git(worktree.path, 'rev-parse', 'HEAD') };
}

/** In a file of its own. */
const apart = (place: WorktreePlace, id: string): Promise<Worked> => worked(place, id, `${id}.txt`);

function passed({ id, commit }: Worked, result: string, state: 'passed' | 'failed' = 'passed') {
  const agent = `abcdefgh.${id}`;
  return taskChange(id, state === 'passed' ? 'done' : 'frozen', {
    ...{ result, attempt: { number: 1, state, agent, isolation: 'worktree', commit } },
  });
}

/** A commit on top of main with the files of another: what a replay or a resolver makes. */
function landAs(place: WorktreePlace, content: string): string {
  const { root } = place.repository;
  writeFiles(root, { 'src/a.ts': content });
  git(root, 'commit', '-qam', 'landed');
  return git(root, 'rev-parse', 'HEAD');
}

interface Returned {
  end: OperatorState;
  events: TaskChanged[];
  said: string[];
}

async function returned(
  place: WorktreePlace,
  state: OperatorState,
  signal: AbortSignal = new AbortController().signal,
  settled: () => Promise<void> = async () => {},
): Promise<Returned> {
  const events: TaskChanged[] = [];
  const said: string[] = [];
  await using returns = new WorktreeReturns({
    ...{ worktrees: place, settled, signal, recorded: async () => {} },
    ...{ note: (line) => said.push(line), record: (event) => events.push(event) },
  });
  const end = await returns.finish(state);
  return { end, events, said };
}

/** What a run has that is still at work. */
function returnsOf(place: WorktreePlace, more: Partial<ReturnPlace> = {}): WorktreeReturns {
  return new WorktreeReturns({
    ...{ worktrees: place, settled: async () => {}, signal: undefined, recorded: async () => {} },
    ...{ note: () => {}, record: () => {}, ...more },
  });
}

const targetOf = (place: WorktreePlace): string => git(place.repository.root, 'branch', '--show-current');
const notesOf = (state: OperatorState): unknown[] =>
  tasksOf(state).map(({ attempts }) => attempts.flatMap(({ notes }) => notes));

describe('WORK-3, OP-4: tasks whose work has landed give their worktrees back', () => {
  test('what a killed process of the run left half-made goes with its locks', async () => {
    const place = worktreePlace();
    const owner = { session: 'abcdefgh', agent: 'abcdefgh.2' };
    const { worktree } = await createWorktree(place, { name: 'half', owner });
    const admin = adminDirectory(place, worktree);
    writeFiles(admin, { 'index.lock': '' });
    place.registry.put({ ...worktree, state: 'making', lease: { pid: 2 ** 22 + 1, started: null } });
    await returned(place, madeRun(startedRun([madeTask('a')])));
    expect([existsSync(admin), existsSync(worktree.path), place.registry.find(worktree.id)]).toEqual([
      ...[false, false, null],
    ]);
  });

  test('what a killed process made for an agent that it never recorded goes if it is empty, and stays with work', async () => {
    const place = worktreePlace();
    const owner = { session: 'abcdefgh', agent: 'abcdefgh.a' };
    const dead = { pid: 2 ** 22 + 1, started: null };
    const forsaken = [];
    for (const name of ['empty', 'written']) {
      const { worktree } = await createWorktree(place, { name, owner });
      place.registry.put({ ...worktree, lease: dead });
      forsaken.push(worktree.path);
    }
    writeFiles(forsaken[1] ?? '', { 'work.txt': 'work\n' });
    const one = await worked(place, 'a');
    git(place.repository.root, 'merge', '-q', one.commit);
    const run = startedRun([madeTask('a')], { target: targetOf(place) });
    await returned(place, madeRun(run, passed(one, one.commit)));
    expect([...forsaken, one.path].map((path) => existsSync(path))).toEqual([false, true, false]);
    expect(rametBranches(place.repository.root)).toEqual(['ramet/written']);
  });

  test('a lock goes on a branch that a killed process of the run was about to make', async () => {
    const place = worktreePlace();
    const owner = { session: 'abcdefgh', agent: 'abcdefgh.2' };
    const { worktree } = await createWorktree(place, { name: 'half', owner });
    await releaseWorktree(place, worktree.id)?.settled;
    expect(rametBranches(place.repository.root)).toEqual([]);
    const refs = join(place.repository.commonDirectory, 'refs/heads/ramet');
    writeFiles(refs, { 'half.lock': `${worktree.base}\n`, 'other.lock': `${worktree.base}\n` });
    place.registry.put({ ...worktree, state: 'making', lease: { pid: 2 ** 22 + 1, started: null } });
    await returned(place, madeRun(startedRun([madeTask('a')])));
    // Whose the other is, nobody knows.
    expect(readdirSync(refs)).toEqual(['other.lock']);
  });

  test('merged, replayed and changed since: what the target has goes, what would be lost stays', async () => {
    const place = worktreePlace();
    const { root } = place.repository;
    const [merged, moved, frozen, waiting] = [
      ...[await worked(place, 'merged'), await worked(place, 'moved')],
      ...[await worked(place, 'frozen'), await worked(place, 'waiting')],
    ] as const;
    const replayed = await worked(place, 'replayed');
    git(root, 'merge', '--quiet', '--no-ff', merged.commit);
    const onMain = landAs(place, 'something that a resolver wrote\n');
    // Someone has worked in it after it was merged.
    git(moved.path, 'commit', '--quiet', '--allow-empty', '-m', 'More');
    writeFiles(moved.path, { 'src/a.ts': 'more\n' });
    git(moved.path, 'commit', '-qam', 'More files');
    const state = madeRun(
      startedRun(
        [merged, moved, frozen, waiting, replayed].map(({ id }) => madeTask(id)),
        { target: targetOf(place) },
      ),
      ...[passed(merged, onMain), passed(moved, onMain), passed(frozen, onMain, 'failed')],
      ...[passed(waiting, waiting.commit), passed(replayed, onMain)],
    );
    const { end, events, said } = await returned(place, state);
    expect([merged, moved, frozen, waiting, replayed].map(({ path }) => existsSync(path))).toEqual([
      ...[false, true, true, true, false],
    ]);
    // Only its branch leads to the commit of the replayed one.
    expect(rametBranches(root)).toEqual([
      ...['ramet/frozen', 'ramet/moved', 'ramet/replayed', 'ramet/waiting'],
    ]);
    expect(events).toHaveLength(1);
    expect(notesOf(end)).toEqual([
      [],
      [expect.stringMatching(/^its worktree stays: \d commits that are not merged, at \w+$/)],
      ...[[], [], []],
    ]);
    expect(said).toEqual([]);
  });

  test('one that a killed process still has by record goes, unless a process lives that has it', async () => {
    const place = worktreePlace();
    const made = [await apart(place, 'dead'), await apart(place, 'living')] as const;
    const leases = [{ pid: 2 ** 22 + 1, started: null }, thisProcess()];
    for (const [at, { id, commit }] of made.entries()) {
      git(place.repository.root, 'merge', '--quiet', '--no-ff', commit);
      const row = place.registry.list().find(({ name }) => name === id);
      if (row !== undefined) place.registry.put({ ...row, state: 'leased', lease: leases[at] ?? null });
    }
    const run = startedRun(
      made.map(({ id }) => madeTask(id)),
      { target: targetOf(place) },
    );
    const state = madeRun(run, ...made.map((one) => passed(one, one.commit)));
    const { end } = await returned(place, state);
    expect(made.map(({ path }) => existsSync(path))).toEqual([false, true]);
    expect(notesOf(end)).toEqual([[], [`its worktree stays: process ${process.pid} has it`]]);
    expect(rametBranches(place.repository.root)).toEqual(['ramet/living']);
  });

  test('a task that is done with nothing has a line if its worktree stays, and otherwise none', async () => {
    const place = worktreePlace();
    const names = ['empty', 'staged'] as const;
    for (const name of names) {
      const owner = { session: 'abcdefgh', agent: `abcdefgh.${name}` };
      const { worktree } = await createWorktree(place, { name, owner });
      if (name === 'staged') writeFiles(worktree.path, { 'new.txt': 'new\n' });
      git(worktree.path, 'add', '--all');
      await releaseWorktree(place, worktree.id)?.settled;
    }
    const run = startedRun(
      names.map((name) => madeTask(name)),
      { target: targetOf(place) },
    );
    const nothing = names.map((name) =>
      taskChange(name, 'done', {
        cause: 'nothing',
        attempt: { number: 1, state: 'passed', agent: `abcdefgh.${name}`, isolation: 'worktree' },
      }),
    );
    const { end } = await returned(place, madeRun(run, ...nothing));
    expect(notesOf(end)).toEqual([[], ['its worktree stays: staged and not committed: new.txt']]);
  });

  test('a git that judges it since its agent ended is no reason to keep it', async () => {
    const place = worktreePlace();
    const one = await worked(place, 'one');
    git(place.repository.root, 'merge', '--quiet', '--no-ff', one.commit);
    const judging = spawn('cat', { cwd: one.path });
    const settled = async (): Promise<void> => {
      judging.stdin.end();
      await once(judging, 'close');
    };
    const run = startedRun([madeTask('one')], { target: targetOf(place) });
    const { end } = await returned(place, madeRun(run, passed(one, one.commit)), undefined, settled);
    expect([notesOf(end), existsSync(one.path)]).toEqual([[[]], false]);
    expect(rametBranches(place.repository.root)).toEqual([]);
  });

  test('an unknown file keeps it, with one line; when that is gone, so are the worktree and the line', async () => {
    const place = worktreePlace();
    const one = await worked(place, 'one');
    git(place.repository.root, 'merge', '--quiet', '--no-ff', one.commit);
    writeFiles(one.path, { 'notes.txt': 'mine\n' });
    const run = startedRun([madeTask('one')], { target: targetOf(place) });
    const state = madeRun(run, passed(one, one.commit));
    const first = await returned(place, state);
    expect(notesOf(first.end)).toEqual([['its worktree stays: not known to git: notes.txt']]);
    expect((await returned(place, first.end)).events).toEqual([]);
    rmSync(join(one.path, 'notes.txt'));
    expect((await returned(place, first.end, AbortSignal.abort())).end).toBe(first.end);
    expect(existsSync(one.path)).toBe(true);
    const last = await returned(place, first.end);
    expect([notesOf(last.end), existsSync(one.path)]).toEqual([[[]], false]);
    expect(rametBranches(place.repository.root)).toEqual([]);
    expect((await returned(place, last.end)).events).toEqual([]);
  });

  test('while others work: what has landed goes without its branch, which goes with the others at the end', async () => {
    const place = worktreePlace();
    const { root } = place.repository;
    const made = [await apart(place, 'one'), await apart(place, 'two'), await apart(place, 'three')] as const;
    const [one, two, three] = made;
    git(root, 'merge', '--quiet', '--no-ff', one.commit);
    const run = startedRun(
      made.map(({ id }) => madeTask(id)),
      { target: targetOf(place) },
    );
    const order: string[] = [];
    await using returns = returnsOf(place, { recorded: async () => void order.push('recorded') });
    // The second is on record and not on the target; the third is not done.
    let state = madeRun(run, passed(one, one.commit), passed(two, two.commit));
    returns.landed(() => state);
    await vi.waitFor(() => expect(existsSync(one.path)).toBe(false));
    await vi.waitFor(() => expect(place.registry.list().map((row) => row.state)).toContain('gone'));
    expect([order, existsSync(two.path), existsSync(three.path)]).toEqual([['recorded'], true, true]);
    expect(rametBranches(root)).toEqual(['ramet/one', 'ramet/three', 'ramet/two']);
    git(root, 'merge', '--quiet', '--no-ff', two.commit);
    state = madeRun(run, passed(one, one.commit), passed(two, two.commit));
    const end = await returns.finish(state);
    expect([notesOf(end), existsSync(two.path), existsSync(three.path)]).toEqual([[[], [], []], false, true]);
    expect(rametBranches(root)).toEqual(['ramet/three']);
    expect(place.registry.list().flatMap(({ facts }) => facts.leftBranch ?? [])).toEqual([]);
  });

  test('a target that is set back after that keeps the branch; a clean-up deletes those that a killed run left', async () => {
    const place = worktreePlace();
    const { root } = place.repository;
    const made = [await apart(place, 'one'), await apart(place, 'two')] as const;
    const [one, two] = made;
    for (const { commit } of made) git(root, 'merge', '--quiet', '--no-ff', commit);
    const run = startedRun(
      made.map(({ id }) => madeTask(id)),
      { target: targetOf(place) },
    );
    const state = madeRun(run, passed(one, one.commit), passed(two, two.commit));
    const returns = returnsOf(place);
    returns.landed(() => state);
    await vi.waitFor(() => expect(place.registry.list().every((row) => row.state === 'gone')).toBe(true));
    git(root, 'reset', '--quiet', '--hard', 'HEAD~1');
    await returns.finish(state);
    expect(rametBranches(root)).toEqual(['ramet/two']);
    git(root, 'merge', '--quiet', '--no-ff', two.commit);
    await collectGarbage(place, { dryRun: true });
    expect(rametBranches(root)).toEqual(['ramet/two']);
    await collectGarbage(place);
    expect(rametBranches(root)).toEqual([]);
  });

  test('a branch that cannot be deleted at the end is deleted by the next clean-up', async () => {
    const place = worktreePlace();
    const { root } = place.repository;
    const one = await worked(place, 'one');
    git(root, 'merge', '--quiet', '--no-ff', one.commit);
    const run = startedRun([madeTask('one')], { target: targetOf(place) });
    const returns = returnsOf(place);
    const lock = join(place.repository.commonDirectory, 'refs/heads/ramet/one.lock');
    writeFiles(join(place.repository.commonDirectory, 'refs/heads/ramet'), { 'one.lock': '' });
    await returns.finish(madeRun(run, passed(one, one.commit)));
    expect([existsSync(one.path), rametBranches(root)]).toEqual([false, ['ramet/one']]);
    rmSync(lock);
    await collectGarbage(place);
    expect(rametBranches(root)).toEqual([]);
  });

  test('a run that is stopped gives nothing back any more', async () => {
    const place = worktreePlace();
    const one = await worked(place, 'one');
    git(place.repository.root, 'merge', '--quiet', '--no-ff', one.commit);
    const run = startedRun([madeTask('one')], { target: targetOf(place) });
    const returns = returnsOf(place, { signal: AbortSignal.abort() });
    returns.landed(() => madeRun(run, passed(one, one.commit)));
    await returns[Symbol.asyncDispose]();
    expect(existsSync(one.path)).toBe(true);
  });
});
