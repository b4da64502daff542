/** One attempt of a request inside the rate window: it waits its turn, and tells the window what came (LAUNCH-2). */
import type { ModelResponse } from '../model/provider.ts';
import type { RateOutcome } from '../model/rate-bucket.ts';
import { failureOutcome } from '../model/rate-limit.ts';
import type { RateRequest, RateTicket } from '../model/rate-window.ts';
import type { Agent } from './agent.ts';

/** `attempt` as it is to be called instead: in its turn. */
export function inTurn(
  agent: Agent,
  request: RateRequest,
  signal: AbortSignal,
  attempt: (number: number) => Promise<ModelResponse>,
): (number: number) => Promise<ModelResponse> {
  return async (number) => {
    const ticket = await waitForTurn(agent, request, signal);
    let outcome: RateOutcome = { kind: 'failed' };
    try {
      const response = await attempt(number);
      outcome = { kind: 'answered', rate: response.rate };
      return response;
    } catch (error) {
      outcome = failureOutcome(error);
      throw error;
    } finally {
      ticket.release(outcome);
    }
  };
}

async function waitForTurn(agent: Agent, request: RateRequest, signal: AbortSignal): Promise<RateTicket> {
  let waited = false;
  const ticket = await request.acquire(signal, () => {
    waited = true;
    agent.record({ type: 'status.changed', status: 'waiting', cause: 'limit' });
  });
  if (waited) agent.record({ type: 'status.changed', status: 'running', cause: null });
  return ticket;
}
