import { describe, expect, test } from 'vitest';
import type { JournalEvent, RecordedEvent } from '../schema/events.ts';
import { withLostStarts } from './lost-starts.ts';

const warning: JournalEvent = { type: 'warning.raised', code: 'x', message: 'x' };
const event = (seq: number, agent: string | null, what: JournalEvent = warning): RecordedEvent => ({
  seq,
  time: seq * 10,
  agent,
  event: what,
});

function startsIn(events: readonly RecordedEvent[]): [number, string | null][] {
  return events.flatMap(({ seq, agent, event: { type } }) =>
    type === 'agent.started' ? [[seq, agent] as [number, string | null]] : [],
  );
}

describe('LOG-1: the lost start of an agent', () => {
  test('is replaced where it stood, by one that says so', () => {
    const lost = [{ seq: 2, agent: 's.2', type: 'agent.started' }];
    const events = withLostStarts([event(1, 's.1'), event(3, 's.2')], lost, 's');
    expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(events[1]).toMatchObject({
      time: 10,
      agent: 's.2',
      event: { type: 'agent.started', parent: 's.1', origin: { startLost: true, background: false } },
    });
  });

  test('takes the number of a lost event before all others of its agent where no row names it', () => {
    const lost = [2, 3, 4, 9].map((seq) => ({ seq, agent: undefined }));
    const events = [event(1, 's.1'), event(5, 's.4'), event(6, 's.2'), event(7, 's.3')];
    const starts = startsIn(withLostStarts(events, lost, 's'));
    expect(starts.map(([, agent]) => agent).sort()).toEqual(['s.2', 's.3', 's.4']);
    expect(starts.map(([seq]) => seq)).toEqual([2, 3, 4]);
  });

  test('is replaced where nothing else of its agent can be read', () => {
    const lost = [{ seq: 2, agent: 's.2', type: 'agent.started' }];
    expect(startsIn(withLostStarts([event(1, 's.1')], lost, 's'))).toEqual([[2, 's.2']]);
  });

  test('is made up for no main agent, no other session, and no other kind of event', () => {
    const events = [event(4, 's.1'), event(5, 'other.2'), event(6, 's.x')];
    const lost = [
      { seq: 1, agent: 's.1', type: 'agent.started' },
      { seq: 2, agent: 's.3', type: 'tool.started' },
      { seq: 3, agent: 't.2', type: 'agent.started' },
    ];
    expect(startsIn(withLostStarts(events, lost, 's'))).toEqual([]);
  });
});
