import { describe, expect, test } from 'vitest';
import { eventsOf, lastTexts, startAgents, startFamily } from '../../../test/fixtures/family.ts';

const REPORT = { text: 'Scope: done.' };

describe('LAUNCH-2: more agents than places', () => {
  /** Ten children that note how many of them are at work. */
  function crowd(children: number) {
    let working = 0;
    const seen = { most: 0, order: [] as string[] };
    const work = async ({ task }: { task: string }) => {
      working += 1;
      seen.most = Math.max(seen.most, working);
      seen.order.push(task);
      await new Promise(setImmediate);
      working -= 1;
      return { text: `Scope: ${task}.` };
    };
    const tasks = Array.from({ length: children }, (_, index) => `child ${String(index).padStart(2, '0')}`);
    return { seen, tasks, cast: { 'Go.': [startAgents(tasks), { text: 'ok' }], child: work } };
  }

  test('never more work than may, they begin in order, and all are done in the order of the calls', async () => {
    const { seen, tasks, cast } = crowd(10);
    const family = await startFamily({ agents: { concurrent: 2 }, launch: 'parallel', cast });
    expect((await family.run('Go.')).result.status).toBe('done');
    expect(seen.most).toBeLessThanOrEqual(2);
    expect(seen.order).toEqual(tasks);
    expect(lastTexts(family.requestsOf('Go.')[1])).toEqual(
      tasks.map((task) => expect.stringContaining(`Scope: ${task}.`)),
    );
    expect(eventsOf(family.recordedOf(11), 'status.changed')).toMatchObject([
      { status: 'queued' },
      { status: 'running' },
    ]);
  });

  test('fifty calls in one message are all done, in order', async () => {
    const { tasks, cast } = crowd(50);
    const family = await startFamily({ cast });
    await family.run('Go.');
    expect(lastTexts(family.requestsOf('Go.')[1])).toEqual(
      tasks.map((task) => expect.stringContaining(`Scope: ${task}.`)),
    );
  });

  test('agents inside agents do not lock up when one place is all there is', async () => {
    const typed = { subagent_type: 'general-purpose' };
    const family = await startFamily({
      agents: { concurrent: 1 },
      cast: {
        'Go.': [startAgents(['outer one', 'outer two'], typed), { text: 'ok' }],
        outer: [startAgents(['inner one', 'inner two'], typed), { text: 'outer done' }],
        inner: [
          startAgents(['leaf'], { ...typed, run_in_background: true }),
          { text: 'wait' },
          { text: 'inner done' },
        ],
        leaf: [REPORT],
      },
    });
    const { result } = await family.run('Go.');
    expect(result.status).toBe('done');
    expect(lastTexts(family.requestsOf('Go.')[1])).toEqual([
      expect.stringContaining('outer done'),
      expect.stringContaining('outer done'),
    ]);
  });

  test('a parent that is aborted while children queue: those end without a request', async () => {
    const stop = new AbortController();
    const family = await startFamily({
      agents: { concurrent: 1 },
      cast: {
        'Go.': [startAgents(['first', 'second', 'third'])],
        first: () => {
          stop.abort('enough');
          return new Promise(() => {});
        },
      },
    });
    const { result } = await family.run('Go.', { signal: stop.signal });
    expect(result.status).toBe('interrupted');
    for (const task of ['second', 'third']) expect(family.requestsOf(task)).toEqual([]);
    for (const number of [3, 4]) {
      expect(eventsOf(family.recordedOf(number), 'agent.ended')).toMatchObject([
        { status: 'interrupted', cause: 'enough', message: 'interrupted (enough) before it began' },
      ]);
    }
    expect(family.session.agents).toEqual([]);
  });

  test('one that waits in the queue can be stopped, and its siblings continue', async () => {
    const gate = Promise.withResolvers<void>();
    const family = await startFamily({
      agents: { concurrent: 1 },
      cast: {
        'Go.': [startAgents(['first', 'second', 'third']), { text: 'ok' }],
        first: async () => {
          family.session.agents.find(({ id }) => id.endsWith('.3'))?.stop('stopped');
          gate.resolve();
          return REPORT;
        },
        third: [REPORT],
      },
    });
    await family.run('Go.');
    await gate.promise;
    expect(lastTexts(family.requestsOf('Go.')[1])).toEqual([
      expect.stringContaining('done'),
      expect.stringContaining('cancelled: stopped'),
      expect.stringContaining('done'),
    ]);
    expect(family.requestsOf('second')).toEqual([]);
  });
});
