/** The agent types that come with Ramet, how a type is found by name, and how types are shown to who chooses. */

import type { AgentDefinition } from '../definitions/definition.ts';
import { codeReview } from './code-review.ts';
import { explore } from './explore.ts';
import { generalPurpose } from './general-purpose.ts';
import { plan } from './plan.ts';
import { simplicityEngineer } from './simplicity-engineer.ts';
import { teammate } from './teammate.ts';

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
