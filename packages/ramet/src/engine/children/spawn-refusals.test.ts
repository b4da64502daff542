import { describe, expect, test } from 'vitest';
import { call, eventsOf, lastTexts, startAgents, startFamily } from '../../../test/fixtures/family.ts';
import type { SpawnRequest } from '../../tools/agent-desk.ts';

const REPORT = { text: 'Scope: done.' };

/** What the parent is told when it asks for one agent with this input. */
async function askFor(
  input: Record<string, unknown>,
  options: Partial<Parameters<typeof startFamily>[0]> = {},
) {
  const family = await startFamily({
    ...options,
    cast: { 'Go.': [startAgents(['child'], input), { text: 'ok' }], child: [REPORT], ...options.cast },
  });
  await family.run('Go.');
  return { family, told: lastTexts(family.requestsOf('Go.')[1])[0] ?? '' };
}

describe('AGENT-2: which agent is started', () => {
  test('an unknown type is refused with the known ones, and nothing is recorded of it', async () => {
    const { family, told } = await askFor({ subagent_type: 'wizard' });
    expect(told).toBe(
      'No agent was started: there is no agent type "wizard"; the types are Explore, Plan, code-review, simplicity-engineer, general-purpose; without subagent_type it is a fork.',
    );
    expect(family.recordedOf(2)).toEqual([]);
  });

  test.for(['subagent', 'General-Purpose', ' general-purpose '])(
    '%j is general-purpose',
    async (subagent_type) => {
      const { family, told } = await askFor({ subagent_type });
      expect(told).toContain('(general-purpose) done');
      // It gets the prompt alone: nothing of the parent's conversation.
      expect(family.requestsOf('child')[0]?.request?.messages).toHaveLength(1);
      expect(lastTexts(family.requestsOf('child')[0]).join('\n')).not.toContain('Go.');
    },
  );

  test('without forking an agent without a type is general-purpose, also when it says fork', async () => {
    for (const input of [{}, { subagent_type: 'fork' }]) {
      const { family, told } = await askFor(input, { agents: { fork: false } });
      expect(told).toContain('(general-purpose) done');
      const tools = family.requestsOf('Go.')[0]?.request?.tools ?? [];
      const description = tools.find(({ name }) => name === 'Agent')?.description;
      expect(description).toContain('without subagent_type it is general-purpose');
      expect(description).not.toContain('fork');
    }
  });

  test('an empty model is none, and an empty task is refused', async () => {
    expect((await askFor({ model: ' ' })).told).toContain('(fork) done');
    const { family, told } = await askFor({ model: '', subagent_type: 'general-purpose' });
    expect(told).toContain('(general-purpose) done');
    expect(family.requestsOf('child')[0]?.request?.model).toBe(family.session.model);
    const { told: refused } = await askFor({ prompt: ' \n', subagent_type: 'Explore' });
    expect(refused).toContain('its prompt is empty');
  });

  test('Explore has its own prompt, its own tools and no more than its parent', async () => {
    const { family } = await askFor({ subagent_type: 'explore', model: 'sonnet' });
    const [request] = family.requestsOf('child');
    const tools = (request?.request?.tools ?? []).map(({ name }) => name);
    expect(tools.toSorted()).toEqual(['Bash', 'Glob', 'Grep', 'Read', 'WebFetch']);
    expect(JSON.stringify(request?.request?.system)).toContain('change nothing');
  });

  test.for([
    ['main', /cannot be an agent's name/],
    ['*', /cannot be an agent's name/],
    ['', /cannot be an agent's name/],
    ['<script>', /cannot be an agent's name/],
    ['a\nb', /cannot be an agent's name/],
    ['abcd1234.2', /cannot be an agent's name/],
    ['x'.repeat(61), /name/],
  ] as const)('the name %j is refused with what a name may be', async ([name, words]) => {
    const { family, told } = await askFor({ name });
    expect(told).toMatch(words);
    expect(family.requestsOf('child')).toEqual([]);
  });

  test('the name of a running agent is taken, and free again when it has ended', async () => {
    const named = (prompt: string) => ({
      name: 'Agent',
      input: { prompt, description: prompt, name: 'scout' },
    });
    const family = await startFamily({
      cast: {
        'Go.': [{ tool_use: [named('one'), named('two')] }, { tool_use: [named('three')] }, { text: 'ok' }],
        one: [REPORT],
        three: [REPORT],
      },
    });
    await family.run('Go.');
    const [, second, third] = family.requestsOf('Go.');
    expect(lastTexts(second)[1]).toMatch(
      /the name "scout" is taken by the running agent \w+\.2: choose another/,
    );
    expect(lastTexts(third)[0]).toContain('done');
  });

  test('a prompt that is empty or a field that is unknown is refused by the tool', async () => {
    expect((await askFor({ prompt: '' })).told).toMatch(/prompt/);
    const { family, told } = await askFor({ prompt: ' \n' });
    expect(told).toBe('No agent was started: its prompt is empty: say what it is to do.');
    await expect(family.session.fork('')).rejects.toThrow('session.fork: the prompt is an empty');
    await expect(family.session.spawn({} as SpawnRequest)).rejects.toThrow('session.spawn: '); // without types
    expect((await askFor({ colour: 'red' })).told).toMatch(/colour/);
  });
});

describe('AGENT-5: a schema for the answer', () => {
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };

  test('one that cannot be used is refused before anything is sent', async () => {
    const { family, told } = await askFor({ schema: { type: 'no such type' } });
    expect(told).toMatch(/^No agent was started: the schema cannot be used: /);
    expect(family.requestsOf('child')).toEqual([]);
  });

  test('an answer that meets it comes back as JSON', async () => {
    const cast = { child: [{ text: 'Here it is:\n```json\n{ "n": 3 }\n```' }] };
    const { told } = await askFor({ schema }, { cast });
    expect(told).toMatch(/\n\{ "n": 3 \}$/);
  });

  test('one that is corrected in time is done, one that never is meets failed: schema', async () => {
    const wrong = { text: '{"n":"three"}' };
    const mended = await askFor({ schema }, { cast: { child: [wrong, wrong, { text: '{"n":3}' }] } });
    expect(mended.told).toContain(' done: 3 turns');
    const hopeless = await askFor({ schema }, { cast: { child: [wrong, wrong, wrong] } });
    expect(hopeless.told).toMatch(/failed: schema: /);
    expect(hopeless.family.requestsOf('child')).toHaveLength(3);
    expect(lastTexts(hopeless.family.requestsOf('child')[1])[0]).toContain(
      'not in the form that was asked for',
    );
  });
});

describe('LAUNCH-3: the caps', () => {
  test('total: the agent after the last is refused with the reason, also in the same message', async () => {
    const family = await startFamily({
      agents: { total: 2 },
      cast: {
        'Go.': [startAgents(['a', 'b', 'c']), startAgents(['d']), { text: 'ok' }],
        a: [REPORT],
        b: [REPORT],
      },
    });
    await family.run('Go.');
    const [, second, third] = family.requestsOf('Go.');
    const refused =
      /No agent was started: this session has started all 2 agents it may \(setting agents.total\)/;
    expect(lastTexts(second)[2]).toMatch(refused);
    expect(lastTexts(third)[0]).toMatch(refused);
    expect(family.requestsOf('c')).toEqual([]);
    // What the library asks for has limits of its own.
    await (await family.session.fork('a')).result;
  });

  test('total: a refused agent does not count', async () => {
    const family = await startFamily({
      agents: { total: 1 },
      cast: {
        'Go.': [startAgents(['a'], { subagent_type: 'nobody' }), startAgents(['a']), { text: 'ok' }],
        a: [REPORT],
      },
    });
    await family.run('Go.');
    expect(lastTexts(family.requestsOf('Go.')[2])[0]).toContain('done');
  });

  test('total: a resumed session continues the count', async () => {
    const family = await startFamily({
      agents: { total: 1 },
      cast: {
        'Go.': [startAgents(['a']), { text: 'ok' }],
        a: [REPORT],
        More: [startAgents(['a']), { text: 'ok' }],
      },
    });
    await family.run('Go.');
    const resumed = await family.reopen();
    await resumed.run('More');
    expect(lastTexts(resumed.requestsOf('More')[1])[0]).toContain('this session has started all 1 agents');
  });

  test('depth: one level alone', async () => {
    const { family } = await askFor(
      { subagent_type: 'general-purpose' },
      {
        agents: { depth: 1 },
        cast: { child: [startAgents(['inner'], { subagent_type: 'general-purpose' }), REPORT] },
      },
    );
    expect(lastTexts(family.requestsOf('child')[1])[0]).toContain('agents may nest 1 deep');
    expect(family.requestsOf('inner')).toEqual([]);
  });

  test.for([
    ['tokens', { tokens: 10 }, /budget is spent: the session's budget: \d+ of 10 tokens/],
    ['dollars', { usd: 0.000001 }, /budget is spent: the session's budget: \$[\d.]+ of \$0.000001/],
  ] as const)('%s: no agent is started once they are spent', async ([, agents, words]) => {
    const { family } = await askFor({}, { agents });
    expect(family.requestsOf('child')).toEqual([]);
    const journal = family.recorded().map(({ event }) => event);
    expect(eventsOf(journal, 'agent.started')).toHaveLength(1);
    expect(eventsOf(journal, 'agent.ended').at(-1)?.message).toMatch(words);
  });

  test.for([
    ['tokens', { tokens: 1_000_000 }],
    ['dollars', { usd: 1 }],
  ] as const)('%s: a session that is continued has spent what it had spent', async ([, agents]) => {
    const family = await startFamily({
      agents,
      cast: {
        'Go.': [{ text: 'ok', usage: { output_tokens: 999_000 } }],
        More: [startAgents(['a']), { text: 'ok' }],
        a: [REPORT],
      },
    });
    await family.run('Go.');
    const resumed = await family.reopen();
    const { result } = await resumed.run('More');
    expect(result).toMatchObject({ status: 'failed', cause: 'budget' });
    expect(resumed.requestsOf('a')).toEqual([]);
  });
});

describe('AGENT-1: the call itself', () => {
  test('an agent that is asked for what it may not do is told by its tools', async () => {
    const cast = { child: [call('Write', { file_path: 'x', content: 'x' }), REPORT] };
    const { family } = await askFor({ subagent_type: 'Explore', model: 'sonnet' }, { cast });
    expect(lastTexts(family.requestsOf('child')[1])[0]).toContain('there is no tool "Write"');
  });
});
