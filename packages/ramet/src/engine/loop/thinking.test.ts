import { describe, expect, test } from 'vitest';
import { call, eventsOf, lastTexts, startFamily } from '../../../test/fixtures/family.ts';
import type { RequestRecord } from '../../emulator/index.ts';

const REPORT = { text: 'Scope: done.' };

function thinkingOf(record: RequestRecord | undefined): Record<string, unknown> {
  const { thinking, output_config } = record?.request ?? {};
  return { thinking, output_config };
}

const HIGH = { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } };
const MEDIUM = { thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } };
const NONE = { thinking: undefined, output_config: undefined };

const typed = (prompt: string, more: object = {}) => ({
  name: 'Agent',
  input: { prompt, description: 'one', subagent_type: 'general-purpose', ...more },
});

describe('RES-9: how children think', () => {
  test('a fork as its parent, a routine agent up to the cap, one with an effort as it says', async () => {
    const family = await startFamily({
      effort: 'high',
      cast: {
        'Go.': [
          {
            text: 'I hand it out.',
            tool_use: [
              { name: 'Agent', input: { prompt: 'the fork', description: 'fork' } },
              typed('the routine one'),
              typed('the hard one', { effort: 'max' }),
              typed('the small one', { model: 'haiku' }),
              typed('the small hard one', { model: 'haiku', effort: 'high' }),
              typed('the large one', { model: 'fable' }),
            ],
          },
          { text: 'All in.' },
        ],
        the: [REPORT],
      },
    });
    expect((await family.run('Go.')).result).toMatchObject({ status: 'done' });
    const sent = (task: string) => thinkingOf(family.requestsOf(task)[0]);
    expect(sent('Go.')).toEqual(HIGH);
    expect(sent('the fork')).toEqual(HIGH);
    expect(sent('the routine one')).toEqual(MEDIUM);
    expect(sent('the hard one')).toEqual({ ...HIGH, output_config: { effort: 'max' } });
    expect(sent('the small one').thinking).toEqual({ type: 'enabled', budget_tokens: 10_000 });
    expect(sent('the small hard one').thinking).toEqual({ type: 'enabled', budget_tokens: 20_000 });
    expect(sent('the large one')).toEqual(MEDIUM);
    expect(family.emulator.requests.filter(({ outcome }) => outcome !== 'answered')).toEqual([]);
  });

  test('without a choice nothing of it is sent, but to a model that thinks unasked', async () => {
    const family = await startFamily({
      cast: {
        'Go.': [
          { text: '', tool_use: [typed('the routine one'), typed('the large one', { model: 'fable' })] },
          { text: 'ok' },
        ],
        the: [REPORT],
      },
    });
    await family.run('Go.');
    expect(thinkingOf(family.requestsOf('Go.')[0])).toEqual(NONE);
    expect(thinkingOf(family.requestsOf('the routine one')[0])).toEqual(NONE);
    expect(thinkingOf(family.requestsOf('the large one')[0])).toEqual(MEDIUM);
  });

  test('an effort on a fork is refused: it would not read its cache', async () => {
    const family = await startFamily({
      cast: { 'Go.': [call('Agent', { prompt: 'fork', description: 'f', effort: 'low' }), { text: 'ok' }] },
    });
    await family.run('Go.');
    expect(lastTexts(family.requestsOf('Go.')[1])).toEqual([
      expect.stringMatching(/^No agent was started: a fork thinks as its parent does, .* leave effort out/),
    ]);
  });

  test('a file says how its agents think, and a call says otherwise', async () => {
    const file = '---\nname: thinker\ndescription: thinks\neffort: low\n---\nThink.\n';
    const ask = (prompt: string, more: object = {}) => typed(prompt, { subagent_type: 'thinker', ...more });
    const family = await startFamily({
      effort: 'max',
      home: { 'agents/thinker.md': file },
      cast: {
        'Go.': [
          { text: '', tool_use: [ask('the first'), ask('the second', { effort: 'high' })] },
          { text: 'ok' },
        ],
        the: [REPORT],
      },
    });
    await family.run('Go.');
    expect(thinkingOf(family.requestsOf('the first')[0]).output_config).toEqual({ effort: 'low' });
    expect(thinkingOf(family.requestsOf('the second')[0])).toEqual(HIGH);
  });

  test('a model that does not think gets none, and the journal says so once', async () => {
    const family = await startFamily({
      cast: {
        'Go.': [
          { text: '', tool_use: [typed('the old one', { model: 'claude-3-5-haiku', effort: 'high' })] },
          { text: 'ok' },
        ],
        the: [REPORT],
      },
    });
    await family.run('Go.');
    expect(thinkingOf(family.requestsOf('the old one')[0])).toEqual(NONE);
    expect(eventsOf(family.recordedOf(2), 'warning.raised')).toEqual([
      expect.objectContaining({ code: 'thinking_unused', message: expect.stringMatching(/does not think/) }),
    ]);
  });
});

describe('RES-9: what its user is told', () => {
  test.for([
    [{ model: 'claude-3-5-haiku', effort: 'high' }, [expect.stringMatching(/does not think/)]],
    [{ model: 'sonnet', effort: 'high' }, []],
    [{ model: 'sonnet', settings: { thinking: 5_000 } }, [expect.stringMatching(/gets the effort low \(/)]],
  ] as const)('one line where a model does otherwise: %j', async ([options, notices]) => {
    const { session } = await startFamily({ cast: {}, ...options });
    expect(session.notices).toEqual(notices);
  });

  test('an effort that does not exist is refused in one line', async () => {
    // Callers without types.
    const effort = 'huge' as 'high';
    await expect(startFamily({ cast: {}, effort })).rejects.toThrow(
      'openSession: the option effort is "huge"; give one of low, medium, high',
    );
  });
});

describe('RES-9: a session that is resumed', () => {
  test('thinks as it did, until it is asked to think otherwise', async () => {
    const family = await startFamily({
      settings: { effort: 'high' },
      cast: { 'One.': [{ text: 'one' }], 'Two.': [{ text: 'two' }], 'Three.': [{ text: 'three' }] },
    });
    await family.run('One.');
    const second = await family.reopen(undefined, { settings: { effort: 'low' } });
    await second.run('Two.');
    expect(thinkingOf(second.requestsOf('Two.')[0])).toEqual(HIGH);
    const third = await second.reopen(undefined, { effort: 'medium' });
    await third.run('Three.');
    expect(thinkingOf(third.requestsOf('Three.')[0])).toEqual(MEDIUM);
  });

  test('another model gets the form that it takes', async () => {
    const family = await startFamily({
      effort: 'medium',
      cast: { 'One.': [{ text: 'one' }], 'Two.': [{ text: 'two' }] },
    });
    await family.run('One.');
    family.session.setModel('haiku');
    await family.run('Two.');
    expect(thinkingOf(family.requestsOf('Two.')[0]).thinking).toEqual({
      type: 'enabled',
      budget_tokens: 10_000,
    });
    const replaced = family.recorded().filter(({ event }) => event.type === 'conversation.replaced');
    expect(replaced).toMatchObject([{ event: { cause: 'model' } }]);
  });
});
