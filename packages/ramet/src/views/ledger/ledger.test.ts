import { describe, expect, test } from 'vitest';
import {
  agentStarted,
  recorded,
  requestFailed,
  requestStarted,
  responseCompleted,
} from '../../../test/recorded-events.ts';
import { hitRate, NO_USAGE } from '../../schema/usage.ts';
import { extendLedger, isBelowMinimum, ledgerOf, mostUnanswered, sumOfLines } from './ledger.ts';

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
      atLeastUsd: 0,
      durationMs: 0,
      belowMinimum: 0,
      reused: { tokens: 0, savedUsd: 0 },
      unanswered: { requests: 0, atMostUsd: 0, unbounded: 0 },
    });
  });

  test('sums every attempt and every billed response, kept or not', () => {
    expect(ledgerOf(events).total).toEqual({
      requests: 4,
      responses: 2,
      retries: 1,
      usage: usage(110, 55),
      costUsd: 1.25,
      atLeastUsd: 1.25,
      durationMs: 200,
      belowMinimum: 0,
      reused: { tokens: 0, savedUsd: 0 },
      unanswered: { requests: 0, atMostUsd: 0, unbounded: 0 },
    });
  });

  test('counts apart what no response tells of, with what it costs at most', () => {
    const asked = (request: string, atMostUsd: number | null, attempt = 1) =>
      requestStarted({ request, model: 'small', attempt, atMostUsd });
    const lost = recorded(
      ['a', asked('r1', 0.1)],
      ['a', requestFailed({ request: 'r1', mayCost: true })],
      ['a', asked('r1', 0.1, 2)],
      ['a', responseCompleted({ request: 'r1', model: 'small', usage: usage(1, 1), costUsd: 0.01 })],
      ['a', asked('r2', 0.2)],
      ['a', requestFailed({ request: 'r2', retryInMs: null })],
      ['b', asked('r3', 0.3)],
    );
    const { total, agents, models } = ledgerOf(lost);
    expect(total).toMatchObject({
      requests: 4,
      costUsd: 0.01,
      unanswered: { requests: 2, atMostUsd: 0.4, unbounded: 0 },
    });
    expect(mostUnanswered(total.unanswered)).toBe(0.4);
    expect(agents.get('a')?.unanswered).toMatchObject({ requests: 1, atMostUsd: 0.1 });
    expect(models.get('small')?.unanswered.requests).toBe(2);
    expect(sumOfLines([total, total]).unanswered).toEqual({ requests: 4, atMostUsd: 0.8, unbounded: 0 });
    const priceless = recorded(['a', asked('r1', null)]);
    expect(mostUnanswered(ledgerOf(priceless).total.unanswered)).toBeNull();
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

  test('says what a sum with an unknown part is at least, for the whole and for every line', () => {
    const partly = { ...usage(10, 5), unknown: ['cache_read_input_tokens'] as const };
    const { total, models } = ledgerOf([
      ...events,
      ...recorded(
        ['a', requestStarted({ request: 'r4', model: 'small' })],
        ['a', responseCompleted({ request: 'r4', usage: partly, costUsd: null, atLeastUsd: 0.125 })],
      ),
    ]);
    expect(total).toMatchObject({ costUsd: null, atLeastUsd: 1.375, usage: { ...usage(120, 60) } });
    expect(total.usage.unknown).toEqual(['cache_read_input_tokens']);
    expect(models.get('large')).toMatchObject({ costUsd: 1, atLeastUsd: 1 });
    expect(models.get('large')?.usage).not.toHaveProperty('unknown');
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

describe('LAUNCH-1: the ledger of many agents', () => {
  const origin = { call: 'c', description: 'mend it', background: false, depth: 1 } as const;
  const fork = agentStarted({ parent: 's.1', origin: { ...origin, kind: 'fork' } });
  const explore = agentStarted({
    parent: 's.2',
    agentType: 'Explore',
    name: 'scout',
    origin: { ...origin, kind: 'fresh' },
  });
  const compared = {
    type: 'fork.compared',
    forkTokens: 900,
    freshTokens: 300,
    forkUsd: 0.3,
    freshUsd: 0.1,
  } as const;
  const tree = recorded(
    ['s.1', agentStarted()],
    ['s.1', responseCompleted({ request: 's.1/1', costUsd: 1 })],
    ['s.2', fork],
    ['s.2', responseCompleted({ request: 's.2/1', costUsd: 2, reused: { tokens: 500, savedUsd: 0.5 } })],
    ['s.3', fork],
    ['s.3', responseCompleted({ request: 's.3/1', costUsd: 3, reused: { tokens: 700, savedUsd: 0.75 } })],
    ['s.4', explore],
    ['s.4', responseCompleted({ request: 's.4/1', costUsd: 4 })],
    ['s.3', { ...compared, forkUsd: 0.2 }],
    ['s.3', compared],
  );

  test('has a line for each type, forks as one', () => {
    const { types } = ledgerOf(tree);
    expect([...types].map(([type, { costUsd }]) => [type, costUsd])).toEqual([
      ['main', 1],
      ['fork', 5],
      ['Explore', 4],
    ]);
  });

  test('knows whose child each agent is and what it is for', () => {
    expect([...ledgerOf(tree).known.values()].at(-1)).toEqual({
      id: 's.4',
      parent: 's.2',
      type: 'Explore',
      name: 'scout',
      description: 'mend it',
      thinking: null,
      source: null,
    });
  });

  test('sums what was saved by reading what others had written, and calls an unknown part unknown', () => {
    const ledger = ledgerOf(tree);
    expect(ledger.total.reused).toEqual({ tokens: 1200, savedUsd: 1.25 });
    expect(ledger.agents.get('s.2')?.reused).toEqual({ tokens: 500, savedUsd: 0.5 });
    const unknown = recorded(['s.2', responseCompleted({ reused: { tokens: 1, savedUsd: null } })]);
    expect(ledgerOf([...tree, ...unknown]).total.reused).toEqual({ tokens: 1201, savedUsd: null });
  });

  test('has what a fresh agent would have cost, as it was last compared', () => {
    const { type: _, ...expected } = compared;
    expect([...ledgerOf(tree).forks]).toEqual([['s.3', expected]]);
  });

  test('counts a prompt below the minimum as such, unless the provider cached it after all', () => {
    const small = recorded(
      ['s.1', requestStarted({ request: 'r1', cache: 'below minimum' })],
      ['s.1', responseCompleted({ request: 'r1' })],
      ['s.1', requestStarted({ request: 'r2', cache: 'below minimum' })],
      ['s.1', responseCompleted({ request: 'r2', usage: { ...NO_USAGE, cache_creation_input_tokens: 9 } })],
      ['s.1', requestStarted({ request: 'r3', cache: 'cold' })],
      ['s.1', responseCompleted({ request: 'r3' })],
    );
    expect(ledgerOf(small).total.belowMinimum).toBe(1);
    expect(isBelowMinimum(ledgerOf(small).total)).toBe(false);
    expect(isBelowMinimum(ledgerOf(small.slice(0, 2)).total)).toBe(true);
    expect(isBelowMinimum(ledgerOf([]).total)).toBe(false);
  });

  test('adds up over sessions', () => {
    const total = ledgerOf(tree).total;
    expect(sumOfLines([total, total])).toMatchObject({
      responses: 8,
      costUsd: 20,
      usage: usage(80, 40),
      reused: { tokens: 2400, savedUsd: 2.5 },
    });
    expect(sumOfLines([total, { ...total, costUsd: null }]).costUsd).toBeNull();
  });

  test('the hit rate is what was read of all that was sent, and nothing where nothing was', () => {
    const parts = { input_tokens: 10, cache_creation_input_tokens: 30, cache_read_input_tokens: 60 };
    expect(hitRate({ ...NO_USAGE, ...parts })).toBe(0.6);
    expect(hitRate(NO_USAGE)).toBeNull();
  });
});
