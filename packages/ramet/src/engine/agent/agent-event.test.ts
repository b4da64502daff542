import { expect, test } from 'vitest';
import { startEngine } from '../../../test/fixtures/engine.ts';
import { requestFailed } from '../../../test/recorded-events.ts';
import { ModelError } from '../../schema/errors.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { liveEvent, type ToldRecord } from './agent-event.ts';

test.each<[string, ToldRecord]>([
  ['request_failed', requestFailed({ retryInMs: 10 })],
  ['warning', { type: 'warning.raised', code: 'x', message: 'look out' }],
  ['status_changed', { type: 'status.changed', status: 'waiting', cause: 'limit', until: 9, leftMs: 1 }],
  ['progress', { type: 'progress.reported', line: 'Reading' }],
  ['stalled', { type: 'agent.stalled', silentMs: 60_000 }],
])('%s is told with every field of its record', (type, recorded) => {
  expect(liveEvent(recorded)).toEqual({ ...recorded, type });
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

test('a warning that is told is on record, in the same words', async () => {
  const provider = scriptedModel({ text: 'Here.', stopReason: 'new_reason' });
  const { run, recorded } = await startEngine({ provider });
  const { events } = await run('go');
  const warnings = recorded().filter(({ type }) => type === 'warning.raised');
  expect(warnings).toHaveLength(1);
  expect(events.filter(({ type }) => type === 'warning')).toEqual(
    warnings.map((warning) => ({ ...warning, type: 'warning' })),
  );
});
