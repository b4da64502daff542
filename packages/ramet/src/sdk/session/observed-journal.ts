/** A journal that tells somebody what it takes: what this process knows is then known without reading it again. */
import type { Journal } from '../../journal/journal.ts';
import type { JournalEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';

export type RecordListener = (agent: AgentId | null, event: JournalEvent) => void;

/** Told in order, also of what can no longer be written: a full disk does not make it unknown. */
export function observedJournal(journal: Journal, listener: RecordListener | undefined): Journal {
  if (listener === undefined) return journal;
  return {
    session: journal.session,
    file: journal.file,
    append(agent, event) {
      journal.append(agent, event);
      listener(agent, event);
    },
    storeBlock: (digest, bytes) => journal.storeBlock(digest, bytes),
    commit: (durability) => journal.commit(durability),
    close: () => journal.close(),
  };
}
