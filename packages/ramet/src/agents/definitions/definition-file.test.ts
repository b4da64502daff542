import { describe, expect, test } from 'vitest';
import { MALFORMED, realLookingFiles } from '../../../test/fixtures/definition-files.ts';
import { yamlFields } from '../../extensions/front-matter/yaml-fields.ts';
import { fileTypeLine } from '../prompts/built-in.ts';
import type { DefinitionSource } from './definition.ts';
import { type DefinitionFile, FILE_NOTES, parseDefinition } from './definition-file.ts';

const TOOLS = ['Read', 'Write', 'Edit', 'Glob', 'Grep', 'Bash', 'TaskOutput', 'WebFetch', 'Agent'];

function parse(text: string, path = '/agents/file.md', source: DefinitionSource = 'user'): DefinitionFile {
  const file = parseDefinition(text, { path, source, toolNames: TOOLS }, yamlFields);
  if (file === null) throw new Error('it was not read');
  return file;
}

/** Front matter with name and description, and these lines. */
function withLines(...lines: string[]): DefinitionFile {
  return parse(`---\nname: reviewer\ndescription: Reviews.\n${lines.join('\n')}\n---\nYou review.\n`);
}

function said(file: DefinitionFile): string[] {
  return file.problems.map(({ line, field, level, message }) => `${level} ${line} ${field}: ${message}`);
}

describe('TYPE-3: a definition file', () => {
  test('has its fields in front matter and its system prompt below', () => {
    const file = withLines(
      'tools: Read, Grep',
      'model: opus',
      'maxTurns: 7',
      'background: true',
      'readOnly: true',
    );
    expect(file.problems).toEqual([]);
    expect(file.definition).toMatchObject({
      name: 'reviewer',
      description: 'Reviews.',
      system: ['You review.'],
      tools: ['Read', 'Grep'],
      model: 'opus',
      permissionMode: 'bubble',
      maxTurns: 7,
      background: true,
      readOnly: true,
      instructions: true,
      git: true,
      source: 'user',
      path: '/agents/file.md',
    });
  });

  test('may name fields and tools like what every object has', () => {
    const names = ['constructor', 'toString', '__proto__', 'hasOwnProperty'];
    for (const name of names) {
      const file = withLines(`${name}: x`, `tools: Read, ${name}`, `disallowedTools: ${name}`);
      expect(file.definition).toMatchObject({ tools: ['Read', name], disallowedTools: [name] });
      expect(said(file)).toContain(`note 4 ${name}: unknown field, kept without effect`);
    }
  });

  test('PROMPT-1: its agents are told the thread notes, whatever its own prompt says', () => {
    expect(withLines().definition?.notes).toBe(FILE_NOTES);
    for (const part of [
      'absolute path',
      'No emojis',
      'colon before a tool call',
      'exact text matters',
      'your report',
    ])
      expect(FILE_NOTES).toContain(part);
  });

  test('may be YAML, with the prompt as a field', () => {
    const yaml = 'name: reviewer\ndescription: Reviews.\ntools: [Read]\nprompt: |\n  You review.\n  Well.\n';
    const { definition, problems } = parse(yaml, '/agents/reviewer.yaml');
    expect(problems).toEqual([]);
    expect(definition).toMatchObject({ name: 'reviewer', system: ['You review.\nWell.'], tools: ['Read'] });
  });

  test.each<[string, string | string[], string[]]>([
    ['Read, Grep', ['Read', 'Grep'], []],
    ['[Read, "Bash"]', ['Read', 'Bash'], []],
    ['Read Grep', ['Read', 'Grep'], []],
    ["'*'", 'all', []],
    ['All tools', 'all', []],
    ['', 'all', []],
    ['read, TASK, MultiEdit, BashOutput', ['Read', 'Agent', 'Edit', 'TaskOutput'], []],
    [
      'Read, LS, WebSearch',
      ['Read', 'LS', 'WebSearch'],
      ['warning 4 tools: there is no tool LS, WebSearch here: left out'],
    ],
    ['Bash(git log:*, git diff:*), Read', ['Bash', 'Read'], []],
    ['Read, mcp__a__b', ['Read', 'mcp__a__b'], []],
    ['Read, mcpcall, McpSearch', ['Read', 'McpCall', 'McpSearch'], []],
    ['["mcp__my db__query"]', ['mcp__my db__query'], []],
    ['["mcp__my db__query", "Read Grep"]', ['mcp__my db__query', 'Read', 'Grep'], []],
    ['["mcp__a mcp__b Read"]', ['mcp__a', 'mcp__b', 'Read'], []],
    ['[]', [], []],
    [
      'LS',
      ['LS'],
      [
        'warning 4 tools: there is no tool LS here: left out',
        'warning 4 tools: no tool is left: its agents cannot be started',
      ],
    ],
  ])('takes tools: %s', (written, tools, problems) => {
    const file = withLines(`tools: ${written}`);
    expect(file.definition?.tools).toEqual(tools);
    expect(said(file)).toEqual(problems);
  });

  test.each<[string, string, boolean]>([
    ['inherit', 'inherit', false],
    ['Opus', 'opus', false],
    ['sonnet[1m]', 'sonnet', false],
    ['claude-opus-4-6', 'claude-opus-4-6', false],
    ['vendor/model:free', 'vendor/model:free', false],
    ['fable', 'fable', false],
    ['mythical', 'inherit', true],
    ['flash', 'inherit', true],
    ['[a]', 'inherit', true],
  ])('takes model: %s', (written, model, warned) => {
    const file = withLines(`model: ${written}`);
    expect(file.definition?.model).toBe(model);
    expect(file.problems.map(({ level }) => level)).toEqual(warned ? ['warning'] : []);
  });

  test.each([
    ['manual', 'default', []],
    ['auto', 'bubble', ['inactive']],
    ['plan', 'plan', []],
    ['bypassPermissions', 'bypassPermissions', []],
    ['whatever', 'default', ['warning']],
  ])('takes permissionMode: %s', (written, mode, levels) => {
    const file = withLines(`permissionMode: ${written}`);
    expect(file.definition?.permissionMode).toBe(mode);
    expect(file.problems.map(({ level }) => level)).toEqual(levels);
  });

  test.each([
    ['worktree', 'worktree', []],
    ['remote', undefined, ['inactive']],
    ['wortree', undefined, ['error']],
  ])('EXEC-5: takes isolation: %s', (written, isolation, levels) => {
    const file = withLines(`isolation: ${written}`);
    expect(file.definition?.isolation).toBe(isolation);
    expect(file.problems.map(({ level }) => level)).toEqual(levels);
  });

  test.for<[string, object | undefined, string[]]>([
    ['{ tokens: 5000, usd: 0.25, seconds: 60 }', { tokens: 5_000, usd: 0.25, seconds: 60 }, []],
    ['{ dollars: 1 }', undefined, ['error']],
    ['{ usd: -1 }', undefined, ['error']],
    ['5', undefined, ['error']],
  ])('RES-10: takes budget: %s', ([written, budget, levels]) => {
    const file = withLines(`budget: ${written}`);
    expect(file.definition?.budget).toEqual(budget);
    expect(file.problems.map(({ level }) => level)).toEqual(levels);
  });

  test.for<[string, string | undefined, string[]]>([
    ['low', 'low', []],
    ['max', 'max', []],
    ['xhigh', 'high', ['note']],
    ['inherit', undefined, []],
    ['hihg', undefined, ['warning']],
    ['5000', undefined, ['warning']],
    ['[high]', undefined, ['warning']],
  ])('RES-9: takes effort: %s', ([written, effort, levels]) => {
    const file = withLines(`effort: ${written}`);
    expect(file.definition?.effort).toBe(effort);
    expect(file.problems.map(({ level }) => level)).toEqual(levels);
  });

  test('RES-3: names single calls, allowed and refused, and skills', () => {
    const file = withLines(
      'tools: Read, Bash(git log:*, git diff:*), Task(Explore, Plan), Edit(src/**), Edit, Bash(',
      'disallowedTools: Bash(rm:*), Write',
      'skills: a, b',
    );
    expect(file.definition).toMatchObject({
      tools: ['Read', 'Bash', 'Agent', 'Edit'],
      disallowedTools: ['Write'],
      toolLimits: {
        only: ['Bash(git log:*)', 'Bash(git diff:*)', 'Agent(Explore)', 'Agent(Plan)', 'Bash()'],
        never: ['Bash(rm:*)'],
      },
      skills: ['a', 'b'],
    });
    expect(said(file)).toEqual(['warning 4 tools: "Bash()" is no rule, so it covers no call']);
  });

  test('says which fields have no effect yet, which are unknown, and which are written otherwise', () => {
    const file = withLines(
      'hooks: { Stop: [] }',
      'mcpServers: [github]',
      'skills: a, b',
      'memory: project',
      'isolation: remote',
      'memory_size: 3',
      'max_turns: 9',
      'omitClaudeMd: true',
      'color: mauve',
    );
    expect(said(file)).toEqual([
      'inactive 8 isolation: remote is without effect in Ramet',
      'note 12 color: it is not one of red, blue, green, yellow, purple, orange, pink, cyan',
      'note 9 memory_size: unknown field, kept without effect',
      'warning 10 max_turns: unknown field, without effect: did you mean maxTurns?',
    ]);
    expect(file.declared).toMatchObject({ memory_size: 3, hooks: { Stop: [] } });
    expect(file.definition).toMatchObject({ instructions: false, git: true, memory: 'project' });
    expect(said(withLines('memory: everywhere'))).toEqual([
      'warning 4 memory: there are user, project and local: it was left out',
    ]);
  });

  test('says that a hook for new worktrees does not prepare those of its own agents', () => {
    const file = withLines(
      'isolation: worktree',
      'hooks: { WorktreeCreate: [], WorktreeRemove: [], Stop: [] }',
    );
    expect(said(file)).toEqual([
      'inactive 5 hooks.WorktreeCreate: without effect for the worktrees of its own agents, which do not run yet: set it up in settings',
    ]);
    expect(file.definition?.isolation).toBe('worktree');
  });

  test('says that hooks for what a server asks run for the main agent alone', () => {
    const file = withLines('hooks: { Elicitation: [], ElicitationResult: [], Stop: [] }');
    const why =
      'without effect for agents that others start, since a server asks the session: set it up in settings';
    expect(said(file)).toEqual([
      `inactive 4 hooks.Elicitation: ${why}`,
      `inactive 4 hooks.ElicitationResult: ${why}`,
    ]);
  });

  test('of a plugin cannot set hooks, servers or its permission mode', () => {
    const text =
      '---\nname: p\ndescription: d\npermissionMode: bypassPermissions\nhooks: {}\nmcpServers: []\n---\np\n';
    const file = parse(text, '/plugins/x/agents/p.md', 'plugin');
    expect(file.definition?.permissionMode).toBe('bubble');
    expect(file.problems.map(({ field, message }) => `${field}: ${message}`)).toEqual([
      'hooks: ignored in a plugin',
      'mcpServers: ignored in a plugin',
      'permissionMode: ignored in a plugin',
    ]);
  });

  test('that is too odd for YAML is read line by line, with a warning and all of its fields', () => {
    const file = parse(
      '---\nname: odd\ndescription: Use when: things. Examples: <example>user: "Why?"</example>\nfoo: bar: baz\ntools: Read\nextra: 1\nmodel: haiku\n---\nYou are odd.\n',
    );
    expect(file.definition).toMatchObject({ name: 'odd', tools: ['Read'], model: 'haiku' });
    expect(file.definition?.description).toMatch(
      /^Use when: things\. Examples: <example>user: "Why\?"<\/example>/,
    );
    expect(file.declared).toMatchObject({ extra: 1 });
    expect(file.problems[0]).toMatchObject({ level: 'warning', line: 3 });
  });

  test('that has a field twice keeps the first, with a warning', () => {
    const file = parse('---\nname: twice\ndescription: x\nmodel: opus\nmodel: haiku\ntools: Read\n---\np\n');
    expect(file.definition).toMatchObject({ model: 'opus', tools: ['Read'] });
    expect(file.problems.map(({ level }) => level)).toEqual(['warning']);
  });

  test('that asks for all tools with a bare star gets them', () => {
    const file = parse('---\nname: star\ndescription: x\ntools: *\nmodel: opus\n---\np\n');
    expect(file.definition).toMatchObject({ tools: 'all', model: 'opus' });
    expect(file.problems).toEqual([]);
  });

  test('with tabs for indentation is read, with a warning', () => {
    const file = parse('---\nname: tabs\ndescription: x\ntools:\n\t- Read\n\t- Grep\n---\np\n');
    expect(file.definition?.tools).toEqual(['Read', 'Grep']);
    expect(file.problems.map(({ level }) => level)).toEqual(['warning']);
  });

  test.each(Object.entries(MALFORMED).filter(([kind]) => kind !== 'five megabytes'))(
    'with %s is not used',
    (_, write) => {
      const file = parse(write(1));
      expect(file.definition).toBeNull();
      expect(file.problems.length).toBeGreaterThan(0);
    },
  );

  test.each<[string, string]>([
    ['fields without number', Array.from({ length: 9_000 }, (_, at) => `f${at}: [`).join('\n')],
    ['tools without number', `tools: (${'a, '.repeat(15_000)}`],
    ['a description of brackets', `description: ${'<'.repeat(60_000)}`],
    ['a front matter that is long', `description: ${'x'.repeat(70_000)}`],
    ['examples without end', `description: ${'Example '.repeat(7_000)}`],
  ])('with %s takes no longer than another', (_, lines) => {
    const file = parse(`---\nname: slow\n${lines}\n---\np\n`);
    if (file.definition !== null) expect(fileTypeLine(file.definition).length).toBeLessThan(300);
    for (const { message } of file.problems) expect(message.length).toBeLessThan(1_000);
  });

  test('that is no definition is passed over with a note, one that is bad is an error with its line', () => {
    expect(said(parse('# Read me\n'))).toEqual([
      'note null null: no front matter: not a definition, ignored',
    ]);
    expect(said(parse('---\ntitle: x\n---\n'))).toEqual([
      'note null null: no name: not a definition, ignored',
    ]);
    expect(said(parse('---\nmodel: opus\nname: a/b\ndescription: d\n---\np'))).toEqual([
      'error 3 name: it has a / in it: use letters, digits and dashes',
    ]);
    expect(said(parse('---\nname: x\n---\np'))).toEqual([
      'error null description: it is missing or empty: say when to use this agent',
    ]);
  });

  test('in the shapes of public collections is read: name, description, prompt, no error', () => {
    for (const { name, text, yaml } of realLookingFiles(450)) {
      const file = parse(text, `/agents/${name}.md`);
      expect({ name, problems: file.problems.filter(({ level }) => level === 'error') }).toEqual({
        name,
        problems: [],
      });
      expect(file.definition).toMatchObject({ name });
      expect(file.definition?.description.length).toBeGreaterThan(10);
      expect(file.definition?.system.join('').length).toBeGreaterThan(10);
      expect(file.problems.some(({ message }) => message.includes('not valid YAML'))).toBe(!yaml);
    }
  });
});
