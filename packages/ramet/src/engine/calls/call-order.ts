/** In which order the calls of one message are carried out, as their tools say. */
import type { ToolUseBlock } from '../../schema/content.ts';
import { findTool } from '../../tools/registry.ts';
import type { ToolSchedule } from '../../tools/tool.ts';
import type { Agent } from '../agent/agent.ts';

const MOST_AT_ONCE = 10;

/**
 * Neighbouring calls that only read, together; every other call by itself; and last, all at once, those that start
 * agents: what the others change is there when a child begins (FORK-2). A divider stands between what is before and after it.
 */
export function batches(agent: Agent, calls: readonly ToolUseBlock[]): ToolUseBlock[][] {
  const at = calls.findIndex((call) => scheduleOf(agent, call) === 'divider');
  if (at !== -1)
    return [
      ...batches(agent, calls.slice(0, at)),
      calls.slice(at, at + 1),
      ...batches(agent, calls.slice(at + 1)),
    ];
  const grouped: ToolUseBlock[][] = [];
  const delegated = calls.filter((call) => delegates(agent, call));
  const own = calls.filter((call) => !delegates(agent, call));
  for (const call of own) {
    const last = grouped.at(-1);
    const joins = last?.[0] !== undefined && isRepeatable(agent, call) && isRepeatable(agent, last[0]);
    if (joins && last.length < MOST_AT_ONCE) last.push(call);
    else grouped.push([call]);
  }
  return delegated.length === 0 ? grouped : [...grouped, delegated];
}

export type NamedCall = Pick<ToolUseBlock, 'name'>;

function scheduleOf(agent: Agent, { name }: NamedCall): ToolSchedule | undefined {
  return findTool(agent.spec.tools, name)?.schedule;
}

export function delegates(agent: Agent, call: NamedCall): boolean {
  return scheduleOf(agent, call) === 'last';
}

/** Whether it may be done again, beside others: it only reads, or it starts agents, which are found again. */
export function isRepeatable(agent: Agent, call: NamedCall): boolean {
  const schedule = scheduleOf(agent, call);
  return schedule === 'parallel' || schedule === 'last';
}
