import { describe, expect, test } from 'vitest';
import { madeTask, startedRun, taskChange } from '../../../test/fixtures/operator-run.ts';
import {
  agentStarted,
  messageAppended,
  recorded,
  requestFailed,
  requestStarted,
  responseCompleted,
  toolCompleted,
  toolStarted,
} from '../../../test/recorded-events.ts';
import type { JournalEvent, RecordedEvent } from '../../schema/events.ts';
import { type AgentOverview, agentStatuses, extendBoard, statusBoardOf } from './status.ts';

function statusOf(events: RecordedEvent[], writerAlive = true): AgentOverview | undefined {
  return agentStatuses(statusBoardOf(events), { writerAlive })[0];
}

const ended = (status: 'done' | 'failed' | 'interrupted', cause: string | null = null) =>
  ({ type: 'agent.ended', status, cause, message: null }) as const;

describe('AGENT-5: the status of an agent', () => {
  test('MODEL-2: names the model that it is on, also after a fallback model took over', () => {
    const frozen = (model: string): JournalEvent => {
      return { type: 'prefix.frozen', model, thinking: null, tools: [], system: [] };
    };
    const events = recorded(['s.1', agentStarted({ model: 'large' })], ['s.1', frozen('large')]);
    expect(statusOf(events)?.model).toBe('large');
    const later = recorded(
      ['s.1', agentStarted({ model: 'large' })],
      ['s.1', frozen('large')],
      ['s.1', frozen('small')],
    );
    expect(statusOf(later)?.model).toBe('small');
  });

  test.each([
    ['done', [taskChange('a', 'done'), taskChange('b', 'skipped')], null, 'done', null],
    ['not done', [taskChange('a', 'done'), taskChange('b', 'frozen')], null, 'failed', 'tasks_left'],
    ['stopped', [taskChange('a', 'done')], 'interrupted', 'interrupted', 'stopped'],
    ['out of money', [], 'budget', 'interrupted', 'budget'],
  ])('OP-2: the main agent of a run is what the run is: %s', (_, tasks, cause, status, why) => {
    const end: JournalEvent = { type: 'operator.changed', status: 'ended', cause, message: null };
    const run: JournalEvent[] = [startedRun([madeTask('a'), madeTask('b')]), ...tasks];
    const events = (more: JournalEvent[]): RecordedEvent[] =>
      recorded(
        ['s.1', agentStarted()],
        ...[...run, ...more].map((event): [null, JournalEvent] => [null, event]),
      );
    expect(statusOf(events([end]), false)).toMatchObject({ status, cause: why });
    expect(statusOf(events([end, { type: 'operator.resumed' }]), true)).toMatchObject({ status: 'running' });
    expect(statusOf(events([]), false)).toMatchObject({ status: 'interrupted', cause: 'process_ended' });
  });

  test('a command of the user after the last turn leaves it done', () => {
    const calls = [toolStarted('user-1', 'Bash'), toolCompleted('user-1', 'Bash')];
    for (const more of [calls, calls.slice(0, 1)]) {
      const events = [agentStarted(), messageAppended(), ended('done'), ...more];
      const all = recorded(...events.map((event): [string, JournalEvent] => ['s.1', event]));
      expect(statusOf(all, false)).toMatchObject({ status: 'done', cause: null, activity: null });
    }
  });

  test('lists agents by birth with what is known of them', () => {
    const events = recorded(
      ['s.1', agentStarted()],
      ['s.2', agentStarted({ parent: 's.1', agentType: 'Explore', name: 'scout', model: 'small' })],
      ['s.2', responseCompleted({ costUsd: 0.5 })],
    );
    const agents = agentStatuses(statusBoardOf(events), { writerAlive: true });
    expect(agents.map(({ id }) => id)).toEqual(['s.1', 's.2']);
    expect(agents[1]).toEqual({
      id: 's.2',
      parent: 's.1',
      type: 'Explore',
      name: 'scout',
      description: null,
      background: false,
      source: null,
      model: 'small',
      thinking: null,
      status: 'running',
      cause: null,
      until: null,
      waitMs: null,
      message: null,
      turns: 1,
      resumed: 0,
      startedAt: 2000,
      lastEventAt: 3000,
      stalledMs: null,
      activity: null,
      usage: responseCompleted().usage,
      costUsd: 0.5,
      todos: [],
      phase: null,
      progress: null,
      worktree: null,
      checkoutChanges: [],
    });
  });

  test('RES-4: keeps the latest progress line of an agent, also when its process is gone', () => {
    const line = { type: 'progress.reported', line: 'Reading.' } as const;
    const events = recorded(['a', agentStarted()], ['a', line]);
    const [gone] = agentStatuses(statusBoardOf(events), { writerAlive: false });
    expect(gone).toMatchObject({ status: 'interrupted', progress: 'Reading.' });
  });

  test('WORK-3: names the worktree an agent works in, until it vanishes', () => {
    const worktree = { id: 'w1', path: '/w/a', branch: 'ramet/a', base: 'abc', from: '/w' };
    const released = (kept: boolean): JournalEvent => ({
      type: 'worktree.released',
      ...worktree,
      kept,
      reasons: [],
    });
    const moved = { type: 'directory.changed', cwd: '/w/a', worktree } as const;
    const events = recorded(['a', agentStarted()], ['a', moved]);
    expect(statusOf(events)?.worktree).toEqual({ path: '/w/a', branch: 'ramet/a', base: 'abc' });
    const kept = recorded(['a', agentStarted()], ['a', moved], ['a', released(true)]);
    expect(statusOf(kept)?.worktree).toBeTruthy();
    const gone = recorded(['a', agentStarted()], ['a', moved], ['a', released(false)]);
    expect(statusOf(gone)?.worktree).toBeNull();
  });

  test('is what the agent ended with, and its cause', () => {
    const events = recorded(['a', agentStarted()], ['a', ended('failed', 'max_turns')]);
    expect(statusOf(events)).toMatchObject({ status: 'failed', cause: 'max_turns' });
  });

  test('is interrupted when the writer died under a running agent', () => {
    const events = recorded(['a', agentStarted()], ['a', requestStarted()]);
    expect(statusOf(events, true)).toMatchObject({ status: 'running' });
    expect(statusOf(events, false)).toMatchObject({
      status: 'interrupted',
      cause: 'process_ended',
      activity: null,
    });
  });

  test('stays what it was when the writer went after the agent had ended', () => {
    const events = recorded(['a', agentStarted()], ['a', ended('done')]);
    expect(statusOf(events, false)).toMatchObject({ status: 'done', cause: null });
  });

  test('is running again when an ended agent is continued, and keeps its sums', () => {
    const events = recorded(
      ['a', agentStarted()],
      ['a', responseCompleted()],
      ['a', ended('failed', 'budget')],
      [null, { type: 'session.resumed', version: '0', cwd: '/w' }],
      ['a', agentStarted({ model: 'other' })],
      ['a', messageAppended()],
    );
    expect(statusOf(events)).toMatchObject({ status: 'running', cause: null, turns: 1, model: 'other' });
  });

  test('is interrupted for agents that stay ended when their session is resumed', () => {
    const events = recorded(
      ['s.1', agentStarted()],
      ['s.2', agentStarted({ parent: 's.1' })],
      ['s.3', agentStarted({ parent: 's.1' })],
      ['s.3', ended('done')],
      [null, { type: 'session.resumed', version: '0', cwd: '/w' }],
      ['s.1', toolStarted('c', 'Bash')],
    );
    const agents = agentStatuses(statusBoardOf(events), { writerAlive: true });
    expect(agents.map(({ status, cause }) => [status, cause])).toEqual([
      ['running', null],
      ['interrupted', 'process_ended'],
      ['done', null],
    ]);
  });

  test('follows what is recorded of it while it is under way, with the cause', () => {
    const changed = (status: 'queued' | 'running' | 'waiting' | 'blocked', cause: string | null) =>
      ({ type: 'status.changed', status, cause }) as const;
    const begun = recorded(
      ['a', agentStarted()],
      ['a', changed('queued', 'limit')],
      ['a', messageAppended()],
    );
    expect(statusOf(begun)).toMatchObject({ status: 'queued', cause: 'limit' });
    expect(statusOf(begun, false)).toMatchObject({ status: 'interrupted', cause: 'process_ended' });
    const after = (...events: JournalEvent[]) =>
      statusOf(
        recorded(
          ['a', agentStarted()],
          ['a', changed('waiting', 'children')],
          ...events.map((event): ['a', JournalEvent] => ['a', event]),
        ),
      );
    expect(after(toolCompleted('1', 'Agent'))).toMatchObject({ status: 'waiting', cause: 'children' });
    expect(after(changed('blocked', 'permission'))).toMatchObject({ status: 'blocked', cause: 'permission' });
    expect(after(changed('running', null))).toMatchObject({ status: 'running', cause: null });
    expect(after(requestStarted())).toMatchObject({ status: 'running', cause: null });
    expect(after(requestStarted({ source: 'refresh' }))).toMatchObject({
      status: 'waiting',
      cause: 'children',
      activity: null,
    });
  });

  test('MODEL-2: an agent that looks whether its provider is back still waits for it', () => {
    const after = (next: JournalEvent) =>
      recorded(
        ['a', agentStarted()],
        ['a', requestStarted()],
        ['a', requestFailed()],
        ['a', { type: 'status.changed', status: 'waiting', cause: 'provider' }],
        ['a', next],
      );
    const again = after(requestStarted({ attempt: 2 }));
    expect(statusOf(again)).toMatchObject({ status: 'waiting', cause: 'provider' });
    expect(statusOf(after(requestStarted({ request: 'r9' })))).toMatchObject({ cause: 'provider' });
    const told: JournalEvent = {
      type: 'message.appended',
      role: 'user',
      cause: 'prompt',
      blocks: [],
      shared: 0,
    };
    expect(statusOf(after(told))).toMatchObject({ status: 'running', cause: null });
  });

  describe('MODEL-2: the end of a wait that was recorded', () => {
    const HOUR = 3_600_000;
    const untilAt = (now: number, wait: { until: number; leftMs?: number }) => {
      const change = { type: 'status.changed', status: 'waiting', cause: 'limit', ...wait } as const;
      const board = statusBoardOf(recorded(['a', agentStarted()]));
      extendBoard(board, { seq: 2, time: 5 * HOUR, agent: 'a', event: change });
      return agentStatuses(board, { writerAlive: true, now })[0]?.until;
    };
    const [begun, leftMs] = [5 * HOUR, 60_000];

    test.each([
      ['runs on', 10_000, begun + leftMs],
      ['was set back by an hour', 10_000 - HOUR, begun + 10_000 - HOUR + leftMs],
      ['was set forward by an hour', 10_000 + HOUR, begun + leftMs],
    ])('is no later than the wait is long, when the clock %s', (_, passed, until) => {
      expect(untilAt(begun + passed, { until: begun + leftMs, leftMs })).toBe(until);
      // Older records lack how long it was.
      expect(untilAt(begun + passed, { until: begun + leftMs })).toBe(until);
    });

    test('is by the time of the event where the writer had another clock', () => {
      expect(untilAt(begun, { until: begun + HOUR + leftMs, leftMs })).toBe(begun + leftMs);
    });
  });

  test('LAUNCH-2: says until when it waits for a limit, and no longer once it continues or has ended', () => {
    const waiting = { type: 'status.changed', status: 'waiting', cause: 'limit', until: 9_000 } as const;
    const after = (...events: JournalEvent[]) =>
      statusOf(
        recorded(...[agentStarted(), waiting, ...events].map((event): ['a', JournalEvent] => ['a', event])),
      );
    expect(after()).toMatchObject({ status: 'waiting', cause: 'limit', until: 9_000 });
    expect(after(requestStarted())).toMatchObject({ status: 'running', until: null });
    expect(after(ended('interrupted', 'limit'))).toMatchObject({ cause: 'limit', until: null });
  });

  test('AGENT-5: is running again when it is resumed, with nothing of what it did before', () => {
    const events = recorded(
      ['a', agentStarted()],
      ['a', toolStarted('1', 'Bash')],
      ['a', { type: 'status.changed', status: 'waiting', cause: 'limit', until: 9_000 }],
      ['a', { type: 'agent.resumed', from: 'running' }],
    );
    const expected = { status: 'running', cause: null, until: null, activity: null, resumed: 1 };
    expect(statusOf(events)).toMatchObject(expected);
  });

  test('AGENT-7: says that it is silent until something happens, and counts silence from the last event', () => {
    const stalled = { type: 'agent.stalled', silentMs: 600_000 } as const;
    const events = recorded(['a', agentStarted()], ['a', stalled], ['a', messageAppended()]);
    expect(statusOf(events.slice(0, 2))).toMatchObject({ stalledMs: 600_000, lastEventAt: 1000 });
    expect(statusOf(events)).toMatchObject({ stalledMs: null, lastEventAt: 3000 });
  });

  test('AGENT-3: knows what a child is for, and whether its parent waits for it', () => {
    const origin = {
      kind: 'fork',
      call: 'c',
      description: 'mend the parser',
      background: false,
      depth: 1,
    } as const;
    const events = recorded(
      ['s.2', agentStarted({ parent: 's.1', origin })],
      ['s.2', { type: 'agent.detached' }],
    );
    expect(statusOf(events.slice(0, 1))).toMatchObject({
      type: 'fork',
      description: 'mend the parser',
      background: false,
    });
    expect(statusOf(events)).toMatchObject({ background: true });
  });

  test('has an unknown cost as soon as one response has', () => {
    const events = recorded(
      ['a', agentStarted()],
      ['a', responseCompleted({ costUsd: null })],
      ['a', responseCompleted()],
    );
    expect(statusOf(events)?.costUsd).toBeNull();
  });

  test('is the same when it is read in two parts', () => {
    const events = recorded(
      ['a', agentStarted()],
      ['a', toolStarted('1', 'Bash')],
      ['a', toolCompleted('1', 'Bash')],
    );
    const board = statusBoardOf(events.slice(0, 2));
    for (const event of events.slice(board.seq)) extendBoard(board, event);
    expect(board).toEqual(statusBoardOf(events));
  });

  test('RES-6: a call that was withdrawn no longer runs, and does not make its agent run again', () => {
    const withdrawn = { type: 'tool.withdrawn', call: '1', name: 'Bash' } as const;
    const begun: [string, JournalEvent][] = [
      ['a', agentStarted()],
      ['a', toolStarted('1', 'Bash')],
      ['a', toolStarted('2', 'Read')],
    ];
    expect(statusOf(recorded(...begun, ['a', withdrawn]))?.activity).toMatchObject({ names: ['Read'] });
    const both = recorded(...begun, ['a', withdrawn], ['a', { ...withdrawn, call: '2' }]);
    expect(statusOf(both)?.activity).toBeNull();
    const away = { type: 'status.changed', status: 'waiting', cause: 'provider' } as const;
    expect(statusOf(recorded(...begun, ['a', away], ['a', withdrawn]))).toMatchObject({
      status: 'waiting',
      cause: 'provider',
    });
    expect(statusOf(recorded(...begun, ['a', ended('interrupted')], ['a', withdrawn]))).toMatchObject({
      status: 'interrupted',
      activity: null,
    });
  });

  test('passes over events of agents it never saw start', () => {
    expect(statusOf(recorded(['ghost', requestStarted()]))).toBeUndefined();
  });
});

describe('the activity of an agent', () => {
  test.each<[string, RecordedEvent[], AgentOverview['activity']]>([
    [
      'waits for a model',
      recorded(['a', agentStarted()], ['a', requestStarted({ attempt: 2 })]),
      { kind: 'requesting', model: 'm', attempt: 2, since: 2000 },
    ],
    [
      'waits to try again',
      recorded(['a', agentStarted()], ['a', requestFailed({ retryInMs: 700 })]),
      { kind: 'retrying', code: 'overloaded', until: 2700 },
    ],
    ['has given up', recorded(['a', agentStarted()], ['a', requestFailed({ retryInMs: null })]), null],
    [
      'has an answer',
      recorded(['a', agentStarted()], ['a', requestStarted()], ['a', responseCompleted()]),
      null,
    ],
    [
      'runs tools',
      recorded(['a', agentStarted()], ['a', toolStarted('1', 'Bash')], ['a', toolStarted('2', 'Read')]),
      { kind: 'tools', names: ['Bash', 'Read'], since: 2000 },
    ],
    [
      'runs what is left of them',
      recorded(
        ['a', agentStarted()],
        ['a', toolStarted('1', 'Bash')],
        ['a', toolStarted('2', 'Read')],
        ['a', toolCompleted('1', 'Bash')],
      ),
      { kind: 'tools', names: ['Read'], since: 2000 },
    ],
    [
      'has ended',
      recorded(['a', agentStarted()], ['a', toolStarted('1', 'Bash')], ['a', ended('failed')]),
      null,
    ],
    [
      'lost its process',
      recorded(
        ['a', agentStarted()],
        ['a', toolStarted('1', 'Bash')],
        [null, { type: 'session.resumed', version: '0', cwd: '/w' }],
      ),
      null,
    ],
  ])('shows that it %s', (_, events, activity) => {
    expect(statusOf(events)?.activity).toEqual(activity);
  });

  test('FORK-7: an agent that is kept warm still does what it did before, and pays', () => {
    const refresh = { source: 'refresh' } as const;
    const before = recorded(['a', agentStarted()], ['a', toolStarted('1', 'Bash')]);
    const events = [
      ...before,
      ...recorded(
        ['a', requestStarted(refresh)],
        ['a', responseCompleted({ ...refresh, costUsd: 0.5, kept: false })],
      ),
    ];
    expect(statusOf(events)?.activity).toEqual(statusOf(before)?.activity);
    expect(statusOf(events)).toMatchObject({ status: 'running', turns: 0, costUsd: 0.5 });
  });

  test('RES-7: a summary is billed but is no turn, and does not wake an agent that has ended', () => {
    const aside = { source: 'compaction' } as const;
    const events = recorded(
      ['a', agentStarted()],
      ['a', responseCompleted()],
      ['a', ended('done')],
      ['a', requestStarted(aside)],
      ['a', responseCompleted({ ...aside, costUsd: 0.5, kept: false })],
    );
    expect(statusOf(events)).toMatchObject({ status: 'done', turns: 1, costUsd: 0.75, activity: null });
    expect(statusOf(events.slice(0, 4))).toMatchObject({ status: 'done', activity: null });
  });
});
