import { describe, expect, test } from 'vitest';
import {
  call,
  eventsOf,
  type FamilySession,
  lastTexts,
  startAgents,
  startFamily,
  timesIn,
} from '../../../test/fixtures/family.ts';

const REPORT = { text: 'Scope: done.' };
const look = (task_id: string, input = {}) => call('TaskOutput', { task_id, ...input });
const background = (tasks: string[]) => ({
  tool_use: tasks.map((prompt) => ({
    name: 'Agent',
    input: { prompt, description: prompt, name: prompt, run_in_background: true },
  })),
});

const told = (family: FamilySession): string[] =>
  family.requestsOf('Go.').map((record) => lastTexts(record)[0] ?? '');
const allSaid = (family: FamilySession): string =>
  JSON.stringify(family.requestsOf('Go.').at(-1)?.request?.messages);

describe('AGENT-7: steering a running agent', () => {
  test('it hears the user at its next tool boundary, and siblings hear nothing', async () => {
    const family = await startFamily({
      cast: {
        'Go.': [startAgents(['child', 'sibling']), { text: 'ok' }],
        child: [
          () => {
            family.session.agents.find(({ id }) => id.endsWith('.2'))?.steer('Look left.');
            return call('Bash', { command: 'echo tool says' });
          },
          REPORT,
        ],
        sibling: [call('Bash', { command: 'true' }), REPORT],
      },
    });
    await family.run('Go.');
    expect(lastTexts(family.requestsOf('child')[1])).toEqual([
      expect.stringContaining('tool says'),
      '<agent-message from="the user">\nLook left.\n</agent-message>',
    ]);
    expect(lastTexts(family.requestsOf('sibling')[1])).toHaveLength(1);
  });

  test('one that was about to end gets it, and continues', async () => {
    const family = await startFamily({
      cast: {
        'Go.': [startAgents(['child']), { text: 'ok' }],
        child: [
          () => {
            family.session.agents[0]?.steer('One more.');
            return { text: 'Scope: first.' };
          },
          { text: 'Scope: second.' },
        ],
      },
    });
    await family.run('Go.');
    expect(told(family)[1]).toContain('Scope: second.');
    expect(told(family)[1]).not.toContain('Scope: first.');
  });
});

describe('AGENT-7: cancelling an agent', () => {
  test('it ends as cancelled with a summary; its own children are cancelled too', async () => {
    const family = await startFamily({
      cast: {
        'Go.': [startAgents(['outer', 'sibling'], { subagent_type: 'general-purpose' }), { text: 'ok' }],
        outer: ({ last }) =>
          last.includes('was cancelled')
            ? { text: 'Outer: half done.' }
            : startAgents(['inner'], { subagent_type: 'general-purpose' }),
        inner: ({ last }) => {
          if (last.includes('was cancelled')) return { text: 'Inner: half done.' };
          family.session.agents.find(({ id }) => id.endsWith('.2'))?.cancel();
          return call('Bash', { command: 'true' });
        },
        sibling: [REPORT],
      },
    });
    const { result } = await family.run('Go.');
    expect(result.status).toBe('done');
    const [outer, sibling] = lastTexts(family.requestsOf('Go.')[1]);
    expect(outer).toMatch(/cancelled: on_request: .*Its last message:\nOuter: half done\./s);
    expect(outer).not.toMatch(/\bdone:/);
    expect(sibling).toContain('Scope: done.');
    expect(eventsOf(family.recordedOf(4), 'agent.ended')).toMatchObject([
      { status: 'cancelled', cause: 'on_request' },
    ]);
  });

  test('one that waits for its turn ends without a request', async () => {
    const family = await startFamily({
      agents: { concurrent: 1 },
      cast: {
        'Go.': [startAgents(['first', 'second']), { text: 'ok' }],
        first: () => {
          family.session.agents.find(({ id }) => id.endsWith('.3'))?.cancel();
          return REPORT;
        },
      },
    });
    await family.run('Go.');
    expect(family.requestsOf('second')).toEqual([]);
    expect(lastTexts(family.requestsOf('Go.')[1])[1]).toContain('cancelled (stopped) before it began');
  });

  test('its calls after that are not run', async () => {
    let runs = 0;
    const family = await startFamily({
      cast: {
        'Go.': [startAgents(['child']), { text: 'ok' }],
        child: () => {
          if (runs++ === 0) family.session.agents[0]?.cancel();
          return call('Bash', { command: `touch made${runs}` });
        },
      },
    });
    await family.run('Go.');
    expect(family.requestsOf('child')).toHaveLength(2);
    expect(eventsOf(family.recordedOf(2), 'tool.started')).toHaveLength(1);
    expect(told(family)[1]).toContain('cancelled');
  });
});

describe('AGENT-7: stopping an agent', () => {
  test('TaskStop ends a child at once, by name, and it is reported once', async () => {
    const working = Promise.withResolvers<void>();
    const family = await startFamily({
      cast: {
        'Go.': [
          background(['long']),
          () => working.promise.then(() => call('TaskStop', { task_id: 'long' })),
          { text: 'ok' },
        ],
        long: () => {
          working.resolve();
          return new Promise(() => {});
        },
      },
    });
    const { result } = await family.run('Go.');
    expect(result).toMatchObject({ status: 'done', text: 'ok' });
    expect(told(family)[2]).toMatch(/Agent \w+\.2 was stopped \(cancelled after 0 turns\)/);
    expect(timesIn(allSaid(family), '<task-id>')).toBe(1);
    expect(allSaid(family)).toContain('<status>cancelled: stopped');
  });

  test('an agent stops its own children only, and nobody is told as unknown', async () => {
    const family = await startFamily({
      cast: {
        'Go.': [startAgents(['child']), call('TaskStop', { task_id: 'ghost' }), { text: 'ok' }],
        child: [() => call('TaskStop', { task_id: `${family.session.id}.1` }), REPORT],
      },
    });
    await family.run('Go.');
    expect(lastTexts(family.requestsOf('child')[1])[0]).toMatch(/no .*task/i);
    expect(told(family)[2]).toMatch(/ghost/);
  });
});

describe('AGENT-7: waiting for agents', () => {
  test('a wait for one returns its report, and it is not told again', async () => {
    const family = await startFamily({
      cast: {
        'Go.': [background(['quick']), look('quick', { block: true }), { text: 'ok' }],
        quick: [REPORT],
      },
    });
    const { result } = await family.run('Go.');
    expect(result).toMatchObject({ text: 'ok', turns: 3 });
    expect(told(family)[2]).toContain('Scope: done.');
    expect(timesIn(allSaid(family), '<task-id>')).toBe(1);
    expect(eventsOf(family.recordedOf(1), 'message.taken')).toHaveLength(1);
  });

  test('a wait for all returns, at its limit, the finished ones and names the others', async () => {
    const gate = Promise.withResolvers<void>();
    const family = await startFamily({
      cast: {
        'Go.': [
          background(['quick', 'slow']),
          look('quick', { block: true }),
          look('all', { block: true, timeout: 50 }),
          () => {
            gate.resolve();
            return look('all', { block: true, timeout: 600_000 });
          },
          { text: 'ok' },
        ],
        quick: [REPORT],
        slow: () => gate.promise.then(() => ({ text: 'Scope: slow.' })),
      },
    });
    const { result } = await family.run('Go.');
    expect(result).toMatchObject({ text: 'ok', turns: 5 });
    expect(told(family)[3]).toMatch(/^Agent \w+\.3 \(slow: slow\) still runs\.$/);
    expect(told(family)[4]).toContain('Scope: slow.');
    expect(timesIn(allSaid(family), '<task-id>')).toBe(2);
  });

  test('one that was reported is known by its name, and not reported again', async () => {
    const ended = Promise.withResolvers<void>();
    const family = await startFamily({
      cast: {
        'Go.': [
          background(['quick']),
          () => ended.promise.then(() => call('Bash', { command: 'true' })),
          look('quick'),
          look('quick'),
          look('all'),
          { text: 'ok' },
        ],
        quick: [REPORT],
      },
    });
    family.session.subscribe(({ type }) => {
      if (type === 'agent_ended') ended.resolve();
    });
    await family.run('Go.');
    expect(timesIn(allSaid(family), '<task-id>')).toBe(1);
    for (const look of [3, 4]) {
      expect(told(family)[look]).toMatch(/Agent \w+\.2 has ended: done\. You already have its report\./);
    }
    expect(told(family)[5]).toBe('None of your agents is running, and none has news.');
  });

  test('one of another parent is said to run, or to have ended, and no more', async () => {
    const family = await startFamily({
      cast: {
        'Go.': [startAgents(['child', 'sibling']), { text: 'ok' }],
        child: [
          () => look(`${family.session.id}.3`),
          async () => {
            const sibling = family.session.agents.find(({ id }) => id.endsWith('.3'));
            gate.resolve();
            await sibling?.result;
            return look(`${family.session.id}.3`);
          },
          REPORT,
        ],
        sibling: () => gate.promise.then(() => REPORT),
      },
    });
    const gate = Promise.withResolvers<void>();
    await family.run('Go.');
    const [, second, third] = family.requestsOf('child').map((record) => lastTexts(record)[0]);
    expect(second).toMatch(/^Agent \w+\.3 is running and reports to the agent that started it\.$/);
    expect(third).toMatch(/^Agent \w+\.3 has ended: done\.$/);
  });

  test('nobody of that name is an error', async () => {
    const family = await startFamily({ cast: { 'Go.': [look('ghost'), { text: 'ok' }] } });
    await family.run('Go.');
    expect(told(family)[1]).toContain('ghost');
  });
});

describe('AGENT-7: silence', () => {
  test('of longer than the stall limit is an event, once, and does not end the agent', async () => {
    const gate = Promise.withResolvers<void>();
    const family = await startFamily({
      agents: { stallSeconds: 0.05 },
      cast: {
        'Go.': [startAgents(['child']), { text: 'ok' }],
        child: () => gate.promise.then(() => REPORT),
      },
    });
    const stalls: number[] = [];
    family.session.subscribe((event) => {
      if (event.type !== 'stalled') return;
      stalls.push(event.silentMs);
      setTimeout(() => gate.resolve(), 200);
    });
    const { result } = await family.run('Go.');
    expect(result.status).toBe('done');
    expect(stalls).toHaveLength(1);
    expect(stalls[0]).toBeGreaterThanOrEqual(50);
    expect(eventsOf(family.recordedOf(2), 'agent.stalled')).toMatchObject([{ silentMs: stalls[0] }]);
  });
});
