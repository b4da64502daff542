/**
 * What was asked of models and what it cost (MODEL-3): per agent, per agent type, per model, in all. Every completed
 * response counts, also one that was not kept, since it was billed. A sum that holds an unknown cost is unknown.
 * An attempt that failed counts with what the provider had counted by then. One without any answer is unknown, and
 * counted apart with what it costs at most.
 */

import { typeOfAgent } from '../../schema/agent-events.ts';
import type { ThinkingConfig } from '../../schema/content.ts';
import type { EventOf, JournalEvent, RecordedEvent, RequestSource } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import { type AskedFacts, type BilledEvent, emptyLine, enterEvent, type LedgerLine } from './ledger-line.ts';

/** What a reader of the bill wants to know of an agent. */
export interface LedgerAgent {
  id: AgentId;
  parent: AgentId | null;
  /** `fork` for every fork. */
  type: string;
  name: string | null;
  description: string | null;
  /** How it thinks, as last chosen; null where nobody did. */
  thinking: ThinkingConfig | null;
}

/** What a fork has cost and what a fresh agent would have: input tokens at full price, and dollars where known. */
export type ComparedFork = Omit<EventOf<'fork.compared'>, 'type'>;

export interface Ledger {
  /** The last event folded: where to read on. */
  seq: number;
  total: LedgerLine;
  agents: Map<AgentId, LedgerLine>;
  /** By agent type; forks are one. */
  types: Map<string, LedgerLine>;
  /** By the model asked for; a provider may answer with a more exact name. */
  models: Map<string, LedgerLine>;
  /** What was asked beside the conversation, by its purpose: a part of the other sums. */
  sources: Map<RequestSource, LedgerLine>;
  /** Every agent, by birth, also one that asked for nothing yet. */
  known: Map<AgentId, LedgerAgent>;
  /** By agent, as last compared. */
  forks: Map<AgentId, ComparedFork>;
  /** Requests under way. */
  asked: Map<string, AskedRequest>;
}

interface AskedRequest extends AskedFacts {
  model: string;
  source: RequestSource | undefined;
}

export function emptyLedger(): Ledger {
  return {
    seq: 0,
    total: emptyLine(),
    agents: new Map(),
    types: new Map(),
    models: new Map(),
    sources: new Map(),
    known: new Map(),
    forks: new Map(),
    asked: new Map(),
  };
}

export function ledgerOf(events: Iterable<RecordedEvent>): Ledger {
  const ledger = emptyLedger();
  for (const recorded of events) extendLedger(ledger, recorded);
  return ledger;
}

/** Folds one more event into the ledger, in place. */
export function extendLedger(ledger: Ledger, { seq, agent, event }: RecordedEvent): void {
  ledger.seq = seq;
  if (agent !== null && event.type === 'agent.started') admit(ledger, agent, event);
  if (agent !== null && event.type === 'prefix.frozen') {
    const known = ledger.known.get(agent);
    if (known !== undefined) known.thinking = event.thinking;
  }
  if (agent !== null && event.type === 'fork.compared') {
    const { type: _, ...comparison } = event;
    ledger.forks.set(agent, comparison);
  }
  if (isBilledEvent(event)) enter(ledger, agent, event);
}

/** A continued agent starts again, and is who it was. */
function admit({ known }: Ledger, id: AgentId, event: EventOf<'agent.started'>): void {
  if (known.has(id)) return;
  const { parent, name, origin } = event;
  const description = origin?.description ?? null;
  known.set(id, { id, parent, type: typeOfAgent(event), name, description, thinking: null });
}

function enter(ledger: Ledger, agent: AgentId | null, event: BilledEvent): void {
  const asked = askedOf(ledger, event);
  const type = agent === null ? undefined : ledger.known.get(agent)?.type;
  const lines = [ledger.total];
  if (agent !== null) lines.push(lineOf(ledger.agents, agent));
  if (type !== undefined) lines.push(lineOf(ledger.types, type));
  if (asked !== null) lines.push(lineOf(ledger.models, asked.model));
  if (asked?.source !== undefined) lines.push(lineOf(ledger.sources, asked.source));
  for (const line of lines) enterEvent(line, event, asked);
}

function isBilledEvent(event: JournalEvent): event is BilledEvent {
  return (
    event.type === 'request.started' || event.type === 'request.failed' || event.type === 'response.completed'
  );
}

function askedOf(ledger: Ledger, event: BilledEvent): AskedRequest | null {
  if (event.type === 'request.started') {
    const { model, source, cache: predicted, atMostUsd = null } = event;
    const asked = { model, source, predicted, atMostUsd, isRecorded: true };
    ledger.asked.set(event.request, asked);
    return asked;
  }
  const asked = ledger.asked.get(event.request);
  const over = event.type === 'response.completed' || event.retryInMs === null;
  if (over) ledger.asked.delete(event.request);
  if (asked !== undefined) return asked;
  return event.type === 'response.completed'
    ? { model: event.model, source: event.source, predicted: null, atMostUsd: null, isRecorded: false }
    : null;
}

function lineOf<Key>(lines: Map<Key, LedgerLine>, key: Key): LedgerLine {
  const known = lines.get(key);
  if (known !== undefined) return known;
  const line = emptyLine();
  lines.set(key, line);
  return line;
}
