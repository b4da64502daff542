/**
 * The gate that the first request of every child passes (LAUNCH-1). It knows who writes which shared prefix, decides
 * with `decideLaunch`, records every decision on the child, and holds back those that follow. The main agent and later
 * requests do not come here.
 */

import type { Conversation } from '../../conversation/conversation.ts';
import { planRequest, sharedPrefixEnd } from '../../conversation/request.ts';
import { type CacheMap, tokensAt } from '../../model/cache/cache-map.ts';
import { findRow, type PriceTable } from '../../model/prices.ts';
import type { Clock } from '../../schema/clock.ts';
import { Cancelled } from '../../schema/errors.ts';
import type { Breakpoint, Digest, EventOf } from '../../schema/events.ts';
import type { LaunchMode, LiveCause } from '../../schema/status.ts';
import { LaunchFlight } from './launch-flight.ts';

/** Waiting is not worth less than this: 18 cents an hour. */
const LEAST_USD_PER_SECOND = 0.000_05;

const ASSUMED_FIRST_TOKEN_MS = 1_000;

/** How long models took to begin their latest answers: how long a silent one is believed (LAUNCH-1). */
const REMEMBERED = 8;

const UNKNOWN_PATIENCE_MS = 5_000;

const LEAST_PATIENCE_MS = 1_000;

const MOST_PATIENCE_MS = 5_000;

export class FirstTokenTimes {
  readonly #recent = new Map<string, number[]>();

  note(model: string, ms: number): void {
    const times = this.#recent.get(model) ?? [];
    times.push(ms);
    if (times.length > REMEMBERED) times.shift();
    this.#recent.set(model, times);
  }

  /** The longest of the latest; null when nothing has been measured. */
  expected(model: string): number | null {
    const times = this.#recent.get(model);
    return times === undefined ? null : Math.max(...times);
  }

  /** After how long without a sign of life nobody waits any more: twice what is expected, within bounds. */
  patience(model: string): number {
    const expected = this.expected(model);
    if (expected === null) return UNKNOWN_PATIENCE_MS;
    return Math.min(MOST_PATIENCE_MS, Math.max(LEAST_PATIENCE_MS, 2 * expected));
  }
}

const LEAD_CAUSE: LiveCause = 'lead';

export interface LaunchGateOptions {
  readonly mode: LaunchMode;
  readonly cacheMap: CacheMap;
  readonly clock: Clock;
  readonly prices: PriceTable;
}

export interface LaunchRequest {
  readonly conversation: Conversation;
  readonly breakpoints: readonly Breakpoint[];
  /** It is a member of a team. */
  readonly stays: boolean;
  readonly signal: AbortSignal;
  readonly record: (event: EventOf<'launch.decided' | 'status.changed'>) => void;
}

export class LaunchGate {
  readonly firstTokens: FirstTokenTimes = new FirstTokenTimes();
  readonly #options: LaunchGateOptions;
  readonly #flights = new Map<Digest, LaunchFlight>();

  constructor(options: LaunchGateOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the request may go: with a pass, to be disposed of after the attempt, when others wait for what it
   * writes. Rejects with Cancelled once the signal aborts.
   */
  async admit(request: LaunchRequest): Promise<Disposable | null> {
    const { signal, conversation } = request;
    if (signal.aborted) throw new Cancelled();
    const end = sharedPrefixEnd(conversation);
    const prefix = end === null ? conversation.head.digest : conversation.digestAt(end);
    const facts = this.#factsOf(request, end === null ? -1 : conversation.indexOf(end), prefix);
    const tell = (choice: EventOf<'launch.decided'>['choice'], why: string): void => {
      const { mode, sharedTokens, coldTokens } = facts;
      request.record({ type: 'launch.decided', mode, choice, why, sharedTokens, coldTokens });
    };
    const { choice, why } = decideLaunch(facts);
    tell(choice, why);
    if (choice === 'at_once') return null;
    const flight = this.#flightOn(prefix, conversation.head.model);
    if (choice === 'lead') return flight.lead();
    request.record({ type: 'status.changed', status: 'waiting', cause: LEAD_CAUSE });
    return flight.follow((turn, reason) => {
      tell(turn, reason);
      request.record({ type: 'status.changed', status: 'running', cause: null });
    }, signal);
  }

  #factsOf({ conversation, breakpoints, stays }: LaunchRequest, end: number, prefix: Digest): LaunchFacts {
    const { mode, cacheMap, clock, prices } = this.#options;
    const { model } = conversation.head;
    const now = clock.now();
    const sharedTokens = tokensAt(conversation, end);
    const readable = cacheMap.readableTokens(planRequest(conversation, breakpoints, now), end);
    const flight = this.#flights.get(prefix);
    const state = cacheMap.stateOf(prefix, now);
    const { write5m: write = null, read = null } = findRow(model, prices)?.prices ?? {};
    return {
      mode,
      sharedTokens,
      coldTokens: sharedTokens - readable,
      minimum: cacheMap.minimum(model),
      state: flight === undefined || state === 'readable' ? state : flight.silent ? 'silent' : 'writing',
      prices: write === null || read === null ? null : { write, read },
      firstTokenMs: this.firstTokens.expected(model),
      stays,
    };
  }

  #flightOn(prefix: Digest, model: string): LaunchFlight {
    const known = this.#flights.get(prefix);
    if (known !== undefined) return known;
    const { cacheMap, clock } = this.#options;
    const flight = new LaunchFlight({
      prefix,
      cacheMap,
      clock,
      patienceMs: () => this.firstTokens.patience(model),
      onOver: () => this.#flights.delete(prefix),
    });
    this.#flights.set(prefix, flight);
    return flight;
  }
}

/**
 * When a child's first request may go (LAUNCH-1), from facts alone. A prefix that is cold and shared is written once,
 * by a lead, and read by those that follow; a child that would gain little by waiting goes at once. To lead costs the
 * lead nothing, so it is decided without knowing whether others will come.
 */
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
  /** Nobody waits for the first answer of an agent that stays, so it follows for a short cold tail too. */
  readonly stays: boolean;
}

interface LaunchChoice {
  readonly choice: 'at_once' | 'lead' | 'follow';
  readonly why: string;
}

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
  const { sharedTokens, coldTokens, stays } = facts;
  if (!stays && (short || coldTokens < warmTokens)) {
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
