/** What a definition says of an agent before it is made: how it is to run, and whether it can. */
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { AgentSpec } from '../agent/runtime.ts';
import { toolsOf } from './child-head.ts';

interface DefinableOrder {
  run_in_background?: boolean | undefined;
}

/** A definition may say whether anybody waits for its agents. */
export function orderFor<Order extends DefinableOrder>({ background }: AgentDefinition, order: Order): Order {
  return { ...order, run_in_background: background === true || order.run_in_background };
}

export function refuseWithoutTools(
  definition: AgentDefinition,
  parent: { readonly spec: Pick<AgentSpec, 'tools' | 'readOnly'> },
): void {
  // An adviser that asks for no tool gets none; one that asks for some and gets none could not do its work.
  const wantsNone = definition.tools !== 'all' && definition.tools.length === 0;
  if (wantsNone || toolsOf(definition, parent).length > 0) return;
  const { name, tools, path } = definition;
  const asked = tools === 'all' ? 'all are disallowed' : `it asks for ${tools.join(', ') || 'none'}`;
  throw new UserMistake(
    'no_tools',
    `the agent type "${name}" has no tool that you have (${asked})${path === undefined ? '' : `; it is defined in ${path}`}`,
  );
}
