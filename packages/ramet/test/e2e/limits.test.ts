import { describe, expect } from 'vitest';
import { linesOf } from '../fixtures/command.ts';
import { test, toolResults } from '../fixtures/user.ts';

const READ = { name: 'Read', input: { file_path: 'README.md' } };
const JSON_FORMAT = ['--output-format', 'json'];

describe.concurrent('MODEL-1: --model', () => {
  test.for([
    [[], {}, 'claude-sonnet-5'],
    [['--model', 'haiku'], {}, 'claude-haiku-4-5'],
    [['--model', 'opus'], {}, 'claude-opus-5'],
    [['--model', 'opus'], { RAMET_MODEL_OPUS: 'my-large-model' }, 'my-large-model'],
    [[], { RAMET_MODEL_SONNET: 'my-usual-model' }, 'my-usual-model'],
    [['--model', 'claude-sonnet-4-6'], { RAMET_MODEL_SONNET: 'other' }, 'claude-sonnet-4-6'],
  ] as const)('%j with %j asks for %s', async ([flags, env, model], { user }) => {
    const emulator = await user.model({ text: 'ok' });
    const end = await user.ramet(['-p', 'x', ...flags], { env });
    expect(end).toEqual({ code: 0, stdout: 'ok\n', stderr: '' });
    expect(emulator.requests.map(({ request }) => request?.model)).toEqual([model]);
  });

  test('continues with the fallback model when the first stays unavailable', async ({ user }) => {
    const emulator = await user.emulate({
      respond: () => ({ text: 'From the other.' }),
      fault: ({ request }) =>
        request.model === 'claude-opus-5' ? { kind: 'status', status: 529, retryAfter: 0.01 } : undefined,
    });
    const end = await user.ramet(['-p', 'x', '--model', 'opus', '--fallback-model', 'sonnet'], {
      env: { RAMET_MAX_RETRIES: '1' },
    });
    expect(end).toMatchObject({ code: 0, stdout: 'From the other.\n' });
    expect(linesOf(end.stderr).at(-1)).toMatch(/^ramet: .*continuing with claude-sonnet-5$/);
    expect(emulator.requests.map(({ request }) => request?.model)).toEqual([
      'claude-opus-5',
      'claude-opus-5',
      'claude-sonnet-5',
    ]);
  });
});

describe.concurrent('RES-9: --effort and --thinking', () => {
  test('reach the model with room for the answer, and the bill names them', async ({ user }) => {
    const emulator = await user.model({ text: 'ok' }, { text: 'more' });
    expect(await user.here(['-p', 'x', '--effort', 'high'])).toMatchObject({ code: 0, stderr: '' });
    expect(emulator.requests[0]?.request).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
      max_tokens: 36_000,
    });
    const { stdout: bill } = await user.here(['cost']);
    expect(bill).toMatch(/^\.1 main \[effort high\] /m);
  });

  test('a number of tokens goes to a model that takes one, within the room for the answer', async ({
    user,
  }) => {
    const emulator = await user.model({ text: 'ok' });
    const end = await user.here(['-p', 'x', '--model', 'haiku', '--thinking', '20000']);
    expect(end).toEqual({ code: 0, stdout: 'ok\n', stderr: '' });
    expect(emulator.requests[0]?.request).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 20_000 },
      max_tokens: 36_000,
    });
  });
});

describe.concurrent('RES-1: --max-turns', () => {
  test('gives one closing turn, then ends with error_max_turns and exit code 1', async ({ user }) => {
    const emulator = await user.model(
      { tool_use: [READ] },
      { tool_use: [READ] },
      { text: 'So far, so good.' },
    );
    const end = await user.here(['-p', 'x', '--max-turns', '2', ...JSON_FORMAT]);
    expect(end.code).toBe(1);
    expect(JSON.parse(end.stdout)).toMatchObject({
      subtype: 'error_max_turns',
      is_error: true,
      result: 'So far, so good.',
      num_turns: 3,
      agents: [{ status: 'failed', cause: 'max_turns' }],
    });
    expect(linesOf(end.stderr)).toEqual([
      expect.stringMatching(/^ramet: failed: max_turns: the limit of 2 turns is reached/),
    ]);
    expect(emulator.requests.at(-1)?.body).toContain('You have used all your turns.');
    expect(emulator.requests.at(-2)?.body).not.toContain('You have used all your turns.');
  });

  test('runs no tool in the closing turn, and can be resumed from there', async ({ user }) => {
    const write = { name: 'Write', input: { file_path: 'new.txt', content: 'x' } };
    const emulator = await user.model({ tool_use: [READ] }, { tool_use: [write] }, { text: 'Goes on.' });
    const flags = ['--permission-mode', 'bypassPermissions'];
    const first = await user.here(['-p', 'x', '--max-turns', '1', ...flags]);
    expect(first.code).toBe(1);
    const second = await user.here(['-p', 'Go on.', '--continue', ...flags]);
    expect(second).toEqual({ code: 0, stdout: 'Goes on.\n', stderr: '' });
    expect(toolResults(emulator).at(-1)).toEqual({ text: 'not run: no turns are left', isError: true });
  });

  test('leaves an answer within the limit alone', async ({ user }) => {
    await user.model({ tool_use: [READ] }, { text: 'Done.' });
    const end = await user.here(['-p', 'x', '--max-turns', '2']);
    expect(end).toEqual({ code: 0, stdout: 'Done.\n', stderr: '' });
  });
});

describe.concurrent('RES-2: --max-budget-usd', () => {
  test('ends with error_max_budget and exit code 1 once it is spent', async ({ user }) => {
    const usage = { input_tokens: 400_000 };
    const emulator = await user.model({ tool_use: [READ], usage }, { tool_use: [READ], usage });
    const end = await user.here(['-p', 'x', '--max-budget-usd', '1.5', ...JSON_FORMAT]);
    expect(end.code).toBe(1);
    const result = JSON.parse(end.stdout);
    expect(result).toMatchObject({ subtype: 'error_max_budget', num_turns: 2 });
    expect(result.total_cost_usd).toBeGreaterThan(1.5);
    expect(linesOf(end.stderr)).toEqual([expect.stringMatching(/the budget is spent: \$1\.6\d* of \$1\.5/)]);
    expect(emulator.requests).toHaveLength(2);
  });

  test('tells the agent to finish when most of it is spent', async ({ user }) => {
    const emulator = await user.model(
      { tool_use: [READ], usage: { input_tokens: 450_000 } },
      { text: 'Finished early.' },
    );
    const end = await user.here(['-p', 'x', '--max-budget-usd', '1']);
    expect(end).toMatchObject({ code: 0, stdout: 'Finished early.\n' });
    expect(emulator.requests[1]?.body).toContain('Your budget is nearly spent');
  });

  test('refuses a model without a price, before anything is sent or kept', async ({ user }) => {
    const emulator = await user.model({ text: 'Hello.' });
    await user.here(['-p', 'Before.']);
    const before = user.sessions();
    const end = await user.here(['-p', 'x', '--max-budget-usd', '1', '--model', 'house-model-1']);
    expect(end).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'ramet: a limit in dollars needs a price, and none is known for house-model-1: choose another model, state its price in settings, or leave the limit out (--max-budget-usd, budget.usd, agents.usd)\n',
    });
    expect(emulator.requests).toHaveLength(1);
    expect(user.sessions()).toEqual(before);
  });
});
