import { describe, expect, test } from 'vitest';
import { MAY_HAVE_RUN, NOT_RUN } from '../../engine/agent/notices.ts';
import type { OtherBlock } from '../../schema/content.ts';
import type { TaskMessage } from './conversation-task.ts';
import { answerRecipe, type RecipeAnswer } from './recipe-answer.ts';

const TOOLS = ['Read', 'Write', 'Bash'].map((name) => ({ name }));
const THREE = '```sh\nfirst\n```\n```write a.md\ntext\n```\n```sh\nlast\n```\n';

/** Carries on a conversation: answers every call of the model with the next result, until it calls no more. */
async function converse(task: string, results: { text: string; failed?: boolean }[]) {
  const messages: TaskMessage[] = [{ role: 'user', content: task }];
  const called: string[] = [];
  for (let turn = 0; ; turn++) {
    const answer: RecipeAnswer = await answerRecipe({ messages, tools: TOOLS });
    if (answer.calls.length === 0) return { called, answer, messages };
    const calls = answer.calls.map(({ name, input }, index): OtherBlock => {
      called.push(`${name} ${input.command ?? input.file_path}`);
      return { type: 'tool_use', id: `call-${turn}-${index}`, name, input };
    });
    const { text = '', failed = false } = results[turn] ?? {};
    messages.push({ role: 'assistant', content: [{ type: 'text', text: answer.text }, ...calls] });
    messages.push({
      role: 'user',
      content: calls.map(({ id }) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: text,
        is_error: failed,
      })),
    });
  }
}

describe('RECIPE-1: the recipe model', () => {
  test('calls one step a turn, in order, and reports from the results', async () => {
    const { called, answer } = await converse(THREE, [
      { text: 'one\ntwo\nthree\nfour' },
      { text: 'Created a.md (1 line).' },
      { text: '(no output)' },
    ]);
    expect(called).toEqual(['Bash first', 'Write a.md', 'Bash last']);
    expect(answer.failed).toBe(false);
    expect(answer.text.split('\n')).toEqual([
      'Done: 3 steps carried out.',
      '',
      '1. sh: first - ok',
      '   | (1 line before)',
      '   | two',
      '   | three',
      '   | four',
      '2. write: a.md - ok',
      '   | Created a.md (1 line).',
      '3. sh: last - ok',
    ]);
  });

  test('stops at the first step that fails, and says how it ended and what was not run', async () => {
    const { called, answer } = await converse(THREE, [{ text: 'no such thing\nExit code 2.', failed: true }]);
    expect(called).toEqual(['Bash first']);
    expect(answer.failed).toBe(true);
    expect(answer.text.split('\n')).toEqual([
      'Failed: step 1 of 3 (sh: first): exit code 2; 2 steps after it not run',
      '',
      '1. sh: first - failed: exit code 2',
      '   | no such thing',
      '2. write: a.md - not run',
      '3. sh: last - not run',
    ]);
  });

  test.each([
    ['Timed out after 120000 ms: the command was stopped.', 'timed out after 120000 ms'],
    ['Ended by SIGKILL.', 'ended by SIGKILL'],
    ['Bash is not allowed in this mode', 'Bash is not allowed in this mode'],
    [MAY_HAVE_RUN, MAY_HAVE_RUN],
  ])('a result of "%s" is a failure with that reason', async (text, reason) => {
    const { answer } = await converse(THREE, [{ text, failed: true }]);
    expect(answer).toMatchObject({ failed: true, text: expect.stringContaining(`(sh: first): ${reason};`) });
  });

  test('a command that prints the word for a failure and succeeds is a success', async () => {
    const { answer } = await converse('```sh\necho\n```', [{ text: 'Exit code 3.' }]);
    expect(answer).toMatchObject({ failed: false, text: expect.stringContaining('   | Exit code 3.') });
  });

  test.each(Object.values(NOT_RUN))('makes a call again that was answered with "%s"', async (text) => {
    const { called, answer } = await converse(THREE, [{ text: 'ok' }, { text, failed: true }]);
    expect(called).toEqual(['Bash first', 'Write a.md', 'Write a.md', 'Bash last']);
    expect(answer.failed).toBe(false);
  });

  test.each([
    ['not run: the budget is spent', false],
    ['not run: the budget is spent\nExit code 1.', true],
  ])('does not make a call again whose command printed %j', async (text, failed) => {
    const { called, answer } = await converse('```sh\necho\n```', [{ text, failed }]);
    expect(called).toEqual(['Bash echo']);
    expect(answer.failed).toBe(failed);
  });

  test('gives up a file that is refused again and again', async () => {
    const refused = { text: 'changed since you read it. Read it again', failed: true };
    const read = { text: '1 x' };
    const rounds = [refused, read, refused, read, refused, read, refused];
    const { called, answer } = await converse('```write a\n```', rounds);
    expect(called).toHaveLength(7);
    expect(answer).toMatchObject({ failed: true, text: expect.stringContaining('Read it again') });
  });

  test('gives up a file that it is told to read and cannot', async () => {
    const rounds = [
      { text: 'Read it first', failed: true },
      { text: 'no permission', failed: true },
    ];
    const { called, answer } = await converse('```write a\n```', rounds);
    expect(called).toEqual(['Write a', 'Read a']);
    expect(answer).toMatchObject({ failed: true, text: expect.stringContaining('no permission') });
  });

  test('takes the last prompt as its task and forgets the steps of earlier ones', async () => {
    const { messages } = await converse(THREE, []);
    messages.push({ role: 'user', content: [{ type: 'text', text: '```sh\nfirst\n```' }] });
    const answer = await answerRecipe({ messages, tools: TOOLS });
    expect(answer).toMatchObject({ text: 'Step 1 of 1: sh: first', calls: [{ name: 'Bash' }] });
  });

  test('carries out nothing from project instructions or the environment', async () => {
    const content = ['```sh\nrm -rf /\n```', '<environment>', 'Fix the bug.'].map((text) => ({
      type: 'text',
      text,
    }));
    const answer = await answerRecipe({ messages: [{ role: 'user', content }], tools: TOOLS });
    expect(answer).toMatchObject({ calls: [], failed: true });
  });

  test('continues after results that come with a notice', async () => {
    const messages: TaskMessage[] = [
      { role: 'user', content: THREE },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'x', name: 'Bash', input: { command: 'first' } }],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'x', content: [{ type: 'text', text: 'fine' }] },
          { type: 'text', text: 'Your budget is nearly spent.' },
        ],
      },
    ];
    const answer = await answerRecipe({ messages, tools: TOOLS });
    expect(answer.calls).toMatchObject([{ name: 'Write' }]);
  });

  test('does not take the calls of another model for its own', async () => {
    const messages: TaskMessage[] = [
      { role: 'user', content: '```sh\nfirst\n```' },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'x', name: 'Bash', input: { command: 'other' } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: 'fine' }] },
    ];
    const answer = await answerRecipe({ messages, tools: TOOLS });
    expect(answer.calls).toEqual([{ name: 'Bash', input: { command: 'first' } }]);
  });

  test('says what it can do, with an example, when there is nothing to carry out', async () => {
    const { answer } = await converse('Fix the bug.\n```js\nx\n```', []);
    expect(answer.failed).toBe(true);
    expect(answer.text).toMatch(/^Failed: the task holds no block/);
    // Indented, so that a terminal shows the fences; what it shows can be pasted and works.
    expect(answer.text).toContain('    ```sh\n    npm test\n    ```\n');
    expect((await converse(answer.text, [])).called).toEqual(['Write notes/today.md', 'Bash npm test']);
    expect(answer.text).toContain('ANTHROPIC_API_KEY');
    expect(answer.text).toContain('js (line 2)');
    expect(answer.text.split('\n').every((line) => line.length <= 80)).toBe(true);
  });

  test('carries out nothing when one block is wrong, and names every problem', async () => {
    const { called, answer } = await converse(`${THREE}\`\`\`sh\n\`\`\`\n\`\`\`write\n`, []);
    expect(called).toEqual([]);
    expect(answer.text.split('\n')).toEqual([
      expect.stringMatching(/^Failed: line 10: the "sh" block is empty/),
      expect.stringMatching(/^line 12: the "write" block is not closed/),
      '',
      'Nothing was carried out.',
    ]);
  });

  test('says which tool is missing before it begins', async () => {
    const { called, answer } = await converse('```sh\ntrue\n```\n```agents\n- prompt: x\n```', []);
    expect(called).toEqual([]);
    expect(answer).toMatchObject({
      failed: true,
      text: expect.stringMatching(/^Failed: line 4: .* no Agent tool/),
    });
  });

  test('calls the agents of one block together', async () => {
    const content = '```agents\n- prompt: a\n- prompt: b\n```';
    const answer = await answerRecipe({ messages: [{ role: 'user', content }], tools: [{ name: 'Agent' }] });
    expect(answer.calls.map(({ input }) => input.prompt)).toEqual(['a', 'b']);
  });

  test('reads a task of 10 MB', async () => {
    const task = `\`\`\`write big.txt\n${'0123456789abcde\n'.repeat(655_360)}\`\`\`\n`;
    const { called, answer } = await converse(task, []);
    expect(called).toEqual(['Write big.txt']);
    expect(answer.failed).toBe(false);
  });
});
