import { describe, expect, test } from 'vitest';
import { recorded, requestFailed, requestStarted, responseCompleted } from '../../../test/recorded-events.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import { extendLedger, ledgerOf } from './ledger.ts';

const usage = (input: number, output: number) => ({
  ...NO_USAGE,
  input_tokens: input,
  output_tokens: output,
});

const events = recorded(
  ['a', requestStarted({ request: 'r1', model: 'small' })],
  ['a', requestFailed({ request: 'r1' })],
  ['a', requestStarted({ request: 'r1', model: 'small', attempt: 2 })],
  ['a', responseCompleted({ request: 'r1', model: 'small-2026', usage: usage(10, 5), costUsd: 0.25 })],
  ['b', requestStarted({ request: 'r2', model: 'large' })],
  ['b', responseCompleted({ request: 'r2', model: 'large', usage: usage(100, 50), costUsd: 1, kept: false })],
  ['b', requestStarted({ request: 'r3', model: 'large' })],
  ['b', requestFailed({ request: 'r3', retryInMs: null })],
);

describe('MODEL-3: the ledger', () => {
  test('starts at nothing', () => {
    expect(ledgerOf([]).total).toEqual({
      requests: 0,
      responses: 0,
      retries: 0,
      usage: NO_USAGE,
      costUsd: 0,
      durationMs: 0,
    });
  });

  test('sums every attempt and every billed response, kept or not', () => {
    expect(ledgerOf(events).total).toEqual({
      requests: 4,
      responses: 2,
      retries: 1,
      usage: usage(110, 55),
      costUsd: 1.25,
      durationMs: 200,
    });
  });

  test('counts what a failed attempt was billed for, and an unknown cost of one as unknown', () => {
    const failed = requestFailed({ request: 'r1', usage: usage(7, 1), costUsd: 0.5 });
    const more = recorded(['a', requestStarted({ request: 'r1' })], ['a', failed]);
    expect(ledgerOf(more).total).toMatchObject({ usage: usage(7, 1), costUsd: 0.5 });
    const unknown = recorded(['a', { ...failed, costUsd: null }]);
    expect(ledgerOf(unknown).total.costUsd).toBeNull();
  });

  test('keeps a line for each agent and for each model that was asked for', () => {
    const { agents, models } = ledgerOf(events);
    expect([...agents.keys()]).toEqual(['a', 'b']);
    expect(agents.get('a')).toMatchObject({ requests: 2, responses: 1, retries: 1, costUsd: 0.25 });
    expect([...models.keys()]).toEqual(['small', 'large']);
    expect(models.get('small')).toMatchObject({ requests: 2, responses: 1, retries: 1, usage: usage(10, 5) });
    expect(models.get('large')).toMatchObject({ requests: 2, responses: 1, retries: 0, costUsd: 1 });
  });

  test('files a response without its request under the model that answered', () => {
    const { models } = ledgerOf(recorded(['a', responseCompleted({ model: 'm-2026' })]));
    expect([...models.keys()]).toEqual(['m-2026']);
  });

  test('calls a sum with an unknown cost unknown, never the sum of the rest', () => {
    const unknown = recorded(
      ['a', responseCompleted({ request: 'r1', model: 'listed', costUsd: 0.5 })],
      ['b', responseCompleted({ request: 'r2', model: 'unlisted', costUsd: null })],
      ['b', responseCompleted({ request: 'r3', model: 'listed', costUsd: 0.5 })],
    );
    const { total, agents, models } = ledgerOf(unknown);
    expect(total.costUsd).toBeNull();
    expect(agents.get('a')?.costUsd).toBe(0.5);
    expect(agents.get('b')?.costUsd).toBeNull();
    expect(models.get('listed')?.costUsd).toBe(1);
    expect(models.get('unlisted')?.costUsd).toBeNull();
  });

  test('is the same when it is read in two parts', () => {
    const ledger = ledgerOf(events.slice(0, 3));
    for (const event of events.slice(ledger.seq)) extendLedger(ledger, event);
    expect(ledger).toEqual(ledgerOf(events));
  });

  test('RES-7: has a line for what was asked beside the conversation, within the total', () => {
    const aside = { request: 'r4', source: 'compaction' } as const;
    const more = recorded(
      ['a', requestStarted({ ...aside, model: 'small' })],
      ['a', requestFailed({ request: 'r4' })],
      ['a', requestStarted({ ...aside, model: 'small', attempt: 2 })],
      ['a', responseCompleted({ ...aside, usage: usage(7, 3), costUsd: 0.5, kept: false })],
    );
    const ledger = ledgerOf([...events, ...more]);
    expect(ledger.sources.get('compaction')).toMatchObject({
      requests: 2,
      retries: 1,
      responses: 1,
      usage: usage(7, 3),
      costUsd: 0.5,
    });
    expect(ledger.total).toMatchObject({ requests: 6, usage: usage(117, 58), costUsd: 1.75 });
    expect(ledgerOf(events).sources.size).toBe(0);
  });
});
