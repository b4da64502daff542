import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RecordedSession } from '../../../test/fixtures/recorded-session.ts';
import { temporaryRepository } from '../../../test/fixtures/temporary.ts';
import type { AgentResult } from '../../engine/agent-event.ts';
import { NO_USAGE, type Usage } from '../../schema/usage.ts';
import { findPlace } from '../../sdk/place.ts';
import type { Session, SessionEvent } from '../../sdk/session.ts';
import type { CommandIo } from '../io.ts';
import { jsonOutput } from './json.ts';
import type { ResultOutput } from './result-output.ts';
import { streamJsonOutput } from './stream-json.ts';

const spent = (output: number): Usage => ({ ...NO_USAGE, output_tokens: output });

/** A run whose main agent started one child, as a format shows it. */
async function shownRun(format: (io: CommandIo) => ResultOutput): Promise<Record<string, unknown>[]> {
  const cwd = temporaryRepository();
  const env = { RAMET_HOME: join(cwd, '.git', 'ramet') };
  const recorded = await RecordedSession.open(findPlace({ cwd, env }).project, cwd);
  const main = recorded.agent(1);
  recorded.exchange(main, { usage: spent(100), response: { costUsd: 5 } });
  let out = '';
  const output = format({
    out: (text) => {
      out += text;
    },
    isTerminal: false,
    columns: null,
    note() {},
    progress() {},
    env,
    cwd,
    signal: new AbortController().signal,
  });
  // What an output reads of a session, and nothing else.
  const session = {
    id: recorded.journal.session,
    agent: { id: main, parent: null, type: 'main', name: null, permissionMode: 'default', cwd },
    tools: ['Agent'],
    model: 'claude-sonnet-5',
  } as unknown as Session;
  output.start(session);
  recorded.clock.now = Date.now() + 1;
  recorded.exchange(main, { usage: spent(10), response: { costUsd: 1 } });
  const child = recorded.fork(2, main, 'one part');
  recorded.exchange(child, { usage: spent(3), response: { costUsd: 2 } });
  recorded.end(child, { status: 'failed', cause: 'max_turns' });
  await recorded.journal.commit('written');
  output.event(session, warning(main, null));
  output.event(session, warning(child, main));
  output.end(session, ended({ usage: spent(13), costUsd: 3 }));
  await recorded.journal.close();
  return out
    .trim()
    .split('\n')
    .map((line): Record<string, unknown> => JSON.parse(line));
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
  test('every line of stream-json says which agent it is of and who its parent is', async () => {
    const lines = await shownRun(streamJsonOutput);
    const [session] = String(lines[0]?.agent_id).split('.');
    expect(lines.map((line) => [line.subtype, line.agent_id, line.parent_agent_id])).toEqual([
      ['init', `${session}.1`, null],
      ['warning', `${session}.1`, null],
      ['warning', `${session}.2`, `${session}.1`],
      ['success', `${session}.1`, null],
    ]);
  });

  test.each([
    ['json', jsonOutput],
    ['stream-json', streamJsonOutput],
  ])(
    'MODEL-3: the result object of %s has the sums of the run and what of them is whose',
    async (_, format) => {
      const result = (await shownRun(format)).at(-1);
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
    },
  );
});
