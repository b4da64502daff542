/** The agent types that come with Ramet, how a type is found by name, and how types are shown to who chooses. */
import type { AgentDefinition } from '../definitions/definition.ts';
import { codeReview } from './code-review.ts';
import { explore } from './explore.ts';
import { MAIN_PROMPT } from './main-prompt.ts';
import { plan } from './plan.ts';
import { simplicityEngineer } from './simplicity-engineer.ts';
import { teammate } from './teammate.ts';

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

/** The cheapest first: who chooses reads from the top. */
export const builtInDefinitions: readonly AgentDefinition[] = [
  explore,
  plan,
  codeReview,
  simplicityEngineer,
  generalPurpose,
  teammate,
];

/** Models write names as they remember them, so case does not count. */
export function findDefinition(
  definitions: readonly AgentDefinition[],
  name: string,
): AgentDefinition | undefined {
  const wanted = name.trim().toLowerCase();
  const isWanted = (known: string): boolean => known.toLowerCase() === wanted;
  // A type that somebody gave a name comes before one that only answers to it.
  return (
    definitions.find(({ name: own }) => isWanted(own)) ??
    definitions.find(({ aliases = [] }) => aliases.some(isWanted))
  );
}

/** Those of which agents can be asked for. */
export function offeredDefinitions(definitions: readonly AgentDefinition[]): AgentDefinition[] {
  return definitions.filter(({ offered }) => offered !== false);
}

/** The types as the Agent tool lists them, a line each: these bytes are in every request, so they are kept short. */
export function typeLines(definitions: readonly AgentDefinition[]): string[] {
  return offeredDefinitions(definitions).map(
    ({ name, description, readOnly }) => `- ${name}: ${description}${readOnly ? ' (reads only)' : ''}`,
  );
}
