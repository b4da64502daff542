/**
 * The first user message: project instructions, then the environment, then the task. The instructions are the
 * same for every run in a repository, so a breakpoint stands after them (FORK-9); the rest differs.
 */
import type { TextBlock } from '../../schema/content.ts';

export interface FirstMessage {
  blocks: TextBlock[];
  /** How many leading blocks are the same in the next run. */
  shared: number;
}

export function firstMessage(parts: {
  instructions: string | null;
  environment: string;
  /** What has changed since the session was opened. */
  news?: string | null;
  prompt: string;
}): FirstMessage {
  const instructions = parts.instructions === null ? [] : [text(parts.instructions)];
  const news = parts.news == null ? [] : [text(parts.news)];
  return {
    blocks: [...instructions, text(parts.environment), ...news, text(parts.prompt)],
    shared: instructions.length,
  };
}

function text(value: string): TextBlock {
  return { type: 'text', text: value };
}
