import { describe, expect, test } from 'vitest';
import { call, eventsOf, lastTexts, startAgents, startFamily } from '../../../test/fixtures/family.ts';
import { type ScriptedStep, scriptedModel } from '../../testing/scripted-model.ts';

const FRESH = { subagent_type: 'general-purpose' };
const spend: ScriptedStep = {
  calls: [{ name: 'Write', input: { file_path: 'work.txt', content: 'work' } }],
  usage: { input_tokens: 900 },
};
const ask = (input: object): ScriptedStep => ({
  calls: [{ name: 'Agent', input: { prompt: 'Work.', description: 'w', ...input } }],
});

async function reportOf(input: object, ...steps: ScriptedStep[]): Promise<string> {
  let report = '';
  const family = await startFamily({
    cast: {},
    provider: scriptedModel(ask(input), ...steps, ({ messages }) => {
      report = JSON.stringify(messages.at(-1));
      return { text: 'ok' };
    }),
  });
  expect((await family.run('Go.')).result).toMatchObject({ status: 'done' });
  return report;
}

describe('RES-10: a model limits what a child may take', () => {
  test('of a fork: at its tokens it ends, its parent is told and continues', async () => {
    const report = await reportOf({ budget: { tokens: 1_000 } }, spend, spend);
    expect(report).toMatch(/failed: budget: the budget is spent: \d+ of 1000 tokens/);
  });

  test('of a fresh agent: its dollars', async () => {
    const report = await reportOf({ ...FRESH, budget: { usd: 0.003 } }, spend, spend);
    expect(report).toMatch(/failed: budget: the budget is spent: \$0\.00\d+ of \$0\.003/);
  });

  test('its turns, with one closing turn', async () => {
    const report = await reportOf({ max_turns: 1 }, spend, { text: 'so far' });
    expect(report).toMatch(/failed: max_turns: the limit of 1 turns? is reached/);
    expect(report).toContain('so far');
  });

  test('never beyond what its ancestors have: the tighter limit ends it', async () => {
    const family = await startFamily({
      cast: {},
      agents: { tokens: 1_500 },
      provider: scriptedModel(ask({ budget: { tokens: 1_000_000 } }), spend, spend, spend),
    });
    await family.run('Go.');
    expect(eventsOf(family.recordedOf(2), 'agent.ended')).toMatchObject([
      { cause: 'budget', message: expect.stringContaining("the session's budget") },
    ]);
  });

  test('nor beyond the turns that are set for all', async () => {
    const family = await startFamily({
      settings: { maxTurns: 3 },
      cast: {
        'Go.': [startAgents(['child'], { max_turns: 500 }), { text: 'ok' }],
        child: [{ text: 'done' }],
      },
    });
    await family.run('Go.');
    expect(eventsOf(family.recordedOf(2), 'agent.started')).toMatchObject([{ maxTurns: 3 }]);
  });

  test.for<[object, RegExp]>([
    [{ budget: { tokens: 0 } }, /^No agent was started: the budget cannot be used: its tokens must be/],
    [{ budget: { usd: -1 } }, /its usd must be a number above 0/],
    [{ max_turns: 1.5 }, /max_turns must be a whole number above 0, not 1\.5/],
    [{ max_turns: 0 }, /max_turns must be a whole number above 0, not 0/],
    [{ ...FRESH, model: 'no-price', budget: { usd: 1 } }, /none is known for no-price: give .* tokens/],
    [{ budget: { dollars: 1 } }, /dollars/],
  ])('what makes no sense is refused in one line: %j', async ([input, message]) => {
    const family = await startFamily({
      cast: { 'Go.': [call('Agent', { prompt: 'p', description: 'd', ...input }), { text: 'ok' }] },
    });
    await family.run('Go.');
    expect(lastTexts(family.requestsOf('Go.')[1])).toEqual([expect.stringMatching(message)]);
    expect(family.recordedOf(2)).toEqual([]);
  });
});

describe('RES-10: a type and a program limit it too', () => {
  test('of what a file and a call say the less counts', async () => {
    const file =
      '---\nname: frugal\ndescription: d\nbudget: { tokens: 5000, usd: 0.5 }\nmaxTurns: 7\n---\np\n';
    const family = await startFamily({
      home: { 'agents/frugal.md': file },
      cast: {
        'Go.': [
          {
            tool_use: [{ tokens: 9_000 }, { tokens: 4_000, seconds: 60 }].map((budget) => ({
              name: 'Agent',
              input: { prompt: 'child', description: 'd', subagent_type: 'frugal', budget },
            })),
          },
          { text: 'ok' },
        ],
        child: [{ text: 'done' }],
      },
    });
    await family.run('Go.');
    expect([2, 3].map((agent) => eventsOf(family.recordedOf(agent), 'agent.started')[0])).toMatchObject([
      { budget: { tokens: 5_000, usd: 0.5 }, maxTurns: 7 },
      { budget: { tokens: 4_000, usd: 0.5, seconds: 60 }, maxTurns: 7 },
    ]);
  });

  test('a fork of the library has its own limits, and still shares its prefix', async () => {
    const family = await startFamily({ cast: {}, provider: scriptedModel(spend, spend, { text: 'x' }) });
    const handle = await family.session.fork('Work.', { budget: { tokens: 1_000 }, maxTurns: 9 });
    expect(await handle.result).toMatchObject({ status: 'failed', cause: 'budget', turns: 2 });
    expect(eventsOf(family.recordedOf(2), 'agent.started')).toMatchObject([{ maxTurns: 9 }]);
  });
});
