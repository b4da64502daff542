/** Says that a checkout changed while an agent was in a worktree of it, as soon as that is on record (WORK-9). */
import type { RecordListener } from '../sdk/session/observed-journal.ts';
import { printable } from '../views/text/format.ts';

/** Each change once, whoever of many agents saw it. */
export function tellingChanges(note: (line: string) => void, next?: RecordListener): RecordListener {
  const told = new Set<string>();
  return (agent, event) => {
    next?.(agent, event);
    if (event.type !== 'worktree.released') return;
    const fresh = (event.checkoutChanges ?? []).filter((text) => !told.has(text));
    for (const text of fresh) told.add(text);
    if (fresh.length === 0) return;
    note(
      printable(`${event.from} changed meanwhile; Ramet does not know who changed it: ${fresh.join('; ')}`),
    );
  };
}
