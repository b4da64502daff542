/**
 * What was asked of models and what it cost (MODEL-3): per agent, per agent type, per model, in all. Every completed
 * response counts, also one that was not kept, since it was billed. A sum that holds an unknown cost is unknown.
 * An attempt that failed counts with what the provider had counted by then. One without any answer is unknown, and
 * counted apart with what it costs at most.
 */
import { typeOfAgent } from '../../journal/projections/agent-state.ts';
import type { ThinkingConfig } from '../../schema/content.ts';
import type { CacheState, EventOf, JournalEvent, RecordedEvent, RequestSource } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { BackgroundSource } from '../../schema/status.ts';
import { addCost, addUsage, isPromptUncertain, NO_USAGE, type Usage } from '../../schema/usage.ts';

export interface LedgerAgent {
  id: AgentId;
  parent: AgentId | null;
  /** `fork` for every fork. */
  type: string;
  name: string | null;
  description: string | null;
  /** How it thinks, as last chosen; null where nobody did. */
  thinking: ThinkingConfig | null;
  /** What it does in the background; null for work that was asked for. */
  source: BackgroundSource | null;
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
  sources: Map<RequestSource | BackgroundSource, LedgerLine>;
  /** Every agent, by birth, also one that asked for nothing yet. */
  known: Map<AgentId, LedgerAgent>;
  /** By agent, as last compared. */
  forks: Map<AgentId, ComparedFork>;
  /** What the first member of a session that began without a team made an agent write again; null before it was asked. */
  rewrites: Map<AgentId, TeamRewrite | null>;
  /** Tries to work ahead of the user, and those whose work was adopted. */
  speculation: { tries: number; hits: number };
  /** Requests under way. */
  asked: Map<string, AskedRequest>;
}

/** The request with which the prompt was written again. */
export interface TeamRewrite {
  request: string;
  tokens: number;
  costUsd: number | null;
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
    rewrites: new Map(),
    speculation: { tries: 0, hits: 0 },
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
  const known = agent === null ? undefined : ledger.known.get(agent);
  if (event.type === 'prefix.frozen' && known !== undefined) known.thinking = event.thinking;
  if (agent !== null && event.type === 'fork.compared') {
    const { type: _, ...comparison } = event;
    ledger.forks.set(agent, comparison);
  }
  if (event.type === 'message.appended' && event.cause === 'adopted') ledger.speculation.hits += 1;
  if (agent !== null) noteRewrite(ledger, agent, event);
  if (isBilledEvent(event)) enter(ledger, agent, event);
}

function noteRewrite({ rewrites }: Ledger, agent: AgentId, event: JournalEvent): void {
  if (event.type === 'conversation.replaced' && event.cause === 'team') rewrites.set(agent, null);
  if (event.type !== 'response.completed' || event.source !== undefined) return;
  if (rewrites.get(agent) !== null) return;
  const { request, usage, costUsd } = event;
  const tokens = usage.input_tokens + usage.cache_creation_input_tokens;
  rewrites.set(agent, { request, tokens, costUsd });
}

/** A continued agent starts again, and is who it was. */
function admit({ known, speculation }: Ledger, id: AgentId, event: EventOf<'agent.started'>): void {
  if (known.has(id)) return;
  if (event.origin?.source === 'speculation') speculation.tries += 1;
  const { parent, name, origin } = event;
  const { description = null, source = null } = origin ?? {};
  known.set(id, { id, parent, type: typeOfAgent(event), name, description, thinking: null, source });
}

function enter(ledger: Ledger, agent: AgentId | null, event: BilledEvent): void {
  const asked = askedOf(ledger, event);
  const { type, source: work } = (agent !== null && ledger.known.get(agent)) || {};
  const lines = [ledger.total];
  if (agent !== null) lines.push(lineOf(ledger.agents, agent));
  if (type !== undefined) lines.push(lineOf(ledger.types, type));
  if (asked !== null) lines.push(lineOf(ledger.models, asked.model));
  const source = asked?.source ?? work;
  if (source) lines.push(lineOf(ledger.sources, source));
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

/** What some requests took, cost and saved. A sum that has an unknown part is unknown. */
export interface LedgerLine {
  /** Requests sent, every attempt of them. */
  requests: number;
  responses: number;
  /** Attempts that failed and were to be tried again. */
  retries: number;
  usage: Usage;
  /** Null when any part of it is unknown. */
  costUsd: number | null;
  /** The sum of what is known of it. */
  atLeastUsd: number;
  /** Time spent on completed responses, summed. */
  durationMs: number;
  /** Responses to prompts that were too short for the model's cache: no misses. */
  belowMinimum: number;
  /** What agents read in their first request that others had written: the gain over sharing nothing. */
  reused: { tokens: number; savedUsd: number | null };
  unanswered: UnansweredLine;
}

/** Requests that no response tells the cost of: under way, lost with a process, or broken before an answer. */
interface UnansweredLine {
  requests: number;
  /** What they cost at most, as far as that is known. */
  atMostUsd: number;
  /** Those of which nothing is known. */
  unbounded: number;
}

/** Null when one of them has no bound. */
export function mostUnanswered({ atMostUsd, unbounded }: UnansweredLine): number | null {
  return unbounded > 0 ? null : Math.max(0, atMostUsd);
}

type BilledEvent = EventOf<'request.started' | 'request.failed' | 'response.completed'>;

export function emptyLine(): LedgerLine {
  return {
    requests: 0,
    responses: 0,
    retries: 0,
    usage: NO_USAGE,
    costUsd: 0,
    atLeastUsd: 0,
    durationMs: 0,
    belowMinimum: 0,
    reused: { tokens: 0, savedUsd: 0 },
    unanswered: { requests: 0, atMostUsd: 0, unbounded: 0 },
  };
}

/** What is known of a request that is asked. */
interface AskedFacts {
  predicted: CacheState | null;
  /** Null when it has no bound. */
  atMostUsd: number | null;
  /** Whether the journal holds the request. */
  isRecorded: boolean;
}

function enterEvent(line: LedgerLine, event: BilledEvent, asked: AskedFacts | null): void {
  switch (event.type) {
    case 'request.started':
      line.requests += 1;
      countUnanswered(line, asked, 1);
      break;
    case 'request.failed':
      if (event.mayCost !== true) countUnanswered(line, asked, -1);
      if (event.retryInMs !== null) line.retries += 1;
      line.usage = addUsage(line.usage, event.usage ?? NO_USAGE);
      enterCost(line, event);
      break;
    case 'response.completed':
      countUnanswered(line, asked, -1);
      line.responses += 1;
      line.usage = addUsage(line.usage, event.usage);
      enterCost(line, event);
      line.durationMs += event.durationMs;
      if (asked?.predicted === 'below minimum' && !usedCache(event.usage)) line.belowMinimum += 1;
      if (event.reused !== undefined) line.reused = addReuse(line.reused, event.reused);
      break;
  }
}

function enterCost(
  line: LedgerLine,
  { costUsd, atLeastUsd }: EventOf<'request.failed' | 'response.completed'>,
): void {
  line.costUsd = addCost(line.costUsd, costUsd);
  line.atLeastUsd = plus(line.atLeastUsd, costUsd ?? atLeastUsd ?? 0);
}

export function sumOfLines(lines: Iterable<LedgerLine>): LedgerLine {
  const sum = emptyLine();
  for (const line of lines) {
    sum.requests += line.requests;
    sum.responses += line.responses;
    sum.retries += line.retries;
    sum.usage = addUsage(sum.usage, line.usage);
    sum.costUsd = addCost(sum.costUsd, line.costUsd);
    sum.atLeastUsd = plus(sum.atLeastUsd, line.atLeastUsd);
    sum.durationMs += line.durationMs;
    sum.belowMinimum += line.belowMinimum;
    sum.reused = addReuse(sum.reused, line.reused);
    sum.unanswered = {
      requests: sum.unanswered.requests + line.unanswered.requests,
      atMostUsd: plus(sum.unanswered.atMostUsd, line.unanswered.atMostUsd),
      unbounded: sum.unanswered.unbounded + line.unanswered.unbounded,
    };
  }
  return sum;
}

function countUnanswered({ unanswered }: LedgerLine, asked: AskedFacts | null, by: 1 | -1): void {
  if (asked === null || !asked.isRecorded) return;
  const { atMostUsd } = asked;
  unanswered.requests += by;
  if (atMostUsd === null) unanswered.unbounded += by;
  else unanswered.atMostUsd = plus(unanswered.atMostUsd, by * atMostUsd);
}

function plus(a: number, b: number): number {
  return addCost(a, b) ?? a;
}

/** Nothing of it could have been a hit: every prompt was too short for the model's cache. */
export function isBelowMinimum({ responses, belowMinimum }: LedgerLine): boolean {
  return belowMinimum > 0 && belowMinimum === responses;
}

/** Or may have. */
function usedCache(usage: Usage): boolean {
  return isPromptUncertain(usage) || usage.cache_read_input_tokens + usage.cache_creation_input_tokens > 0;
}

function addReuse(a: LedgerLine['reused'], b: LedgerLine['reused']): LedgerLine['reused'] {
  return { tokens: a.tokens + b.tokens, savedUsd: addCost(a.savedUsd, b.savedUsd) };
}
