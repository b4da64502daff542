/**
 * The one place that makes an agent's specification, whether it is the main agent, a fork, a fresh child or resumed: what
 * it has from its parent or the user, and what is its own.
 */
import { effectiveMode } from '../../permission/policy.ts';
import type { SessionMode } from '../../schema/status.ts';
import type { Agent } from './agent.ts';
import type { AgentSpec } from './runtime.ts';

type OfEmployer =
  | 'parent'
  | 'fallbackModel'
  | 'ceiling'
  | 'maxTokens'
  | 'spending'
  | 'cwd'
  | 'workspace'
  | 'readOnly'
  | 'hooks'
  | 'canUseTool'
  | 'toolLimits'
  | 'compacts'
  | 'compactionThreshold'
  | 'contextWindow';

/** What an agent has from the one it works for: another agent, or the user. */
export type SpecBasis = Pick<AgentSpec, OfEmployer>;

export type OwnSpec = Omit<AgentSpec, OfEmployer> & Partial<SpecBasis>;

export function agentSpec(basis: SpecBasis, own: OwnSpec): AgentSpec {
  // Rights never widen on the way down.
  const readOnly = own.readOnly === true || basis.readOnly === true;
  const hooks = joinedHooks(basis.hooks, own.hooks);
  const canUseTool = joinedVerdicts(basis.canUseTool, own.canUseTool);
  const toolLimits = [...(basis.toolLimits ?? []), ...(own.toolLimits ?? [])];
  return {
    ...basis,
    ...own,
    ...(readOnly && { readOnly }),
    ...(hooks && { hooks }),
    ...(canUseTool && { canUseTool }),
    ...(toolLimits.length > 0 && { toolLimits }),
  };
}

/** What may refuse calls of an agent may also refuse those of the agents that work for it. */
export function joinedHooks(above: AgentSpec['hooks'], own: AgentSpec['hooks']): AgentSpec['hooks'] {
  const inherited = above?.PreToolUse;
  if (!Array.isArray(inherited)) return own;
  const added = own?.PreToolUse;
  return { ...own, PreToolUse: [...inherited, ...(Array.isArray(added) ? added : [])] };
}

function joinedVerdicts(
  above: AgentSpec['canUseTool'],
  own: AgentSpec['canUseTool'],
): AgentSpec['canUseTool'] {
  if (above === undefined || own === undefined) return own ?? above;
  return async (tool, input) => {
    const verdict = await above(tool, input);
    return verdict.allowed ? own(tool, input) : verdict;
  };
}

export function basisOf(
  family: { readonly parts: { readonly spending: SpecBasis['spending'] } },
  parent: Agent,
): SpecBasis {
  const { id, fallbackModel, maxTokens, compactionThreshold, contextWindow } = parent.spec;
  const { readOnly, hooks, canUseTool, toolLimits, compacts } = parent.spec;
  return {
    parent: id,
    fallbackModel,
    ceiling: () => modeInForce(parent),
    maxTokens,
    spending: parent.here.spending ?? family.parts.spending,
    cwd: parent.directory.cwd,
    workspace: parent.directory.workspace ?? undefined,
    readOnly,
    ...(hooks && { hooks }),
    ...(canUseTool && { canUseTool }),
    ...(toolLimits && { toolLimits }),
    ...(compacts !== undefined && { compacts }),
    compactionThreshold,
    contextWindow,
  };
}

/** The mode that binds an agent now: its own, and never more than its parent's, as that is at each decision. */
export function modeInForce({ spec, state }: Pick<Agent, 'spec' | 'state'>): SessionMode {
  return effectiveMode(state.permissionMode ?? spec.permissionMode, spec.ceiling?.() ?? null);
}

/** Whether it works unasked (BG-1): it waits for nothing, tries nothing again and asks nobody. */
export function isBackground({ spec }: Pick<Agent, 'spec'>): boolean {
  return spec.origin?.source !== undefined;
}
