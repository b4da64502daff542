/**
 * Tool calls of an agent's last message that are not answered yet: a killed process left them, or an interruption that
 * also reached the agents they wait for. How they are answered is in `finish-calls.ts`.
 */
import type { FrozenBlock } from '../../conversation/frozen-block.ts';
import type { ToolUseBlock } from '../../schema/content.ts';
import type { ToolOutcome } from '../../tools/agent-desk.ts';

export interface OpenCalls {
  readonly calls: readonly ToolUseBlock[];
  readonly results: ReadonlyMap<string, FrozenBlock>;
  /** Ids of those that were begun. */
  readonly started: ReadonlySet<string>;
  /** The record lost its end: each may have been begun, whatever `started` says. */
  readonly recordIsShort?: boolean;
}

/** The agent that a call had started, as the call sees it now. */
export interface CalledAgent {
  /** Resolves with its report, as the call would have. */
  report(signal: AbortSignal): Promise<ToolOutcome>;
  /** What can be said without waiting. */
  now(): Promise<ToolOutcome>;
}
