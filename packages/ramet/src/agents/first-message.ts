/**
 * The first user message: project instructions, then the environment, then the task. The instructions are the
 * same for every run in a repository, so a breakpoint stands after them (FORK-9); the rest differs.
 */
import type { TextBlock } from '../schema/content.ts';

export interface FirstMessage {
  blocks: TextBlock[];
  /** How many leading blocks are the same in the next run. */
  shared: number;
}

export function firstMessage(parts: {
  instructions: string | null;
  environment: string;
  prompt: string;
}): FirstMessage {
  const instructions = parts.instructions === null ? [] : [text(parts.instructions)];
  return {
    blocks: [...instructions, text(parts.environment), text(parts.prompt)],
    shared: instructions.length,
  };
}

function text(value: string): TextBlock {
  return { type: 'text', text: value };
}
