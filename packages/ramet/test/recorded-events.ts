/** Events for the tests of projections: one agent's, in order, a second apart, with fields a test does not care about. */
import type { AgentOrigin, EventOf, JournalEvent, RecordedEvent } from '../src/schema/events.ts';
import { NO_USAGE } from '../src/schema/usage.ts';

export function recorded(...entries: [agent: string | null, event: JournalEvent][]): RecordedEvent[] {
  return entries.map(([agent, event], index) => ({ seq: index + 1, time: (index + 1) * 1000, agent, event }));
}

export function agentStarted(fields: Partial<EventOf<'agent.started'>> = {}): EventOf<'agent.started'> {
  return {
    type: 'agent.started',
    parent: null,
    agentType: 'main',
    name: null,
    model: 'm',
    permissionMode: 'dontAsk',
    maxTurns: 200,
    budget: {},
    ...fields,
  };
}

export function childOrigin(fields: Partial<AgentOrigin> = {}): AgentOrigin {
  return { kind: 'fresh', call: null, description: 'a part', background: false, depth: 1, ...fields };
}

export function requestStarted(fields: Partial<EventOf<'request.started'>> = {}): EventOf<'request.started'> {
  return {
    type: 'request.started',
    request: 'r1',
    turn: 1,
    attempt: 1,
    model: 'm',
    messages: 1,
    maxTokens: 8000,
    breakpoints: [],
    prompt: 'p',
    cache: 'cold',
    ...fields,
  };
}

export function requestFailed(fields: Partial<EventOf<'request.failed'>> = {}): EventOf<'request.failed'> {
  return {
    type: 'request.failed',
    request: 'r1',
    attempt: 1,
    code: 'overloaded',
    status: 529,
    message: 'Overloaded',
    usage: null,
    costUsd: 0,
    retryInMs: 500,
    ...fields,
  };
}

export function responseCompleted(
  fields: Partial<EventOf<'response.completed'>> = {},
): EventOf<'response.completed'> {
  return {
    type: 'response.completed',
    request: 'r1',
    messageId: 'msg_1',
    model: 'm',
    stopReason: 'end_turn',
    blocks: ['b'],
    kept: true,
    usage: { ...NO_USAGE, input_tokens: 10, output_tokens: 5 },
    costUsd: 0.25,
    firstTokenMs: 10,
    durationMs: 100,
    rate: {},
    ...fields,
  };
}

export const toolStarted = (call: string, name: string): EventOf<'tool.started'> => ({
  type: 'tool.started',
  call,
  name,
});

export const toolCompleted = (call: string, name: string): EventOf<'tool.completed'> => ({
  type: 'tool.completed',
  result: `result-of-${call}`,
  call,
  name,
  isError: false,
  durationMs: 1500,
});

export function messageAppended(
  fields: Partial<EventOf<'message.appended'>> = {},
): EventOf<'message.appended'> {
  return { type: 'message.appended', role: 'user', cause: 'prompt', blocks: ['u'], shared: 0, ...fields };
}
