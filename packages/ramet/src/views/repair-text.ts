/** What a repair of a damaged session saved and lost, for people. */
import { lostText, type RepairOutcome } from '../journal/repair-session.ts';
import type { SessionId } from '../schema/ids.ts';

export function repairLines(session: SessionId, outcome: RepairOutcome): string[] {
  const { events, blocks, missingAtEnd, cut, kept } = outcome;
  const size = `${count(events, 'event')} and ${count(blocks, 'block')}`;
  const atEnd =
    missingAtEnd === 0 ? [] : [`${count(missingAtEnd, 'event')} lost after the last readable one`];
  if (kept === null && missingAtEnd === 0) return [`session ${session} is whole: ${size} can be read`];
  if (kept === null)
    return [`session ${session} lost its end, and nothing else: ${size} can be read`, ...atEnd];
  const lost = lostText(outcome);
  return [
    `session ${session} is repaired: ${size} are saved; lost: ${lost || 'nothing'}`,
    ...atEnd,
    ...Array.from(cut, ([agent, seq]) => `agent ${agent} does not remember what it did from event ${seq} on`),
    `the damaged file is kept as ${kept}`,
    ...(cut.size === 0 && lost === ''
      ? []
      : ['check the files before you resume: what is not remembered may be done again']),
  ];
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
