/** What narrows the rights of a child, as its start is recorded: a resumed agent never has more (RES-3). */
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import type { ToolLimits } from '../../permission/tool-limits.ts';
import type { AgentOrigin, Digest } from '../../schema/events.ts';
import { digestOf } from '../../system/digest.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Agent } from '../agent/agent.ts';
import type { CanUseTool } from '../agent/runtime.ts';
import { readsOnly } from './child-terms.ts';
import type { AgentFamily } from './family.ts';

type RecordedRights = Pick<AgentOrigin, 'readOnly' | 'toolLimits' | 'servers' | 'hooks' | 'narrowed'>;

interface RightsOrder {
  readonly readOnly?: boolean | undefined;
  readonly overrides?: { readonly canUseTool?: CanUseTool | undefined } | undefined;
}

/** `fresh` is null for a fork. */
export function recordedRights(
  family: AgentFamily,
  parent: Agent,
  order: RightsOrder,
  fresh: { definition: AgentDefinition; tools: readonly Tool[]; limits: ToolLimits | undefined } | null,
): RecordedRights {
  const { hooks } = fresh?.definition ?? {};
  const toolLimits = fresh?.limits;
  const isReader = order.readOnly === true || readsOnly(fresh?.definition ?? null, parent);
  const isNarrowed = (order.overrides?.canUseTool ?? parent.spec.canUseTool) !== undefined;
  const servers = family.parts.serversOf?.(fresh?.tools ?? parent.spec.tools);
  return {
    ...(isReader && { readOnly: true as const }),
    ...(toolLimits && { toolLimits }),
    ...(servers && { servers }),
    ...(hooks && { hooks: hooksDigest(hooks) }),
    ...(isNarrowed && { narrowed: true as const }),
  };
}

export function hooksDigest(hooks: Readonly<Record<string, unknown>>): Digest {
  return digestOf(JSON.stringify(hooks));
}
