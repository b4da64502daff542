import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MIXED_RUN, taskChange } from '../../../../test/fixtures/operator-run.ts';
import { temporaryDirectory, temporaryRepository } from '../../../../test/fixtures/temporary.ts';
import { git } from '../../../../test/fixtures/worktrees.ts';
import { createSession } from '../../../journal/sessions.ts';
import type { JournalEvent } from '../../../schema/events.ts';
import type { OperatorAction } from '../../../schema/operator-events.ts';
import { latestInterrupted, refuseRun } from '../../calls/status.ts';
import { findPlace, operatorDirectory } from '../../place.ts';
import { askOperator, currentRun, type RunCallOptions, runOverview } from './ask-operator.ts';
import { newTask } from './new-tasks.ts';
import { takeRequests, watchRequests } from './operator-requests.ts';

interface MadeSession {
  at: RunCallOptions;
  place: { project: string; session: string };
  close(): Promise<void>;
}

async function madeSession(
  cwd = temporaryDirectory(),
  more: readonly JournalEvent[] = [],
  home = join(temporaryDirectory(), 'ramet'),
): Promise<MadeSession> {
  const env = { RAMET_HOME: home };
  const { project } = findPlace({ cwd, env });
  const journal = await createSession({ project, cwd });
  const place = { project, session: journal.session };
  mkdirSync(operatorDirectory(place), { recursive: true });
  const integration = `refs/ramet/operator/${journal.session}`;
  for (const event of [...MIXED_RUN, ...more])
    journal.append(
      null,
      event.type === 'operator.started' ? { ...event, run: { ...event.run, integration } } : event,
    );
  await journal.commit('written');
  return { at: { cwd, env }, place, close: () => journal.close() };
}

describe('OP-2, LIB-1: a run, seen from another process', () => {
  test('is told with its tasks, whether a process runs it or not', async () => {
    const { at, place, close } = await madeSession();
    expect(runOverview(at)).toMatchObject({ session: place.session, isRunning: true, status: 'running' });
    await close();
    const { isRunning, tasks } = runOverview({ ...at, session: place.session.slice(0, 5) });
    expect(isRunning).toBe(false);
    expect(tasks.map(({ status }) => status)).toEqual(['done', 'failed', 'blocked', 'queued']);
  });

  test('that has ended in a session that is still open takes requests when it is resumed, and waits for nobody', async () => {
    const ended = { type: 'operator.changed', status: 'ended', cause: null, message: null } as const;
    const { at, place, close } = await madeSession(temporaryDirectory(), [ended]);
    const { order } = runOverview(at).tasks.reduce<{ order: string[] }>(
      ({ order }, { task, status }) => ({ order: status === 'failed' ? [...order, task.id] : order }),
      { order: [] },
    );
    const asked = await askOperator({ kind: 'retry', task: order[0] ?? '' }, at);
    expect(asked).toEqual({ session: place.session, refused: null, isPending: true });
    await expect(askOperator({ kind: 'pause' }, at)).rejects.toThrow('there is nothing to pause');
    await close();
  });

  test('has landed as soon as its target has the commit, also if a person moved it', async () => {
    const cwd = temporaryRepository();
    const commit = git(cwd, 'commit-tree', '-p', 'HEAD', '-m', 'result', 'HEAD^{tree}');
    const kept = { state: 'kept', commit, before: null, after: null, message: 'git merge' } as const;
    const { at, close } = await madeSession(cwd, [{ type: 'operator.landed', ...kept }]);
    expect((await currentRun(at)).state.landing).toMatchObject({ state: 'kept', message: 'git merge' });
    git(cwd, 'merge', '--quiet', '--ff-only', commit);
    expect((await currentRun(at)).state.landing).toMatchObject({ state: 'moved', commit, message: null });
    await close();
  });

  test('is no conversation that ramet resume could continue', async () => {
    const { at, place, close } = await madeSession();
    await close();
    const command = `ramet operate --resume ${place.session}`;
    expect(() => refuseRun(place.session, at)).toThrow(`is a run of tasks: resume it with: ${command}`);
    expect(() => latestInterrupted(at)).toThrow(`which is resumed with: ${command}`);
  });

  test('takes what it is asked for, and says why not', async () => {
    const { at, place, close } = await madeSession();
    const asked: OperatorAction[] = [];
    using _ = watchRequests(place, (action) => {
      asked.push(action);
      return action.kind === 'pause' ? 'not now' : null;
    });
    const outcome = { session: place.session, isPending: false };
    expect(await askOperator({ kind: 'pause' }, at)).toEqual({ ...outcome, refused: 'not now' });
    expect(await askOperator({ kind: 'skip', task: 'T004' }, at)).toEqual({ ...outcome, refused: null });
    expect(asked.map(({ kind }) => kind)).toEqual(['pause', 'skip']);
    await close();
  });

  test('that no process runs keeps what is possible for the next process and refuses the rest', async () => {
    const { at, place, close } = await madeSession();
    await close();
    const left = { session: place.session, isPending: true, refused: null };
    expect(await askOperator({ kind: 'retry', task: 'T002' }, at)).toEqual(left);
    expect(await askOperator({ kind: 'answer', question: 'q1', answer: 'once' }, at)).toEqual(left);
    const refusals = [
      [{ kind: 'retry', task: 'T001' }, /T001 is done; nothing can be asked for/],
      [{ kind: 'retry', task: 'T009' }, /there is no task T009/],
      [{ kind: 'answer', question: 'q7', answer: 'once' }, /no open question q7: open are q1/],
      [{ kind: 'answer', question: 'q1', answer: 'denied' }, /^q1 was answered with once, which counts when/],
    ] as const;
    for (const [action, refused] of refusals)
      expect((await askOperator(action, at)).refused).toMatch(refused);
    await expect(askOperator({ kind: 'pause' }, at)).rejects.toThrow(
      /nothing to pause.*ramet operate --resume/,
    );
    const taken: string[] = [];
    takeRequests(place, ({ kind }) => {
      taken.push(kind);
      return null;
    });
    expect(taken).toEqual(['retry', 'answer']);
  });

  test('is never chosen by chance: what two runs of a repository allow is refused, with the command for each', async () => {
    const cwd = temporaryDirectory();
    const home = join(temporaryDirectory(), 'ramet');
    const first = await madeSession(cwd, [], home);
    await first.close();
    const second = await madeSession(cwd, [], home);
    await second.close();
    const sessions = [first.place.session, second.place.session];
    for (const [action, words] of [
      [{ kind: 'retry', task: 'T002' }, 'retry T002'],
      [{ kind: 'skip', task: 'T004' }, 'skip T004'],
      [{ kind: 'answer', question: 'q1', answer: 'once' }, 'answer q1 once'],
    ] as const) {
      const message = await askOperator(action, first.at).then(String, (error: Error) => error.message);
      for (const session of sessions)
        expect(message).toContain(
          `ramet operate ${words} --session ${session} (tasks.md into main, 1 of 4 done)`,
        );
    }
    expect(() => newTask('Name the authors', first.at)).toThrow(
      `ramet operate add 'Name the authors' --session ${sessions[0]}`,
    );
    const [session] = sessions;
    expect(await askOperator({ kind: 'retry', task: 'T002' }, { ...first.at, session })).toMatchObject({
      session,
      refused: null,
    });
  });

  test('is the one that can be meant, if no other of the repository allows what is asked', async () => {
    const cwd = temporaryDirectory();
    const home = join(temporaryDirectory(), 'ramet');
    const first = await madeSession(cwd, [], home);
    await first.close();
    const later = await madeSession(cwd, [taskChange('T002', 'done', { person: null })], home);
    await later.close();
    const asked = await askOperator({ kind: 'retry', task: 'T002' }, first.at);
    expect(asked).toMatchObject({ session: first.place.session, refused: null });
    expect(runOverview(first.at).session).toBe(later.place.session);
  });

  test('before the first one, the answer says how to start one', async () => {
    const at = { cwd: temporaryDirectory(), env: { RAMET_HOME: join(temporaryDirectory(), 'ramet') } };
    expect(() => runOverview(at)).toThrow(/no operator has run in this repository: ramet operate FILE/);
  });
});
