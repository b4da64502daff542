import { describe, expect, test } from 'vitest';
import { OperatorWorld, runTask } from '../../../test/fixtures/operator-world.ts';
import { higherBudget } from './decisions.ts';
import { resumeCommand } from './operate-command.ts';
import { lastAttempt, taskOf } from './operator-state.ts';

const THREE = [runTask('a'), runTask('b', { waits: ['a'] }), runTask('c')];

describe('OP-2: the operator', () => {
  test('runs every task, what waits begins with what it waited for, and done tasks are marked', async () => {
    const world = new OperatorWorld({ tasks: THREE });
    await world.run();
    expect(world.statuses()).toEqual({ a: 'done', b: 'done', c: 'done' });
    expect(world.bases.get('b-1')).toMatch(/a/);
    expect(world.merged.toSorted()).toEqual(['a', 'b', 'c']);
    expect(world.landed.at(-1)?.toSorted()).toEqual(['a', 'b', 'c']);
    expect(world.marked).toEqual(['a', 'b', 'c']);
    expect(world.state).toMatchObject({ status: 'ended', cause: null });
  });

  test('records an attempt before its agent starts, and every status on the way', async () => {
    const world = new OperatorWorld({
      tasks: [runTask('a')],
      attempt: ({ attempt }) => {
        expect(world.state.order).toEqual(['a']);
        const task = taskOf(world.state, 'a');
        expect(task && lastAttempt(task)).toMatchObject({ name: attempt.name, state: 'running' });
        return undefined;
      },
    });
    await world.run();
    const statuses = world.events.flatMap((event) => (event.type === 'task.changed' ? [event.status] : []));
    expect([...new Set(statuses)]).toEqual(['ready', 'running', 'verifying', 'merging', 'done']);
  });

  test('OP-3: no more agents than there is room for, and never two on one file', async () => {
    const tasks = Array.from({ length: 9 }, (_, index) => runTask(`t${index}`, { files: [`f${index % 3}`] }));
    const busy = new Set<string>();
    const world = new OperatorWorld({
      tasks,
      width: 2,
      attempt: async ({ task }) => {
        const [file = ''] = task.files;
        expect(busy.has(file)).toBe(false);
        busy.add(file);
        await new Promise(setImmediate);
        busy.delete(file);
        return {};
      },
    });
    await world.run();
    expect(world.most).toBe(2);
    expect(Object.values(world.statuses())).toEqual(Array(9).fill('done'));
  });

  test('the next one starts while the work of one whose agent has ended is being kept', async () => {
    const third = Promise.withResolvers<void>();
    const world = new OperatorWorld({
      tasks: [runTask('a'), runTask('b'), runTask('c')],
      width: 2,
      attempt: async ({ task }, watch) => {
        if (task.id === 'a') watch.rests();
        if (task.id === 'c') third.resolve();
        else await third.promise;
        return {};
      },
    });
    await world.run();
    expect(world.statuses()).toEqual({ a: 'done', b: 'done', c: 'done' });
  });

  test('OP-3: what waited for a done task starts while others are checked', async () => {
    const world: OperatorWorld = new OperatorWorld({
      tasks: THREE,
      // The first batch is merged when the next one waits, and that one when what waits for the first has started.
      batch: async ({ offers }) => {
        const isFirst = offers.some(({ task }) => task.id === 'a');
        const isReady = (): boolean => (isFirst ? world.done.has('c-1') : world.started.includes('b-1'));
        for (let turns = 0; turns < 100 && !isReady(); turns++) await new Promise(setImmediate);
        expect(isReady()).toBe(true);
      },
      attempt: async ({ task }) => {
        while (task.id === 'c' && taskOf(world.state, 'a')?.status === 'running')
          await new Promise(setImmediate);
        return {};
      },
    });
    await world.run();
    expect(world.statuses()).toEqual({ a: 'done', b: 'done', c: 'done' });
  });

  test('OP-3: tells that a check waits for a place, until it begins', async () => {
    const said: (string | null | undefined)[] = [];
    const world = new OperatorWorld({
      tasks: [runTask('a')],
      batch: ({ onWaiting }) => {
        for (const why of ['waits for a slot', null]) {
          onWaiting?.(why);
          said.push(taskOf(world.state, 'a')?.message);
        }
      },
    });
    await world.run();
    expect(said).toEqual(['waits for a slot', null]);
    expect(world.statuses()).toEqual({ a: 'done' });
  });

  test('OP-5: a failure is tried again, then frozen with what to do; what waits for it is blocked, the rest goes on', async () => {
    const world = new OperatorWorld({
      tasks: THREE,
      attempt: ({ task }) =>
        task.id === 'a' ? { kind: 'failed', cause: 'max_turns', message: 'too long' } : {},
    });
    await world.run();
    expect(world.statuses()).toEqual({ a: 'frozen: max_turns', b: 'blocked: dependency', c: 'done' });
    expect(world.started.filter((name) => name.startsWith('a'))).toEqual(['a-1', 'a-2', 'a-3']);
    expect(taskOf(world.state, 'a')).toMatchObject({
      ...{ failures: 3, message: 'too long' },
      person: 'ramet operate retry a --session s, or ramet operate skip a --session s',
    });
    expect(taskOf(world.state, 'b')?.message).toBe('it waits for a');
    expect(world.landed).toEqual([['c']]);
    expect(world.marked).toEqual(['c']);
  });

  test('work that a check refuses is done again on the new base, and knows why', async () => {
    const seen: (string | null | undefined)[] = [];
    const world = new OperatorWorld({
      tasks: [runTask('a')],
      attempt: ({ before }) => {
        seen.push(before?.message);
        return {};
      },
      merge: ({ attempt }) => (attempt.number === 1 ? { kind: 'check', message: 'exit code 1' } : undefined),
    });
    await world.run();
    expect(seen).toEqual([undefined, 'exit code 1']);
    expect(world.statuses()).toEqual({ a: 'done' });
    expect(taskOf(world.state, 'a')?.attempts.map(({ state }) => state)).toEqual(['failed', 'passed']);
  });

  test('conflicts go back to the task in bounded rounds, and to a person at once where that was asked for', async () => {
    const merge = () => ({ kind: 'conflict', files: ['x'], message: 'x (contents)' }) as const;
    const again = new OperatorWorld({ tasks: [runTask('a')], merge, run: { retries: 9 } });
    await again.run();
    expect(again.started).toEqual(['a-1', 'a-2', 'a-3']);
    expect(taskOf(again.state, 'a')).toMatchObject({
      status: 'frozen',
      conflict: { files: ['x'], rounds: 3 },
    });
    // Who has it done again gives it as many rounds as the start did.
    again.events.push({ type: 'operator.resumed' });
    const operator = again.operator();
    expect(operator.act({ kind: 'retry', task: 'a' }, 'person')).toBeNull();
    await operator.run(new AbortController().signal);
    expect(again.started.slice(3)).toEqual(['a-4', 'a-5', 'a-6']);
    expect(taskOf(again.state, 'a')).toMatchObject({ status: 'frozen', conflict: { rounds: 6 } });
    const person = new OperatorWorld({ tasks: [runTask('a')], merge, run: { onConflict: 'person' } });
    await person.run();
    expect(person.started).toEqual(['a-1']);
    expect(person.statuses()).toEqual({ a: 'frozen: conflict' });
  });

  test('a failed setup blocks only its task; a check that fails without a task does not blame it', async () => {
    const world = new OperatorWorld({
      tasks: [runTask('a'), runTask('b'), runTask('c')],
      attempt: ({ task }) => (task.id === 'a' ? { kind: 'failed', cause: 'setup', message: 'npm ci' } : {}),
      merge: ({ task }) => (task.id === 'b' ? { kind: 'base_check', message: 'red' } : undefined),
    });
    await world.run();
    expect(world.statuses()).toEqual({ a: 'blocked: setup', b: 'frozen: base_check', c: 'done' });
    expect(world.started).toEqual(['a-1', 'b-1', 'c-1']);
  });

  test('a task is told to repair what has failed: its set-up command, or what is said before that', async () => {
    const message = 'it cannot be isolated: git clone failed';
    const world = new OperatorWorld({
      tasks: [runTask('a'), runTask('b')],
      attempt: ({ task }) => ({
        kind: 'failed',
        cause: 'setup',
        message: task.id === 'a' ? 'npm ci' : message,
      }),
    });
    await world.run();
    expect(['a', 'b'].map((id) => taskOf(world.state, id)?.person)).toEqual([
      expect.stringMatching(/^repair what its worktree needs \(setting worktree\.setup\); then: /),
      expect.stringMatching(/^repair what that says; then: ramet operate retry b/),
    ]);
  });

  test('a task that changes nothing is not done, unless a check says so', async () => {
    const attempt = () => ({ kind: 'unchanged', isReport: false }) as const;
    const world = new OperatorWorld({ tasks: [runTask('a')], attempt, run: { retries: 0 } });
    await world.run();
    expect(world.statuses()).toEqual({ a: 'frozen: no_changes' });
    const checked = new OperatorWorld({
      ...{ tasks: [runTask('a', { settings: { check: 'true' } })], attempt },
      merge: ({ attempt: { commit } }) => {
        expect(commit).toBeNull();
        return { kind: 'merged', result: 'base', isNothing: true };
      },
    });
    await checked.run();
    expect(checked.statuses()).toEqual({ a: 'done: nothing' });
  });
});

describe('OP-4: fan-in', () => {
  const failing = ({ task }: { task: { id: string } }) =>
    task.id === 'a' ? ({ kind: 'failed', cause: 'x', message: null } as const) : {};

  test('all: nothing lands unless everything does, and nothing more starts once that is lost', async () => {
    const tasks = [runTask('a'), runTask('b'), runTask('c', { waits: ['b'] })];
    const lost = new OperatorWorld({ tasks, attempt: failing, run: { policy: 'all', retries: 0 }, width: 1 });
    await lost.run();
    expect(lost).toMatchObject({ landed: [], marked: [], started: ['a-1'] });
    expect(lost.state).toMatchObject({ status: 'ended', cause: 'policy' });
    const met = new OperatorWorld({ tasks, run: { policy: 'all' } });
    await met.run();
    expect(met.landed.map((ids) => ids.toSorted())).toEqual([['a', 'b', 'c']]);
  });

  test('quorum: lands once enough have passed', async () => {
    const tasks = ['a', 'b', 'c', 'd'].map((id) => runTask(id));
    const world = new OperatorWorld({
      tasks,
      attempt: failing,
      run: { policy: 'quorum:3', retries: 0 },
      width: 1,
    });
    await world.run();
    expect(world.landed).toEqual([['b', 'c', 'd']]);
    const short = new OperatorWorld({ tasks, attempt: failing, run: { policy: 'quorum:4', retries: 0 } });
    await short.run();
    expect(short.landed).toEqual([]);
  });

  test('first: attempts compete, the first that passes wins, and the others are stopped and kept', async () => {
    const world = new OperatorWorld({
      tasks: [runTask('a')],
      run: { policy: 'first', attempts: 3 },
      attempt: async ({ attempt }, _, stopped) => {
        if (attempt.number === 2) return {};
        return { kind: 'interrupted', cause: await stopped, message: null };
      },
    });
    await world.run();
    expect(world.statuses()).toEqual({ a: 'done' });
    expect(taskOf(world.state, 'a')?.attempts.map(({ state }) => state)).toEqual([
      'stopped',
      'passed',
      'stopped',
    ]);
  });
});

describe('OP-5, OP-6: when a run stops', () => {
  test('a row of failures trips the breaker: what is there is kept, nothing more starts', async () => {
    const tasks = Array.from({ length: 9 }, (_, index) => runTask(`t${index}`));
    const world = new OperatorWorld({
      ...{ tasks, width: 1, run: { retries: 0 } },
      attempt: () => ({ kind: 'failed', cause: 'x', message: null }),
    });
    await world.run();
    expect(world.started).toHaveLength(5);
    expect(world.state).toMatchObject({ status: 'ended', cause: 'breaker' });
    expect(world.state.message).toMatch(/^5 tasks in a row have failed: .*ramet operate --resume s$/);
  });

  test('nothing starts that the budget would not cover', async () => {
    const tasks = ['a', 'b', 'c', 'd'].map((id) => runTask(id));
    const world = new OperatorWorld({ tasks, width: 1, run: { budget: { usd: 0.025 } } });
    await world.run();
    expect(world.started).toEqual(['a-1', 'b-1']);
    expect(world.state).toMatchObject({ cause: 'budget' });
    expect(higherBudget(world.state)).toBeGreaterThan(0.05);
    expect(world.landed.at(-1)).toEqual(['a', 'b']);
  });

  test('OP-6: a run whose money is gone says what was spent in the end, and which budget would do', async () => {
    const tasks = ['a', 'b', 'c', 'd'].map((id) => runTask(id));
    const world = new OperatorWorld({ tasks, width: 2, run: { budget: { usd: 0.0015 } } });
    await world.run();
    const spent = 0.01 * world.started.length;
    expect(world.state).toMatchObject({ cause: 'budget', message: `$${spent} of $0.0015 is spent` });
    const usd = higherBudget(world.state) ?? 0;
    expect(resumeCommand(world.state.run, usd)).toBe(`ramet operate --resume s --max-budget-usd ${usd}`);
    world.events.push({ type: 'operator.resumed', change: { budget: { usd } } });
    await world.run();
    expect(Object.values(world.statuses())).toEqual(Array(4).fill('done'));
  });

  test('a usage limit interrupts the run, and another process continues it', async () => {
    const world = new OperatorWorld({
      ...{ tasks: THREE, width: 1 },
      attempt: ({ isResumed }) =>
        isResumed ? {} : { kind: 'interrupted', cause: 'limit', message: 'until noon' },
    });
    await world.run();
    expect(world.state).toMatchObject({ cause: 'limit', message: 'until noon' });
    expect(world.statuses()).toEqual({ a: 'interrupted: limit', b: 'queued', c: 'ready' });
    world.events.push({ type: 'operator.resumed' });
    await world.run({ attempt: () => ({}) });
    expect(Object.values(world.statuses())).toEqual(['done', 'done', 'done']);
    expect(world.started).toEqual(['a-1', 'c-1', 'b-1']);
  });

  test('an interruption starts nothing new and waits for what runs', async () => {
    const controller = new AbortController();
    const world = new OperatorWorld({
      ...{ tasks: THREE, width: 1 },
      attempt: async () => {
        controller.abort('SIGINT');
        await new Promise(setImmediate);
        return {};
      },
    });
    await world.run({}, controller.signal);
    expect(world.statuses()).toEqual({ a: 'done', b: 'ready', c: 'ready' });
    expect(world.state).toMatchObject({ status: 'ended', cause: 'interrupted' });
  });
});

describe('what people are asked, and may ask for', () => {
  const question = { id: 'q1', agent: 's.a', tool: 'Bash', summary: 'curl', reason: 'network', rules: [] };

  test('a question blocks its task alone; with nobody there the run ends and the question stays', async () => {
    const world = new OperatorWorld({
      ...{ tasks: THREE, width: 1 },
      attempt: async ({ task }, watch, stopped) => {
        if (task.id !== 'a') return {};
        watch.asked(question);
        return { kind: 'interrupted', cause: await stopped, message: null };
      },
    });
    await world.run();
    expect(world.statuses()).toEqual({ a: 'blocked: permission', b: 'blocked: dependency', c: 'done' });
    expect(taskOf(world.state, 'a')).toMatchObject({
      ...{
        question: { id: 'q1' },
        person: 'ramet operate answer q1 denied --session s # or once, or always',
      },
    });
    world.events.push({ type: 'operator.resumed' });
    await world.run({ attempt: () => ({}) });
    expect(Object.values(world.statuses())).toEqual(['done', 'done', 'done']);
  });

  test('a gate holds its task until a person starts it', async () => {
    const world = new OperatorWorld({ tasks: [runTask('a', { gate: 'approve the tests' }), runTask('b')] });
    await world.run();
    expect(world.statuses()).toEqual({ a: 'blocked: gate', b: 'done' });
    expect(taskOf(world.state, 'a')?.person).toBe(
      'approve the tests; then: ramet operate start a --session s',
    );
    world.events.push({ type: 'operator.resumed' });
    const operator = world.operator();
    expect(operator.act({ kind: 'retry', task: 'a' }, 'person')).toBe(
      'retry is not possible: a is blocked; possible now: skip, start',
    );
    expect(operator.act({ kind: 'start', task: 'a' }, 'person')).toBeNull();
    await operator.run(new AbortController().signal);
    expect(world.statuses()).toEqual({ a: 'done', b: 'done' });
  });

  test('a skipped task is waited for by nobody, and what is not allowed says what is', async () => {
    const world = new OperatorWorld({ tasks: THREE });
    const operator = world.operator();
    expect(operator.act({ kind: 'skip', task: 'a' }, 'person')).toBeNull();
    expect(operator.act({ kind: 'skip', task: 'a' }, 'person')).toBe(
      'skip is not possible: a is skipped; possible now: retry',
    );
    expect(operator.act({ kind: 'skip', task: 'nobody' }, 'model')).toBe(
      'there is no task nobody in this run',
    );
    expect(operator.act({ kind: 'resume' }, 'person')).toMatch(
      /the run is running; possible now: add, pause, stop$/,
    );
    // To add tasks is not for a model.
    expect(operator.act({ kind: 'resume' }, 'model')).toMatch(/possible now: pause, stop$/);
    expect(operator.act({ kind: 'add', tasks: [runTask('d', { waits: ['b'] })] }, 'program')).toBeNull();
    await operator.run(new AbortController().signal);
    expect(world.statuses()).toEqual({ a: 'skipped', b: 'done', c: 'done', d: 'done' });
    expect(world.state.asked).toHaveLength(6);
  });

  test('a paused run starts nothing until it is resumed', async () => {
    const world = new OperatorWorld({ tasks: THREE });
    const operator = world.operator();
    operator.act({ kind: 'pause' }, 'person');
    const run = operator.run(new AbortController().signal);
    await new Promise(setImmediate);
    expect(world.started).toEqual([]);
    operator.act({ kind: 'resume' }, 'person');
    await run;
    expect(Object.values(world.statuses())).toEqual(['done', 'done', 'done']);
  });

  test('a retry that changes nothing does not make up for work that was not taken', async () => {
    const offered: (string | null | undefined)[] = [];
    const world = new OperatorWorld({
      tasks: [runTask('a'), runTask('b')],
      run: { check: { command: 'true', timeoutMs: 1 }, retries: 2 },
      attempt: ({ task, attempt: { number } }) =>
        task.id === 'a' && number > 1 ? { kind: 'unchanged', isReport: false } : undefined,
      merge: ({ task, attempt, rejected }) => {
        if (task.id !== 'a') return undefined;
        offered.push(rejected?.commit);
        if (rejected === null) return { kind: 'conflict', files: ['x'], message: 'x' };
        expect(attempt.commit).toBeNull();
        return { kind: 'no_changes', message: 'its earlier work is missing' };
      },
    });
    await world.run();
    expect(world.statuses()).toEqual({ a: 'frozen: no_changes', b: 'done' });
    expect(offered).toEqual([undefined, 'c-a-1', 'c-a-1']);
    expect(world.marked).toEqual(['b']);
  });

  test('a task that is done without a change names no commit: the result is of others', async () => {
    const world = new OperatorWorld({
      tasks: [runTask('a')],
      run: { check: { command: 'true', timeoutMs: 1 } },
      attempt: () => ({ kind: 'unchanged', isReport: false }),
      merge: () => ({ kind: 'merged', result: 'c-of-others', isNothing: true }),
    });
    await world.run();
    expect(world.statuses()).toEqual({ a: 'done: nothing' });
    expect(taskOf(world.state, 'a')?.result).toBeNull();
  });

  test('what an interrupted attempt has cost is on the bill before it is resumed', async () => {
    const world = new OperatorWorld({
      tasks: [runTask('a')],
      attempt: async (_order, _watch, stopped) => {
        queueMicrotask(() => operator.stopAll('SIGINT'));
        return { kind: 'interrupted', cause: await stopped, message: null, costUsd: 0.25 };
      },
    });
    const operator = world.operator();
    await operator.run(new AbortController().signal);
    expect(world.statuses()).toEqual({ a: 'interrupted: SIGINT' });
    expect(taskOf(world.state, 'a')?.attempts).toMatchObject([{ state: 'running', costUsd: 0.25 }]);
  });

  test('work that a red base keeps from being judged is judged again when another task has repaired it', async () => {
    const repaired = Promise.withResolvers<void>();
    const offered: string[] = [];
    const world = new OperatorWorld({
      tasks: [runTask('fix'), runTask('b'), runTask('c', { waits: ['b'] })],
      attempt: async ({ task }) => {
        if (task.id === 'fix') await repaired.promise;
        return {};
      },
      merge: ({ task }) => {
        offered.push(task.id);
        if (task.id === 'b') repaired.resolve();
        return offered.includes('fix')
          ? undefined
          : { kind: 'base_check', message: 'the check fails anyway' };
      },
    });
    await world.run();
    expect(world.statuses()).toEqual({ fix: 'done', b: 'done', c: 'done' });
    expect(world.started).toEqual(['fix-1', 'b-1', 'c-1']);
    expect(offered).toEqual(['b', 'fix', 'b', 'c']);
  });

  test('a run that is paused when nothing is left to start ends as any other', async () => {
    const world = new OperatorWorld({
      tasks: [runTask('a')],
      attempt: () => {
        expect(operator.act({ kind: 'pause' }, 'person')).toBeNull();
        return undefined;
      },
    });
    const operator = world.operator();
    await operator.run(new AbortController().signal);
    expect(world.state).toMatchObject({ status: 'ended', cause: null });
    expect(world.landed).toEqual([['a']]);
  });
});

describe('OP-2: a run that dies', () => {
  test('at any event continues, and comes to what an undisturbed run comes to', async () => {
    const attempt = ({ task, attempt: { number } }: { task: { id: string }; attempt: { number: number } }) =>
      task.id === 'c' && number === 1 ? ({ kind: 'failed', cause: 'x', message: null } as const) : {};
    const options = { tasks: [...THREE, runTask('d', { waits: ['b', 'c'] })], attempt, width: 2 };
    const whole = new OperatorWorld(options);
    await whole.run();
    expect(whole.events.length).toBeGreaterThan(20);
    for (let count = 1; count < whole.events.length; count += 1) {
      const world = new OperatorWorld(options);
      await world.run({ diesAfter: count });
      world.events.push({ type: 'operator.resumed' });
      await world.run();
      expect(world.statuses(), `killed after ${count}`).toEqual(whole.statuses());
      expect(world.merged.toSorted()).toEqual(whole.merged.toSorted());
      expect(world.landed.at(-1)?.toSorted()).toEqual(['a', 'b', 'c', 'd']);
      expect(new Set(world.started).size).toBe(world.started.length);
    }
  });
});
