/** What ended workers have read and changed, as it is on record. */
import type { JournalReader } from '../../journal/journal.ts';
import type { RecordedWorker } from '../../journal/projections/coordination.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { KnowingWorker } from './worker-overlap.ts';

export class WorkerKnowledge {
  /** With where each has ended: one that is continued knows more. */
  readonly #known = new Map<AgentId, { ended: number; knows: KnowingWorker }>();
  readonly #openReader: () => JournalReader;

  constructor(openReader: () => JournalReader) {
    this.#openReader = openReader;
  }

  of({ id, name, readOnly, ended }: RecordedWorker): KnowingWorker {
    const at = ended?.seq ?? -1;
    const found = this.#known.get(id);
    if (found?.ended === at) return found.knows;
    const knows = { id, name, readOnly, read: new Set<string>(), changed: new Set<string>() };
    const reader = this.#openReader();
    try {
      for (const { event } of reader.events({ agent: id, types: ['file.read', 'file.changed'] })) {
        if (event.type === 'file.read') knows.read.add(event.path);
        if (event.type === 'file.changed') knows.changed.add(event.path);
      }
    } finally {
      reader.close();
    }
    this.#known.set(id, { ended: at, knows });
    return knows;
  }
}
