import type { AgentDefinition } from '../definitions/definition.ts';
import { MAIN_PROMPT } from './main-prompt.ts';

/**
 * The main agent's prompt and tools, byte for byte: its agents read what the main agent has written to the cache, up to
 * and including the project's instructions. What is different about them is said with their task.
 */
export const generalPurpose: AgentDefinition = {
  name: 'general-purpose',
  aliases: ['subagent'],
  description: 'all tools, for work of several steps',
  system: [MAIN_PROMPT],
  notes: `<sub-agent>
Another agent gave you the task below. You cannot ask it anything. It sees only your last message, so that message is your report: what it asked for, complete and checked. Name files by absolute path. Do not end a sentence with a colon before a tool call.
</sub-agent>`,
  tools: 'all',
  model: 'inherit',
  permissionMode: 'bubble',
  instructions: true,
  git: true,
};
