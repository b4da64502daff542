/**
 * Makes a child of an agent (AGENT-2): a fork of its conversation, or a fresh agent of a type. Every reason to refuse
 * is found before anything is recorded. What is the same for agents of one type stands before what differs (FORK-9).
 */
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import { findDefinition, offeredDefinitions, unknownType } from '../../agents/prompts/built-in.ts';
import { memberName } from '../../agents/prompts/teammate.ts';
import { isFork } from '../../conversation/conversation.ts';
import { freezeBlock } from '../../conversation/frozen-block.ts';
import { requireEffort } from '../../model/thinking.ts';
import { RametError, UserMistake } from '../../schema/errors.ts';
import type { AgentOrigin } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { SkillRules } from '../../tools/agent-desk.ts';
import { Agent, hosted } from '../agent/agent.ts';
import { agentSpec, basisOf } from '../agent/agent-spec.ts';
import { isMemberOf, joinTeam, memberType, startsTeam } from '../team/family-team.ts';
import type { AgentHandle } from './child-handle.ts';
import {
  type ChildPlan,
  childDirectory,
  type FreshPlan,
  originOf,
  planned,
  type SpawnOrder,
  taskText,
} from './child-plan.ts';
import {
  childLimits,
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
  toolsOfType,
} from './child-terms.ts';
import { answerSchema, evidenceBefore } from './expectations.ts';
import { type AgentFamily, refuseBadName, refuseTakenName } from './family.ts';
import { startChild } from './run-child.ts';

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
    takeRules(parent, child, plan.order.rules);
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
  refuseBadName(order.name);
  const asked = definitionFor(family, parent, order);
  // A team has its own types of members.
  const isNew = await startsTeam(family, parent, asked, order);
  const definition = isNew ? definitionFor(family, parent, order) : asked;
  const isMember = isMemberOf(family, parent, definition, order);
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
  if (order.planFirst === true && !isMember)
    throw refusal('no_member', 'planFirst is for members of a team: subagent_type "teammate" with a name');
  const plansFirst = isMember && (order.planFirst === true || definition?.permissionMode === 'plan');
  if (isMember) made.leaveTeam = joinTeam(family, order, { agent: id, plansFirst });
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
  const plan = {
    id,
    order,
    model,
    allowed,
    schema,
    evidence,
    depth,
    executor,
    isMember,
    plansFirst,
    workspace,
  };
  if (definition === null) return { ...plan, fresh: null };
  const about = await family.parts.surroundings.environment({ ...plan, cwd, tools, definition });
  const skills = await family.skillsFor(definition);
  const { told, ...has } = isMember
    ? (await import('../team/member-tools.ts')).memberTools(parent, tools, definition.toolLimits)
    : { tools, limits: definition.toolLimits, told: null };
  const environment = told === null ? about : `${about}\n${told}`;
  return { ...plan, order: orderFor(definition, order), fresh: { definition, environment, skills, ...has } };
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
  { definition, environment, tools, limits, skills }: FreshPlan,
): Agent {
  hosted(parent).runtime.prefixGuard.noteDefinition(definition.name, definition);
  const { thinking, note } = freshThinking(plan.order.effort ?? definition.effort, parent, plan);
  const spec = agentSpec(basisOf(family, parent), {
    ...planned(parent, plan, originOf(family, parent, plan, 'fresh')),
    type: definition.name,
    thinking,
    system: definition.path === undefined ? definition.system : definition.system.map(parent.runtime.redact),
    tools,
    permissionMode: plan.plansFirst ? 'plan' : definition.permissionMode,
    hooks: definition.hooks,
    ...(limits && { toolLimits: [limits] }),
  });
  const child = Agent.start(parent.runtime, spec, freshHead(family, spec));
  if (note !== null) child.warn('thinking_unused', note);
  if (spec.readOnly) parent.runtime.sandbox.prepare();
  const notes = plan.order.skipsNotes ? null : definition.notes;
  const shared = family.sharedOpening(child, definition, skills, plan.isMember ? notes : null);
  const notice = plan.workspace?.notice[definition.git ? 'brief' : 'whole'] ?? null;
  const worker = family.coordinator?.notesFor(plan.order.phase) ?? null;
  const who = plan.isMember ? memberName(spec.name ?? '') : null;
  const own = [plan.isMember ? null : notes, who, environment, notice, worker]
    .filter((text) => text !== null)
    .join('\n');
  const texts = [own, taskText(plan)].map((text) => freezeBlock({ type: 'text', text }));
  child.say('prompt', [...shared, ...texts], shared.length);
  return child;
}

/** What a skill refuses to an agent it refuses to those that work for it; what it allows is for the one that carries it out. */
function takeRules(parent: Agent, child: Agent, { allow, deny }: SkillRules = { allow: [], deny: [] }): void {
  const rules = [...parent.state.denied, ...deny];
  if (rules.length > 0) child.record({ type: 'tools.denied', rules });
  if (allow.length === 0) return;
  const { takeBack } = hosted(parent).runtime.permissions.grant(child.spec.id, { allow });
  child.scope.defer(takeBack);
}

function refusal(code: string, message: string): UserMistake {
  return new UserMistake(code, message);
}
