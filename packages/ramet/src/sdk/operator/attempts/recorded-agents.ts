/** What the journal has of agents that earlier processes of a run had. */
import { contentOfBytes } from '../../../conversation/frozen-block.ts';
import { OUTSIDE_FILES } from '../../../engine/agent/notices.ts';
import type { AgentResult } from '../../../engine/shapes.ts';
import type { RefNaming } from '../../../git/left-work.ts';
import type { JournalReader } from '../../../journal/journal.ts';
import { type AgentOverview, agentStatuses, statusBoardOf } from '../../../journal/projections/status.ts';
import type { RecordedEvent } from '../../../schema/events.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { RefWitness } from './attempt-refs.ts';

export class RecordedAgents implements RefWitness {
  readonly #told: Set<string> = new Set();
  readonly #openReader: () => JournalReader;

  constructor(openReader: () => JournalReader) {
    this.#openReader = openReader;
  }

  all(): AgentOverview[] {
    return this.read((events) => agentStatuses(statusBoardOf(events), { writerAlive: true }));
  }

  read<Result>(read: (events: Iterable<RecordedEvent>) => Result): Result {
    return this.#read((reader) => read(reader.events()));
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

  /** By the words in the calls of agents: one that makes a branch or a tag mostly names it. */
  naming(agent: string, word: string, since: number): RefNaming {
    const parents = new Map(this.all().map(({ id, parent }) => [id as string, parent as string | null]));
    const isOwn = (id: string | null): boolean =>
      id !== null && (id === agent || isOwn(parents.get(id) ?? null));
    const isWord = wordPattern(word);
    const who = this.#read((reader) => {
      const found = new Set<boolean>();
      for (const { agent: id, event, time } of reader.events({ type: 'response.completed' }))
        if (event.type === 'response.completed' && (time >= since || !isOwn(id)) && !found.has(isOwn(id)))
          if (event.blocks.some((digest) => hasWord(reader.block(digest), isWord))) found.add(isOwn(id));
      return found;
    });
    if (who.size === 2) return 'both';
    if (who.has(false)) return 'others';
    return who.has(true) ? 'own' : 'nobody';
  }

  isNews(line: string): boolean {
    const isNew = !this.#told.has(line);
    this.#told.add(line);
    return isNew;
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

/** As a whole: `ramet/a` is not in `ramet/ab` or `x/ramet/a`, but in `refs/heads/ramet/a`. */
function wordPattern(word: string): RegExp {
  return new RegExp(
    `(?<![\\w.-]|(?<!heads|tags|remotes)/)${word.replace(/[^\w/]/g, '\\$&')}(?![\\w/-]|\\.\\w)`,
  );
}

/** In what a tool was called with. */
function hasWord(stored: Uint8Array, word: RegExp): boolean {
  const { type, input } = contentOfBytes(stored);
  return type === 'tool_use' && textsIn(input).some((text) => word.test(text));
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
