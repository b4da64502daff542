/**
 * What the agents of a session see of memory (MEM-1). Loaded where there is any.
 *
 * - The main agent: MEMORY.md of the repository, of this checkout and of the user; as a lead also that of its team;
 *   the notes of the sessions before, and of its own after a compaction.
 * - A fork: what its parent saw, as a part of the conversation that it inherits.
 * - A member of a team: the memory of its team, and of no other.
 * - An agent of a type with `memory`: that of its type. Agents of other types see none.
 */
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import { notesParts } from '../../memory/extraction/session-notes.ts';
import { indexPath, type MemoryPlace, teamFolder } from '../../memory/files/memory-places.ts';
import {
  agentParts,
  type FoundMemory,
  historyProblems,
  type MemoryPart,
  mainParts,
  memoryText,
} from '../../memory/files/memory-prompt.ts';
import type { SessionId } from '../../schema/ids.ts';
import type { ResolvedOptions } from '../options.ts';
import type { Place } from '../place.ts';

export function memoryPlace(
  { home, project, repository, cwd }: Place,
  env: Readonly<Record<string, string | undefined>>,
): MemoryPlace {
  return { home, project, root: repository?.root ?? cwd, userHome: env.HOME || undefined };
}

/** `session` is null before there is one. */
export async function memoryOfMain(
  settings: ResolvedOptions,
  place: Place,
  session: SessionId | null = null,
): Promise<FoundMemory> {
  const at = memoryPlace(place, settings.env);
  const type = settings.mainType?.definition;
  const found = await memoryText([
    ...mainParts(at),
    ...teamParts(at, teamName(settings, session)),
    ...notesParts(at, session),
    ...(type?.memory === undefined ? [] : agentParts(at, type.memory, type.name)),
  ]);
  return { ...found, problems: [...found.problems, ...historyProblems(at)] };
}

export async function memoryOfChild(
  settings: ResolvedOptions,
  place: Place,
  child: { definition: AgentDefinition; isMember: boolean; session: SessionId },
): Promise<FoundMemory> {
  const at = memoryPlace(place, settings.env);
  const { memory, name } = child.definition;
  return memoryText([
    ...(child.isMember ? teamParts(at, teamName(settings, child.session)) : []),
    ...(memory === undefined ? [] : agentParts(at, memory, name)),
  ]);
}

/** A team without a name of its own has that of its session. */
export function teamName({ team }: ResolvedOptions, session: SessionId | null): string | null {
  return team === true ? session : team;
}

function teamParts(at: MemoryPlace, team: string | null): MemoryPart[] {
  const path = team === null ? null : indexPath(teamFolder(at, team));
  return path === null ? [] : [{ title: `team ${team}`, path, kept: 'once there' }];
}
