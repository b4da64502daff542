/** Lines about a session that is watched: its children, and its end. Pure. */
import type { RecordedEvent } from '../../../schema/events.ts';
import type { AgentOverview } from '../../../sdk/index.ts';
import { agentLabel } from '../../../views/agent-label.ts';
import type { SessionWatch } from '../../../views/session-watch.ts';
import { dollars, safeLine, usageTokens } from '../../../views/text/format.ts';
import type { TextStyle } from '../screen/text-style.ts';

/** What was recorded from the last prompt of the main agent on. */
export function lastPrompt(
  events: readonly RecordedEvent[],
  { main }: Pick<SessionWatch, 'main'>,
): readonly RecordedEvent[] {
  const at = events.findLastIndex(
    ({ agent, event }) => agent === main?.id && event.type === 'message.appended' && event.cause === 'prompt',
  );
  return events.slice(Math.max(0, at));
}

/** One when a child begins, and one when it has ended; null for anything else. */
export function childLine(
  { agent: id, event }: RecordedEvent,
  { agents }: Pick<SessionWatch, 'agents'>,
  style: TextStyle,
): string | null {
  if (event.type !== 'agent.started' && event.type !== 'agent.ended') return null;
  const agent = agents.find((one) => one.id === id);
  if (agent === undefined || agent.parent === null) return null;
  const label = safeLine(agentLabel(agent, 0));
  if (event.type === 'agent.started') return style.dim(`→ ${label}`);
  const mark = event.status === 'done' ? style.green('✓') : style.red('✗');
  return `${mark} ${label}: ${safeLine(statusOf(event))}${style.dim(` (${figuresOf(agent)})`)}`;
}

export function endingLine(watched: Pick<SessionWatch, 'entry' | 'main' | 'agents' | 'total'>): string {
  const { entry, main, agents, total } = watched;
  const how = main === undefined ? 'over' : safeLine(statusOf(main));
  const cut = agents.filter(({ id, status }) => id !== main?.id && status === 'interrupted').length;
  const rest = cut === 0 ? '' : `, with ${cut} ${cut === 1 ? 'agent' : 'agents'} interrupted`;
  const next = cut > 0 || main?.status === 'interrupted' ? 'resume' : 'show';
  return `session ${entry.session} has ended: ${how}${rest} (${dollars(total.costUsd)}); ramet ${next} ${entry.session}`;
}

function statusOf({ status, cause }: Pick<AgentOverview, 'status' | 'cause'>): string {
  return cause === null ? status : `${status}: ${cause}`;
}

function figuresOf({ turns, usage, costUsd }: AgentOverview): string {
  return `${turns} turn${turns === 1 ? '' : 's'}, ${usageTokens(usage)} tokens, ${dollars(costUsd)}`;
}
