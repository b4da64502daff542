/**
 * What an agent whose loop runs in a process of its own asks of the one that holds keys, limits and rules (EXEC-2).
 * An agent without one does all of it where it runs.
 */
import type { ExchangeOptions, ModelExchange } from './model-exchange.ts';
import type { Permit, PermitRequest } from './permit.ts';

export interface AgentHost {
  exchange(options: ExchangeOptions): Promise<ModelExchange>;
  permitFor(request: PermitRequest, signal: AbortSignal): Promise<Permit>;
  /** Resolves when there is news of the agent's children, and at once when there are none to wait for. */
  news(signal: AbortSignal): Promise<void>;
}
