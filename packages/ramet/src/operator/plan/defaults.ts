/** What a task takes when nothing is known about it: ranges, and rules of thumb for its tokens. */
import { costOf } from '../../model/prices.ts';
import { addCost, NO_USAGE } from '../../schema/usage.ts';

type Case = 'low' | 'likely' | 'high';

interface TaskDefaults {
  seconds: number;
  requests: number;
}

export const TASK_DEFAULTS: Readonly<Record<Case, TaskDefaults>> = {
  low: { seconds: 120, requests: 8 },
  likely: { seconds: 360, requests: 20 },
  high: { seconds: 900, requests: 40 },
};
/** With a planned launch the others wait until the first one has its first token. */
export const FIRST_TOKEN_SECONDS = 4;
/** System prompt, tools and project instructions: the same for all tasks. */
const SHARED_TOKENS = 14_000;
/** What a request adds to the conversation, and what it answers. */
const ADDED_TOKENS = 1_500;
const OUTPUT_TOKENS = 600;

/** `writers` of `count` tasks write the shared beginning into the cache, the others read it. Null if a price is unknown. */
export function defaultUsd(model: string, which: Case, count: number, writers: number): number | null {
  const { requests } = TASK_DEFAULTS[which];
  const writing = taskCost(model, requests, true);
  const reading = taskCost(model, requests, false);
  return writing === null || reading === null ? null : writing * writers + reading * (count - writers);
}

/** Every request reads the conversation so far from the cache and writes what it adds. */
function taskCost(model: string, requests: number, writesShared: boolean): number | null {
  let sum: number | null = 0;
  for (let request = 0; request < requests; request++) {
    const writes = writesShared && request === 0;
    const usage = {
      ...NO_USAGE,
      cache_creation_input_tokens: (writes ? SHARED_TOKENS : 0) + ADDED_TOKENS,
      cache_read_input_tokens: (writes ? 0 : SHARED_TOKENS) + request * ADDED_TOKENS,
      output_tokens: OUTPUT_TOKENS,
    };
    sum = addCost(sum, costOf(model, usage).usd);
  }
  return sum;
}
