/**
 * The tools of a member: those of the lead, in the same order, so that it reads the lead's cache (TEAM-1). What its type does
 * not list is refused at the call. The team's own tools are for every member.
 */
import type { ToolLimits } from '../../permission/tool-limits.ts';
import { sendMessageTool } from '../../tools/agent.ts';
import { teamTools } from '../../tools/team-tasks.ts';
import { type Tool, wireTool } from '../../tools/tool.ts';
import type { Agent } from '../agent/agent.ts';
import { heritableTools, withoutMainOnly } from '../children/child-terms.ts';

interface MemberTools {
  readonly tools: readonly Tool[];
  readonly limits: ToolLimits | undefined;
  /** The line that says so to it; null where it may call all of them. */
  readonly told: string | null;
}

const OF_TEAM: ReadonlySet<string> = new Set([sendMessageTool, ...teamTools].map(({ name }) => name));

/** `listed` is what its type lists, of what the lead has. */
export function memberTools(
  lead: Pick<Agent, 'spec'>,
  listed: readonly Tool[],
  limits: ToolLimits | undefined,
): MemberTools {
  const all = withoutMainOnly(heritableTools(lead));
  const own = new Map(listed.map((tool) => [wireTool(tool).name, tool]));
  // What a provider runs nobody can refuse at the call.
  const shared = all.flatMap(
    (tool) => own.get(wireTool(tool).name) ?? (tool.server === undefined ? tool : []),
  );
  const besides = listed.filter((tool) => !shared.includes(tool));
  const isNarrowed = all.some((tool) => !own.has(wireTool(tool).name) && !OF_TEAM.has(tool.name));
  const tools = [...shared, ...besides];
  if (!isNarrowed) return { tools, limits, told: null };
  const names = [...new Set([...listed.flatMap(callableNames), ...OF_TEAM])];
  const told = `Of your tools, you may call these only: ${names.join(', ')}.`;
  return { tools, limits: { only: [], never: [], ...limits, tools: names }, told };
}

/** With what it is called by where it takes calls by other names. */
function callableNames({ name, adopts }: Tool): string[] {
  return adopts === undefined ? [name] : [name, `${adopts.prefix}*`];
}
