import { expect, test } from 'vitest';
import type { EventOf } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import { tellingChanges } from './result-output.ts';

const released = (checkoutChanges?: string[]): EventOf<'worktree.released'> => ({
  ...{ type: 'worktree.released', id: 'w', path: '/w', branch: 'b', base: 'c', from: '/repo' },
  ...{ kept: true, reasons: [] },
  ...(checkoutChanges && { checkoutChanges }),
});

test('WORK-9: a change of the checkout is printed once, however many agents saw it', () => {
  const lines: string[] = [];
  const seen: string[] = [];
  const listener = tellingChanges(
    (line) => lines.push(line),
    (_, { type }) => seen.push(type),
  );
  const agent = 's.1' as AgentId; // any
  for (const changes of [undefined, ['main moved'], ['main moved', 'HEAD\u001b[2J went']])
    listener(agent, released(changes));
  expect(lines).toEqual([
    '/repo changed meanwhile; Ramet does not know who changed it: main moved',
    '/repo changed meanwhile; Ramet does not know who changed it: HEAD[2J went',
  ]);
  expect(seen).toHaveLength(3);
});
