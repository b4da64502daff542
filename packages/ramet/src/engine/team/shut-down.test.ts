import { expect, test } from 'vitest';
import { NO_USAGE } from '../../schema/usage.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import type { AgentResult } from '../agent/agent-event.ts';
import { shutDown } from './shut-down.ts';

const DONE: AgentResult = {
  ...{ status: 'done', cause: null, message: null, text: '' },
  ...{ turns: 1, usage: NO_USAGE, costUsd: 0, durationMs: 0 },
};

function member(endsBy: 'asked' | 'cancelled' | 'stopped') {
  const ended = Promise.withResolvers<AgentResult>();
  const said: string[] = [];
  const note = (what: 'asked' | 'cancelled' | 'stopped'): void => {
    said.push(what);
    if (what === endsBy) ended.resolve(DONE);
  };
  return {
    said,
    receive: (_kind: 'notification', _from: null, text: string) => {
      expect(text).toContain('You are asked to shut down.');
      note('asked');
    },
    handle: { result: ended.promise, cancel: () => note('cancelled'), stop: () => note('stopped') },
  };
}

test.each([
  ['asked', ['asked']],
  ['cancelled', ['asked', 'cancelled']],
  ['stopped', ['asked', 'cancelled', 'stopped']],
] as const)(
  'TEAM-4: a member that ends when %s hears no more than that, within 30 seconds',
  async (endsBy, said) => {
    const clock = simulatedClock();
    const one = member(endsBy);
    const over = shutDown(one, one.handle, clock);
    let isOver = false;
    void over.then(() => {
      isOver = true;
    });
    for (let step = 0; step < 6 && !isOver; step++) await clock.advance(5_000);
    await over;
    expect(one.said).toEqual(said);
  },
);
