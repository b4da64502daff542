/** What one exchange with the model takes and brings; `exchange.ts` carries it out. */
import type { FrozenBlock } from '../../conversation/frozen-block.ts';
import type { ModelResponse } from '../../model/provider.ts';
import type { EventOf, RequestSource } from '../../schema/events.ts';
import type { Usage } from '../../schema/usage.ts';

export interface ModelExchange {
  request: string;
  response: ModelResponse;
  usage: Usage;
  costUsd: number | null;
  /** What is known of a cost that is not. */
  atLeastUsd?: number | undefined;
  source: RequestSource | undefined;
  reused?: EventOf<'response.completed'>['reused'];
}

/** A question on the conversation's prefix that does not become part of the conversation. */
export interface Aside {
  readonly source: RequestSource;
  /** How many messages of the conversation come before the question. */
  readonly messages: number;
  readonly blocks: readonly FrozenBlock[];
}

/** Other blocks for a message of the conversation, as many as it has: only this request carries them. */
export interface ReplacedBlocks {
  readonly message: number;
  readonly blocks: readonly FrozenBlock[];
}

export interface ExchangeOptions {
  turn: number;
  maxTokens: number;
  signal: AbortSignal;
  /** Whether text is reported as it streams. */
  partial: boolean;
  /** Told what every attempt cost, also of those that failed. */
  onSpent: (usage: Usage, costUsd: number | null) => void;
  /** Told when an answer begins to come in, and when it breaks off. */
  onComing?: (isComing: boolean) => void;
  aside?: Aside;
  /** In order. Not beside an aside. */
  instead?: readonly ReplacedBlocks[];
}
