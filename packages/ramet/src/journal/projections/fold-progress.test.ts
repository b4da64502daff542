import { expect, test } from 'vitest';
import type { JournalEvent } from '../../schema/events.ts';
import { foldProgress } from './agent-state.ts';

const said = (cause: 'prompt' | 'tool_results'): JournalEvent => ({
  type: 'message.appended',
  role: 'user',
  cause,
  blocks: [],
  shared: 0,
});

test('RES-4: the last line of progress counts until the agent has another task', () => {
  const events: JournalEvent[] = [
    { type: 'progress.reported', line: 'one' },
    { type: 'progress.reported', line: 'two' },
    said('tool_results'),
    said('prompt'),
  ];
  let progress: string | null = null;
  const after = events.map((event) => {
    progress = foldProgress(progress, event);
    return progress;
  });
  expect(after).toEqual(['one', 'two', 'two', null]);
});
