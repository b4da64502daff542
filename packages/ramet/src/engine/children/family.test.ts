import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../../test/fixtures/command.ts';
import { call, eventsOf, lastTexts, startAgents, startFamily } from '../../../test/fixtures/family.ts';
import { type Clock, systemClock } from '../../schema/clock.ts';

const REPORT = { text: 'Scope: done.' };

describe('RES-2: a family’s budget', () => {
  const spend = (usage: Record<string, number>) => ({ ...call('Bash', { command: 'true' }), usage });

  test('a child is told to wrap up near its parent’s limit, ends at it, and so does the parent', async () => {
    const family = await startFamily({
      budget: { tokens: 100_000 },
      cast: {
        'Go.': ({ turn }) => (turn === 0 ? startAgents(['child']) : { text: 'I should not be asked.' }),
        child: [spend({ output_tokens: 80_000 }), spend({ output_tokens: 20_000 }), REPORT],
      },
    });
    const { result } = await family.run('Go.');
    const [, second, third] = family.requestsOf('child');
    expect(lastTexts(second).at(-1)).toMatch(/Your budget is nearly spent \(the main agent's budget: /);
    expect(third).toBeUndefined();
    expect(eventsOf(family.recordedOf(2), 'agent.ended')).toMatchObject([
      { status: 'failed', cause: 'budget' },
    ]);
    expect(result).toMatchObject({ status: 'failed', cause: 'budget' });
    expect(family.requestsOf('Go.')).toHaveLength(1);
  });
});

describe('AGENT-5: a family whose time is up', () => {
  test('is timed_out, child and parent, with no further request', async () => {
    const over = Promise.withResolvers<void>();
    let aheadMs = 0;
    const clock: Clock = {
      ...systemClock,
      now: () => systemClock.now() + aheadMs,
      sleep: (ms, ...rest) => (ms === 900_000 ? over.promise : systemClock.sleep(ms, ...rest)),
    };
    const family = await startFamily({
      clock,
      budget: { seconds: 900 },
      cast: { 'Go.': [startAgents(['child'])], child: [call('Bash', { command: 'sleep 600' })] },
    });
    family.session.subscribe(({ type }) => {
      if (type !== 'tool_started') return;
      aheadMs = 900_000;
      over.resolve();
    });
    const { result } = await family.run('Go.');
    expect(result).toMatchObject({ status: 'timed_out', cause: 'budget' });
    expect(eventsOf(family.recordedOf(2), 'agent.ended')).toMatchObject([
      { status: 'timed_out', cause: 'budget' },
    ]);
  });
});

describe('RES-5: an agent that fails', () => {
  test('takes the agents along that it had in the background', async () => {
    const family = await startFamily({
      cast: {
        'Go.': [startAgents(['outer'], { subagent_type: 'general-purpose' }), { text: 'ok' }],
        outer: [startAgents(['inner'], { run_in_background: true }), { text: 'No.', stop_reason: 'refusal' }],
        inner: () => new Promise(() => {}),
      },
    });
    await family.run('Go.');
    expect(lastTexts(family.requestsOf('Go.')[1])[0]).toContain('failed: refusal');
    expect(eventsOf(family.recordedOf(3), 'agent.ended')).toMatchObject([
      { status: 'interrupted', cause: 'parent_ended' },
    ]);
    expect(family.session.agents).toEqual([]);
  });
});

describe('RES-3: a question of a child nobody can answer', () => {
  test('is denied with the reason, and the child continues', async () => {
    const family = await startFamily({
      permissionMode: 'default',
      cast: {
        'Go.': [startAgents(['child']), { text: 'ok' }],
        child: [call('Bash', { command: 'touch x' }), REPORT],
      },
    });
    await family.run('Go.');
    expect(lastTexts(family.requestsOf('child')[1])[0]).toMatch(
      /not permitted: .*nobody can be asked in this run/,
    );
    expect(lastTexts(family.requestsOf('Go.')[1])[0]).toContain('done');
  });
});

describe('RES-5: agents that have ended', () => {
  test('leave nothing on the signal of the run that asked for them', async () => {
    const { signal } = new AbortController();
    const tasks = Array.from({ length: 30 }, (_, index) => `child ${index}`);
    const family = await startFamily({
      cast: {
        'Go.': [
          startAgents(tasks),
          startAgents(tasks.slice(0, 10), { run_in_background: true }),
          call('TaskOutput', { task_id: 'all', block: true, timeout: 600_000 }),
          { text: 'ok' },
        ],
        child: [call('Bash', { command: 'true' }), REPORT],
      },
    });
    expect((await family.run('Go.', { signal })).result.status).toBe('done');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(family.session.agents).toEqual([]);
  });

  test('leave no child, no handle and no place behind, hundreds of them', async () => {
    const family = await startFamily({
      agents: { concurrent: 50 },
      cast: { 'Go.': [{ text: 'Ready.' }], child: [REPORT] },
    });
    await family.run('Go.');
    const abortController = new AbortController();
    for (let round = 0; round < 4; round += 1) {
      const handles = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          family.session.fork(`child ${round}.${index}`, { abortController }),
        ),
      );
      const results = await Promise.all(handles.map(({ result }) => result));
      expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['done']));
    }
    expect(family.session.agents).toEqual([]);
    expect(getEventListeners(abortController.signal, 'abort')).toEqual([]);
    await eventually(() => eventsOf(family.recordedOf(401), 'agent.ended').length === 1);
  });
});
