/**
 * What a session has used up in earlier processes, and what of it work in the background has: that may have its share of the
 * whole session, also where each prompt has a process of its own. Read once, after the first turn of a resumed session.
 */
import type { EarlierUsage } from '../../engine/shapes.ts';
import type { JournalReader } from '../../journal/journal.ts';
import type { RecordedEvent } from '../../schema/events.ts';
import type { BackgroundSource } from '../../schema/status.ts';
import { addUsage, NO_USAGE, type Usage } from '../../schema/usage.ts';
import { emptyLedger, extendLedger } from '../../views/ledger/ledger.ts';

const TYPES = [
  ...(['agent.started', 'request.started', 'request.failed', 'response.completed'] as const),
  'session.resumed',
] as const;
/** Between parts others get their turn: the record may be long. */
const TURN_EVENTS = 200;

/** All that is on record before this process resumed the session. */
export async function earlierUsage(reader: JournalReader): Promise<EarlierUsage> {
  const ledger = emptyLedger();
  let since: RecordedEvent[] = [];
  let count = 0;
  for (const recorded of reader.events({ types: TYPES })) {
    if (++count % TURN_EVENTS === 0) await new Promise(setImmediate);
    since.push(recorded);
    if (recorded.event.type !== 'session.resumed') continue;
    for (const earlier of since) extendLedger(ledger, earlier);
    since = [];
  }
  const { sources, total } = ledger;
  const usageOf = (source: BackgroundSource): Usage => sources.get(source)?.usage ?? NO_USAGE;
  return {
    shared: (['memory', 'suggestions', 'summary', 'dream'] as const).map(usageOf).reduce(addUsage, NO_USAGE),
    apart: usageOf('speculation'),
    total: total.usage,
  };
}
