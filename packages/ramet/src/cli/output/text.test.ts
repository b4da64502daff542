import { expect, test } from 'vitest';
import { agentStarted, childOrigin, requestFailed } from '../../../test/recorded-events.ts';
import { type AgentEvent, liveEvent, startedEvent } from '../../engine/agent/agent-event.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import type { Session } from '../../sdk/session/session.ts';
import { endingLine, WaitNotes } from './result-output.ts';
import { textOutput } from './text.ts';

test('UI-1: a person who waits sees which agents begin, what they call and how they end', () => {
  const lines: string[] = [];
  const output = textOutput({
    out() {},
    isTerminal: true,
    columns: 80,
    note() {},
    progress: (line) => lines.push(line),
    env: {},
    cwd: '/',
    signal: new AbortController().signal,
  });
  // What an output reads of a session, and nothing else.
  const session = { agent: { id: 'x.1' } } as unknown as Session;
  const call = (name: string) => ({ type: 'tool_use', id: 'c', name, input: { text: 'it' } }) as const;
  const origin = childOrigin({ description: 'look \u001b[2J', background: true });
  const start = agentStarted({ agentType: 'Explore', name: 'scout', origin });
  const result = { status: 'failed', cause: 'max_turns', message: 'no turns are left', text: '' } as const;
  const events: [string, AgentEvent][] = [
    ['x.1', { type: 'tool_started', name: 'Agent', call: call('Agent'), details: { startsAgent: true } }],
    ['x.2', startedEvent(start, {})],
    ['x.2', { type: 'tool_started', name: 'Bash', call: call('Bash') }],
    ['x.2', { type: 'stalled', silentMs: 600_000 }],
    ['x.2', { type: 'agent_ended', ...result, turns: 1, usage: NO_USAGE, costUsd: null, durationMs: 5 }],
  ];
  for (const [agentId, event] of events) output.event(session, { ...event, agentId, parentAgentId: 'x.1' });
  expect(lines).toEqual([
    '  .2 Explore scout: look (in the background)',
    '  .2 Bash it',
    '  .2 silent for 10 min',
    '  .2 failed: max_turns: no turns are left (1 turn, 0 tokens, unknown, 5 ms)',
  ]);
});

test('LAUNCH-2: that agents wait for a limit is said once for all of them, with the time', () => {
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
  const session = { agent: { id: 'x.1' } } as unknown as Session;
  const leftMs = 7_379_000;
  const says = (agentId: string, event: AgentEvent): void =>
    output.event(session, { ...event, agentId, parentAgentId: 'x.1' });
  says('x.2', { type: 'status_changed', status: 'waiting', cause: 'limit' });
  for (const agent of ['x.2', 'x.3'])
    says(agent, { type: 'status_changed', status: 'waiting', cause: 'limit', leftMs });
  says('x.2', { type: 'status_changed', status: 'running', cause: null });
  says('x.2', { type: 'status_changed', status: 'waiting', cause: 'limit', leftMs: leftMs + 3_600_000 });
  expect(notes).toEqual([
    expect.stringMatching(/^waiting: limit until .*\d\d:\d\d \(in 2 h 3 min\)$/),
    expect.stringMatching(/\(in 3 h 3 min\)$/),
  ]);
});

test('UI-1: what goes wrong is told with the agent it happened to, and without for the main agent', () => {
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
  const session = { agent: { id: 'x.1' } } as unknown as Session;
  const events: AgentEvent[] = [
    liveEvent(requestFailed({ attempt: 1, message: '429', retryInMs: 1_000 })),
    liveEvent({ type: 'warning.raised', code: 'x', message: 'look out' }),
  ];
  // A warning that comes again says nothing new.
  for (const event of [...events, ...events.slice(1)]) {
    output.event(session, { ...event, agentId: 'x.1', parentAgentId: null });
    output.event(session, { ...event, agentId: 'x.12', parentAgentId: 'x.1' });
  }
  expect(notes).toEqual([
    'attempt 1 failed: 429; trying again in 1.0 s',
    '.12 attempt 1 failed: 429; trying again in 1.0 s',
    'look out',
    '.12 look out',
  ]);
});

test.each([
  ['interrupted', 'provider', false, 'resume with: ramet resume k3v9x2ab'],
  ['interrupted', 'limit', false, 'resume then with: ramet resume k3v9x2ab'],
  ['failed', 'connection', true, 'resume with: ramet -p --resume k3v9x2ab'],
  ['failed', 'max_turns', false, 'resume with: ramet -p --resume k3v9x2ab "what to do"'],
  ['failed', 'journal_disk_full', true, 'resume with: ramet -p --resume k3v9x2ab'],
  [
    'failed',
    'journal_disk_full',
    false,
    'resume with: ramet -p --resume k3v9x2ab, or if nothing is left to do: ramet -p --resume k3v9x2ab "what to do"',
  ],
] as const)('UI-1: a run that is %s: %s says how to resume it', (status, cause, isInterrupted, how) => {
  // What the line reads of a session, and nothing else.
  const session = { id: 'k3v9x2ab', isInterrupted } as unknown as Session;
  const result = {
    status,
    cause,
    message: 'why',
    text: '',
    turns: 1,
    usage: NO_USAGE,
    costUsd: 0,
    durationMs: 5,
  };
  expect(endingLine(result, session)).toBe(`${status}: ${cause}: why (session k3v9x2ab; ${how})`);
});

test('MODEL-2: however many agents wait for a provider, it is said once for each outage', () => {
  const notes = new WaitNotes();
  const say = (agentId: string, status: 'waiting' | 'running', cause: string | null): string | null =>
    notes.line({ type: 'status_changed', status, cause, agentId, parentAgentId: 'x.1' }, 0);
  expect(say('x.2', 'waiting', 'provider')).toBe('waiting: provider');
  expect(say('x.3', 'waiting', 'provider')).toBeNull();
  expect(say('x.2', 'running', null)).toBeNull();
  expect(say('x.2', 'waiting', 'provider')).toBeNull();
  for (const agent of ['x.2', 'x.3']) expect(say(agent, 'running', null)).toBeNull();
  expect(say('x.3', 'waiting', 'provider')).toBe('waiting: provider');
});
