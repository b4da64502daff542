/**
 * A session that another process runs, followed through its journal: its agents and its bill as they are now, and what was
 * recorded since the last look. It only reads.
 */
import { contentOfBytes } from '../conversation/frozen-block.ts';
import type { JournalReader } from '../journal/journal.ts';
import { type AgentOverview, agentStatuses, emptyBoard, extendBoard } from '../journal/projections/status.ts';
import type { SessionEntry } from '../journal/session-list.ts';
import { isWriterAlive, openReader } from '../journal/sessions.ts';
import type { Digest, RecordedEvent } from '../schema/events.ts';
import type { AgentId } from '../schema/ids.ts';
import type { RecordedStep } from './agent-record.ts';
import { RecordedSteps } from './agent-record.ts';
import { emptyLedger, extendLedger, type LedgerLine } from './ledger/ledger.ts';

export interface WatchedCall {
  readonly name: string;
  readonly input: unknown;
}

export interface WatchedNews {
  readonly events: readonly RecordedEvent[];
  /** Its process is gone, and everything it recorded has been told. */
  readonly isOver: boolean;
}

export class SessionWatch implements Disposable {
  readonly entry: SessionEntry;
  readonly #place: { readonly project: string; readonly session: string };
  readonly #reader: JournalReader;
  readonly #steps: RecordedSteps;
  readonly #board = emptyBoard();
  readonly #ledger = emptyLedger();
  /** Calls of the last response of each agent. */
  readonly #calls = new Map<AgentId, Map<string, WatchedCall>>();
  #isAlive = true;

  constructor(project: string, entry: SessionEntry) {
    this.entry = entry;
    this.#place = { project, session: entry.session };
    this.#reader = openReader({ ...this.#place, forgiving: true });
    this.#steps = new RecordedSteps(this.#reader);
  }

  /** Reads on. A session that was not looked at before is told from its beginning. */
  look(): WatchedNews {
    // Asked before reading: what its process records last is read after it has ended.
    this.#isAlive = isWriterAlive(this.#place);
    const events = [...this.#reader.events({ after: this.#board.seq })];
    for (const recorded of events) {
      extendBoard(this.#board, recorded);
      extendLedger(this.#ledger, recorded);
      this.#noteCalls(recorded);
    }
    return { events, isOver: !this.#isAlive };
  }

  /** As of the last look, by birth. */
  get agents(): readonly AgentOverview[] {
    return agentStatuses(this.#board, { writerAlive: this.#isAlive, now: Date.now() });
  }

  /** The first that has no parent. */
  get main(): AgentOverview | undefined {
    return this.agents.find(({ parent }) => parent === null);
  }

  get total(): LedgerLine {
    return this.#ledger.total;
  }

  /** The calls that an agent has under way, by id. */
  callsOf(agent: AgentId): ReadonlyMap<string, WatchedCall> {
    const known = this.#calls.get(agent);
    const running = [...(this.#board.tools.get(agent) ?? [])];
    return new Map(running.map(([id, name]) => [id, known?.get(id) ?? { name, input: {} }]));
  }

  /** What a person reads of an event of the main agent. */
  steps(recorded: RecordedEvent): RecordedStep[] {
    return this.#steps.of(recorded);
  }

  [Symbol.dispose](): void {
    this.#reader.close();
  }

  #noteCalls({ agent, event }: RecordedEvent): void {
    if (agent === null || event.type !== 'response.completed') return;
    const calls = event.blocks.flatMap((digest) => this.#callIn(digest));
    this.#calls.set(agent, new Map(calls));
  }

  #callIn(digest: Digest): [string, WatchedCall][] {
    try {
      const { type, id, name, input } = contentOfBytes(this.#reader.block(digest));
      return type === 'tool_use' ? [[String(id), { name: String(name), input }]] : [];
    } catch {
      // A block that cannot be read: its call has a name.
      return [];
    }
  }
}
