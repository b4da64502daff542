/**
 * The gate that the first request of every child passes (LAUNCH-1). It knows which shared prefixes are being written
 * and by whom, decides with `decide-launch.ts`, records every decision on the child, and holds back who follows. The
 * main agent and later requests do not come here.
 */
import { planRequest, sharedPrefixEnd } from '../../conversation/breakpoints.ts';
import type { Conversation } from '../../conversation/conversation.ts';
import { type CacheMap, tokensAt } from '../../model/cache/cache-map.ts';
import { findRow, type PriceTable } from '../../model/prices.ts';
import type { Clock } from '../../schema/clock.ts';
import { Cancelled } from '../../schema/errors.ts';
import type { Breakpoint, Digest, EventOf } from '../../schema/events.ts';
import type { LaunchMode } from '../../schema/status.ts';
import { decideLaunch, type LaunchFacts } from './decide-launch.ts';
import { FirstTokenTimes } from './first-token-times.ts';
import { LaunchFlight } from './launch-flight.ts';

export interface LaunchGateOptions {
  readonly mode: LaunchMode;
  readonly cacheMap: CacheMap;
  readonly clock: Clock;
  readonly prices: PriceTable;
}

export interface LaunchRequest {
  readonly conversation: Conversation;
  readonly breakpoints: readonly Breakpoint[];
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
    request.record({ type: 'status.changed', status: 'waiting', cause: 'lead' });
    return flight.follow((turn, reason) => {
      tell(turn, reason);
      request.record({ type: 'status.changed', status: 'running', cause: null });
    }, signal);
  }

  #factsOf({ conversation, breakpoints }: LaunchRequest, end: number, prefix: Digest): LaunchFacts {
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
