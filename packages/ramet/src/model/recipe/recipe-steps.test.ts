import { describe, expect, test } from 'vitest';
import { planRecipe } from './recipe-steps.ts';

const FENCE = '```';

function block(label: string, content = ''): string {
  return `${FENCE}${label}\n${content}${FENCE}\n`;
}

/** Few lines that stand for a billion entries. */
function bomb(): string {
  const levels = Array.from({ length: 9 }, (_, level) => {
    const previous = level === 0 ? 'x' : `*l${level - 1}`;
    return `l${level}: &l${level} [${Array.from({ length: 10 }, () => previous).join(', ')}]\n`;
  });
  return levels.join('');
}

describe('RECIPE-1: the steps of a task', () => {
  test('are its sh and write blocks, in order, as calls of Bash and Write', async () => {
    const task = `Set up.\n\n${block('sh', 'npm ci\nnpm test\n')}\n${block('write src/a.ts', 'export {};\n')}`;
    expect(await planRecipe(task)).toEqual({
      steps: [
        {
          title: 'sh: npm ci',
          line: 3,
          calls: [{ name: 'Bash', input: { command: 'set -e\nnpm ci\nnpm test' } }],
        },
        {
          title: 'write: src/a.ts',
          line: 8,
          calls: [{ name: 'Write', input: { file_path: 'src/a.ts', content: 'export {};\n' } }],
        },
      ],
      skipped: [],
      problems: [],
    });
  });

  test.each(['sh', 'SH'])('%s is a command', async (language) => {
    const { steps } = await planRecipe(block(language, 'true\n'));
    expect(steps).toMatchObject([{ calls: [{ name: 'Bash', input: { command: 'true' } }] }]);
  });

  test('a command may be given its time in seconds', async () => {
    const { steps } = await planRecipe(block('sh timeout=300', 'make\n'));
    expect(steps[0]?.calls[0]?.input).toEqual({ command: 'make', timeout: 300_000 });
  });

  test.each([
    ['write "a file.md"', 'a file.md'],
    ['write a file.md', 'a file.md'],
    ['write ../up.md', '../up.md'],
  ])('%s names a file', async (label, path) => {
    const { steps } = await planRecipe(block(label));
    expect(steps[0]?.calls[0]?.input).toEqual({ file_path: path, content: '' });
  });

  test('a step is called after the first line that does something, cut when long', async () => {
    const { steps } = await planRecipe(
      block('sh', 'set -e\n\n# why\n  make all\n') + block('sh', `echo ${'x'.repeat(100)}\n`),
    );
    expect(steps.map(({ title }) => title)).toEqual(['sh: make all', `sh: echo ${'x'.repeat(54)}…`]);
  });

  test('blocks of other languages are left alone and named', async () => {
    const { steps, skipped, problems } = await planRecipe(
      block('js', 'x\n') + block('', 'y\n') + block('wirte a') + block('bash', 'IF no spec: ERROR\n'),
    );
    expect({ steps, problems }).toEqual({ steps: [], problems: [] });
    expect(skipped).toEqual(['js (line 1)', 'no language (line 4)', 'wirte (line 7)', 'bash (line 9)']);
  });

  test('an agent may be isolated, and its work proved', async () => {
    const agents = [
      '- { prompt: a, isolation: worktree, expect: { files: [a, b/c], check: make, commit: true } }',
      '- { prompt: b, expect: { commit: false }, budget: { tokens: 1000, seconds: 0.5 } }',
    ];
    const { steps, problems } = await planRecipe(block('agents', `${agents.join('\n')}\n`));
    expect(problems).toEqual([]);
    expect(steps[0]?.calls.map(({ input }) => input)).toEqual([
      {
        ...{ prompt: 'a', description: 'a', isolation: 'worktree' },
        expect: { files: ['a', 'b/c'], check: 'make', commit: true },
      },
      {
        ...{ prompt: 'b', description: 'b', expect: { commit: false } },
        budget: { tokens: 1000, seconds: 0.5 },
      },
    ]);
  });

  test.each([
    ['isolation: clone', 'needs "worktree" as its isolation'],
    ['isolation: true', 'needs "worktree" as its isolation'],
    ['expect: a.txt', 'needs files (a list of paths), check (a command) or commit (true or false)'],
    ['expect: {}', 'needs files'],
    ['expect: { files: a.txt }', 'needs files'],
    ['expect: { files: [] }', 'needs files'],
    ['expect: { check: "" }', 'needs files'],
    ['expect: { commit: yes please }', 'needs files'],
    ['expect: { hasOwnProperty: files }', 'needs files'],
    [
      'budget: 5',
      'needs tokens, usd or seconds, each a number above 0 (seconds at most 3155760000), as its budget',
    ],
    ['budget: {}', 'needs tokens'],
    ['budget: { seconds: -1 }', 'needs tokens'],
    ['budget: { dollars: 1 }', 'needs tokens'],
  ])('%s is told with its line, and nothing runs', async (field, what) => {
    const { problems } = await planRecipe(block('agents', `- prompt: a\n  ${field}\n`));
    expect(problems).toEqual([expect.stringMatching(/^line 3: the "agents" block has a mistake: agent 1 /)]);
    expect(problems[0]).toContain(what);
  });

  test('an agents block is one step: a call for each, described by its prompt where nothing else does', async () => {
    const agents =
      '- prompt: Fix the parser.\n  subagent_type: general\n- { prompt: "Two\\nlines", description: b }\n';
    const { steps } = await planRecipe(block('agents', agents));
    expect(steps).toEqual([
      {
        title: 'agents: 2',
        line: 1,
        calls: [
          {
            name: 'Agent',
            input: { description: 'Fix the parser.', prompt: 'Fix the parser.', subagent_type: 'general' },
          },
          { name: 'Agent', input: { prompt: 'Two\nlines', description: 'b' } },
        ],
      },
    ]);
  });

  test('an agent has its fields under short names too, and is described by its first line of text', async () => {
    const agents = `- prompt: |
    ${FENCE}sh
    npm test
    ${FENCE}
  type: general-purpose
  model: haiku
  name: tester
  background: true
  schema: { type: object }
- { prompt: "# Lint", run_in_background: false }
- prompt: |
    ${FENCE}write a.txt
    text
    ${FENCE}
`;
    const { steps, problems } = await planRecipe(`\`${block('agents', agents).trimEnd()}\`\n`);
    expect(problems).toEqual([]);
    expect(steps[0]?.calls.map(({ input }) => input)).toEqual([
      {
        prompt: `${FENCE}sh\nnpm test\n${FENCE}\n`,
        description: 'npm test',
        subagent_type: 'general-purpose',
        model: 'haiku',
        name: 'tester',
        run_in_background: true,
        schema: { type: 'object' },
      },
      { prompt: '# Lint', description: 'Lint', run_in_background: false },
      { prompt: `${FENCE}write a.txt\ntext\n${FENCE}\n`, description: 'write a.txt' },
    ]);
  });

  test('an agent may be given agents of its own, in a shorter fence', async () => {
    const inner = '- prompt: |\n    ~~~sh\n    true\n    ~~~\n';
    const middle = `${FENCE}agents\n${inner}${FENCE}\n`.replace(/^/gm, '    ').trimEnd();
    const { steps } = await planRecipe(`~~~~agents\n- prompt: |\n${middle}\n~~~~\n`);
    const child = await planRecipe(String(steps[0]?.calls[0]?.input.prompt));
    const grandchild = await planRecipe(String(child.steps[0]?.calls[0]?.input.prompt));
    expect(grandchild.steps).toMatchObject([{ calls: [{ name: 'Bash', input: { command: 'true' } }] }]);
  });

  test('names every mistake in an agents block with its own line', async () => {
    const agents = [
      '- prompt: a',
      '  promt: b',
      '- description: c',
      '- prompt: d',
      '  background: "yes"',
      '  type: x',
      '  subagent_type: y',
      '- prompt: "  "',
      '- prompt: 7',
      '  schema: [1]',
      '- just text',
      '- prompt: e',
      '  isolation:',
    ];
    const { steps, problems } = await planRecipe(`\n${block('agents', `${agents.join('\n')}\n`)}`);
    expect(steps).toEqual([]);
    expect(problems.map((one) => one.replace('the "agents" block has a mistake: agent ', ''))).toEqual([
      'line 4: 1 has a field "promt" that is not known: there are prompt, description, type, model, name, background, schema, isolation, expect and budget',
      'line 5: 2 has no prompt',
      'line 7: 3 needs true or false as its background',
      'line 9: 3 says twice what its subagent_type is',
      'line 10: 4 needs text as its prompt',
      'line 11: 5 needs text as its prompt',
      'line 12: 5 needs a JSON Schema as its schema',
      'line 13: 6 must have a prompt: write "- prompt: ..."',
      'line 15: 7 needs "worktree" as its isolation',
    ]);
  });

  test.each([
    [
      'an open block',
      `${block('sh', 'true\n')}${FENCE}sh\nrm -r build\n`,
      'line 4: the "sh" block is not closed',
    ],
    ['an open example', `${FENCE}\nx\n`, 'line 1: the block is not closed'],
    ['an empty command', block('sh', ' \n\n'), 'line 1: the "sh" block is empty'],
    ['a file without a name', block('write', 'x\n'), 'line 1: the "write" block names no file'],
    ['no time', block('sh timeout=0', 'x\n'), 'timeout=SECONDS, from 1 to 600, not by "timeout=0"'],
    ['too much time', block('sh timeout=601', 'x\n'), 'timeout=SECONDS, from 1 to 600'],
    ['another word', block('sh --now', 'x\n'), 'not by "--now"'],
    ['broken YAML', block('agents', '- [\n'), 'the "agents" block is not valid YAML: '],
    [
      'a field given twice',
      block('agents', '- prompt: a\n  prompt: b\n'),
      'line 3: the "agents" block is not',
    ],
    ['an alias bomb', block('agents', bomb()), 'the "agents" block is not valid YAML: '],
    ['agents that are no list', block('agents', 'prompt: x\n'), 'must be a list of agents'],
    ['an agent without a prompt', block('agents', '- description: x\n'), 'agent 1 has no prompt'],
    ['no agents', block('agents', ''), 'must be a list of agents'],
    ['an empty list', block('agents', '[]\n'), 'must be a list of agents'],
  ])('%s is a problem, told with its line', async (_, task, problem) => {
    const { problems } = await planRecipe(task);
    expect(problems).toEqual([expect.stringContaining(problem)]);
    expect(problems[0]).not.toContain('\n');
  });
});
