/**
 * When a child's first request may go (LAUNCH-1), from facts alone. A prefix that is cold and shared is written once,
 * by a lead, and read by those who follow; whoever would gain little by that goes at once. To lead costs the lead
 * nothing, so it is decided without knowing whether others will come.
 */
import type { LaunchMode } from '../../schema/status.ts';

export interface LaunchFacts {
  readonly mode: LaunchMode;
  /** Estimates: what the request shares with others, and the part of that which no cache holds. */
  readonly sharedTokens: number;
  readonly coldTokens: number;
  /** From how many tokens on the model caches. */
  readonly minimum: number;
  /** Of the shared prefix; `silent` is written by one who has shown no sign of life for too long. */
  readonly state: 'cold' | 'writing' | 'silent' | 'readable';
  /** US dollars per million tokens; null when unknown. */
  readonly prices: { readonly write: number; readonly read: number } | null;
  /** Null when nothing has been measured. */
  readonly firstTokenMs: number | null;
}

export interface LaunchChoice {
  readonly choice: 'at_once' | 'lead' | 'follow';
  readonly why: string;
}

/** Waiting is not worth less than this: 18 cents an hour. */
const LEAST_USD_PER_SECOND = 0.000_05;
const ASSUMED_FIRST_TOKEN_MS = 1_000;

export function decideLaunch(facts: LaunchFacts): LaunchChoice {
  const reason = reasonToGo(facts);
  if (reason !== null) return { choice: 'at_once', why: reason };
  const cold = `${facts.coldTokens} of ${facts.sharedTokens} shared tokens are cold`;
  return facts.state === 'writing'
    ? { choice: 'follow', why: `${cold} and being written by another` }
    : { choice: 'lead', why: `${cold}: writes them for all that follow` };
}

function reasonToGo(facts: LaunchFacts): string | null {
  const { mode, sharedTokens, coldTokens, minimum, state } = facts;
  if (mode === 'parallel') return 'launched in parallel, as asked';
  if (sharedTokens < minimum)
    return `below minimum: ${sharedTokens} shared tokens, cached from ${minimum} on`;
  if (state === 'readable') return `warm: ${sharedTokens} shared tokens are in the cache`;
  if (state === 'silent') return 'the one that writes the shared prefix gives no sign of life';
  return mode === 'staggered'
    ? null
    : reasonNotToWait(facts, sharedTokens - coldTokens, coldTokens < minimum);
}

function reasonNotToWait(facts: LaunchFacts, warmTokens: number, short: boolean): string | null {
  const { sharedTokens, coldTokens } = facts;
  if (short || coldTokens < warmTokens) {
    return `mostly warm: only ${coldTokens} of ${sharedTokens} shared tokens are cold`;
  }
  const saved = savedUsd(facts);
  const seconds = (facts.firstTokenMs ?? ASSUMED_FIRST_TOKEN_MS) / 1_000;
  if (saved === null || (saved > 0 && saved >= seconds * LEAST_USD_PER_SECOND)) return null;
  return `too little to save: $${saved.toFixed(6)} for a wait of ${seconds.toFixed(1)} s`;
}

/** What one that follows saves; null when a price is unknown. */
function savedUsd({ prices, coldTokens }: LaunchFacts): number | null {
  return prices === null ? null : Math.max(0, (coldTokens * (prices.write - prices.read)) / 1_000_000);
}
