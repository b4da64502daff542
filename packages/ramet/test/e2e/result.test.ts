import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Emulator } from '../../src/emulator/index.ts';
import { costOf } from '../../src/model/prices.ts';
import { linesOf } from '../fixtures/command.ts';
import { childOf, fanOut } from '../fixtures/fan-out.ts';
import { test } from '../fixtures/user.ts';

const READ = { name: 'Read', input: { file_path: 'README.md' } };
const COUNTS = [
  'input_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'output_tokens',
] as const;

describe.concurrent('UI-1: --output-format json', () => {
  test('MODEL-3: prints one object with usage and cost to the token', async ({ user }) => {
    const emulator = await user.model({ tool_use: [READ, READ] }, { tool_use: [READ] }, { text: 'Done.' });
    const end = await user.ramet(['-p', 'Look.', '--output-format', 'json']);
    expect(end).toMatchObject({ code: 0, stderr: '' });
    expect(linesOf(end.stdout)).toHaveLength(1);
    const result = JSON.parse(end.stdout);
    const [session] = user.sessions();
    const sums = {
      num_turns: 3,
      usage: billed(emulator, 'claude-sonnet-5').usage,
      total_cost_usd: expect.closeTo(billed(emulator, 'claude-sonnet-5').usd, 12),
    };
    expect(result).toEqual({
      type: 'result',
      subtype: 'success',
      permission_denials: [],
      is_error: false,
      result: 'Done.',
      session_id: session,
      duration_ms: expect.any(Number),
      ...sums,
      agents: [
        {
          id: `${session}.1`,
          parent: null,
          type: 'main',
          name: null,
          worktree: null,
          status: 'done',
          cause: null,
          model: 'claude-sonnet-5',
          ...sums,
        },
      ],
    });
    expect(Number.isInteger(result.duration_ms) && result.duration_ms > 0).toBe(true);
    expect(result.usage.cache_read_input_tokens).toBeGreaterThan(0);
  });

  test('MODEL-3: prices writes for an hour as such', async ({ user }) => {
    const usage = {
      input_tokens: 1000,
      cache_creation_input_tokens: 3000,
      cache_creation: { ephemeral_5m_input_tokens: 1000, ephemeral_1h_input_tokens: 2000 },
      cache_read_input_tokens: 5000,
    };
    await user.model({ text: 'Done.', usage, output_tokens: 100 });
    const { stdout } = await user.here(['-p', 'x', '--output-format', 'json', '--model', 'opus']);
    // Opus 5: 5 in, 6.25 and 10 written, 0.5 read, 25 out, per million.
    const usd = (1000 * 5 + 1000 * 6.25 + 2000 * 10 + 5000 * 0.5 + 100 * 25) / 1e6;
    expect(JSON.parse(stdout).total_cost_usd).toBeCloseTo(usd, 12);
  });

  test('MODEL-3: says null, not 0, for the cost of a model without a price', async ({ user }) => {
    await user.model({ text: 'Done.' });
    const end = await user.here(['-p', 'x', '--output-format', 'json', '--model', 'house-model-1']);
    const result = JSON.parse(end.stdout);
    expect(result).toMatchObject({ subtype: 'success', total_cost_usd: null });
    expect(result.agents[0]).toMatchObject({ model: 'house-model-1', total_cost_usd: null });
    expect(result.usage.output_tokens).toBeGreaterThan(0);
  });

  test('tells a failure in the object and on standard error', async ({ user }) => {
    await user.emulate({ fault: () => ({ kind: 'status', status: 400, message: 'no such thing' }) });
    const end = await user.here(['-p', 'x', '--output-format', 'json']);
    expect(end.code).toBe(1);
    expect(JSON.parse(end.stdout)).toMatchObject({
      subtype: 'error_during_execution',
      is_error: true,
      result: expect.stringContaining('no such thing'),
      num_turns: 0,
      total_cost_usd: 0,
      agents: [{ status: 'failed', cause: 'invalid_request_error' }],
    });
    expect(linesOf(end.stderr)).toHaveLength(1);
  });
});

describe.concurrent('UI-1: the result of a finished run', () => {
  for (const format of ['json', 'stream-json'] as const) {
    test(`is printed as ${format} though nothing can be read back any more`, async ({ user }) => {
      const damage = { name: 'Bash', input: { command: 'printf garbage > "$INDEX"; chmod 0 "$JOURNALS"' } };
      const emulator = await user.emulate({
        respond: (view) => {
          const child = childOf(view.request);
          if (child === null) return fanOut({ children: 2 })(view);
          return view.turn === 0 ? { tool_use: [child === 1 ? damage : READ] } : { text: `Scope: ${child}` };
        },
      });
      const env = { INDEX: join(user.project, 'index.sqlite'), JOURNALS: user.project };
      mkdirSync(user.rametHome);
      const settings = { env: { childVariables: Object.keys(env) } };
      writeFileSync(join(user.rametHome, 'settings.json'), JSON.stringify(settings));
      const bypass = ['--permission-mode', 'bypassPermissions'];
      const end = await user.ramet(['-p', 'Go.', '--output-format', format, ...bypass], { env });
      chmodSync(user.project, 0o700);
      const result = JSON.parse(linesOf(end.stdout).at(-1) ?? '');
      const { usage, usd } = billed(emulator, 'claude-sonnet-5');
      expect(result).toMatchObject({ type: 'result', subtype: 'success', usage });
      expect(result.agents).toMatchObject([
        { type: 'main', status: 'done', num_turns: 2 },
        { parent: `${result.session_id}.1`, type: 'fork', status: 'done', num_turns: 2 },
        { parent: `${result.session_id}.1`, type: 'fork', status: 'done', num_turns: 2 },
      ]);
      const costs = result.agents.map((agent: { total_cost_usd: number }) => agent.total_cost_usd);
      expect(costs.reduce((sum: number, cost: number) => sum + cost, 0)).toBeCloseTo(usd, 12);
    });
  }
});

describe.concurrent('UI-1: --output-format stream-json', () => {
  test('prints one event a line, each with its agent, and the result last', async ({ user }) => {
    const emulator = await user.model({ text: 'I look.', tool_use: [READ] }, { text: 'Done.' });
    const end = await user.here(['-p', 'x', '--output-format', 'stream-json']);
    expect(end).toMatchObject({ code: 0, stderr: '' });
    const events = linesOf(end.stdout).map((line) => JSON.parse(line));
    const [session] = user.sessions();
    for (const event of events) {
      expect(event).toMatchObject({ agent_id: `${session}.1`, parent_agent_id: null, session_id: session });
    }
    expect(events.map(({ type, subtype }) => subtype ?? type)).toEqual([
      'init',
      'assistant',
      'tool_started',
      'user',
      'assistant',
      'success',
    ]);
    expect(events[1].message).toMatchObject({ role: 'assistant', stop_reason: 'tool_use' });
    expect(events[3].message.content[0].tool_use_id).toBe(events[1].message.content[1].id);
    expect(events.at(-1)).toMatchObject({
      type: 'result',
      result: 'Done.',
      usage: billed(emulator, 'claude-sonnet-5').usage,
    });
  });

  test('MODEL-2: streams text as it comes when asked to, before the message is whole', async ({ user }) => {
    await user.emulate({
      respond: () => ({ text: 'A few words that come in pieces.' }),
      latency: { tokensPerSecond: 200 },
    });
    const args = ['-p', 'x', '--output-format', 'stream-json', '--include-partial-messages'];
    const events = linesOf((await user.here(args)).stdout).map((line) => JSON.parse(line));
    const deltas = events.filter(({ type }) => type === 'stream_event');
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.map(({ event }) => event.text).join('')).toBe('A few words that come in pieces.');
    expect(events.findIndex(({ type }) => type === 'assistant')).toBeGreaterThan(
      events.indexOf(deltas.at(-1)),
    );
  });

  test('MODEL-2: reports every retry', async ({ user }) => {
    let faults = 1;
    await user.emulate({
      respond: () => ({ text: 'Done.' }),
      fault: () => (faults-- > 0 ? { kind: 'status', status: 529, retryAfter: 0.01 } : undefined),
    });
    const end = await user.here(['-p', 'x', '--output-format', 'stream-json']);
    const events = linesOf(end.stdout).map((line) => JSON.parse(line));
    expect(events.filter(({ subtype }) => subtype === 'api_retry')).toMatchObject([
      { attempt: 1, retry_delay_ms: 10, code: 'overloaded_error' },
    ]);
    expect(events.at(-1)).toMatchObject({ subtype: 'success' });
  });
});

/** What the emulator says it served, summed, and its price by the table, response by response. */
function billed(emulator: Emulator, model: string): { usage: Record<string, number>; usd: number } {
  const served = emulator.requests.flatMap(({ usage }) => (usage === undefined ? [] : [usage]));
  const usage = Object.fromEntries(
    COUNTS.map((count) => [count, served.reduce((sum, one) => sum + one[count], 0)]),
  );
  const costs = served.map(
    (one) => costOf(model, { ...one, cache_creation_1h_input_tokens: 0 }).usd ?? Number.NaN,
  );
  return { usage, usd: costs.reduce((sum, cost) => sum + cost, 0) };
}
