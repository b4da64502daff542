import { describe, expect, test } from 'vitest';
import { OperatorWorld, runTask, type WorldOptions } from '../../../test/fixtures/operator-world.ts';
import { lastAttempt, taskOf } from './operator-state.ts';
import type { ReviewOrder } from './ports.ts';

const BOTH = { review: ['careful', 'strict'] };
const refuse = { kind: 'verdict', approved: false, reasons: 'a test is missing' } as const;

const attemptOf = (world: OperatorWorld, id: string) => {
  const task = taskOf(world.state, id);
  return task && lastAttempt(task);
};

describe('OP-5: the review gate', () => {
  test('nothing is merged before every reviewer has approved exactly its commit', async () => {
    const world = new OperatorWorld({
      ...{ tasks: [runTask('a'), runTask('b', { waits: ['a'] })], run: BOTH },
      review: ({ task }) => {
        expect(world.merged).not.toContain(task.id);
        expect(world.statuses()[task.id]).toBe('verifying');
        return {};
      },
    });
    await world.run();
    expect(world.statuses()).toEqual({ a: 'done', b: 'done' });
    expect(world.reviewed).toEqual([
      ...['a-1-review-careful', 'a-1-review-strict', 'b-1-review-careful', 'b-1-review-strict'],
    ]);
    expect(attemptOf(world, 'a')?.reviews).toMatchObject([
      { type: 'careful', commit: 'c-a-1', approved: true, agent: 's.a-1-review-careful', costUsd: 0.01 },
      { type: 'strict', commit: 'c-a-1', approved: true },
    ]);
    // What reviewers cost is a part of what the task costs.
    expect(attemptOf(world, 'a')?.costUsd).toBeCloseTo(0.03);
  });

  test('one refusal sends it back: the next attempt knows the reasons of all, and its own commit is reviewed', async () => {
    const before: (string | null | undefined)[] = [];
    const world = new OperatorWorld({
      ...{ tasks: [runTask('a')], run: BOTH },
      attempt: ({ before: failed }) => {
        before.push(failed?.message);
        return {};
      },
      review: ({ type, attempt }) => (attempt.number === 1 && type === 'strict' ? refuse : {}),
    });
    await world.run();
    expect(world.statuses()).toEqual({ a: 'done' });
    expect(before).toEqual([undefined, 'strict does not approve it: a test is missing']);
    expect(taskOf(world.state, 'a')?.attempts).toMatchObject([
      { state: 'failed', cause: 'review' },
      { state: 'passed', commit: 'c-a-2' },
    ]);
    expect(world.reviewed).toHaveLength(4);
  });

  test('one that is refused each time is frozen and never merged; what others did lands', async () => {
    const world = new OperatorWorld({
      ...{ tasks: [runTask('a'), runTask('b')], run: { ...BOTH, retries: 1 } },
      review: ({ task }) => (task.id === 'a' ? refuse : {}),
    });
    await world.run();
    expect(world.statuses()).toEqual({ a: 'frozen: review', b: 'done' });
    expect(world.merged).toEqual(['b']);
    expect(taskOf(world.state, 'a')).toMatchObject({
      message:
        'careful does not approve it: a test is missing\nstrict does not approve it: a test is missing',
      person: expect.stringContaining('ramet operate retry a'),
    });
  });

  test('a reviewer that ends without a verdict is asked again alone, each cost counted', async () => {
    const world = new OperatorWorld({
      ...{ tasks: [runTask('a')], run: BOTH },
      review: ({ name }) => (name === 'a-1-review-strict' ? { kind: 'failed', message: 'max_turns' } : {}),
    });
    await world.run();
    expect(world.statuses()).toEqual({ a: 'done' });
    expect(world.reviewed).toEqual(['a-1-review-careful', 'a-1-review-strict', 'a-1-review-strict-2']);
    expect(attemptOf(world, 'a')?.costUsd).toBeCloseTo(0.04);
  });

  const silent: WorldOptions = {
    ...{ tasks: [runTask('a'), runTask('b')], run: BOTH },
    review: ({ task, type }) =>
      task.id === 'a' && type === 'strict' ? { kind: 'failed', message: 'max_turns' } : {},
  };

  test('one that never speaks blocks its task; retry asks it again about the same commit', async () => {
    const world = new OperatorWorld(silent);
    await world.run();
    expect(world.statuses()).toEqual({ a: 'blocked: review', b: 'done' });
    expect(taskOf(world.state, 'a')).toMatchObject({
      message: 'its reviewer strict gave no verdict: max_turns',
      person: expect.stringContaining('ramet operate approve a'),
    });
    expect(world.reviewed.filter((name) => name.startsWith('a-1-review-strict'))).toHaveLength(3);
    world.events.push({ type: 'operator.resumed' });
    const operator = world.operator({ review: () => ({}) });
    expect(operator.act({ kind: 'retry', task: 'a' }, 'person')).toBeNull();
    await operator.run(new AbortController().signal);
    expect(world.statuses()).toEqual({ a: 'done', b: 'done' });
    expect(world.reviewed.at(-1)).toBe('a-1-review-strict-4');
    expect(world.started).toEqual(['a-1', 'b-1']);
  });

  test('a person may approve exactly that commit instead, and it is on record who', async () => {
    const world = new OperatorWorld(silent);
    await world.run();
    world.events.push({ type: 'operator.resumed' });
    const operator = world.operator();
    const approve = { kind: 'approve', task: 'a', commit: 'c-a-1', who: 'Ada' } as const;
    expect(operator.act(approve, 'model')).toBe('approve is for a person');
    expect(operator.act({ ...approve, commit: 'other' }, 'person')).toMatch(/^a is at commit c-a-1 by now/);
    expect(operator.act({ ...approve, task: 'b' }, 'person')).toMatch(/^approve is not possible: b is done/);
    expect(operator.act(approve, 'person')).toBeNull();
    await operator.run(new AbortController().signal);
    expect(world.statuses()).toEqual({ a: 'done', b: 'done' });
    expect(attemptOf(world, 'a')?.reviews.at(-1)).toMatchObject({
      ...{ commit: 'c-a-1', approved: true, by: 'Ada', reasons: 'approved by Ada' },
    });
    expect(world.started).toEqual(['a-1', 'b-1']);
  });

  test('a person may overrule reviewers that refuse, also while they are at work', async () => {
    const world = new OperatorWorld({
      ...{ tasks: [runTask('a'), runTask('b')], run: { review: ['strict'], retries: 0 } },
      review: ({ task }) => {
        if (task.id === 'a') return refuse;
        const approve = { kind: 'approve', task: 'b', commit: 'c-b-1', who: 'Ada' } as const;
        expect(operator.act(approve, 'person')).toBeNull();
        return new Promise(() => {});
      },
    });
    const operator = world.operator();
    await operator.run(new AbortController().signal);
    expect(world.statuses()).toEqual({ a: 'frozen: review', b: 'done' });
    world.events.push({ type: 'operator.resumed' });
    const again = world.operator();
    expect(again.act({ kind: 'approve', task: 'a', commit: 'c-a-1', who: 'Ada' }, 'person')).toBeNull();
    await again.run(new AbortController().signal);
    expect(world.statuses()).toEqual({ a: 'done', b: 'done' });
  });

  test('a run that dies while a reviewer stays silent asks it as often as one that does not', async () => {
    const whole = new OperatorWorld(silent);
    await whole.run();
    for (let count = 1; count < whole.events.length; count += 1) {
      const world = new OperatorWorld(silent);
      await world.run({ diesAfter: count });
      world.events.push({ type: 'operator.resumed' });
      await world.run();
      expect(world.statuses(), `killed after ${count}`).toEqual({ a: 'blocked: review', b: 'done' });
      expect(world.reviewed.toSorted(), `killed after ${count}`).toEqual(whole.reviewed.toSorted());
      expect(attemptOf(world, 'a')?.costUsd, `killed after ${count}`).toBeCloseTo(0.05);
    }
  });

  test('a task may name its own reviewers or none, and one that changed nothing has nothing to review', async () => {
    const world = new OperatorWorld({
      tasks: [
        runTask('own', { settings: { review: ['other'] } }),
        runTask('free', { settings: { review: [] } }),
        runTask('idle'),
      ],
      run: BOTH,
      attempt: ({ task }) => (task.id === 'idle' ? { kind: 'unchanged', isReport: true } : {}),
    });
    await world.run();
    expect(Object.values(world.statuses())).toEqual(['done', 'done', 'done']);
    expect(world.reviewed).toEqual(['own-1-review-other']);
  });

  test('reviewers take places, and come before new tasks', async () => {
    const tasks = ['a', 'b', 'c', 'd'].map((id) => runTask(id));
    const world = new OperatorWorld({ tasks, run: BOTH, width: 2 });
    await world.run();
    expect(world.most).toBe(2);
    expect(Object.values(world.statuses())).toEqual(Array(4).fill('done'));
  });

  test('OP-6: when the money is spent no review starts, and the work waits for a resumed run', async () => {
    const world = new OperatorWorld({ tasks: [runTask('a')], run: { ...BOTH, budget: { usd: 0.01 } } });
    await world.run();
    expect(world.reviewed).toEqual([]);
    expect(world.statuses()).toEqual({ a: 'verifying' });
    expect(world.state).toMatchObject({
      ...{ status: 'ended', cause: 'budget', message: '$0.01 of $0.01 is spent, and a review waits' },
    });
  });

  test('an outage while it is reviewed stops the run; the one that spoke is not asked again', async () => {
    const world = new OperatorWorld({
      ...{ tasks: [runTask('a')], run: BOTH },
      review: ({ type }) =>
        type === 'careful' ? { kind: 'interrupted', cause: 'limit', message: 'wait' } : {},
    });
    await world.run();
    expect(world.statuses()).toEqual({ a: 'verifying' });
    expect(world.merged).toEqual([]);
    expect(world.state).toMatchObject({ status: 'ended', cause: 'limit' });
    world.events.push({ type: 'operator.resumed' });
    const asked: ReviewOrder[] = [];
    await world.run({
      review: (order) => {
        asked.push(order);
        return {};
      },
    });
    expect(world.statuses()).toEqual({ a: 'done' });
    expect(asked).toMatchObject([{ type: 'careful', name: 'a-1-review-careful', isResumed: true }]);
  });

  test('a verdict about another commit does not count', async () => {
    const world = new OperatorWorld({ tasks: [runTask('a')], run: { review: ['strict'] } });
    const review = { type: 'strict', commit: 'other', agent: null, approved: true, reasons: '', costUsd: 0 };
    const base = { type: 'task.changed', task: 'a', cause: null } as const;
    world.events.push(
      { ...base, status: 'ready' },
      { ...base, status: 'running', attempt: { number: 1, state: 'running', name: 'a-1' } },
      {
        ...{ ...base, status: 'verifying' },
        attempt: { number: 1, state: 'ended', commit: 'c-a-1', reviews: [review] },
      },
      { type: 'operator.resumed' },
    );
    await world.run();
    expect(world.reviewed).toEqual(['a-1-review-strict']);
    expect(attemptOf(world, 'a')?.reviews.map(({ commit }) => commit)).toEqual(['other', 'c-a-1']);
    expect(world.statuses()).toEqual({ a: 'done' });
  });

  test('a task that is skipped meanwhile ends its reviewers, and nothing of it is merged', async () => {
    const world = new OperatorWorld({
      ...{ tasks: [runTask('a'), runTask('b')], run: { review: ['strict'] } },
      review: ({ task }) => {
        if (task.id !== 'a') return {};
        expect(operator.act({ kind: 'skip', task: 'a' }, 'person')).toBeNull();
        return new Promise(() => {});
      },
    });
    const operator = world.operator();
    await operator.run(new AbortController().signal);
    expect(world.statuses()).toEqual({ a: 'skipped', b: 'done' });
    expect(world.merged).toEqual(['b']);
  });

  test('a run that dies at any event asks each reviewer once and comes to the same end', async () => {
    const options = {
      ...{ tasks: [runTask('a'), runTask('b', { waits: ['a'] })], run: BOTH, width: 2 },
      review: ({ name }: ReviewOrder) => (name === 'b-1-review-strict' ? refuse : {}),
    };
    const whole = new OperatorWorld(options);
    await whole.run();
    for (let count = 1; count < whole.events.length; count += 1) {
      const world = new OperatorWorld(options);
      await world.run({ diesAfter: count });
      world.events.push({ type: 'operator.resumed' });
      await world.run();
      expect(world.statuses(), `killed after ${count}`).toEqual({ a: 'done', b: 'done' });
      expect(world.merged).toEqual(['a', 'b']);
      expect(world.reviewed.toSorted(), `killed after ${count}`).toEqual(whole.reviewed.toSorted());
    }
  });
});
