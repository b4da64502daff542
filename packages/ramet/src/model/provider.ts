/**
 * The port to a model. A request is a finished Messages API body; providers of other protocols translate it.
 * A provider sends once and reports deltas; retrying is `retry.ts`, costing is `prices.ts`.
 */
import type { AssistantBlock, OtherBlock } from '../schema/content.ts';
import type { ModelError } from '../schema/errors.ts';
import type { Usage } from '../schema/usage.ts';

export interface ModelRequest {
  readonly model: string;
  readonly body: Uint8Array;
  /** The same bytes in parts that others share: sending these, a provider keeps no copy of its own. */
  readonly pieces?: readonly Uint8Array[];
}

/** A block of the answer: its value to act on, and the exact JSON that goes back to the provider. */
export interface ResponseBlock {
  readonly value: AssistantBlock | OtherBlock;
  readonly json: string;
}

export interface ModelResponse {
  readonly id: string;
  readonly model: string;
  readonly stopReason: string;
  readonly blocks: readonly ResponseBlock[];
  /** The last block is a tool call whose input was cut off by `max_tokens`; it is not among `blocks`. */
  readonly cutToolUse: boolean;
  /** Null when the provider did not say: unknown, not zero. */
  readonly usage: Usage | null;
  readonly rate: Record<string, string>;
  readonly firstTokenMs: number;
  readonly durationMs: number;
}

/** `began` comes once, with the first content of a response: from then on what it wrote can be read. */
export type ModelDelta =
  | { type: 'began' }
  | { type: 'text'; text: string }
  | { type: 'thinking'; text: string };

export interface SendOptions {
  signal: AbortSignal;
  onDelta: (delta: ModelDelta) => void;
  /** Told when the provider has sent no content for a while, and when it does again. */
  onQuiet?: ((isQuiet: boolean) => void) | undefined;
  /** Told when the connection it was sent on was closed, and it is sent again on a fresh one. */
  onResend?: ((error: ModelError) => void) | undefined;
  /** Told once for each model when it cannot be told how to think. */
  onUnused?: ((message: string) => void) | undefined;
}

/** What callers must know about a provider; no one asks for its name. */
export interface ProviderCapabilities {
  /** The one model it serves; any other name is a mistake. Absent where the server knows its models. */
  readonly onlyModel?: string | undefined;
  /** It is told how hard to think by an effort alone, and `high` is the highest. */
  readonly effortOnly?: true | undefined;
  /** It searches the web itself, as a tool in the list (`web_search`). */
  readonly searchesWeb?: true | undefined;
}

/**
 * A stop reason beside the documented ones: the turn is over, and what was asked for did not succeed. `end_turn` would
 * make that look like success. The word is the one that journals hold.
 */
export const TASK_FAILED = 'recipe_failed';

export interface ModelProvider extends ProviderCapabilities {
  /** For people: views and messages. */
  readonly name: string;
  /** Scheme, host and port it sends to: who sends to the same one shares its rate limits. */
  readonly origin?: string | undefined;
  /** Rejects with a ModelError, or Cancelled once `signal` aborts. */
  send(request: ModelRequest, options: SendOptions): Promise<ModelResponse>;
  /**
   * Has the prompt read and nothing answered (`max_tokens: 0`): the cache keeps it. Absent where there is no such
   * request.
   */
  refresh?(request: ModelRequest, options: Pick<SendOptions, 'signal'>): Promise<ModelResponse>;
  /** Drops idle connections. */
  close(): void;
}

export function isToolUse(block: ResponseBlock): boolean {
  return block.value.type === 'tool_use';
}
