/** Counts what is refused to an agent, and tells it after the third equal refusal to do what needs no such call (FORK-4). */
import { countRefusal, tellsBy } from '../../journal/projections/refusals.ts';
import { GO_ON } from '../../permission/assessment.ts';
import type { ToolResultBlock, ToolUseBlock } from '../../schema/content.ts';
import type { ToolOutcome } from '../../tools/agent-desk.ts';
import { accessOfCall, findTool } from '../../tools/registry.ts';
import type { Agent } from '../agent/agent.ts';
import { REFUSED_OFTEN } from '../agent/notices.ts';

const LONGEST_KIND = 200;
/** What one command does, in a reason: its text goes on from here, and can hold anything. */
const OF_A_COMMAND = /\bit (?:runs|writes|reads|sets)\b|the read-only sandbox stopped it:/;

/** The result as the agent gets it, and what `tool.completed` says of the refusal; recording that counts it. */
export function withRefusal(
  agent: Pick<Agent, 'state' | 'runtime' | 'spec'>,
  call: ToolUseBlock,
  result: ToolResultBlock,
  { refusal }: ToolOutcome,
): { result: ToolResultBlock; refused: { refused?: string } } {
  if (refusal === undefined) return { result, refused: {} };
  const tool = findTool(agent.spec.tools, call.name);
  const isCommand = tool !== undefined && accessOfCall(tool, call.input).command !== undefined;
  const refused = refusalKind({ name: call.name, isCommand }, agent.runtime.redact(refusal));
  const tells = tellsBy(countRefusal(agent.state.refusals, refused, call.id), call.id);
  return { result: tells ? told(result) : result, refused: { refused } };
}

function told(result: ToolResultBlock): ToolResultBlock {
  const { content } = result;
  if (typeof content === 'string') return { ...result, content: `${content}\n${REFUSED_OFTEN}` };
  return { ...result, content: [...content, { type: 'text', text: REFUSED_OFTEN }] };
}

/**
 * What two refusals must have in common to be equal: the tool, and the rule or cause without what names one call alone.
 * Those are the command and what it names, absolute paths, the hint for the user and what to do next.
 */
export function refusalKind(
  { name, isCommand }: { name: string; isCommand: boolean },
  reason: string,
): string {
  const ended = reason.replace(/ \(For the user: .*$/s, '').replace(` ${GO_ON}`, '');
  const why = (isCommand ? withoutCommand(ended) : ended)
    .replace(/(?<=^|[\s"'(])\/[^\s"',;)]+/g, '/...')
    .replace(/\s+/g, ' ');
  return `${name}: ${why}`.slice(0, LONGEST_KIND).toWellFormed();
}

/** Up to what was answered, which stands behind the last "and". */
function withoutCommand(reason: string): string {
  const match = OF_A_COMMAND.exec(reason);
  if (match === null) return reason;
  const begin = match.index + match[0].length;
  const end = reason.lastIndexOf(', and ');
  return `${reason.slice(0, begin)} ...${end >= begin ? reason.slice(end) : ''}`;
}
