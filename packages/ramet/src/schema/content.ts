/**
 * The conversation format: the content blocks of the Messages API. Blocks of kinds not listed here travel
 * unchanged as `OtherBlock`. `content.test.ts` holds these shapes against the official SDK's types.
 */
import type { Effort } from './status.ts';

/**
 * Words by which the engine's own parts of a conversation are known again: by the recipe model, which must not take
 * them for a task, and by code that quotes text of others, which must not contain them.
 *
 * Opens the last block of a fork's first message: its own task.
 */
export const FORK_TASK = '<fork-task>';

/** The element that tells how a background agent ended. */
export const TASK_NOTIFICATION = 'task-notification';

/** The elements around a folder's instructions and around what is known of the place an agent works in. */
export const PROJECT_INSTRUCTIONS = 'project-instructions';

export const ENVIRONMENT = 'environment';

/** The element around what earlier sessions have noted. */
export const MEMORY_NOTES = 'memory-notes';

/** The element that quotes what another agent, or the user, says to a running one. */
export const AGENT_MESSAGE = 'agent-message';

export interface CacheControl {
  type: 'ephemeral';
  ttl?: '5m' | '1h';
}

export interface TextBlock {
  type: 'text';
  text: string;
}

export interface ThinkingBlock {
  type: 'thinking';
  thinking: string;
  signature: string;
}

export interface RedactedThinkingBlock {
  type: 'redacted_thinking';
  data: string;
}

export interface ImageBlock {
  type: 'image';
  source: {
    type: 'base64';
    media_type: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';
    data: string;
  };
}

export interface ToolUseBlock {
  type: 'tool_use';
  id: string;
  name: string;
  input: unknown;
}

export interface ToolResultBlock {
  type: 'tool_result';
  tool_use_id: string;
  content: string | (TextBlock | ImageBlock)[];
  is_error?: boolean;
}

export interface OtherBlock {
  type: string;
  [field: string]: unknown;
}

export type UserBlock = TextBlock | ImageBlock | ToolResultBlock;
export type AssistantBlock = TextBlock | ThinkingBlock | RedactedThinkingBlock | ToolUseBlock;
export type ContentBlock = UserBlock | AssistantBlock;
export type Role = 'user' | 'assistant';

export interface Message {
  role: Role;
  content: ContentBlock[];
}

/** A tool as the wire knows it. */
export interface ToolSchema {
  name: string;
  description: string;
  input_schema: Record<string, unknown>;
}

/** A tool that the provider runs itself: it has a type of the provider's, and its calls never come to us. */
export interface ServerToolSchema {
  type: string;
  name: string;
  [field: string]: unknown;
}

/**
 * How a model thinks, a part of the frozen prefix. The forms are Anthropic's; `effort` stands beside them in a request,
 * as `output_config.effort`. Which form a model takes is data in `model/catalog.ts`.
 */
export type ThinkingConfig =
  | { type: 'disabled' }
  | { type: 'adaptive'; effort?: Effort }
  | { type: 'enabled'; budget_tokens: number };

export type StopReason =
  | 'end_turn'
  | 'tool_use'
  | 'max_tokens'
  | 'stop_sequence'
  | 'pause_turn'
  | 'refusal'
  | 'model_context_window_exceeded';
