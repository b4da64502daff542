/** What is said of children in the transcript: one line when one begins in the background, stalls or ends. Pure. */
import type { SessionEvent } from '../../../sdk/session/session.ts';
import { agentLabel, endingOf } from '../../../views/agent-label.ts';
import { duration } from '../../../views/text/format.ts';
import { safeLine } from '../screen/safe-text.ts';
import type { TextStyle } from '../screen/text-style.ts';
import type { BoardAgent } from './agent-board.ts';

/** Null for what needs no line. `agent` is as the board had it before the event. */
export function agentLine(
  event: SessionEvent,
  agent: BoardAgent | undefined,
  level: number,
  style: TextStyle,
): string | null {
  if (agent === undefined) return null;
  const indent = '  '.repeat(level);
  const label = safeLine(agentLabel(agent, 0));
  if (event.type === 'stalled') {
    return `${indent}${style.yellow(`! ${label}: silent for ${duration(event.silentMs)}`)}`;
  }
  if (event.type !== 'agent_ended') return null;
  const { ending, figures } = endingOf(event.result);
  const mark = event.result.status === 'done' ? style.green('✓') : style.red('✗');
  return `${indent}${mark} ${label}: ${safeLine(ending)}${style.dim(` (${figures})`)}`;
}

export function inBackgroundLine(agent: Parameters<typeof agentLabel>[0], style: TextStyle): string {
  return style.dim(`→ ${safeLine(agentLabel(agent, 0))}: in the background`);
}
