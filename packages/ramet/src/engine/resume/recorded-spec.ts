/** The specification of a resumed agent: what it had, as far as its parent has that too. */
import { findDefinition } from '../../agents/prompts/built-in.ts';
import type { AgentOrigin, EventOf } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import { type Tool, wireTool } from '../../tools/tool.ts';
import type { Agent } from '../agent/agent.ts';
import { agentSpec, basisOf, joinedHooks } from '../agent/agent-spec.ts';
import type { AgentSpec } from '../agent/runtime.ts';
import { heritableTools } from '../children/child-terms.ts';
import type { AgentFamily } from '../children/family.ts';
import { hooksDigest } from '../children/recorded-rights.ts';
import { LOST_FOR_GOOD } from './give-up.ts';
import type { RecordedSpec } from './resume.ts';
import { limitsAbove, modeBelow, type RecordedAncestor } from './rights-above.ts';

export interface StartedAgent {
  readonly id: AgentId;
  readonly started: EventOf<'agent.started'>;
  /** Those that it worked for and that do not resume it. */
  readonly above?: readonly RecordedAncestor[];
}

/** Why the agent cannot resume at all; null when it can. */
export function whyNotResumed(
  family: AgentFamily,
  { started, above = [] }: Pick<StartedAgent, 'started' | 'above'>,
): string | null {
  const { origin } = started;
  if (origin?.skipTranscript) return 'it kept no transcript';
  if (origin?.startLost) return LOST_FOR_GOOD;
  if (origin?.narrowed) return 'it had rights of its own, which ended with it';
  for (const { started: one } of [{ started }, ...above])
    if (one.origin?.hooks !== undefined && ownHooks(family, one) === undefined)
      return `the type ${one.agentType} no longer has the hooks that could refuse its calls: start another agent`;
  return null;
}

/** Those that it began with; undefined when its type has others now, or is gone. */
function ownHooks(family: AgentFamily, { agentType, origin }: EventOf<'agent.started'>): AgentSpec['hooks'] {
  const { hooks } = findDefinition(family.parts.definitions, agentType) ?? {};
  return hooks !== undefined && hooksDigest(hooks) === origin?.hooks ? hooks : undefined;
}

export function specOfRecorded(
  family: AgentFamily,
  parent: Agent,
  { id, started, above = [] }: StartedAgent,
  { model, permissionMode, tools }: RecordedSpec,
  changes: Partial<AgentOrigin> = {},
): AgentSpec {
  const toolLimits = [
    ...limitsAbove(above),
    ...(started.origin?.toolLimits ? [started.origin.toolLimits] : []),
  ];
  const hooks = [...above].reduceRight(
    (joined, ancestor) => joinedHooks(joined, ownHooks(family, ancestor.started)),
    basisOf(family, parent).hooks,
  );
  return agentSpec(
    { ...basisOf(family, parent), ...(hooks && { hooks }) },
    {
      id,
      type: started.agentType,
      name: started.name,
      model,
      thinking: null,
      system: [],
      tools: toolsAgain(family, parent, { id, started }, tools),
      permissionMode: modeBelow(permissionMode, above),
      maxTurns: started.maxTurns,
      budget: started.budget,
      origin: { ...originOf(started), ...changes },
      readOnly: started.origin?.readOnly,
      ...(toolLimits.length > 0 && { toolLimits }),
      executor: started.origin?.executor,
      hooks: ownHooks(family, started),
    },
  );
}

/** Its parent's, as far as its prompt names them; of servers no more than it had. */
function toolsAgain(
  family: AgentFamily,
  parent: Agent,
  { id, started: { agentType, origin } }: StartedAgent,
  names: readonly string[],
): readonly Tool[] {
  const isNamed = (tool: Tool): boolean => names.includes(wireTool(tool).name);
  const isFork = origin?.kind === 'fork';
  const all = isFork ? parent.spec.tools : heritableTools(parent);
  const own = all.filter(isNamed);
  const tools = family.parts.toolsOfRecorded?.(origin?.servers, {
    tools: own,
    parent: { tools: all, readsOnly: origin?.readOnly === true },
    isFork,
    definition: isFork ? undefined : findDefinition(family.parts.definitions, agentType),
    tell: (line) => parent.warn('rights_narrowed', `agent ${id} ${line}`),
  });
  return (tools ?? own).filter(isNamed);
}

/** Without the estimates: what a fork would have cost as a fresh agent is known for one whole run only. */
function originOf({ origin }: EventOf<'agent.started'>): AgentOrigin {
  const { kind = 'fresh', call = null, description = '', background = false, depth = 1 } = origin ?? {};
  const { executor, readOnly, worktree, toolLimits, servers, hooks, member, phase } = origin ?? {};
  return {
    kind,
    call,
    description,
    background,
    depth,
    ...(member && { member }),
    ...(phase && { phase }),
    ...(executor && { executor }),
    ...(readOnly && { readOnly }),
    ...(toolLimits && { toolLimits }),
    ...(servers && { servers }),
    ...(hooks && { hooks }),
    ...(worktree && { worktree }),
  };
}
