import { describe, expect, test } from 'vitest';
import { agentStarted, childOrigin, responseCompleted } from '../../../test/recorded-events.ts';
import { type AgentResult, startedEvent } from '../../engine/agent/agent-event.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import type { Session, SessionEvent } from '../../sdk/session/session.ts';
import { type RunAgent, RunAgents } from './run-agents.ts';

const MAIN = 'abcd1234.1';
const CHILD = 'abcd1234.2';
// What the list reads of a session, and nothing else.
const session = {
  agent: { id: MAIN, parent: null, type: 'main', name: null },
  model: 'claude-sonnet-5',
} as unknown as Session;

const ended = (turns: number): AgentResult => ({
  status: 'done',
  cause: null,
  message: null,
  text: '',
  turns,
  usage: NO_USAGE,
  costUsd: 0,
  durationMs: 1,
});

type ChildEvent = Omit<Extract<SessionEvent, { type: 'agent_started' }>, 'agentId' | 'parentAgentId'>;

function started(carried?: ChildEvent['carried']): SessionEvent {
  const start = agentStarted({ parent: MAIN, agentType: 'fork', origin: childOrigin() });
  return { ...startedEvent(start, { ...(carried && { carried }) }), agentId: CHILD, parentAgentId: MAIN };
}

function childOf(run: RunAgents): RunAgent | undefined {
  return run.list(session, ended(1)).find(({ id }) => id === CHILD);
}

describe('UI-1: the agents of a resumed run', () => {
  const carried = { turns: 3, usage: { ...NO_USAGE, output_tokens: 300 }, costUsd: 3 };

  test('have the turns, the usage and the cost of this run alone, as the main agent has', () => {
    const run = new RunAgents();
    run.saw(started(carried));
    run.recorded(CHILD, responseCompleted({ usage: { ...NO_USAGE, output_tokens: 20 }, costUsd: 2 }));
    expect(childOf(run)).toMatchObject({ turns: 1, usage: { output_tokens: 20 }, costUsd: 2 });
    run.saw({ type: 'agent_ended', ...ended(5), agentId: CHILD, parentAgentId: MAIN });
    expect(childOf(run)).toMatchObject({ turns: 2, usage: { output_tokens: 20 }, costUsd: 2 });
  });

  test('that are continued in the same run keep the turns that they have in it', () => {
    const run = new RunAgents();
    run.saw(started(carried));
    run.saw({ type: 'agent_ended', ...ended(5), agentId: CHILD, parentAgentId: MAIN });
    run.saw(started());
    run.saw({ type: 'agent_ended', ...ended(1), agentId: CHILD, parentAgentId: MAIN });
    expect(childOf(run)).toMatchObject({ turns: 2 });
  });
});
