/**
 * Which memory an agent may change by itself (MEM-1): agents of a type with `memory` that of their type, the lead and the members
 * of a team that of their team. A fork has what its parent saw in its conversation, and no memory of its own.
 */
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import type { MemoryRights } from '../../engine/shapes.ts';
import { agentFolder, type MemoryFolder, storeOf, teamFolder } from '../../memory/files/memory-places.ts';
import type { SessionId } from '../../schema/ids.ts';
import type { AgentTypes } from '../agent-types/agent-types.ts';
import type { ResolvedOptions } from '../options.ts';
import type { Place } from '../place.ts';
import { memoryPlace, teamName } from './session-memory.ts';
import type { TeamSync } from './team-sync.ts';

export function memoryRights(
  settings: ResolvedOptions,
  place: Place,
  types: AgentTypes,
  { session, teamSync }: { session: SessionId; teamSync: TeamSync | null },
): MemoryRights {
  const at = memoryPlace(place, settings.env);
  const isOn = settings.settings.memory?.enabled !== false;
  const definitionOf = ({ spec }: RightsHolder): AgentDefinition | undefined =>
    spec.parent === null
      ? settings.mainType?.definition
      : types.definitions.find(({ name }) => name === spec.type);
  return {
    stores: { project: storeOf(at, 'project'), user: storeOf(at, 'user') },
    foldersOf(agent) {
      if (!isOn) return [];
      const { parent, origin } = agent.spec;
      const definition = definitionOf(agent);
      const team = parent === null || origin?.member === true ? teamName(settings, session) : null;
      const own: MemoryFolder[] =
        definition?.memory === undefined ? [] : [agentFolder(at, definition.memory, definition.name)];
      return team === null ? own : [...own, teamFolder(at, team)];
    },
    willChange({ store, file }) {
      if (store === storeOf(at, 'project') && file.startsWith('team/')) teamSync?.changed();
    },
    isOnlyForMemory(agent, { name, forMemory, effect }) {
      const { memory, tools = 'all' } = definitionOf(agent) ?? {};
      if (memory === undefined || forMemory !== true || effect === 'read') return false;
      return tools !== 'all' && !tools.includes(name);
    },
  };
}

type RightsHolder = Parameters<MemoryRights['foldersOf']>[0];
