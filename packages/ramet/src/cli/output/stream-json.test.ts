import { describe, expect, test } from 'vitest';
import {
  agentStarted,
  childOrigin,
  requestStarted,
  responseCompleted,
  toolCompleted,
} from '../../../test/recorded-events.ts';
import { type AgentEvent, type AgentResult, startedEvent } from '../../engine/agent/agent-event.ts';
import { NO_USAGE, type Usage } from '../../schema/usage.ts';
import type { Session, SessionEvent } from '../../sdk/session/session.ts';
import type { CommandIo } from '../io.ts';
import { jsonOutput } from './result-object.ts';
import type { ResultOutput } from './result-output.ts';
import { streamJsonOutput } from './stream-json.ts';

const spent = (output: number): Usage => ({ ...NO_USAGE, output_tokens: output });
const MAIN = 'abcd1234.1';
const CHILD = 'abcd1234.2';

// What an output reads of a session, and nothing else.
const session = {
  id: 'abcd1234',
  agent: { id: MAIN, parent: null, type: 'main', name: null, permissionMode: 'default', cwd: '/nowhere' },
  tools: ['Agent'],
  model: 'claude-sonnet-5',
} as unknown as Session;

const ioTo = (out: CommandIo['out']): CommandIo => ({
  out,
  isTerminal: false,
  columns: null,
  note() {},
  progress() {},
  env: {},
  cwd: '/nowhere',
  signal: new AbortController().signal,
});

/** A run whose main agent started one child, as a format shows it. There is no journal that it could read. */
function shownRun(format: (io: CommandIo) => ResultOutput): Record<string, unknown>[] {
  let out = '';
  const output = format(
    ioTo((text) => {
      out += text;
    }),
  );
  output.start(session);
  answered(output, MAIN, { usage: spent(10), costUsd: 1 });
  output.event(session, warning(MAIN, null));
  const of = { agentId: CHILD, parentAgentId: MAIN };
  const origin = childOrigin({ description: 'one part', call: 'toolu_fork' });
  output.event(session, {
    ...startedEvent(agentStarted({ parent: MAIN, agentType: 'fork', origin }), {}),
    ...of,
  });
  output.event(session, { type: 'progress', line: 'Reading.', ...of });
  answered(output, CHILD, { usage: spent(3), costUsd: 2 });
  const failed = { status: 'failed', cause: 'max_turns' } as const;
  const result = { ...ended({ usage: spent(3), costUsd: 2 }), ...failed };
  output.event(session, { type: 'agent_ended', ...result, ...of });
  output.end(session, ended({ usage: spent(13), costUsd: 3 }));
  return out
    .trim()
    .split('\n')
    .map((line): Record<string, unknown> => JSON.parse(line));
}

function answered(output: ResultOutput, agent: string, sums: { usage: Usage; costUsd: number }): void {
  output.record?.(agent, requestStarted({ request: `${agent}/1` }));
  output.record?.(agent, responseCompleted({ request: `${agent}/1`, ...sums }));
}

const warning = (agentId: string, parentAgentId: string | null): SessionEvent => ({
  type: 'warning',
  code: 'c',
  message: 'm',
  agentId,
  parentAgentId,
});

const ended = (sums: Pick<AgentResult, 'usage' | 'costUsd'>): AgentResult => ({
  status: 'done',
  cause: null,
  message: null,
  text: 'Done.',
  turns: 1,
  durationMs: 5,
  ...sums,
});

describe('UI-1: a run of many agents as JSON', () => {
  test('every line of stream-json says which agent it is of and who its parent is', () => {
    const lines = shownRun(streamJsonOutput);
    const [session] = String(lines[0]?.agent_id).split('.');
    expect(lines.map((line) => [line.subtype, line.agent_id, line.parent_agent_id])).toEqual([
      ['init', `${session}.1`, null],
      ['warning', `${session}.1`, null],
      ['agent_started', `${session}.2`, `${session}.1`],
      ['agent_progress', `${session}.2`, `${session}.1`],
      ['agent_ended', `${session}.2`, `${session}.1`],
      ['success', `${session}.1`, null],
    ]);
    expect(lines[3]).toMatchObject({ type: 'system', line: 'Reading.' });
  });

  test('UI-4: parent_tool_use_id is null for the main agent, and for a child the call that asked for it', () => {
    const lines = shownRun(streamJsonOutput);
    expect(lines.map((line) => line.parent_tool_use_id)).toEqual([
      ...[null, null],
      ...['toolu_fork', 'toolu_fork', 'toolu_fork'],
      null,
    ]);
  });

  test('UI-4: it is the id of a child of which no call is known', () => {
    const lines: string[] = [];
    const output = streamJsonOutput(ioTo((text) => void lines.push(text)));
    output.event(session, warning(CHILD, MAIN));
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ parent_tool_use_id: CHILD });
  });

  test('UI-4: the first line has the fields of the public convention', () => {
    expect(shownRun(streamJsonOutput)[0]).toMatchObject({
      ...{ type: 'system', subtype: 'init', session_id: 'abcd1234', cwd: '/nowhere', mcp_servers: [] },
      ...{ model: 'claude-sonnet-5', tools: ['Agent'] },
      ...{ permissionMode: 'default', permission_mode: 'default' },
    });
  });

  test.each([
    ['json', jsonOutput],
    ['stream-json', streamJsonOutput],
  ])('MODEL-3: the result object of %s has the sums of the run and what of them is whose', (_, format) => {
    const result = shownRun(format).at(-1);
    const session = result?.session_id;
    expect(result).toMatchObject({
      total_cost_usd: 3,
      usage: { output_tokens: 13 },
      agents: [
        {
          id: `${session}.1`,
          parent: null,
          status: 'done',
          total_cost_usd: 1,
          usage: { output_tokens: 10 },
        },
        {
          id: `${session}.2`,
          parent: `${session}.1`,
          type: 'fork',
          status: 'failed',
          cause: 'max_turns',
          num_turns: 1,
          total_cost_usd: 2,
          usage: { output_tokens: 3 },
        },
      ],
    });
  });
});

describe('UI-4: what stream-json prints for an event', () => {
  const call = { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'true' } } as const;
  const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'fine' } as const;
  const replaced = { type: 'conversation_replaced' as const, messages: [], tokens: 9, tokensBefore: 90 };
  const usage = spent(7);

  test.each<[string, AgentEvent, Record<string, unknown> | null]>([
    [
      'a response',
      { ...responseCompleted({ usage, costUsd: 2 }), type: 'assistant', blocks: [call] },
      { type: 'assistant', message: { role: 'assistant', content: [call] }, total_cost_usd: 2 },
    ],
    [
      'a call',
      { type: 'tool_started', name: 'Bash', call },
      { type: 'system', subtype: 'tool_started', tool_use_id: 'toolu_1', name: 'Bash' },
    ],
    [
      'the result of a call',
      { ...toolCompleted('toolu_1', 'Bash'), type: 'tool_completed', call, result, durationMs: 3.4 },
      { type: 'user', message: { role: 'user', content: [result] }, duration_ms: 3 },
    ],
    [
      'a call that is left for the next run',
      { type: 'tool_withdrawn', name: 'Bash', call },
      { type: 'system', subtype: 'tool_withdrawn', tool_use_id: 'toolu_1', name: 'Bash' },
    ],
    [
      'a compaction',
      { ...replaced, cause: 'compaction', trigger: 'request' },
      {
        type: 'system',
        subtype: 'compact_boundary',
        compact_metadata: { trigger: 'manual', pre_tokens: 90, post_tokens: 9 },
      },
    ],
    [
      'another model',
      { ...replaced, cause: 'fallback', model: 'claude-haiku-4-5' },
      { type: 'system', subtype: 'model_changed', model: 'claude-haiku-4-5', cause: 'fallback' },
    ],
  ])('%s', (_, event, line) => {
    const lines: string[] = [];
    const output = streamJsonOutput(ioTo((text) => void lines.push(text)));
    output.event(session, { ...event, agentId: MAIN, parentAgentId: null });
    expect(lines.map((text): unknown => JSON.parse(text))).toMatchObject([{ ...line, agent_id: MAIN }]);
  });
});
