import { describe, expect, test } from 'vitest';
import {
  agentStarted,
  childOrigin,
  requestFailed,
  requestStarted,
  responseCompleted,
  toolCompleted,
  toolStarted,
} from '../../../../../test/recorded-events.ts';
import {
  type AgentEvent,
  type AgentResult,
  liveEvent,
  startedEvent,
} from '../../../../engine/agent/agent-event.ts';
import type { JournalEvent } from '../../../../schema/events.ts';
import { NO_USAGE } from '../../../../schema/usage.ts';
import type { SessionEvent } from '../../../../sdk/session/session.ts';
import { displayWidth } from '../../../../views/text/format.ts';
import { agentRows } from '../../screen/agent-rows.ts';
import { textStyle } from '../../screen/text-style.ts';
import { AgentBoard, agentLine, doingOf, inBackgroundLine } from './agent-board.ts';

const style = textStyle(false);

function of(id: number, event: AgentEvent, parent = 1): SessionEvent {
  return { ...event, agentId: `x.${id}`, parentAgentId: `x.${parent}` };
}

function started(id: number, description = `part ${id}`, parent = 1): SessionEvent {
  const start = agentStarted({
    parent: `x.${parent}`,
    agentType: 'Explore',
    origin: childOrigin({ description }),
  });
  return of(id, startedEvent(start, {}), parent);
}

const answered = (costUsd: number | null): AgentEvent => ({
  ...responseCompleted({ usage: { ...NO_USAGE, input_tokens: 1_000, output_tokens: 234 }, costUsd }),
  type: 'assistant',
  blocks: [],
});

const bash = (id: string, command: string): AgentEvent => ({
  type: 'tool_started',
  name: 'Bash',
  call: { type: 'tool_use', id, name: 'Bash', input: { command } },
});

const status = (word: 'queued' | 'blocked' | 'waiting' | 'running', cause: string | null): AgentEvent => ({
  type: 'status_changed',
  status: word,
  cause,
});

/** Each event as the board hears of it: what is recorded first, then what is told. */
function boardOf(...events: SessionEvent[]): AgentBoard {
  const board = new AgentBoard();
  for (const event of events) {
    for (const recorded of recordsOf(event)) board.recorded(event.agentId, recorded);
    board.take(event);
  }
  return board;
}

function recordsOf(event: AgentEvent): JournalEvent[] {
  switch (event.type) {
    case 'assistant': {
      const { usage, costUsd } = event;
      return [requestStarted(), responseCompleted({ usage, costUsd })];
    }
    case 'tool_started':
      return [toolStarted(event.call.id, event.call.name)];
    case 'tool_completed':
      return [toolCompleted(event.call.id, event.call.name)];
    case 'status_changed': {
      const { type: _, status, ...rest } = event;
      return [{ ...rest, type: 'status.changed', status }];
    }
    case 'progress':
      return [{ type: 'progress.reported', line: event.line }];
    case 'request_failed':
      return [requestFailed({ retryInMs: event.retryInMs })];
    case 'stalled':
      return [{ type: 'agent.stalled', silentMs: event.silentMs }];
    case 'agent_ended': {
      const { status, cause, message } = event;
      return [{ type: 'agent.ended', status, cause, message }];
    }
    default:
      return [];
  }
}

const ended = (result: Partial<AgentResult>): AgentEvent => ({
  type: 'agent_ended',
  status: 'done',
  cause: null,
  message: null,
  text: '',
  turns: 2,
  usage: { ...NO_USAGE, input_tokens: 5_000 },
  costUsd: 0.01,
  durationMs: 3_000,
  ...result,
});

describe('UI-1: the children at work', () => {
  test('are shown with what they are for, what they do and what they have cost', () => {
    const board = boardOf(
      started(2),
      of(2, answered(0.01)),
      of(2, bash('c', 'npm test')),
      of(2, answered(0.01)),
    );
    expect(agentRows(board.tree, { columns: 79, rows: 24 })).toEqual([
      '  .2 part 2 (Explore)  Bash npm test               2 turns · 2.5k tok · $0.0200',
    ]);
    expect(agentRows(board.tree, { columns: 39, rows: 10 })[0]).toMatch(/^ {2}\.2 .* 2t 2\.5k \$0\.0200$/);
  });

  test('AGENT-5: a resumed agent is shown with what it had taken before', () => {
    const carried = { turns: 3, usage: { ...NO_USAGE, input_tokens: 1_000 }, costUsd: 0.03 };
    const board = boardOf({ ...started(2), carried } as SessionEvent, of(2, answered(0.01)));
    expect(agentRows(board.tree, { columns: 79, rows: 24 })[0]).toMatch(/ 4 turns · 2\.2k tok · \$0\.0400$/);
  });

  test('RES-4: a resumed agent is shown with its latest progress line', () => {
    const agent = boardOf({ ...started(2), progress: 'Reading' } as SessionEvent).find('x.2');
    expect(agent && doingOf(agent)).toBe('Reading · thinking');
  });

  test('a cost that is unknown stays unknown', () => {
    const board = boardOf(started(2), of(2, answered(0.01)), of(2, answered(null)));
    expect(agentRows(board.tree, { columns: 79, rows: 24 })[0]).toMatch(/ unknown$/);
  });

  test.for<[string, AgentEvent[]]>([
    ['thinking', []],
    ['Bash a', [bash('1', 'a')]],
    ['Bash a (+1)', [bash('1', 'a'), bash('2', 'b')]],
    ['queued: capacity', [status('queued', 'capacity')]],
    ['Reading · thinking', [{ type: 'progress', line: '\u001b[2JReading\n' }]],
    ['Two · Bash a', [{ type: 'progress', line: 'One' }, bash('1', 'a'), { type: 'progress', line: 'Two' }]],
    ['blocked: permission', [{ type: 'progress', line: 'One' }, status('blocked', 'permission')]],
    ['blocked: permission', [bash('1', 'a'), status('blocked', 'permission')]],
    ['Bash a', [bash('1', 'a'), status('blocked', 'permission'), status('running', null)]],
    ['Bash a (silent for 10 min)', [bash('1', 'a'), { type: 'stalled', silentMs: 600_000 }]],
    ['thinking', [{ type: 'stalled', silentMs: 600_000 }, answered(0)]],
    ['waiting to try again', [liveEvent(requestFailed({ retryInMs: 10 }))]],
  ])('AGENT-5: one is said to be %j', ([words, events]) => {
    const agent = boardOf(started(2), ...events.map((event) => of(2, event))).find('x.2');
    expect(agent && doingOf(agent)).toBe(words);
  });

  test('MODEL-2: one that waits for a limit says how much is left of the wait, whatever its end is on the clock', () => {
    const until = Date.now() + 3_600_000;
    const wait: AgentEvent = {
      type: 'status_changed',
      status: 'waiting',
      cause: 'limit',
      until,
      leftMs: 90_000,
    };
    const agent = boardOf(started(2), of(2, wait)).find('x.2');
    expect(agent && doingOf(agent)).toMatch(/^waiting: limit until .*\d\d:\d\d \(in 2 min\)$/);
  });

  test('one does what its record says: during a retry it thinks', () => {
    const failed = liveEvent(requestFailed({ retryInMs: 10 }));
    const board = boardOf(started(2), of(2, failed));
    const doing = (): string | undefined => {
      const agent = board.find('x.2');
      return agent && doingOf(agent);
    };
    expect(doing()).toBe('waiting to try again');
    board.recorded('x.2', requestStarted({ attempt: 2 }));
    expect(doing()).toBe('thinking');
  });

  test('one that ended leaves nothing behind, and is there again when it is continued', () => {
    const board = boardOf(started(2), of(2, answered(0.01)), of(2, ended({})));
    board.recorded('x.2', { type: 'warning.raised', code: 'late', message: '' });
    expect([board.size, board.tree, board.find('x.2')]).toEqual([0, [], undefined]);
    board.take(started(2));
    expect(board.find('x.2')).toMatchObject({ turns: 0, costUsd: 0 });
  });

  test('fifty take six rows and a count; those that ask come before those that wait their turn', () => {
    const ids = Array.from({ length: 50 }, (_, index) => index + 2);
    const board = boardOf(
      ...ids.toReversed().map((id) => started(id)),
      ...ids.slice(0, 30).map((id) => of(id, status('queued', 'capacity'))),
      of(51, status('blocked', 'permission')),
    );
    const rows = agentRows(board.tree, { columns: 79, rows: 24 });
    expect(rows.map((row) => /\.\d+/.exec(row)?.[0])).toEqual([
      '.32',
      '.33',
      '.34',
      '.35',
      '.36',
      '.51',
      undefined,
    ]);
    expect(rows.at(-1)).toBe('  44 more: 30 queued, 14 running');
    const small = agentRows(board.tree, { columns: 39, rows: 10 });
    expect(small).toHaveLength(3);
    expect(small.at(-1)).toBe('  48 more: 30 queued, 18 running');
    expect(agentRows(board.tree, { columns: 39, rows: 7 })).toEqual([]);
  });

  test('children of children stand below their parents, further in', () => {
    const board = boardOf(started(2), started(3), started(4, 'deeper', 2), started(5, 'deepest', 4));
    const rows = agentRows(board.tree, { columns: 79, rows: 24 });
    expect(rows.map((row) => row.replace(/ \(.*/, ''))).toEqual([
      '  .2 part 2',
      '    .4 deeper',
      '      .5 deepest',
      '  .3 part 3',
    ]);
    expect(board.levelOf('x.5')).toBe(2);
  });

  test('no row is wider than the screen, whatever a model called its agent', () => {
    const hostile = 'a\u001b[2J\u202e界'.repeat(40);
    const board = boardOf(started(2, hostile), of(2, bash('c', hostile)), started(3, ''));
    for (const columns of [5, 20, 39, 59, 79, 200]) {
      for (const row of agentRows(board.tree, { columns, rows: 24 })) {
        expect(displayWidth(row)).toBeLessThanOrEqual(columns);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: none of these may be shown
        expect(row).not.toMatch(/[\u0000-\u001f\u202e]/);
      }
    }
  });
});

describe('AGENT-3: what the transcript says about a child', () => {
  const agent = boardOf(started(2)).find('x.2');

  test('one line when it ends, with its sums', () => {
    expect(agentLine(of(2, ended({})), agent, 0, style)).toBe(
      '✓ .2 Explore part 2: done (2 turns, 5.0k tokens, $0.0100, 3.0 s)',
    );
  });

  test('why it failed', () => {
    const failed = ended({
      status: 'failed',
      cause: 'max_turns',
      message: 'the limit of 3 turns is reached',
    });
    expect(agentLine(of(2, failed), agent, 1, style)).toMatch(
      /^ {2}✗ \.2 Explore part 2: failed: max_turns: the limit of 3 turns is reached \(/,
    );
  });

  test('AGENT-7: that it is silent; nothing of its single steps', () => {
    expect(agentLine(of(2, { type: 'stalled', silentMs: 600_000 }), agent, 0, style)).toBe(
      '! .2 Explore part 2: silent for 10 min',
    );
    expect(agentLine(of(2, answered(0)), agent, 0, style)).toBeNull();
    expect(agentLine(of(2, bash('c', 'ls')), agent, 0, style)).toBeNull();
  });

  test('that it continues in the background', () => {
    expect(inBackgroundLine({ id: 'x.2', type: 'fork', name: 'w', description: 'part' }, style)).toBe(
      '→ .2 fork w: part: in the background',
    );
  });
});
