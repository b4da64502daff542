/** The agent types that come with Ramet, and how a type is found by name. */
import type { AgentDefinition } from './definition.ts';
import { explore } from './explore.ts';
import { generalPurpose } from './general-purpose.ts';

export const builtInDefinitions: readonly AgentDefinition[] = [generalPurpose, explore];

/** Models write names as they remember them, so case does not count. */
export function findDefinition(
  definitions: readonly AgentDefinition[],
  name: string,
): AgentDefinition | undefined {
  const wanted = name.trim().toLowerCase();
  return definitions.find((definition) =>
    [definition.name, ...(definition.aliases ?? [])].some((known) => known.toLowerCase() === wanted),
  );
}
