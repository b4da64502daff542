import { describe, expect, test } from 'vitest';
import type { Session, SessionEvent } from '../../sdk/session.ts';
import { textOutput } from './text.ts';

const MAIN = 'k3v9x2ab.1';

function notesOf(...events: SessionEvent[]): string[] {
  const notes: string[] = [];
  const output = textOutput({
    out() {},
    isTerminal: false,
    columns: null,
    note: (line) => void notes.push(line),
    progress() {},
    env: {},
    cwd: '/',
    signal: new AbortController().signal,
  });
  // What an output reads of a session, and nothing else.
  const session = { id: 'k3v9x2ab', agent: { id: MAIN } } as unknown as Session;
  for (const event of events) output.event(session, event);
  return notes;
}

describe('UI-1: what goes wrong while agents work', () => {
  test('is told with the agent it happened to, and without for the main agent', () => {
    const failed = {
      type: 'request_failed',
      attempt: 1,
      code: 'x',
      message: '429',
      retryInMs: 1_000,
    } as const;
    const warned = { type: 'warning', code: 'x', message: 'look out' } as const;
    const main = { agentId: MAIN, parentAgentId: null };
    const child = { agentId: 'k3v9x2ab.12', parentAgentId: MAIN };
    expect(
      notesOf(
        { ...failed, ...main },
        { ...failed, ...child },
        { ...warned, ...main },
        { ...warned, ...child },
      ),
    ).toEqual([
      'attempt 1 failed: 429; trying again in 1.0 s',
      '.12 attempt 1 failed: 429; trying again in 1.0 s',
      'look out',
      '.12 look out',
    ]);
  });
});
