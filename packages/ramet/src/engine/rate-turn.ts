/** One attempt's turn in the rate window: waited for, and given back with what came of the attempt (LAUNCH-2). */
import type { ModelResponse } from '../model/provider.ts';
import type { RateOutcome } from '../model/rate-bucket.ts';
import { failureOutcome } from '../model/rate-limit.ts';
import type { RateRequest, RateTicket } from '../model/rate-window.ts';
import type { Agent } from './agent.ts';

export class RateTurn implements Disposable {
  readonly #ticket: RateTicket;
  #outcome: RateOutcome = { kind: 'failed' };

  private constructor(ticket: RateTicket) {
    this.#ticket = ticket;
  }

  static async take(agent: Agent, request: RateRequest, signal: AbortSignal): Promise<RateTurn> {
    let waited = false;
    const ticket = await request.acquire(signal, (until) => {
      waited = true;
      agent.setStatus('waiting', 'limit', until);
    });
    if (waited) agent.setStatus('running', null);
    return new RateTurn(ticket);
  }

  answered({ rate }: ModelResponse): void {
    this.#outcome = { kind: 'answered', rate };
  }

  failed(error: unknown): void {
    this.#outcome = failureOutcome(error);
  }

  [Symbol.dispose](): void {
    this.#ticket.release(this.#outcome);
  }
}
