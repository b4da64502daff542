/** What a tool call comes to. An expected failure is an outcome with `isError`, not a throw. */
import type { ImageBlock, TextBlock } from '../schema/content.ts';

export interface ToolOutcome {
  content: string | (TextBlock | ImageBlock)[];
  isError?: boolean;
  /** It did not run, since it was not permitted. */
  isDenied?: boolean;
  /** Why it was refused, by permission or by a fence: equal refusals are counted (FORK-4). */
  refusal?: string;
  /** It is no answer yet: the agent that the call waits for was interrupted together with the caller. */
  isOpen?: boolean;
}

export function failure(content: string): ToolOutcome {
  return { content, isError: true };
}
