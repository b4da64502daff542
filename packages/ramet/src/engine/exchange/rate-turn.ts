/** One attempt's turn in the rate window: waited for, and given back with what came of the attempt (LAUNCH-2). */
import type { ModelResponse } from '../../model/provider.ts';
import type { EndpointHealth } from '../../model/rate/endpoint-health.ts';
import { failureOutcome, type RateOutcome } from '../../model/rate/rate-bucket.ts';
import type { ProviderSign } from '../../model/rate/rate-outage.ts';
import type { RateRequest, RateTicket } from '../../model/rate/rate-window.ts';
import { ModelError } from '../../schema/errors.ts';
import type { HostedAgent } from '../agent/hosted-agent.ts';
import type { ProviderWait } from './provider-wait.ts';

export class RateTurn implements Disposable {
  readonly #ticket: RateTicket;
  readonly #health: EndpointHealth | undefined;
  #outcome: RateOutcome = { kind: 'failed' };
  #sign: ProviderSign = 'none';

  private constructor(ticket: RateTicket, health: EndpointHealth | undefined) {
    this.#ticket = ticket;
    this.#health = health;
  }

  static async take(
    agent: HostedAgent,
    request: RateRequest,
    wait: ProviderWait,
    signal: AbortSignal,
  ): Promise<RateTurn> {
    let isLimited = false;
    const ticket = await request.acquire(signal, (until, cause) => {
      if (cause === 'provider') return wait.begin();
      isLimited = true;
      agent.setStatus('waiting', 'limit', until);
    });
    if (isLimited) agent.setStatus('running', null);
    if (!ticket.looks) wait.mayGo();
    return new RateTurn(ticket, agent.runtime.health);
  }

  began(): void {
    this.#ticket.began();
  }

  answered({ rate }: ModelResponse): void {
    this.#health?.noteAnswer();
    this.#outcome = { kind: 'answered', rate };
    this.#sign = 'life';
  }

  failed(error: unknown): void {
    this.#outcome = failureOutcome(error);
    if (!(error instanceof ModelError)) return;
    const isAway = (this.#health?.verdict(error) ?? null) !== null;
    this.#sign = isAway ? 'away' : error.status === undefined ? 'none' : 'life';
  }

  [Symbol.dispose](): void {
    this.#ticket.release(this.#outcome, this.#sign);
  }
}
