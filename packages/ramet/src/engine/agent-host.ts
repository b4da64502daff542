/**
 * What an agent whose loop runs in a process of its own asks of the one that holds keys, limits and rules (EXEC-2).
 * An agent without one does all of it where it runs.
 */
import type { ToolUseBlock } from '../schema/content.ts';
import type { ExchangeOptions, ModelExchange } from './model-exchange.ts';

export interface AgentHost {
  exchange(options: ExchangeOptions): Promise<ModelExchange>;
  /** Why the call may not run; null when it may. */
  refusalOf(call: ToolUseBlock, signal: AbortSignal): Promise<string | null>;
  /** Resolves when there is news of the agent's children, and at once when there are none to wait for. */
  news(signal: AbortSignal): Promise<void>;
}
