/** Whether a resume of a session would continue anything (AGENT-5): one judgement for all lists and commands. */
import type { AgentId } from '../../schema/ids.ts';
import type { JournalReader } from '../journal.ts';
import type { AgentOverview } from './agent-overview.ts';
import { cutOffAgents } from './cut-off-agents.ts';
import { recordedAgent } from './recorded-agents.ts';

/** `agents` are those of the session as they are without its process. */
export function hasWorkLeft(
  reader: JournalReader,
  main: AgentId,
  agents: readonly Pick<AgentOverview, 'id' | 'status' | 'cause' | 'background' | 'source'>[],
): boolean {
  const interrupted = agents.filter(({ status, source }) => status === 'interrupted' && source === null);
  if (interrupted.some(({ id }) => id === main)) return true;
  if (interrupted.some(({ background, cause }) => background && cause === 'process_ended')) return true;
  // Of one that was stopped in an orderly way its parent has yet to read the report: see `engine/resume/`.
  return interrupted.length > 0 && (hasUnread(reader, main) || cutOffAgents(reader, main).length > 0);
}

function hasUnread(reader: JournalReader, main: AgentId): boolean {
  const state = recordedAgent((agent) => reader.events({ agent }), main);
  return state !== undefined && state.inbox.length > 0;
}
