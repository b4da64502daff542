import { describe, expect, test } from 'vitest';
import { builtInTools } from '../tools/registry.ts';
import { builtInDefinitions, findDefinition } from './built-in.ts';
import { explore } from './explore.ts';
import { generalPurpose } from './general-purpose.ts';
import { MAIN_PROMPT } from './main-prompt.ts';

const bytes = (texts: readonly string[]): number => Buffer.byteLength(texts.join(''));

describe('TYPE-1: the built-in types', () => {
  test('general-purpose has the prompt of the main agent, so that it reads its cache', () => {
    expect(generalPurpose).toMatchObject({ system: [MAIN_PROMPT], tools: 'all', model: 'inherit' });
  });

  test.each([
    [generalPurpose, 5_120],
    [explore, 3_072],
  ])('the system prompt of $name is short', ({ system }, most) => {
    expect(bytes(system)).toBeLessThanOrEqual(most);
  });

  test('Explore has no tool that writes, and may run only what reads', () => {
    const effects = builtInTools
      .filter(({ name }) => explore.tools.includes(name))
      .map(({ effect }) => effect);
    expect(effects).not.toContain('write');
    expect(explore).toMatchObject({
      permissionMode: 'plan',
      model: 'haiku',
      instructions: false,
      git: false,
    });
  });

  test('one-shot agents are told nothing about messages', () => {
    for (const { system, notes } of builtInDefinitions) {
      expect(`${system.join('')}${notes}`).not.toMatch(/SendMessage|teammate/i);
    }
  });
});

describe('AGENT-2: a type is found', () => {
  test.each(['general-purpose', 'subagent', 'General-Purpose', ' subagent '])('by %j', (name) => {
    expect(findDefinition(builtInDefinitions, name)).toBe(generalPurpose);
  });

  test('or it is not there', () => {
    expect(findDefinition(builtInDefinitions, 'reviewer')).toBeUndefined();
  });
});
