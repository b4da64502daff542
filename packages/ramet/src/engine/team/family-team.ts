/**
 * The team of a session as the engine's other parts see it, and who becomes a member of it: only a type for members and a
 * name make one; a name alone is a label (TEAM-1). In a session without a team the port is absent: `team-host.ts` is
 * loaded late.
 */
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import { findDefinition } from '../../agents/prompts/built-in.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { PlanDesk, SpawnRequest, TaskDesk } from '../../tools/agent-desk.ts';
import type { ToolOutcome } from '../../tools/tool.ts';
import type { Agent } from '../agent/agent.ts';
import type { AgentResult } from '../agent/agent-event.ts';
import type { KeptWorktrees } from './kept-worktrees.ts';
import type { TaskNews } from './task-news.ts';

export interface JoiningMember {
  name: string;
  type: string;
  agent: AgentId;
  /** It only reads until its plan is approved. */
  plansFirst: boolean;
}

export interface FamilyTeam {
  /** Of members that are idle; absent where another one takes care of them. */
  readonly worktrees?: KeptWorktrees;
  /** Enters a member that is about to start; says why not. */
  join(member: JoiningMember): string | null;
  /** It will not start. */
  leave(name: string): void;
  /** Whether a living agent is a member. */
  has(agent: AgentId): boolean;
  /** A run of a member begins; null for an agent that is no member. */
  begin(agent: Agent): MemberRun | null;
  /** An agent that is no member has ended for good: what it had claimed is free again. */
  left(agent: AgentId): void;
  /** Sends a message to a member, the lead or everybody; null for a receiver that is not in the team. */
  send(from: Agent, to: string, text: string, call: string): Promise<ToolOutcome | null>;
  /** Whom it can write to in the team, in words; absent where the lead may read nothing, in a run. */
  receivers?(from: AgentId): string[];
  tasksFor(agent: AgentId, call: string, signal: AbortSignal): TaskDesk;
  plansFor(agent: AgentId, call: string): PlanDesk;
  /** Tells a person what nobody works on. */
  readonly news: Pick<TaskNews, 'warnOfLeft'>;
}

export interface MemberRun {
  /** After its parent has been told, if it is. */
  ended(result: AgentResult): void;
}

interface TeamFamily {
  readonly team: FamilyTeam | null;
  readonly startTeam: (() => Promise<void>) | null;
}

/** A type of members, also where it is not offered: the reason to refuse it says more than that it is unknown. */
export function memberType(
  definitions: readonly AgentDefinition[],
  wanted: string,
): AgentDefinition | undefined {
  const found = findDefinition(definitions, wanted);
  return found?.teammate === true ? found : undefined;
}

export function isMemberOf(
  { team, startTeam }: TeamFamily,
  parent: Agent,
  definition: AgentDefinition | null,
  { name }: Pick<SpawnRequest, 'name'>,
): boolean {
  if (definition?.teammate !== true) return false;
  // Without a team, a type of the user's is a type like any other as long as it has no name, and where no team can be.
  const isPlain = name === undefined || startTeam === null;
  if (team === null && definition.offered !== false && isPlain) return false;
  if (name === undefined) throw new UserMistake('no_name', 'a member of the team needs a name: give it one');
  if (team === null)
    throw new UserMistake(
      'no_team',
      startTeam === null
        ? 'this session has no team: one that begins with --team has'
        : 'this session has no team, and only its main agent can begin one: use a type that is not for members',
    );
  if (parent.spec.parent !== null) {
    throw new UserMistake('not_lead', 'only the lead adds members: ask it with SendMessage');
  }
  return true;
}

/** The first member makes a team of a session that has none (TEAM-1). Whether there is one now that was not there. */
export async function startsTeam(
  { team, startTeam }: TeamFamily,
  parent: Agent,
  definition: AgentDefinition | null,
  { name }: Pick<SpawnRequest, 'name'>,
): Promise<boolean> {
  const isMember = definition?.teammate === true && name !== undefined;
  if (team !== null || startTeam === null || !isMember || parent.spec.parent !== null) return false;
  await startTeam();
  return true;
}

/** Before anything is waited for, so that members who start together know each other. What it returns takes it back. */
export function joinTeam(
  { team }: TeamFamily,
  { name = '', subagent_type: type = '' }: Pick<SpawnRequest, 'name' | 'subagent_type'>,
  member: Pick<JoiningMember, 'agent' | 'plansFirst'>,
): () => void {
  const problem = team?.join({ name, type, ...member }) ?? null;
  if (problem !== null) throw new UserMistake('not_joined', problem);
  return () => team?.leave(name);
}
