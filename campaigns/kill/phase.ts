/** What an agent was doing when its process was killed, as far as its journal tells. */
import type { JournalEvent } from '../../packages/ramet/src/schema/events.ts';
import type { RecordedAgent, RecordedRound } from './recorded.ts';

export const PHASES = [
  'nothing recorded',
  'before the first request',
  'in a request',
  'waits after a refusal',
  'in a compaction',
  'between response and tools',
  'in a tool',
  'between a tool and the next request',
  'waits for agents',
  'ended, and its parent not told',
  'resuming',
  'ended',
] as const;
export type KillPhase = (typeof PHASES)[number];

/** What is known of a killed process besides its journal. */
export interface KilledProcess {
  resumed: boolean;
  /** Whether it had asked the server for anything. */
  hadAsked: boolean;
}

/** The phases of everybody who was under way, and of those who had ended unheard. */
export function phasesOf(round: RecordedRound | null, { resumed, hadAsked }: KilledProcess): KillPhase[] {
  if (round === null) return ['nothing recorded'];
  if (!hadAsked) return [resumed ? 'resuming' : 'before the first request'];
  const phases = Array.from(round.agents.values(), (agent) => phaseOf(agent, round));
  const open = phases.filter((phase) => phase !== 'ended');
  return open.length === 0 ? ['ended'] : open;
}

function phaseOf(agent: RecordedAgent, round: RecordedRound): KillPhase {
  if (agent.ended !== null) return isToldOf(agent, round) ? 'ended' : 'ended, and its parent not told';
  const last = agent.events.findLast(isStep);
  switch (last?.type) {
    case 'request.started':
      return last.source === undefined ? 'in a request' : 'in a compaction';
    case 'request.failed':
      return 'waits after a refusal';
    case 'response.completed':
      return 'between response and tools';
    case 'tool.started':
      return last.name === 'Agent' ? 'waits for agents' : 'in a tool';
    case 'tool.completed':
      return isInTool(agent) ? 'in a tool' : 'between a tool and the next request';
    case 'message.appended':
    case 'conversation.replaced':
      return requested(agent) ? 'between a tool and the next request' : 'before the first request';
    default:
      return 'before the first request';
  }
}

/** Some of a message's calls have ended, others have not. */
function isInTool({ events }: RecordedAgent): boolean {
  const open = new Set<string>();
  for (const event of events) {
    if (event.type === 'tool.started') open.add(event.call);
    else if (event.type === 'tool.completed') open.delete(event.call);
    else if (event.type === 'message.appended') open.clear();
  }
  return open.size > 0;
}

function isStep({ type }: JournalEvent): boolean {
  return STEPS.has(type);
}

const STEPS: ReadonlySet<JournalEvent['type']> = new Set([
  'request.started',
  'request.failed',
  'response.completed',
  'tool.started',
  'tool.completed',
  'message.appended',
  'conversation.replaced',
]);

function requested({ events }: RecordedAgent): boolean {
  return events.some(({ type }) => type === 'request.started');
}

/** The main agent tells the user; every other agent reports in a message to its parent. */
function isToldOf({ id, parent, task }: RecordedAgent, { agents }: RecordedRound): boolean {
  if (parent === null) return true;
  const told = agents.get(parent)?.told ?? [];
  return told.some((block) => {
    const text = String(block.type === 'tool_result' ? block.content : block.text);
    return text.includes(`Scope: ${task}.`) || text.includes(`<task-id>${id}<`);
  });
}
