/** A child as it is planned, before anything of it is recorded: what was asked for, and what that comes to. */
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import { PLAN_FIRST } from '../../agents/prompts/teammate.ts';
import { type AgentWorkspace, directoryIn } from '../../git/worktrees/workspace/agent-workspace.ts';
import type { ToolLimits } from '../../permission/tool-limits.ts';
import type { AgentOrigin } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { CoordinatorPhase, ExecutorKind } from '../../schema/status.ts';
import type { SkilledRequest } from '../../tools/agent-desk.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Agent } from '../agent/agent.ts';
import type { OwnSpec } from '../agent/agent-spec.ts';
import type { AnswerSchema } from '../answer/answer-schema.ts';
import type { Evidence } from '../answer/evidence.ts';
import { type ChildLimits, type ForkOverrides, roleOf } from './child-terms.ts';
import { recordExpectations } from './expectations.ts';
import type { AgentFamily, LoadedSkills } from './family.ts';
import { recordedRights } from './recorded-rights.ts';

export interface SpawnOrder extends SkilledRequest {
  /** The tool call that asks; null for the library, whose children no cap on models counts. */
  call: string | null;
  /** Ends a child in the foreground; without it only the child's handle does. */
  signal?: AbortSignal | undefined;
  overrides?: ForkOverrides;
  /** The commit that its own worktree begins with; where the asking checkout is when absent. */
  worktreeBase?: string | undefined;
  /** The messages that it shares say what the notes of its type would. */
  skipsNotes?: boolean | undefined;
  /** Refuse it if the set-up command of its worktree fails; otherwise it is told and begins. */
  needsSetup?: boolean | undefined;
  /** It works here, and not in a worktree that is made for it. */
  workspace?: AgentWorkspace | undefined;
  /** It only reads, whatever its type may do. */
  readOnly?: boolean | undefined;
  /** Of a member: it only reads until its plan is approved (TEAM-4). */
  planFirst?: boolean | undefined;
  /** Where it runs; what its type or the settings say when absent. */
  executor?: ExecutorKind | undefined;
  /** It is a coordinator's worker, for this phase. */
  phase?: CoordinatorPhase | undefined;
}

export interface ChildPlan {
  /** Given before anything is waited for, so that numbers follow the order of the calls. */
  id: AgentId;
  order: SpawnOrder;
  /** Null for a fork. */
  fresh: FreshPlan | null;
  model: string;
  allowed: ChildLimits;
  schema: AnswerSchema | null;
  evidence: Evidence | null;
  depth: number;
  /** Its own; null for one that works where its parent does. */
  workspace: AgentWorkspace | null;
  executor: ExecutorKind;
  isMember: boolean;
  /** A member that only reads until its plan is approved. */
  plansFirst: boolean;
}

export interface FreshPlan {
  definition: AgentDefinition;
  /** What it is told about the place it works in. */
  environment: string;
  tools: readonly Tool[];
  limits: ToolLimits | undefined;
  skills: LoadedSkills | null;
}

/** What every child has of its order. */
export function planned(
  parent: Agent,
  { id, order, model, allowed, schema, evidence, executor, workspace }: ChildPlan,
  origin: AgentOrigin,
): Omit<OwnSpec, 'type' | 'thinking' | 'system' | 'tools' | 'permissionMode'> {
  return {
    id,
    name: order.name ?? null,
    model,
    ...allowed,
    cwd: childDirectory(parent, workspace),
    ...(workspace !== null && { workspace }),
    isWorkspaceOwn: workspace !== null,
    origin,
    executor,
    readOnly: origin.readOnly,
    answer: schema ?? undefined,
    evidence: evidence ?? undefined,
  };
}

export function childDirectory({ directory }: Agent, workspace: AgentWorkspace | null): string {
  return workspace === null ? directory.cwd : directoryIn(workspace.worktree, directory.cwd);
}

export function originOf(
  family: AgentFamily,
  parent: Agent,
  { order, depth, fresh, schema, evidence, executor, workspace, isMember }: ChildPlan,
  kind: AgentOrigin['kind'],
): AgentOrigin {
  const { call, description, run_in_background: background = false } = order;
  const elsewhere = executor === 'process' && { executor: 'process' as const };
  const expected = recordExpectations(schema, evidence);
  const worktree = workspace !== null && { worktree: workspace.worktree };
  const rights = recordedRights(family, parent, order, fresh);
  const basis = { kind, call, description, background, depth, ...roleOf(isMember, order) };
  return { ...basis, ...elsewhere, ...rights, ...worktree, ...expected };
}

export function taskText({ order, schema, plansFirst }: ChildPlan): string {
  const own = order.prompt.toWellFormed();
  const prompt = plansFirst ? `${own}\n\n${PLAN_FIRST}` : own;
  return schema === null ? prompt : `${prompt}\n\n${schema.directive}`;
}
