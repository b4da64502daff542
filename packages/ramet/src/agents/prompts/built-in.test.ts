import { describe, expect, test } from 'vitest';
import { builtInTools } from '../../tools/registry.ts';
import { toolSchema } from '../../tools/tool.ts';
import { builtInDefinitions, findDefinition, typeLines } from './built-in.ts';
import { MAIN_PROMPT } from './main-prompt.ts';

/** Everything that its agents are told besides the task, their place and the project's instructions. */
function textOf(name: string): string {
  const { system = [], notes = null } = findDefinition(builtInDefinitions, name) ?? {};
  return [...system, ...(notes === null ? [] : [notes])].join('\n');
}

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

  test.for([
    ['Explore', { model: 'haiku', instructions: false, git: false }],
    ['Plan', { model: 'inherit', instructions: false, git: false }],
    ['code-review', { model: 'inherit', instructions: true, git: true }],
    ['simplicity-engineer', { model: 'inherit', instructions: true, git: true }],
  ] as const)('TYPE-2: %s changes nothing, by its tools and whatever the mode', ([name, rest]) => {
    const definition = findDefinition(builtInDefinitions, name);
    expect(definition).toMatchObject({ ...rest, readOnly: true, permissionMode: 'bubble' });
    expect(definition?.tools).toEqual(['Read', 'Glob', 'Grep', 'Bash', 'WebFetch']);
  });

  test('Plan has four stages and ends with the critical files', () => {
    const prompt = textOf('Plan');
    const stages = ['1. Understand.', '2. Explore.', '3. Design.', '4. Detail.'].map((stage) =>
      prompt.indexOf(stage),
    );
    expect(stages).toEqual(stages.toSorted((one, other) => one - other));
    expect(stages).not.toContain(-1);
    expect(prompt.split('\n').at(-2)).toBe('### Critical files');
  });

  test.for([
    ['Explore', 3],
    ['Plan', 3],
    ['code-review', 4],
    ['simplicity-engineer', 4],
    ['general-purpose', 5],
    ['teammate', 20],
  ] as const)('the prompt of %s takes at most %d KB', ([name, kilobytes]) => {
    expect(Buffer.byteLength(textOf(name))).toBeLessThanOrEqual(kilobytes * 1024);
  });

  test('agents that end with their report carry no text about messages to others', () => {
    for (const { name } of builtInDefinitions) {
      if (name !== 'teammate') expect(textOf(name), name).not.toMatch(/SendMessage|mailbox|team|\blead\b/i);
    }
    expect(textOf('teammate')).toContain('SendMessage');
  });

  test('a teammate is known and not offered: teams are not there yet', () => {
    const lines = typeLines(builtInDefinitions);
    expect(findDefinition(builtInDefinitions, 'teammate')?.system).toEqual([MAIN_PROMPT]);
    expect(lines[0]).toBe('- Explore: finds and explains code; fast and cheap (reads only)');
    expect(lines.map((line) => line.split(':')[0])).toEqual([
      '- Explore',
      '- Plan',
      '- code-review',
      '- simplicity-engineer',
      '- general-purpose',
    ]);
  });

  test('their lines leave the tools of a request below 8.5 KB', () => {
    const tools = builtInTools({ fork: true, types: typeLines(builtInDefinitions) });
    expect(Buffer.byteLength(JSON.stringify(tools.map(toolSchema)))).toBeLessThan(8_704);
  });

  test('no name or alias stands for two types', () => {
    const names = builtInDefinitions.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
  });
});

describe('PROMPT-1: what agents of every type are told', () => {
  test.for(builtInDefinitions.map(({ name }) => name))(
    '%s hears of absolute paths, code, emojis and colons',
    (name) => {
      const text = textOf(name);
      expect(text).toMatch(/absolute path/);
      expect(text).toMatch(/code only where (?:its|the) exact text matters/);
      expect(text).toMatch(/no emojis/i);
      expect(text).toContain('Do not end a sentence with a colon before a tool call');
    },
  );

  test('nothing that differs between places, machines or days is in a prompt', () => {
    for (const { name } of builtInDefinitions)
      expect(textOf(name), name).not.toMatch(/\b20\d\d\b|\/work|\/home/);
  });
});
