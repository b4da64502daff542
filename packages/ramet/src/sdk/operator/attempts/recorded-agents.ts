/** What the journal has of agents that earlier processes of a run had. */
import { OUTSIDE_FILES } from '../../../engine/agent/notices.ts';
import type { AgentResult } from '../../../engine/shapes.ts';
import type { JournalReader } from '../../../journal/journal.ts';
import { type AgentOverview, agentStatuses, statusBoardOf } from '../../../journal/projections/status.ts';
import type { AgentId } from '../../../schema/ids.ts';

export class RecordedAgents {
  readonly #openReader: () => JournalReader;

  constructor(openReader: () => JournalReader) {
    this.#openReader = openReader;
  }

  all(): AgentOverview[] {
    return this.#read((reader) => agentStatuses(statusBoardOf(reader.events()), { writerAlive: true }));
  }

  /** The last agent of that name, as an earlier process left it. */
  named(name: string): AgentOverview | undefined {
    return this.all().findLast((agent) => agent.name === name);
  }

  /** The first write that it was refused because others may be at work on the file; null if none was. */
  refusedWrite(agent: string): string | null {
    return this.#read((reader) => {
      for (const { event } of reader.events({ agent, type: 'warning.raised' }))
        if (event.type === 'warning.raised' && event.code === OUTSIDE_FILES) return event.message;
      return null;
    });
  }

  /** Where it worked, and what is left of that; undefined for an agent without a worktree. */
  async worktreeOf(agent: string): Promise<AgentResult['worktree']> {
    const { recordedWorktree } = await import('../../../engine/later.ts');
    return this.#read((reader) => recordedWorktree(reader, agent as AgentId)) ?? undefined; // from the journal itself
  }

  /** What it said last. */
  async lastText(agent: string): Promise<string> {
    const { recordedText } = await import('../../../engine/later.ts');
    return this.#read((reader) => recordedText(reader, agent as AgentId)); // from the journal itself
  }

  #read<Result>(read: (reader: JournalReader) => Result): Result {
    const reader = this.#openReader();
    try {
      return read(reader);
    } finally {
      reader.close();
    }
  }
}
