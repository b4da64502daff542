/**
 * Makes a child of an agent (AGENT-2): a fork of its conversation, or a fresh agent of a type. Every reason to refuse
 * is found before anything is recorded. What is the same for agents of one type stands before what differs (FORK-9).
 */
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import { findDefinition, offeredDefinitions, unknownType } from '../../agents/prompts/built-in.ts';
import { isFork } from '../../conversation/conversation.ts';
import { freezeBlock } from '../../conversation/frozen-block.ts';
import { type AgentWorkspace, directoryIn } from '../../git/worktrees/workspace/agent-workspace.ts';
import { requireEffort } from '../../model/thinking.ts';
import { RametError, UserMistake } from '../../schema/errors.ts';
import type { AgentOrigin } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { CoordinatorPhase, ExecutorKind } from '../../schema/status.ts';
import type { SpawnRequest } from '../../tools/agent-desk.ts';
import type { Tool } from '../../tools/tool.ts';
import { Agent, hosted } from '../agent/agent.ts';
import { agentSpec, basisOf, type OwnSpec } from '../agent/agent-spec.ts';
import type { AnswerSchema } from '../answer/answer-schema.ts';
import type { Evidence } from '../answer/evidence.ts';
import { isMemberOf, joinTeam, memberType } from '../team/family-team.ts';
import type { AgentHandle } from './child-handle.ts';
import {
  type ChildLimits,
  childLimits,
  type ForkOverrides,
  freshHead,
  freshThinking,
  freshTokens,
  inheritedTokens,
  isolationOf,
  type MadeForChild,
  orderFor,
  refuseForkChoices,
  refuseOtherOverrides,
  refuseWithoutTools,
  roleOf,
  toolsOfType,
} from './child-terms.ts';
import { answerSchema, evidenceBefore, recordExpectations } from './expectations.ts';
import { type AgentFamily, type LoadedSkills, refuseBadName, refuseTakenName } from './family.ts';
import { recordedRights } from './recorded-rights.ts';
import { startChild } from './run-child.ts';

export interface SpawnOrder extends SpawnRequest {
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
  /** Where it runs; what its type or the settings say when absent. */
  executor?: ExecutorKind | undefined;
  /** It is a coordinator's worker, for this phase. */
  phase?: CoordinatorPhase | undefined;
}

/** `isPassing`: what was in the way may be gone the next time. */
export type SpawnOutcome = { handle: AgentHandle } | { problem: string; isPassing?: boolean };

export async function spawnAgent(
  family: AgentFamily,
  parent: Agent,
  order: SpawnOrder,
): Promise<SpawnOutcome> {
  const made: MadeForChild = { workspace: null };
  try {
    const plan = await planChild(family, parent, order, family.newId(), made);
    // From here on nothing is waited for: what is found free is still free when the child is there.
    refuseTakenName(family, order.name);
    const problem = order.call === null ? null : family.countAsked();
    if (problem !== null) throw refusal('agents_total', problem);
    const child =
      plan.fresh === null ? forkOf(family, parent, plan) : freshOf(family, parent, plan, plan.fresh);
    return { handle: startChild(family, parent, child, plan.order) };
  } catch (error) {
    made.leaveTeam?.();
    await made.workspace?.release();
    if (error instanceof UserMistake) return { problem: error.message, isPassing: isPassing(error) };
    throw error;
  }
}

function isPassing({ cause }: UserMistake): boolean {
  return cause instanceof RametError && cause.family !== 'mistake' && cause.code !== 'setup_failed';
}

interface ChildPlan {
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
}

interface FreshPlan {
  definition: AgentDefinition;
  /** What it is told about the place it works in. */
  environment: string;
  tools: readonly Tool[];
  skills: LoadedSkills | null;
}

async function planChild(
  family: AgentFamily,
  parent: Agent,
  order: SpawnOrder,
  id: AgentId,
  made: MadeForChild,
): Promise<ChildPlan> {
  const { limits, spending } = family.parts;
  refuseOtherOverrides(order.overrides ?? {});
  if (typeof order.prompt !== 'string' || order.prompt.trim() === '')
    throw refusal('no_prompt', 'its prompt is empty: say what it is to do');
  const depth = (parent.spec.origin?.depth ?? 0) + 1;
  if (depth > limits.depth) {
    const why = `agents may nest ${limits.depth} deep (setting agents.depth), and this would be ${depth}`;
    throw refusal('depth', `${why}. Do it yourself`);
  }
  const budget = (parent.here.spending ?? spending).state(parent.runtime.clock.now());
  if (budget.level === 'over') throw refusal('budget', `the budget is spent: ${budget.what}`);
  if (order.subagent_type) await family.parts.refreshDefinitions?.(order.subagent_type);
  const definition = definitionFor(family, parent, order);
  const isMember = isMemberOf(family, parent, definition, order);
  refuseBadName(order.name);
  if (order.effort !== undefined) requireEffort(order.effort);
  const schema = order.schema === undefined ? null : await answerSchema(order.schema);
  const own = parent.conversation.head.model;
  const executor = order.executor ?? definition?.executor ?? limits.executor;
  const tools = definition === null ? [] : toolsOfType(family, definition, parent);
  if (definition !== null) refuseWithoutTools(definition, tools);
  const model = definition === null ? own : family.parts.resolveModel(order.model ?? definition.model, own);
  const allowed = childLimits(order, definition, {
    turns: limits.turns,
    model,
    prices: hosted(parent).runtime.prices,
  });
  if (isMember) made.leaveTeam = joinTeam(family, order, id);
  // The last of all reasons to refuse, since it is the one that leaves something behind.
  const isolation = isolationOf(order, definition, { parent, isMember, byDefault: limits.isolation });
  if (order.workspace !== undefined) made.workspace = order.workspace;
  else if (isolation !== 'none') {
    const { childWorkspace } = await import('../isolation/child-workspace.ts');
    made.workspace = await childWorkspace(parent, { ...order, isByDefault: isolation === 'default' }, id);
  }
  const { workspace } = made;
  const cwd = childDirectory(parent, workspace);
  const evidence = order.expect === undefined ? null : await evidenceBefore(order.expect, cwd, parent);
  const plan = { id, order, model, allowed, schema, evidence, depth, executor, isMember, workspace };
  if (definition === null) return { ...plan, fresh: null };
  const environment = await family.parts.surroundings.environment({ ...plan, cwd, tools, definition });
  const skills = await family.skillsFor(definition);
  return { ...plan, order: orderFor(definition, order), fresh: { definition, environment, tools, skills } };
}

function definitionFor(family: AgentFamily, parent: Agent, order: SpawnOrder): AgentDefinition | null {
  const { definitions, limits } = family.parts;
  const wanted = order.subagent_type;
  if (wanted === undefined || wanted === '' || wanted === 'fork') {
    if (!limits.fork) return findDefinition(definitions, 'general-purpose') ?? null;
    if (isFork(parent.conversation)) {
      throw refusal(
        'fork_in_fork',
        'you are a fork, and a fork cannot fork again. Do the task yourself with your tools',
      );
    }
    refuseForkChoices(order);
    return null;
  }
  const offered = offeredDefinitions(definitions);
  const found = findDefinition(offered, wanted) ?? memberType(definitions, wanted);
  if (found !== undefined) return found;
  const withheld = family.parts.whyWithheld?.(wanted) ?? null;
  if (withheld !== null) throw refusal('withheld_type', withheld);
  const reason = unknownType(wanted, offered);
  const otherwise = reason.includes('\n') ? '\nWithout' : '; without';
  throw refusal('unknown_type', `${reason}${otherwise} subagent_type it is a fork`);
}

function forkOf(family: AgentFamily, parent: Agent, plan: ChildPlan): Agent {
  const { overrides = {} } = plan.order;
  const origin: AgentOrigin = {
    ...originOf(family, parent, plan, 'fork'),
    ...(overrides.skipTranscript === true && { skipTranscript: true as const }),
    inheritedTokens: inheritedTokens(parent),
    freshTokens: freshTokens(family, parent, plan.order.prompt),
  };
  const spec = agentSpec(basisOf(family, parent), {
    ...planned(parent, plan, origin),
    type: 'fork',
    thinking: parent.conversation.head.thinking,
    system: parent.spec.system,
    tools: parent.spec.tools,
    permissionMode: 'bubble',
    skipCacheWrite: overrides.skipCacheWrite,
    canUseTool: overrides.canUseTool,
  });
  return parent.fork(spec, taskText(plan));
}

function freshOf(
  family: AgentFamily,
  parent: Agent,
  plan: ChildPlan,
  { definition, environment, tools, skills }: FreshPlan,
): Agent {
  hosted(parent).runtime.prefixGuard.noteDefinition(definition.name, definition);
  const { thinking, note } = freshThinking(plan.order.effort ?? definition.effort, parent, plan);
  const spec = agentSpec(basisOf(family, parent), {
    ...planned(parent, plan, originOf(family, parent, plan, 'fresh')),
    type: definition.name,
    thinking,
    system: definition.path === undefined ? definition.system : definition.system.map(parent.runtime.redact),
    tools,
    permissionMode: definition.permissionMode,
    hooks: definition.hooks,
    ...(definition.toolLimits && { toolLimits: [definition.toolLimits] }),
  });
  const child = Agent.start(parent.runtime, spec, freshHead(family, spec));
  if (note !== null) child.warn('thinking_unused', note);
  if (spec.readOnly) parent.runtime.sandbox.prepare();
  const shared = family.sharedOpening(child, definition, skills);
  const notice = plan.workspace?.notice[definition.git ? 'brief' : 'whole'] ?? null;
  const notes = plan.order.skipsNotes ? null : definition.notes;
  const worker = family.coordinator?.notesFor(plan.order.phase) ?? null;
  const own = [notes, environment, notice, worker].filter((text) => text !== null).join('\n');
  const texts = [own, taskText(plan)].map((text) => freezeBlock({ type: 'text', text }));
  child.say('prompt', [...shared, ...texts], shared.length);
  return child;
}

/** What every child has of its order. */
function planned(
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

function childDirectory({ directory }: Agent, workspace: AgentWorkspace | null): string {
  return workspace === null ? directory.cwd : directoryIn(workspace.worktree, directory.cwd);
}

function originOf(
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

function taskText({ order, schema }: ChildPlan): string {
  const prompt = order.prompt.toWellFormed();
  return schema === null ? prompt : `${prompt}\n\n${schema.directive}`;
}

function refusal(code: string, message: string): UserMistake {
  return new UserMistake(code, message);
}
