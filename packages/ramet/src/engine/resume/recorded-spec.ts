/** The specification of a resumed agent: what it had, as far as its parent has that too. */
import { findDefinition } from '../../agents/prompts/built-in.ts';
import type { AgentOrigin, EventOf } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Agent } from '../agent/agent.ts';
import { agentSpec, basisOf } from '../agent/agent-spec.ts';
import type { AgentSpec } from '../agent/runtime.ts';
import type { AgentFamily } from '../children/family.ts';
import { LOST_FOR_GOOD } from './give-up.ts';
import type { RecordedSpec } from './resume.ts';

export interface StartedAgent {
  readonly id: AgentId;
  readonly started: EventOf<'agent.started'>;
}

/** Why the agent cannot resume at all; null when it can. */
export function whyNotResumed({ started: { origin } }: StartedAgent): string | null {
  if (origin?.skipTranscript) return 'it kept no transcript';
  if (origin?.startLost) return LOST_FOR_GOOD;
  if (origin?.narrowed) return 'it had rights of its own, which ended with it';
  return null;
}

export function specOfRecorded(
  family: AgentFamily,
  parent: Agent,
  { id, started }: StartedAgent,
  { model, permissionMode, tools }: RecordedSpec,
  changes: Partial<AgentOrigin> = {},
): AgentSpec {
  return agentSpec(basisOf(family, parent), {
    id,
    type: started.agentType,
    name: started.name,
    model,
    thinking: null,
    system: [],
    tools: toolsAgain(family, parent, started, tools),
    permissionMode,
    maxTurns: started.maxTurns,
    budget: started.budget,
    origin: { ...originOf(started), ...changes },
    readOnly: started.origin?.readOnly,
    ...(started.origin?.toolLimits && { toolLimits: [started.origin.toolLimits] }),
    executor: started.origin?.executor,
    hooks: findDefinition(family.parts.definitions, started.agentType)?.hooks,
  });
}

/** A fork has its parent's; others have what their type has now, as far as their prompt names it. */
function toolsAgain(
  family: AgentFamily,
  parent: Agent,
  { agentType, origin }: EventOf<'agent.started'>,
  names: readonly string[],
): readonly Tool[] {
  const own = parent.spec.tools.filter(({ name }) => names.includes(name));
  const definition =
    origin?.kind === 'fork' ? undefined : findDefinition(family.parts.definitions, agentType);
  if (definition === undefined) return own;
  const heir = { tools: parent.spec.tools, readsOnly: origin?.readOnly === true };
  const tools = family.parts.toolsOfType?.(definition, own, heir) ?? own;
  return tools.filter(({ name }) => names.includes(name));
}

/** Without the estimates: what a fork would have cost as a fresh agent is known for one whole run only. */
function originOf({ origin }: EventOf<'agent.started'>): AgentOrigin {
  const { kind = 'fresh', call = null, description = '', background = false, depth = 1 } = origin ?? {};
  const { executor, readOnly, worktree, toolLimits } = origin ?? {};
  return {
    kind,
    call,
    description,
    background,
    depth,
    ...(executor && { executor }),
    ...(readOnly && { readOnly }),
    ...(toolLimits && { toolLimits }),
    ...(worktree && { worktree }),
  };
}
