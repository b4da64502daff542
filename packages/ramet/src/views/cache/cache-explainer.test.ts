import { describe, expect, test } from 'vitest';
import { RecordedSession } from '../../../test/fixtures/recorded-session.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { openReader } from '../../journal/sessions.ts';
import { PRICES } from '../../model/prices.ts';
import { type CacheExplanation, cacheExplainer } from './cache-explainer.ts';
import { differenceText, reasonText } from './reason-text.ts';
import { readSentRequests } from './sent-requests.ts';

const LONG = 'What is to be done, at length. '.repeat(200);

/** What is said about every request of a session, by its number. */
async function explained(write: (session: RecordedSession) => void): Promise<Map<string, CacheExplanation>> {
  const project = temporaryDirectory();
  const session = await RecordedSession.open(project);
  write(session);
  await session.journal.close();
  const reader = openReader({ project, session: session.journal.session });
  try {
    const sent = readSentRequests(reader);
    const explanations = sent.requests.map(cacheExplainer(sent, PRICES));
    return new Map(explanations.map((one) => [one.request.id.slice(one.request.id.indexOf('.')), one]));
  } finally {
    reader.close();
  }
}

const wrote = (tokens: number, read = 0) => ({
  cache_creation_input_tokens: tokens,
  cache_read_input_tokens: read,
});

/** A main agent with a long prompt that was answered. */
function begin(session: RecordedSession): string {
  const main = session.agent(1);
  session.say(main, [LONG]);
  session.exchange(main, { usage: wrote(10_000) });
  return main;
}

describe('FORK-8: what a request read and why no more', () => {
  test('the first of a prefix is cold, the next one reads all of it', async () => {
    const found = await explained((session) => {
      const main = begin(session);
      session.say(main, ['Go on.']);
      session.exchange(main, { usage: wrote(100, 10_000) });
    });
    expect(found.get('.1/1')).toMatchObject({ reason: { kind: 'cold' }, candidate: null, missed: 0 });
    expect(found.get('.1/2')).toMatchObject({
      reason: { kind: 'hit' },
      candidate: { kind: 'own', divergence: null, could: 10_000 },
      missed: 0,
      extraUsd: 0,
    });
  });

  test('a prefix that nobody used for longer than it lives is expired, and the price is that beyond a hit', async () => {
    const found = await explained((session) => {
      const main = begin(session);
      session.clock.now += 7 * 60_000;
      session.say(main, ['Go on.']);
      session.exchange(main, { usage: wrote(10_100) });
    });
    const miss = found.get('.1/2');
    expect(miss).toMatchObject({
      reason: { kind: 'expired', silentMs: 420_100, lifetimeMs: 300_000 },
      missed: 10_000,
    });
    // Sonnet 5: written at 2.50, read at 0.20 dollars a million.
    expect(miss?.extraUsd).toBeCloseTo((10_000 * (2.5 - 0.2)) / 1_000_000, 12);
    expect(miss && reasonText(miss)).toBe(
      'expired: the prefix was not used for 7 min, and it lives for 5 min',
    );
  });

  test('a fork that kept it alive is a use of it', async () => {
    const found = await explained((session) => {
      const main = begin(session);
      session.clock.now += 4 * 60_000;
      const fork = session.fork(2, main, 'One part.');
      session.exchange(fork, { usage: wrote(50, 10_000) });
      session.clock.now += 4 * 60_000;
      session.say(main, ['Go on.']);
      session.exchange(main, { usage: wrote(10_100) });
    });
    expect(found.get('.2/1')).toMatchObject({ reason: { kind: 'hit' }, candidate: { kind: 'parent' } });
    expect(found.get('.1/2')).toMatchObject({ reason: { kind: 'dropped' } });
  });

  test.each([
    ['a tool', { tools: { Read: 'reads', Write: 'writes more' } }, 'tools[1].description'],
    ['the system prompt', { system: 'another' }, 'system[0].text'],
  ])('a fork with another %s than its parent names the block and the field', async (_, change, where) => {
    const tools = { Read: 'reads', Write: 'writes' };
    const found = await explained((session) => {
      const main = session.agent(1, {}, { tools });
      session.say(main, [LONG]);
      session.exchange(main, { usage: wrote(10_000) });
      const fork = session.fork(2, main, 'One part.', { tools, ...change });
      session.exchange(fork, { usage: wrote(10_200) });
    });
    const miss = found.get('.2/1');
    expect(miss).toMatchObject({
      reason: { kind: 'changed' },
      candidate: { kind: 'parent' },
      missed: 10_000,
    });
    expect(differenceText(miss?.candidate ?? null)).toBe(where);
    expect(miss && reasonText(miss)).toBe(`changed block: ${where}`);
  });

  test('siblings that start together pay for what they share: a parallel launch without a lead', async () => {
    const found = await explained((session) => {
      const main = begin(session);
      const [one, two] = [session.fork(2, main, 'One part.'), session.fork(3, main, 'Another part.')];
      const [first, second] = [session.ask(one), session.ask(two)];
      session.clock.now += 300;
      session.answer(one, first, { usage: wrote(3_000, 10_000) });
      session.answer(two, second, { usage: wrote(3_000, 10_000) });
      const three = session.fork(4, main, 'The rest.');
      session.exchange(three, { usage: wrote(10, 12_990) });
    });
    const behind = found.get('.3/1');
    expect(behind).toMatchObject({
      candidate: { kind: 'sibling', divergence: { where: 'messages[2].content[1]', field: 'text' } },
      reason: { kind: 'parallel' },
    });
    expect(behind?.missed).toBeGreaterThan(2_000);
    expect(behind && reasonText(behind)).toMatch(
      /^parallel launch without a lead: \w{8}\.2\/1 was writing the same prefix/,
    );
    expect(found.get('.4/1')).toMatchObject({ reason: { kind: 'hit' }, candidate: { kind: 'sibling' } });
  });

  test('fresh agents of one type are held against the first of them, up to where they part', async () => {
    const found = await explained((session) => {
      const main = begin(session);
      for (const [number, task] of [
        [2, 'Look here.'],
        [3, 'Look there.'],
      ] as const) {
        const agent = session.agent(number, { parent: main, agentType: 'Explore' }, { system: LONG });
        session.say(agent, [task]);
        session.exchange(agent, { usage: number === 2 ? wrote(5_000) : wrote(5_000, 0) });
      }
    });
    expect(found.get('.2/1')).toMatchObject({ reason: { kind: 'cold' } });
    const second = found.get('.3/1');
    expect(second).toMatchObject({
      candidate: { kind: 'sibling', divergence: { where: 'messages[0].content[0]', field: 'text' } },
      reason: { kind: 'dropped' },
    });
    expect(second?.missed).toBeGreaterThan(4_900);
    expect(second?.missed).toBeLessThan(5_000);
  });

  test('a compaction and a switch of models are told apart from a changed block', async () => {
    const found = await explained((session) => {
      const main = begin(session);
      session.replace(main, 'compaction', ['A summary.']);
      session.exchange(main, { usage: wrote(1_100, 500) });
      session.replace(main, 'fallback', ['A summary.'], { model: 'claude-opus-5' });
      session.exchange(main, { usage: wrote(1_600) });
    });
    expect(found.get('.1/2')).toMatchObject({ reason: { kind: 'compaction' }, missed: 9_500 });
    expect(found.get('.1/3')).toMatchObject({
      reason: { kind: 'model', from: 'claude-sonnet-5', to: 'claude-opus-5' },
      missed: 1_600,
    });
  });

  test('a prompt below the minimum of its model is no miss', async () => {
    const found = await explained((session) => {
      const main = session.agent(1);
      for (const text of ['Short.', 'Also short.']) {
        session.say(main, [text]);
        session.exchange(main, { usage: { input_tokens: 900 } });
      }
    });
    expect(found.get('.1/2')).toMatchObject({
      reason: { kind: 'below_minimum', minimum: 1_024, promptTokens: 900 },
      missed: 0,
    });
  });

  test('what was written more than 20 blocks before any mark is out of reach', async () => {
    const found = await explained((session) => {
      const main = begin(session);
      session.say(
        main,
        Array.from({ length: 30 }, (_, index) => `part ${index}`),
      );
      const end = { message: 2, block: 29, ttl: '5m' } as const;
      session.exchange(main, { usage: wrote(10_300), request: { breakpoints: [end] } });
    });
    expect(found.get('.1/2')).toMatchObject({ reason: { kind: 'out_of_reach' }, missed: 10_000 });
  });

  test('unknown prices, missing counts and missing answers stay what they are', async () => {
    const found = await explained((session) => {
      const main = session.agent(1, {}, { model: 'house-model' });
      session.say(main, [LONG]);
      session.exchange(main, { usage: wrote(10_000) });
      session.say(main, ['Go on.']);
      session.exchange(main, { usage: wrote(10_100), request: { breakpoints: [] } });
      const other = session.agent(2, { agentType: 'other' });
      session.say(other, [LONG]);
      session.exchange(other, { usage: { input_tokens: 5_000 } });
      session.ask(session.agent(3, { agentType: 'third' }));
    });
    expect(found.get('.1/2')).toMatchObject({ missed: 10_000, extraUsd: null });
    expect(found.get('.2/1')).toMatchObject({ reason: { kind: 'not_counted' } });
    expect(found.get('.3/1')).toMatchObject({ reason: { kind: 'unanswered', failure: null } });
  });
});
