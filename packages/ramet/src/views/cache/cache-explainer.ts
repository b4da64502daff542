/**
 * Why a request read from the cache what it read, and no more (FORK-8). Everything is computed from what was recorded:
 * the prompts themselves, when they were sent, and the provider's own counts.
 */
import { minimumCacheable } from '../../model/catalog.ts';
import { costOf, type PriceTable } from '../../model/prices.ts';
import { isPromptUncertain, type Usage } from '../../schema/usage.ts';
import {
  bestCandidate,
  type Candidate,
  indexRequests,
  promptTokens,
  type RequestIndex,
} from './best-candidate.ts';
import { beginsWith, isInReach, LIFETIME_MS, type SentMark } from './sent-marks.ts';
import type { PastRequest, SentSession } from './sent-requests.ts';

export type CacheReason =
  /** It read what it could. */
  | { kind: 'hit' }
  | { kind: 'cold' }
  | { kind: 'below_minimum'; minimum: number; promptTokens: number }
  | { kind: 'expired'; silentMs: number; lifetimeMs: number }
  | { kind: 'parallel'; with: string }
  | { kind: 'model'; from: string; to: string }
  | { kind: 'compaction' }
  | { kind: 'changed' }
  | { kind: 'out_of_reach' }
  | { kind: 'dropped' }
  | { kind: 'not_counted' }
  | { kind: 'unanswered'; failure: string | null };

export interface CacheExplanation {
  request: PastRequest;
  candidate: Candidate | null;
  reason: CacheReason;
  /** Tokens that were there to be read, or should have been, and were sent again. */
  missed: number;
  /** What they cost beyond a hit; null when a price is unknown. */
  extraUsd: number | null;
}

/** Taken where no source states a minimum, as the cache map does. */
const ASSUMED_MINIMUM = 1_024;
const LONGEST_LIFETIME_MS = Math.max(...Object.values(LIFETIME_MS));
/** Tokens of a part are estimated from its bytes: a smaller difference says nothing. */
const TOLERANCE = { share: 0.02, tokens: 16 };

/** What explains the requests of one session. */
interface Evidence {
  index: RequestIndex;
  prices: PriceTable;
  /** By prefix: who wrote or read it, in order. Siblings that miss together ask for the same one. */
  users: Map<number, PastRequest[]>;
}

export function cacheExplainer(
  session: SentSession,
  prices: PriceTable,
): (request: PastRequest) => CacheExplanation {
  const evidence = { index: indexRequests(session), prices, users: new Map() };
  return (request) => explain(request, evidence);
}

function explain(request: PastRequest, evidence: Evidence): CacheExplanation {
  const candidate = bestCandidate(evidence.index, request);
  const none = { request, candidate, missed: 0, extraUsd: 0 };
  const { answer } = request;
  if (answer === null) return { ...none, reason: { kind: 'unanswered', failure: request.failure } };
  if (isPromptUncertain(answer.usage)) return { ...none, reason: { kind: 'not_counted' } };
  const tooShort = shortPrompt(request, answer.usage);
  if (tooShort !== null) return { ...none, reason: tooShort };
  const missed = candidate === null ? 0 : missedTokens(candidate, answer.usage);
  if (candidate === null || missed === 0) {
    return { ...none, reason: { kind: nothingMissed(candidate, request) } };
  }
  const extraUsd = extraCost(request.model, answer.usage, missed, evidence.prices);
  return { request, candidate, missed, extraUsd, reason: missReason(candidate, request, evidence) };
}

function nothingMissed(candidate: Candidate | null, request: PastRequest): 'hit' | 'cold' | 'not_counted' {
  if (promptTokens(request) === 0 || !usedCache(request)) return 'not_counted';
  return candidate === null ? 'cold' : 'hit';
}

function usedCache({ answer }: PastRequest): boolean {
  if (answer === null) return false;
  return answer.usage.cache_read_input_tokens + answer.usage.cache_creation_input_tokens > 0;
}

function shortPrompt(request: PastRequest, usage: Usage): CacheReason | null {
  if (usedCache(request) || usage.input_tokens === 0) return null;
  const known = minimumCacheable(request.model);
  const minimum = known ?? ASSUMED_MINIMUM;
  // Of a model whose minimum nobody states the cache map may have learned more than this.
  const learned = known === undefined && request.predicted === 'below minimum';
  if (usage.input_tokens >= minimum && !learned) return null;
  return { kind: 'below_minimum', minimum, promptTokens: usage.input_tokens };
}

function missedTokens({ could }: Candidate, usage: Usage): number {
  const missed = could - usage.cache_read_input_tokens;
  return missed > TOLERANCE.tokens + could * TOLERANCE.share ? missed : 0;
}

function missReason(candidate: Candidate, request: PastRequest, evidence: Evidence): CacheReason {
  const { kind, divergence, common, request: other } = candidate;
  if (kind !== 'sibling' && divergence !== null && request.source === null) {
    if (divergence.where === 'model') return { kind: 'model', from: other.model, to: request.model };
    const replaced = request.replaced.times > other.replaced.times;
    return { kind: replaced && request.replaced.cause === 'compaction' ? 'compaction' : 'changed' };
  }
  if (common === null) return { kind: 'changed' };
  return lostReason(common, request, usersOf(candidate, common, evidence));
}

/** Requests that wrote the prefix or read it, which is what keeps it alive. */
function usersOf(candidate: Candidate, common: SentMark, { users, index }: Evidence): PastRequest[] {
  const known = users.get(common.link);
  if (known !== undefined) return known;
  const found = index.session.requests.filter(({ prompt, messages, marks, answer }) => {
    if (!beginsWith(common, prompt, messages)) return false;
    if (marks.some(({ link }) => link === common.link)) return true;
    return isInReach(common, marks) && answer !== null && missedTokens(candidate, answer.usage) === 0;
  });
  users.set(common.link, found);
  return found;
}

/**
 * The prefix is the same, and yet it was not read: too late, too early, or out of sight. One pass without copies: a
 * thousand siblings that missed have ten thousand users each.
 */
function lostReason(common: SentMark, request: PastRequest, users: readonly PastRequest[]): CacheReason {
  let last: PastRequest | undefined;
  let recent: PastRequest | undefined;
  for (let index = users.length - 1; index >= 0; index--) {
    const user = users[index];
    if (user === undefined || user === request || user.startedAt > request.startedAt) continue;
    last ??= user;
    const silentMs = request.startedAt - user.startedAt;
    if (silentMs > LONGEST_LIFETIME_MS || silentMs > lifetimeOf(common, user)) continue;
    recent = user;
    if (user.answer !== null && user.answer.beganAt <= request.startedAt)
      return { kind: isInReach(common, request.marks) ? 'dropped' : 'out_of_reach' };
  }
  if (recent !== undefined) return { kind: 'parallel', with: recent.id };
  const silentMs = request.startedAt - (last?.startedAt ?? request.startedAt);
  return { kind: 'expired', silentMs, lifetimeMs: lifetimeOf(common, last) };
}

/** How long the prefix lives after this use of it. */
function lifetimeOf(common: SentMark, user: PastRequest | undefined): number {
  const mark = user?.marks.find(({ link }) => link === common.link) ?? common;
  return LIFETIME_MS[mark.ttl];
}

/** The bill as it is, less the bill if what was missed had been read. */
function extraCost(model: string, usage: Usage, missed: number, prices: PriceTable): number | null {
  const paid = costOf(model, usage, prices).usd;
  const hit = costOf(model, asHit(usage, missed), prices).usd;
  return paid === null || hit === null ? null : Number((paid - hit).toFixed(12));
}

function asHit(usage: Usage, missed: number): Usage {
  const written = usage.cache_creation_input_tokens;
  const fromWrite = Math.min(missed, written);
  const fromInput = Math.min(missed - fromWrite, usage.input_tokens);
  const long = written === 0 ? 0 : Math.round((usage.cache_creation_1h_input_tokens * fromWrite) / written);
  return {
    ...usage,
    input_tokens: usage.input_tokens - fromInput,
    cache_creation_input_tokens: written - fromWrite,
    cache_creation_1h_input_tokens: usage.cache_creation_1h_input_tokens - long,
    cache_read_input_tokens: usage.cache_read_input_tokens + fromWrite + fromInput,
  };
}
