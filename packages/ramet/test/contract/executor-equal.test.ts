/** The same scenes under every executor: same bytes to the model, same bill, same journal, same events (EXEC-2). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { call, type FamilyOptions, promptBytes, startAgents } from '../fixtures/family.ts';
import { type PlayedScene, playScene, startHosted } from './executor-scenes.ts';

const REPORT = { text: 'Scope: child. Done.' };
const FRESH = { subagent_type: 'general-purpose' };
/** Ids of calls come from the model: given here, so that two runs have the same. */
const work = (id: string, name: string, input: Record<string, unknown>) => ({
  tool_use: [{ id, name, input }],
});

const SCENES: Record<string, FamilyOptions> = {
  'a fork that reads, changes and runs': {
    files: { 'a.txt': 'old\n' },
    cast: {
      'Go.': [startAgents(['child']), { text: 'ok' }],
      child: [
        work('toolu_1', 'Read', { file_path: 'a.txt' }),
        work('toolu_2', 'Edit', { file_path: 'a.txt', old_string: 'old', new_string: 'new' }),
        work('toolu_3', 'Bash', { command: 'cat a.txt; exit 3' }),
        work('toolu_4', 'TodoWrite', { todos: [{ content: 'one', status: 'pending', activeForm: 'x' }] }),
        work('toolu_5', 'Nope', {}),
        REPORT,
      ],
    },
  },
  'five fresh agents at once': {
    cast: {
      'Go.': [startAgents(['child 1', 'child 2', 'child 3', 'child 4', 'child 5'], FRESH), { text: 'ok' }],
      child: [work('toolu_1', 'Glob', { pattern: '*' }), REPORT],
    },
  },
  'an agent with agents of its own': {
    cast: {
      'Go.': [startAgents(['child'], FRESH), { text: 'ok' }],
      child: [startAgents(['inner', 'inner too']), REPORT],
      inner: [work('toolu_1', 'Glob', { pattern: '*' }), { text: 'Scope: inner.' }],
    },
  },
  'an agent that is cut off and refused': {
    cast: {
      'Go.': [startAgents(['child'], FRESH), { text: 'ok' }],
      child: [
        { text: 'half an ', stop_reason: 'max_tokens' },
        { text: 'answer', stop_reason: 'refusal' },
      ],
    },
  },
};

/** Which of two agents ends first is chance, and their parent records it in that order. */
function inAnyOrder({ recorded, ...scene }: PlayedScene, name: string): unknown {
  const isRace = name === 'an agent with agents of its own';
  return { ...scene, recorded: isRace ? recorded.map((event) => JSON.stringify(event)).sort() : recorded };
}

describe('EXEC-2: a process of its own changes nothing', () => {
  test.each(Object.keys(SCENES))('about %s', async (name) => {
    const scene = SCENES[name] ?? { cast: {} };
    const [here, elsewhere] = [
      await playScene('in-process', scene, 'Go.'),
      await playScene('process', scene, 'Go.'),
    ];
    expect(inAnyOrder(elsewhere, name)).toEqual(inAnyOrder(here, name));
    expect(here.result).toMatchObject({ status: 'done', costUsd: expect.any(Number) });
  });

  test('FORK-2: forks of an agent in a process begin with its bytes, files it has seen included', async () => {
    const family = await startHosted('process', {
      files: { 'a.txt': 'old' },
      cast: {
        'Go.': [startAgents(['child'], FRESH), { text: 'ok' }],
        child: [call('Read', { file_path: 'a.txt' }), startAgents(['fork one', 'fork two']), REPORT],
        'fork one': [call('Edit', { file_path: 'a.txt', old_string: 'old', new_string: 'new' }), REPORT],
        'fork two': [REPORT],
      },
    });
    await family.run('Go.');
    const [parent] = family.requestsOf('child').slice(1, 2).map(promptBytes);
    for (const fork of ['fork one', 'fork two']) {
      const [first] = family.requestsOf(fork).map(promptBytes);
      expect(first?.startsWith(parent ?? 'absent')).toBe(true);
    }
    const { cache_read_input_tokens: read = 0, cache_creation_input_tokens: written = 0 } =
      family.requestsOf('child')[1]?.usage ?? {};
    expect(family.requestsOf('fork two')[0]?.usage?.cache_read_input_tokens).toBeGreaterThanOrEqual(
      read + written,
    );
    expect(readFileSync(join(family.cwd, 'a.txt'), 'utf8')).toBe('new');
  });
});
