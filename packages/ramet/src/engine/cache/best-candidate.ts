/**
 * Which earlier request a request is held against: its agent's previous one, its parent's at the fork point, or the
 * first sibling of its type. What it could have read of it is the longest marked prefix that both have; of its own
 * past and of its parent's it should have had everything, so there a difference is a loss.
 */
import { type Divergence, findDivergence } from '../../conversation/divergence.ts';
import { beginsWith, type SentMark, sizeOf } from './sent-marks.ts';
import { type PastRequest, promptOf, type SentSession } from './sent-requests.ts';

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

/** Null for the first request of its prefix. */
export function bestCandidate(session: SentSession, request: PastRequest): Candidate | null {
  const found = candidates(session, request).map(([kind, other]) => candidateOf(kind, other, request));
  const [first, ...others] = found.filter((candidate) => candidate.could > 0);
  if (first === undefined) return null;
  return others.reduce((best, next) => (sharedBytes(next) > sharedBytes(best) ? next : best), first);
}

function sharedBytes({ common }: Candidate): number {
  return common?.bytes ?? 0;
}

function candidates(session: SentSession, request: PastRequest): [CandidateKind, PastRequest][] {
  const before = session.requests.slice(0, session.requests.indexOf(request));
  const own = before.findLast(({ agent, source, answer }) => {
    return agent === request.agent && source === null && answer !== null;
  });
  if (own !== undefined) return [['own', own]];
  const agent = session.agents.get(request.agent);
  if (agent === undefined) return [];
  const parent =
    agent.type === 'fork'
      ? before.findLast((other) => other.agent === agent.parent && other.source === null)
      : undefined;
  const sibling = before.find(({ agent: id, model, source }) => {
    const other = session.agents.get(id);
    if (other === undefined || id === agent.id || source !== null || model !== request.model) return false;
    return other.type === agent.type && (agent.type !== 'fork' || other.parent === agent.parent);
  });
  return [
    ...(parent === undefined ? [] : [['parent', parent] as const]),
    ...(sibling === undefined ? [] : [['sibling', sibling] as const]),
  ].map(([kind, other]) => [kind, other]);
}

function candidateOf(kind: CandidateKind, other: PastRequest, request: PastRequest): Candidate {
  const divergence = divergenceOf(other, request);
  const common =
    other.marks.findLast((mark) => beginsWith(mark, request.conversation, request.messages)) ?? null;
  // A question beside the conversation may be about a part of it: more than the common part is not lost.
  const whole = kind !== 'sibling' && request.source === null;
  const wanted = whole ? (other.marks.at(-1) ?? null) : common;
  return { kind, request: other, divergence, common, could: tokensAt(wanted, other, request) };
}

function divergenceOf(other: PastRequest, request: PastRequest): Divergence | null {
  const grown = other.conversation === request.conversation && other.messages <= request.messages;
  return grown && other.aside.length === 0 ? null : findDivergence(promptOf(other), promptOf(request));
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

function promptBytes({ conversation, messages, aside }: PastRequest): number {
  const { head } = conversation;
  const sent = conversation.messages.slice(0, messages).flatMap(({ blocks }) => blocks);
  return sizeOf(head.tools) + sizeOf(head.system) + sizeOf(sent) + sizeOf(aside);
}
