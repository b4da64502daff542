/**
 * What an agent's loop asks of the process that holds keys, limits and rules, and the children of all agents (EXEC-2).
 * `local-host.ts` is the one for agents in that process.
 */

import type { AgentId } from '../../schema/ids.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Permit, PermitRequest } from '../calls/permit.ts';
import type { ExchangeOptions, ModelExchange } from '../exchange/model-exchange.ts';

/** The agent that asks. A host that needs more of it knows where it comes from: see `hosted-agent.ts`. */
export interface AgentGuest {
  readonly spec: { readonly id: AgentId };
}

export interface AgentHost {
  exchange(guest: AgentGuest, options: ExchangeOptions): Promise<ModelExchange>;
  /** May this call run? */
  permitFor(guest: AgentGuest, call: AskedCall, signal: AbortSignal): Promise<Permit>;
  /** Whether there may be news to wait for. */
  mayHaveNews(guest: AgentGuest): boolean;
  /** Resolves when there is news of the agent's children, and at once when there are none to wait for. */
  news(guest: AgentGuest, signal: AbortSignal): Promise<void>;
}

export interface AskedCall {
  readonly tool: Tool;
  readonly request: PermitRequest;
  /** As the tool has parsed it. */
  readonly input: unknown;
}
