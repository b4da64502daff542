import { expect, test } from 'vitest';
import { startEngine } from '../../../test/fixtures/engine.ts';
import {
  requestFailed,
  responseCompleted,
  toolCompleted,
  toolStarted,
} from '../../../test/recorded-events.ts';
import { ModelError } from '../../schema/errors.ts';
import type { JournalEvent } from '../../schema/events.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { liveEvent, type NamedContent } from './agent-event.ts';

test.each<[string, JournalEvent]>([
  ['request_failed', requestFailed({ retryInMs: 10 })],
  ['warning', { type: 'warning.raised', code: 'x', message: 'look out' }],
  ['status_changed', { type: 'status.changed', status: 'waiting', cause: 'limit', until: 9, leftMs: 1 }],
  ['progress', { type: 'progress.reported', line: 'Reading' }],
  ['stalled', { type: 'agent.stalled', silentMs: 60_000 }],
  [
    'conversation_replaced',
    {
      type: 'conversation.replaced',
      cause: 'compaction',
      messages: [],
      tokens: 9,
      trigger: 'request',
      tokensBefore: 90,
    },
  ],
])('%s is told with every field of its record', (type, recorded) => {
  expect(liveEvent(recorded)).toEqual({ ...recorded, type });
});

const call = { type: 'tool_use', id: 'c', name: 'Bash', input: {} } as const;
const result = { type: 'tool_result', tool_use_id: 'c', content: 'fine' } as const;

test.each<[string, JournalEvent, NamedContent]>([
  ['assistant', responseCompleted(), { blocks: [{ type: 'text', text: 'Here.' }] }],
  ['tool_started', toolStarted('c', 'Bash'), { call }],
  ['tool_completed', toolCompleted('c', 'Bash'), { call, result, details: { title: 'x' } }],
  ['tool_withdrawn', { type: 'tool.withdrawn', call: 'c', name: 'Bash' }, { call }],
])(
  '%s is told with every field of its record, and what that names; without that it is not told',
  (type, recorded, named) => {
    expect(liveEvent(recorded, named)).toEqual({ ...recorded, ...named, type });
    expect(liveEvent(recorded)).toBeNull();
  },
);

test('what is only for the record is not told', () => {
  expect(liveEvent({ type: 'file.read', call: 'c', path: '/a', version: 'v' })).toBeNull();
});

test('what a run tells of its requests and responses is what it records, with the content of the response', async () => {
  const overloaded = new ModelError('overloaded_error', 'retryable', 'busy', { status: 529 });
  const { run, recorded } = await startEngine({ provider: scriptedModel(overloaded, { text: 'Here.' }) });
  const { events } = await run('go');
  const records = recorded().filter(({ type }) => type === 'request.failed' || type === 'response.completed');
  const [failed, completed] = records;
  expect(records.map(({ type }) => type)).toEqual(['request.failed', 'response.completed']);
  expect(events).toEqual([
    { ...failed, type: 'request_failed' },
    { ...completed, type: 'assistant', blocks: [{ type: 'text', text: 'Here.' }] },
  ]);
});

test('every warning on record is told, in the same words', async () => {
  const { agent, run, recorded } = await startEngine({
    provider: scriptedModel({ text: 'Here.', stopReason: 'new_reason' }, () => {
      agent.warn('not_of_the_loop', 'something else');
      return { text: 'There.' };
    }),
  });
  const { events } = await run('go');
  const again = await run('go on');
  const warnings = recorded().filter(({ type }) => type === 'warning.raised');
  expect(warnings).toHaveLength(2);
  expect([...events, ...again.events].filter(({ type }) => type === 'warning')).toEqual(
    warnings.map((warning) => ({ ...warning, type: 'warning' })),
  );
});
