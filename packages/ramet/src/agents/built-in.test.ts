import { describe, expect, test } from 'vitest';
import { builtInDefinitions, findDefinition } from './built-in.ts';
import { MAIN_PROMPT } from './main-prompt.ts';

describe('TYPE-1: the types that come with Ramet', () => {
  test('are found by name and alias, whatever the case', () => {
    const found = [
      'Explore',
      'explore',
      ' EXPLORE ',
      'general-purpose',
      'subagent',
      'Subagent',
      'wizard',
      '',
    ].map((name) => findDefinition(builtInDefinitions, name)?.name);
    expect(found).toEqual([
      'Explore',
      'Explore',
      'Explore',
      'general-purpose',
      'general-purpose',
      'general-purpose',
      undefined,
      undefined,
    ]);
  });

  test('FORK-9: general-purpose shares the main prompt; what is different is said after it', () => {
    const definition = findDefinition(builtInDefinitions, 'general-purpose');
    expect(definition?.system).toEqual([MAIN_PROMPT]);
    expect(definition?.notes).toContain('that message is your report');
  });

  test('TYPE-2: Explore has no tool that writes, works in plan mode, and runs on the cheapest tier', () => {
    const definition = findDefinition(builtInDefinitions, 'Explore');
    expect(definition).toMatchObject({ permissionMode: 'plan', model: 'haiku', instructions: false });
    for (const tool of ['Write', 'Edit', 'Agent', 'SendMessage'])
      expect(definition?.tools).not.toContain(tool);
  });

  test('no name or alias stands for two types', () => {
    const names = builtInDefinitions.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
  });
});
