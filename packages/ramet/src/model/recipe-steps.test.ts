import { describe, expect, test } from 'vitest';
import { planRecipe } from './recipe-steps.ts';

const FENCE = '```';

function block(label: string, content = ''): string {
  return `${FENCE}${label}\n${content}${FENCE}\n`;
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

  test.each(['sh', 'bash', 'shell', 'SH', 'Bash'])('%s is a command', async (language) => {
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
      block('js', 'x\n') + block('', 'y\n') + block('wirte a'),
    );
    expect({ steps, problems }).toEqual({ steps: [], problems: [] });
    expect(skipped).toEqual(['js (line 1)', 'no language (line 4)', 'wirte (line 7)']);
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
            input: { prompt: 'Fix the parser.', subagent_type: 'general', description: 'Fix the parser.' },
          },
          { name: 'Agent', input: { prompt: 'Two\nlines', description: 'b' } },
        ],
      },
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
    ['broken YAML', block('agents', '- [\n'), 'line 1: the "agents" block is not valid YAML: '],
    ['agents that are no list', block('agents', 'prompt: x\n'), 'must be a list of agents'],
    ['an agent without a prompt', block('agents', '- description: x\n'), 'each with a prompt: '],
    ['no agents', block('agents', ''), 'must be a list of agents'],
    ['an empty list', block('agents', '[]\n'), 'must be a list of agents'],
  ])('%s is a problem, told with its line', async (_, task, problem) => {
    const { problems } = await planRecipe(task);
    expect(problems).toEqual([expect.stringContaining(problem)]);
    expect(problems[0]).not.toContain('\n');
  });
});
