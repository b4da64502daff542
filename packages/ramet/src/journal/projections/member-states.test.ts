import { expect, test } from 'vitest';
import { AGENT_STATUSES } from '../../schema/status.ts';
import type { MemberState } from '../../schema/team.ts';
import { shownMember } from './member-states.ts';

const member = (state: MemberState) => ({
  ...{ name: 'ada', agent: 'k3v9x2ab.2', type: 'teammate', plan: null, unread: 0, state },
});

/** What a member is shown as, for each status of its agent. */
function shownAs(state: MemberState, isHosted: boolean): Record<string, string> {
  return Object.fromEntries(
    AGENT_STATUSES.map((status) => {
      const { state: shown, cause } = shownMember(
        member(state),
        { status, cause: 'why', worktree: null },
        isHosted,
      );
      return [status, cause === null ? shown : `${shown}: ${cause}`];
    }),
  );
}

const AT_WORK = {
  queued: 'queued: why',
  running: 'running: why',
  waiting: 'waiting: why',
  blocked: 'blocked: why',
};

test('AGENT-5: one at work is what its journal says, and one that has ended a run is idle', () => {
  const ended = { done: 'idle', failed: 'idle', cancelled: 'idle', timed_out: 'idle' };
  expect(shownAs('idle', true)).toEqual({ ...AT_WORK, ...ended, interrupted: 'interrupted: why' });
  // It begins again, and its journal does not have that yet.
  const begins = { done: 'running', failed: 'running', cancelled: 'running', timed_out: 'running' };
  expect(shownAs('working', true)).toEqual({ ...AT_WORK, ...begins, interrupted: 'running' });
});

test('AGENT-5, TEAM-5: what was under way when its process ended is interrupted, also where the roster is behind', () => {
  const gone = 'interrupted: process_ended';
  const left = { queued: gone, running: gone, waiting: gone, blocked: gone, interrupted: 'interrupted: why' };
  const ended = { done: 'idle', failed: 'idle', cancelled: 'idle', timed_out: 'idle' };
  expect(shownAs('working', false)).toEqual({ ...left, ...ended });
  expect(shownAs('idle', false)).toEqual({ ...left, ...ended });
});

test('TEAM-4: one that is to end or has ended is shown as that, whatever it does', () => {
  for (const isHosted of [true, false])
    for (const state of ['stopping', 'stopped'] as const)
      expect(new Set(Object.values(shownAs(state, isHosted)))).toEqual(new Set([state]));
});

test('one without a word in the journal: it has not begun, or its journal cannot be read', () => {
  const shown = (state: MemberState, isHosted: boolean) =>
    shownMember(member(state), undefined, isHosted).state;
  expect([shown('idle', true), shown('idle', false)]).toEqual(['idle', 'idle']);
  expect([shown('working', true), shown('working', false)]).toEqual(['running', 'interrupted']);
});
