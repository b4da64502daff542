/** Waits before a request: an attempt's turn in the rate window, returned with its outcome (LAUNCH-2), and a provider that is away. */
import type { ModelResponse } from '../../model/provider.ts';
import type { EndpointHealth } from '../../model/rate/endpoint-health.ts';
import { failureOutcome, type RateOutcome } from '../../model/rate/rate-bucket.ts';
import type { ProviderSign } from '../../model/rate/rate-outage.ts';
import type { RateRequest, RateTicket } from '../../model/rate/rate-window.ts';
import { ModelError, PROVIDER_CAUSE, RametError } from '../../schema/errors.ts';
import type { Agent, HostedAgent } from '../agent/agent.ts';
import { isBackground } from '../agent/agent-spec.ts';

/** Ends a background agent whose request would have to wait: others need the room. */
class GaveWay extends RametError {
  constructor() {
    super('gave_way', 'retryable', 'requests have to wait, and work in the background gives way');
  }
}

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
      if (isBackground(agent)) throw new GaveWay();
      isLimited = cause === 'limit';
      if (!isLimited) return wait.begin();
      wait.replaced();
      agent.setStatus('waiting', 'limit', until);
    });
    if (isLimited) agent.setStatus('running', null);
    if (!ticket.looks) wait.mayGo();
    return new RateTurn(ticket, agent.runtime.health);
  }

  began(): void {
    this.#ticket.began();
  }

  /** `model` is the name it was asked by. */
  answered({ rate }: ModelResponse, model: string): void {
    this.#health?.noteAnswer(model);
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

/** Sets an agent's status once for each wait for its provider, and again when it continues (MODEL-2). */
export class ProviderWait {
  readonly #agent: Agent;
  #waits = false;
  #hasFailed = false;

  constructor(agent: Agent) {
    this.#agent = agent;
  }

  begin(): void {
    if (this.#waits) return;
    this.#waits = true;
    this.#agent.setStatus('waiting', PROVIDER_CAUSE);
  }

  /** An attempt has failed: the agent waits until an answer begins, also during new attempts. */
  failed(): void {
    this.#hasFailed = true;
    this.begin();
  }

  /** The agent waits for something else now, and that is its status. */
  replaced(): void {
    this.#waits = false;
  }

  /** Other agents reached the provider. */
  mayGo(): void {
    if (!this.#hasFailed) this.end();
  }

  end(): void {
    this.#hasFailed = false;
    if (!this.#waits) return;
    this.#waits = false;
    this.#agent.setStatus('running', null);
  }
}
