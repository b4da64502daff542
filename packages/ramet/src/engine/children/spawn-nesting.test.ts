import { describe, expect, test } from 'vitest';
import { eventsOf, lastTexts, startAgents, startFamily } from '../../../test/fixtures/family.ts';

describe('FORK-5: agents inside agents', () => {
  const inner = (prompt: string, input = {}) => [startAgents([prompt], input), { text: `${prompt} is back` }];

  test('a fork cannot fork', async () => {
    const family = await startFamily({
      cast: { 'Go.': inner('child'), child: inner('grandchild') },
    });
    await family.run('Go.');
    expect(lastTexts(family.requestsOf('child')[1])[0]).toContain(
      'you are a fork, and a fork cannot fork again',
    );
    expect(family.requestsOf('grandchild')).toEqual([]);
  });

  test.for([
    [2, 'typed is back'],
    [1, 'No agent was started: agents may nest 1 deep'],
  ] as const)('a fork may start a typed agent, within a depth of %i: %s', async ([depth, words]) => {
    const family = await startFamily({
      agents: { depth },
      cast: {
        'Go.': inner('child'),
        child: [startAgents(['typed'], { subagent_type: 'general-purpose' }), { text: 'child is back' }],
        typed: [{ text: 'typed is back' }],
      },
    });
    await family.run('Go.');
    expect(lastTexts(family.requestsOf('child')[1])[0]).toContain(words);
    expect(family.requestsOf('typed')).toHaveLength(depth - 1);
  });

  test('typed agents nest three deep, and the fourth is refused before anything is sent', async () => {
    const typed = { subagent_type: 'general-purpose' };
    const family = await startFamily({
      cast: {
        'Go.': inner('level 1', typed),
        'level 1': inner('level 2', typed),
        'level 2': inner('level 3', typed),
        'level 3': inner('level 4', typed),
      },
    });
    expect((await family.run('Go.')).result.text).toBe('level 1 is back');
    expect(lastTexts(family.requestsOf('level 3')[1])[0]).toMatch(
      /No agent was started: agents may nest 3 deep \(setting agents.depth\), and this would be 4/,
    );
    expect(family.requestsOf('level 4')).toEqual([]);
    expect(
      eventsOf(
        family.recorded().map(({ event }) => event),
        'agent.started',
      ),
    ).toHaveLength(4);
  });

  test('a typed agent may fork, and that fork may not', async () => {
    const family = await startFamily({
      cast: {
        'Go.': inner('typed', { subagent_type: 'general-purpose' }),
        typed: inner('its fork'),
        'its fork': inner('another'),
      },
    });
    await family.run('Go.');
    expect(lastTexts(family.requestsOf('its fork')[1])[0]).toContain('a fork cannot fork again');
    expect(lastTexts(family.requestsOf('typed')[1])[0]).toContain('another is back');
  });
});
