import { expect, test } from 'vitest';
import { OperatorWorld, runTask } from '../../../test/fixtures/operator-world.ts';
import type { OperatorEvent } from '../../schema/operator-events.ts';

test('OP-3, MODEL-4: a task says once that its agent waits for a limit, and until when, and no longer when it works', async () => {
  const world = new OperatorWorld({ tasks: [runTask('a')] });
  const operator = world.operator({
    attempt: async (_, watch) => {
      watch.started({ agent: 's.2', branch: null, path: null });
      const until = 3_600_000;
      operator.agentWaits('s.2', { cause: 'limit', until });
      operator.agentWaits('s.2', { cause: 'limit', until: until + 5 });
      operator.agentWaits('s.9', { cause: 'limit', until });
      operator.agentWaits('s.2', null);
      operator.agentWaits('s.2', null);
      operator.agentWaits('s.2', { cause: 'provider', until: null });
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
