/**
 * What was asked of models and what it cost (MODEL-3): per agent, per model, in all. Every completed response
 * counts, also one that was not kept, since it was billed. A sum that holds an unknown cost is unknown.
 * An attempt that failed counts with what the provider had counted by then; more is not known and not guessed.
 */
import type { EventOf, JournalEvent, RecordedEvent, RequestSource } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import { addCost, addUsage, NO_USAGE, type Usage } from '../../schema/usage.ts';

export interface LedgerLine {
  /** Requests sent, every attempt of them. */
  requests: number;
  responses: number;
  /** Attempts that failed and were to be tried again. */
  retries: number;
  usage: Usage;
  /** Null when any part of it is unknown. */
  costUsd: number | null;
  /** Time spent on completed responses, summed. */
  durationMs: number;
}

export interface Ledger {
  /** The last event folded: where to read on. */
  seq: number;
  total: LedgerLine;
  agents: Map<AgentId, LedgerLine>;
  /** By the model asked for; a provider may answer with a more exact name. */
  models: Map<string, LedgerLine>;
  /** What was asked beside the conversation, by its purpose: a part of the other sums. */
  sources: Map<RequestSource, LedgerLine>;
  /** Requests under way. */
  asked: Map<string, AskedRequest>;
}

interface AskedRequest {
  model: string;
  source: RequestSource | undefined;
}

export function emptyLedger(): Ledger {
  return {
    seq: 0,
    total: emptyLine(),
    agents: new Map(),
    models: new Map(),
    sources: new Map(),
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
  if (!isLedgerEvent(event)) return;
  const asked = askedOf(ledger, event);
  enter(ledger.total, event);
  if (agent !== null) enter(lineOf(ledger.agents, agent), event);
  if (asked !== null) enter(lineOf(ledger.models, asked.model), event);
  if (asked?.source !== undefined) enter(lineOf(ledger.sources, asked.source), event);
}

type LedgerEvent = EventOf<'request.started' | 'request.failed' | 'response.completed'>;

function isLedgerEvent(event: JournalEvent): event is LedgerEvent {
  return (
    event.type === 'request.started' || event.type === 'request.failed' || event.type === 'response.completed'
  );
}

function askedOf(ledger: Ledger, event: LedgerEvent): AskedRequest | null {
  if (event.type === 'request.started') {
    const asked = { model: event.model, source: event.source };
    ledger.asked.set(event.request, asked);
    return asked;
  }
  const asked = ledger.asked.get(event.request);
  const over = event.type === 'response.completed' || event.retryInMs === null;
  if (over) ledger.asked.delete(event.request);
  if (asked !== undefined) return asked;
  return event.type === 'response.completed' ? { model: event.model, source: event.source } : null;
}

function enter(line: LedgerLine, event: LedgerEvent): void {
  switch (event.type) {
    case 'request.started':
      line.requests += 1;
      break;
    case 'request.failed':
      if (event.retryInMs !== null) line.retries += 1;
      line.usage = addUsage(line.usage, event.usage ?? NO_USAGE);
      line.costUsd = addCost(line.costUsd, event.costUsd);
      break;
    case 'response.completed':
      line.responses += 1;
      line.usage = addUsage(line.usage, event.usage);
      line.costUsd = addCost(line.costUsd, event.costUsd);
      line.durationMs += event.durationMs;
      break;
  }
}

function lineOf<Key>(lines: Map<Key, LedgerLine>, key: Key): LedgerLine {
  const known = lines.get(key);
  if (known !== undefined) return known;
  const line = emptyLine();
  lines.set(key, line);
  return line;
}

function emptyLine(): LedgerLine {
  return { requests: 0, responses: 0, retries: 0, usage: NO_USAGE, costUsd: 0, durationMs: 0 };
}
