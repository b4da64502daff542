/**
 * Which earlier request a request is held against: its agent's previous one, its parent's at the fork point, or the
 * first sibling of its type. What it could have read of it is the longest marked prefix that both have; of its own
 * past and of its parent's it should have had everything, so there a difference is a loss.
 */
import { type ComparedPrompt, type Divergence, findDivergence } from '../../conversation/divergence.ts';
import type { AgentId } from '../../schema/ids.ts';
import { beginsWith, type SentMark, sizeOf } from './sent-marks.ts';
import type { PastRequest, SentSession } from './sent-requests.ts';

export type CandidateKind = 'own' | 'parent' | 'sibling';

export interface Candidate {
  kind: CandidateKind;
  request: PastRequest;
  /** Where the two part; null when all of it is a prefix of the other. */
  divergence: Divergence | null;
  /** The longest marked prefix that both have. */
  common: SentMark | null;
  /** Tokens that could have been read. */
  could: number;
}

/** What finding candidates needs of a session, gathered once. */
export interface RequestIndex {
  session: SentSession;
  /** In order, without questions beside the conversation. */
  byAgent: ReadonlyMap<AgentId, readonly PastRequest[]>;
  /** The first request of agents that are siblings to each other. */
  firstOfKind: ReadonlyMap<string, PastRequest>;
}

export function indexRequests(session: SentSession): RequestIndex {
  const turns = session.requests.filter(({ source }) => source === null);
  const firstOfKind = new Map<string, PastRequest>();
  for (const request of turns) {
    const kind = kindOf(session, request);
    if (!firstOfKind.has(kind)) firstOfKind.set(kind, request);
  }
  return { session, byAgent: Map.groupBy(turns, ({ agent }) => agent), firstOfKind };
}

/** Siblings have one type and one model; forks also one parent. */
function kindOf({ agents }: SentSession, { agent, model }: PastRequest): string {
  const by = agents.get(agent);
  return JSON.stringify([by?.type, model, by?.type === 'fork' ? by.parent : null]);
}

/** Null for the first request of its prefix. */
export function bestCandidate(index: RequestIndex, request: PastRequest): Candidate | null {
  const found = candidates(index, request).map(([kind, other]) => candidateOf(kind, other, request));
  const [first, ...others] = found.filter((candidate) => candidate.could > 0);
  if (first === undefined) return null;
  return others.reduce((best, next) => (sharedBytes(next) > sharedBytes(best) ? next : best), first);
}

function sharedBytes({ common }: Candidate): number {
  return common?.bytes ?? 0;
}

function candidates(index: RequestIndex, request: PastRequest): [CandidateKind, PastRequest][] {
  const { session, byAgent, firstOfKind } = index;
  const before = ({ order }: PastRequest): boolean => order < request.order;
  const own = byAgent.get(request.agent)?.findLast((other) => before(other) && other.answer !== null);
  if (own !== undefined) return [['own', own]];
  const agent = session.agents.get(request.agent);
  if (agent === undefined) return [];
  const isFork = agent.type === 'fork' && agent.parent !== null;
  const parent = isFork ? byAgent.get(agent.parent ?? '')?.findLast(before) : undefined;
  const sibling = firstOfKind.get(kindOf(session, request));
  const found: [CandidateKind, PastRequest][] = [];
  if (parent !== undefined) found.push(['parent', parent]);
  if (sibling !== undefined && sibling.agent !== agent.id && before(sibling))
    found.push(['sibling', sibling]);
  return found;
}

function candidateOf(kind: CandidateKind, other: PastRequest, request: PastRequest): Candidate {
  const divergence = divergenceOf(other, request);
  const common = other.marks.findLast((mark) => beginsWith(mark, request.prompt, request.messages)) ?? null;
  // A question beside the conversation may be about a part of it: more than the common part is not lost.
  const whole = kind !== 'sibling' && request.source === null;
  const wanted = whole ? (other.marks.at(-1) ?? null) : common;
  return { kind, request: other, divergence, common, could: tokensAt(wanted, other, request) };
}

function divergenceOf(other: PastRequest, request: PastRequest): Divergence | null {
  const grown = other.prompt === request.prompt && other.messages <= request.messages;
  return grown && other.aside.length === 0 ? null : findDivergence(promptOf(other), promptOf(request));
}

function promptOf({ prompt, messages, aside }: PastRequest): ComparedPrompt {
  return prompt.upTo(messages, aside);
}

/**
 * Exact for the last mark of a request that was answered: what it read and wrote goes up to there. In between, and
 * where nobody counted, tokens are taken to be spread evenly over bytes.
 */
function tokensAt(mark: SentMark | null, other: PastRequest, request: PastRequest): number {
  if (mark === null) return 0;
  const cached = cachedTokens(other);
  const last = other.marks.at(-1);
  if (cached > 0 && last !== undefined) return Math.round((cached * mark.bytes) / last.bytes);
  const bytes = promptBytes(request);
  return bytes === 0 ? 0 : Math.round((promptTokens(request) * Math.min(mark.bytes, bytes)) / bytes);
}

function cachedTokens({ answer }: PastRequest): number {
  if (answer === null) return 0;
  return answer.usage.cache_read_input_tokens + answer.usage.cache_creation_input_tokens;
}

export function promptTokens(request: PastRequest): number {
  return cachedTokens(request) + (request.answer?.usage.input_tokens ?? 0);
}

function promptBytes({ prompt, messages, aside }: PastRequest): number {
  const last = prompt.indexOf({ message: messages, block: -1 });
  return prompt.bytesAt(last) + sizeOf(aside);
}
