import { expect, test } from 'vitest';
import { OperatorWorld, runTask } from '../../../test/fixtures/operator-world.ts';
import type { OperatorEvent } from '../../schema/operator-events.ts';

const agent = (id: string, top = id, name: string | null = null) => ({ id, top, name });

test('OP-3, MODEL-4: a task says once that its agent waits for a limit, and until when, and no longer when it works', async () => {
  const world = new OperatorWorld({ tasks: [runTask('a')] });
  const operator = world.operator({
    attempt: async (_, watch) => {
      watch.started({ agent: 's.2', branch: null, path: null });
      const until = 3_600_000;
      operator.agentWaits(agent('s.2'), { cause: 'limit', until });
      operator.agentWaits(agent('s.2'), { cause: 'limit', until: until + 5 });
      operator.agentWaits(agent('s.9'), { cause: 'limit', until });
      operator.agentWaits(agent('s.2'), null);
      operator.agentWaits(agent('s.2'), null);
      operator.agentWaits(agent('s.2'), { cause: 'provider', until: null });
      return {};
    },
  });
  await operator.run(new AbortController().signal);
  const said = world.events.flatMap((event: OperatorEvent) =>
    event.type === 'task.changed' && event.message !== undefined
      ? [[event.status, event.message, event.until]]
      : [],
  );
  expect(said.slice(0, 3)).toEqual([
    ['running', expect.stringMatching(/^waiting: limit until .*\d\d:\d\d \(in /), 3_600_000],
    ['running', null, null],
    ['running', 'waiting: provider', null],
  ]);
  expect(said).toHaveLength(3);
});

test('OP-3, MODEL-4: it says so too while an agent that its agent started waits, or a reviewer', async () => {
  const world = new OperatorWorld({ tasks: [runTask('a')], run: { review: ['strict'] } });
  const limit = { cause: 'limit', until: null };
  const operator = world.operator({
    attempt: async (_, watch) => {
      watch.started({ agent: 's.2', branch: null, path: null });
      operator.agentWaits(agent('s.3', 's.2'), limit);
      operator.agentWaits(agent('s.4', 's.2'), limit);
      // One of the two still waits.
      operator.agentWaits(agent('s.3', 's.2'), null);
      operator.agentWaits(agent('s.4', 's.2'), null);
      return {};
    },
    review: ({ name }) => {
      operator.agentWaits(agent('s.5', 's.5', name), limit);
      operator.agentWaits(agent('s.5', 's.5', name), null);
      return {};
    },
  });
  await operator.run(new AbortController().signal);
  const said = world.events.flatMap((event: OperatorEvent) =>
    event.type === 'task.changed' && event.until !== undefined ? [[event.status, event.message]] : [],
  );
  expect(said).toEqual([
    ...[
      ['running', 'waiting: limit'],
      ['running', null],
      ['verifying', 'waiting: limit'],
      ['verifying', null],
    ],
  ]);
});

test('OP-3, MODEL-4: it says so too while an agent that resolves its conflict waits', async () => {
  const world = new OperatorWorld({ tasks: [runTask('a'), runTask('b')] });
  const operator = world.operator({
    batch: ({ offers: [first] }) => {
      const resolver = { ...agent('r.1'), task: first?.task.id ?? '' };
      operator.agentWaits(resolver, { cause: 'limit', until: null });
      operator.agentWaits(resolver, null);
    },
  });
  await operator.run(new AbortController().signal);
  const said = world.events.flatMap((event: OperatorEvent) =>
    event.type === 'task.changed' && event.until !== undefined ? [[event.status, event.message]] : [],
  );
  expect(said.slice(0, 2)).toEqual([
    ['verifying', 'waiting: limit'],
    ['verifying', null],
  ]);
});

test('OP-2: a resumed run forgets what its agents waited for', async () => {
  const world = new OperatorWorld({ tasks: [runTask('a')] });
  const attempt = { number: 1, state: 'running', name: 'a-1', agent: 's.2' } as const;
  const wait = { message: 'waiting: limit until 16:40 (in 2 h)', until: 9_000_000 };
  const running = { type: 'task.changed', task: 'a', status: 'running', cause: null } as const;
  world.events.push({ ...running, attempt, ...wait }, { type: 'operator.resumed' });
  const before = world.events.length;
  await world.run();
  expect(world.events[before]).toMatchObject({ ...running, message: null, until: null });
});
